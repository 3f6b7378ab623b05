// Two layers without a state, on a minibatch: H = φ(X W_xh + b_h), then O = H W_hq + b_q and softmax.

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Area, Ask, MemorylessLayers, Said } from "./types" */

const h = 36; // a row of numbers

/** @param {Board} board @param {Said<MemorylessLayers>} data @param {Ask} ask */
export function layers(board, data, ask) {
  const { words } = data;
  board.text(0, 22, words.pairs, "22");
  data.pairs.forEach((pair, i) => board.text(560 + i * 130, 22, [...pair].join(" → "), "26 mono 700 model"));
  board.button("draw", [board.W - 242, 2, 240], words.draw, () => ask({ pairs: (data.seed + 1) % 10000 }));
  const top = 62 + board.spare * 0.4;
  if (board.step === 2) hidden(board, data, top);
  else output(board, data, top);
}

/** A name, and its shape in letters and numbers: n × d = 3 × 7. @param {Board} board @param {number} middle @param {number} y @param {string} letters @param {number} rows @param {number} columns */
function shape(board, middle, y, letters, rows, columns) {
  board.text(middle, y, `${letters} = ${rows} × ${columns}`, "21 middle 600 muted");
}

/** A layer: what belongs to it, framed and named. @param {Board} board @param {Area} area @param {string} name */
function frame(board, [x, y, width = 0, height = 0], name) {
  const stroke = board.theme.pinned;
  board.rect(x, y, width, height, { fill: "none", stroke, "stroke-width": 2.5, rx: 12 });
  board.text(x + width / 2, y + 24, name, "24 middle 700 pinned");
}

/**
 * A bias: one row, which every row of the batch gets.
 * @param {Board} board @param {number[]} bias @param {{ x: number, y: number, rows: number, cell: number[],
 *   below: string, letters: string, caption: string, stands: string }} at
 */
function broadcast(board, bias, { x, y, rows, cell, below, letters, caption, stands }) {
  const common = { cell, digits: 1, full: 1.5 };
  const width = bias.length * cell[0];
  for (let i = rows - 1; i > 0; i--) {
    const copy = board.group();
    copy.matrix({ ...common, x, y: y + i * cell[1], values: [bias] });
    copy.rect(x, y + i * cell[1], width, cell[1], { fill: "none", stroke: board.theme.axis });
    board.move(copy.svg, { y: -i * cell[1], opacity: 0 }, { begin: 200 * i });
  }
  const one = { ...common, x, y, values: [bias], label: ["b", below], stands };
  board.matrix(one);
  const frame = { fill: "none", stroke: board.theme.pinned, "stroke-width": 3, rx: 4 };
  board.rect(x - 2, y - 2, width + 4, cell[1] + 4, frame);
  shape(board, x + width / 2, y + rows * cell[1] + 26, letters, 1, bias.length);
  board.text(x + width / 2, y + rows * cell[1] + 54, caption, "20 middle muted");
}

/** @param {Board} board @param {Said<MemorylessLayers>} data @param {number} top */
function hidden(board, data, top) {
  const { words, X, W_xh, b_h, H } = data;
  const [n, d, units] = [X.length, W_xh.length, b_h.length];
  const [one, w, h] = [32, 54, 40];
  const all = d * h;
  const y = top + 96;
  const row = y + (all - n * h) / 2;
  const middle = y + all / 2;
  let x = 62;
  data.pairs.forEach((pair, i) => board.text(22, row + (i + 0.5) * h, pair[0], "26 middle mono 700 model"));
  data.symbols.forEach((symbol, j) =>
    board.text(x + (j + 0.5) * one, row + n * h + 20, symbol, "20 middle mono muted"),
  );
  const lit = (/** @type {number} */ i, /** @type {number} */ j) => (X[i][j] ? 2 : 1);
  board.matrix({
    x,
    y: row,
    values: X,
    cell: [one, h],
    digits: 0,
    label: ["X", ""],
    full: 1.5,
    lit,
    stands: "X",
  });
  shape(board, x + (d * one) / 2, row + n * h + 50, "n × d", n, d);
  board.text(x + (d * one) / 2, row + n * h + 80, words.picks, "20 middle muted");
  x += d * one + 40;
  board.text(x - 20, middle, "·", "30 middle muted");
  const left = x - 8;
  const used = (/** @type {number} */ i) => (X.some((r) => r[i]) ? 2 : 1);
  const label = ["W", "xh"];
  board.matrix({ x, y, values: W_xh, cell: [w, h], digits: 1, label, full: 1.5, lit: used, stands: "W_xh" });
  shape(board, x + (units * w) / 2, y + all + 26, "d × h", d, units);
  x += units * w + 58;
  board.text(x - 29, middle, "+", "28 middle muted");
  broadcast(board, b_h, {
    ...{ x, y: row, rows: n, cell: [w, h], below: "h" },
    ...{ letters: "1 × h", caption: words.repeated, stands: "b_h" },
  });
  x += units * w + 24;
  board.arrow(x, middle, x + 76, middle, { stroke: board.theme.pinned, width: 3, head: 14 });
  board.text(x + 34, middle - 24, "φ", { style: "30 middle italic 700 pinned", stands: "phi" });
  x += 98;
  board.matrix({ x, y: row, values: H, cell: [62, h], label: ["H", ""], full: 1, stands: "H" });
  shape(board, x + (units * 62) / 2, row + n * h + 26, "n × h", n, units);
  frame(board, [left, top + 6, x + units * 62 + 18 - left, all + 136], words.hidden);
}

/** @param {Board} board @param {Said<MemorylessLayers>} data @param {number} top */
function output(board, data, top) {
  const { theme, W } = board;
  const { words, H, W_hq, b_q, O, P, targets, losses, symbols } = data;
  const [n, units, q] = [H.length, W_hq.length, b_q.length];
  const w = 58;
  const y = top + 84;
  const row = y + ((units - n) * h) / 2;
  let x = 44;
  data.pairs.forEach((pair, i) => board.text(14, row + (i + 0.5) * h, pair[0], "26 middle mono 700 model"));
  board.matrix({ x, y: row, values: H, cell: [62, h], label: ["H", ""], full: 1, stands: "H" });
  shape(board, x + units * 31, y + units * h + 26, "n × h", n, units);
  x += units * 62 + 48;
  board.text(x - 32, y + (units * h) / 2, "·", "30 middle muted");
  board.matrix({
    x,
    y,
    values: W_hq,
    cell: [w, h],
    digits: 1,
    label: ["W", "hq"],
    full: 1.5,
    stands: "W_hq",
  });
  shape(board, x + (q * w) / 2, y + units * h + 26, "h × q", units, q);
  x += q * w + 54;
  board.text(x - 27, y + (units * h) / 2, "+", "28 middle muted");
  broadcast(board, b_q, {
    ...{ x, y: row, rows: n, cell: [w, h], below: "q" },
    ...{ letters: "1 × q", caption: words.repeated, stands: "b_q" },
  });
  frame(board, [328, top, x + q * w + 16 - 328, units * h + 150], words.output);

  // Below: the scores, and what softmax makes of each row.
  const lower = Math.min(y + units * h + 146, board.H - n * h - 34);
  const middle = lower + (n * h) / 2;
  x = 100;
  board.text(x - 34, middle, "=", "30 middle muted");
  const head = (/** @type {number} */ at) =>
    symbols.forEach((symbol, j) =>
      board.text(at + (j + 0.5) * w, lower - 17, symbol, "20 middle mono muted"),
    );
  head(x);
  board.symbol(x - 46, middle - 40, "O", "", "middle");
  board.matrix({ x, y: lower, values: O, cell: [w, h], full: 2, stands: "O" });
  shape(board, x + (q * w) / 2, lower + n * h + 22, "n × q", n, q);
  x += q * w + 20;
  board.arrow(x, middle, x + 120, middle, { stroke: theme.pinned, width: 3, head: 14 });
  board.text(x + 54, middle - 20, words.softmax, "22 middle 700 pinned");
  x += 138;
  head(x);
  board.matrix({ x, y: lower, values: P, cell: [w, h], scale: "sequential", full: 1 });
  targets.forEach((target, i) => {
    const stroke = { fill: "none", stroke: theme.came, "stroke-width": 4, rx: 4 };
    board.rect(x + target * w, lower + i * h, w, h, stroke);
    board.text(W - 56, lower + (i + 0.5) * h, board.number(losses[i]), "22 middle 700 came");
  });
  board.text(W - 56, lower - 17, words.loss, "20 middle came");
  const mean = fill(words.mean, { value: board.number(data.loss) });
  board.text(W - 56, lower + n * h + 22, mean, "21 middle 700 came");
}
