// The small net, step after step: the chain of its states, every number of one step, and its parameters.

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Shapes } from "./shapes.js" */
/** @import { Ask, RecurrenceSmall, Said, SumRow } from "./types" */

/**
 * ‹ t = 3 ›
 * @param {Board} board @param {Said<{ t: number }>} data @param {Ask} ask @param {number} x @param {number} last
 */
export function reader(board, data, ask, x, last) {
  const { words, t } = data;
  board.button("backward", [x, 2], "‹", () => ask({ t: t - 1 }), { off: t <= 1, title: words.backward });
  board.text(x + 84, 21, `t = ${t}`, "middle 600");
  board.button("forward", [x + 126, 2], "›", () => ask({ t: t + 1 }), {
    off: t >= last,
    title: words.forward,
  });
}

/** The word, the time step, other weights. @param {Board} board @param {Said<RecurrenceSmall>} data @param {Ask} ask */
export function head(board, data, ask) {
  const { words, texts, longest } = data;
  const change = (/** @type {string} */ word) => word && ask({ word });
  const field = { label: words.word, limit: longest };
  board.field("word", [0, 2, 250], texts[0], field, change).title = words["word.help"];
  reader(board, data, ask, 282, texts[0].length);
  board.button("draw", [board.W - 240, 2, 238], words.draw, () =>
    ask({ seed: 1 + Math.floor(Math.random() * 9998) }),
  );
  board.text(board.W - 250, 21, fill(words.seed, { n: data.seed }), "end muted 20");
}

/**
 * The net once for every character: one more with each step, all with the same parameters.
 * @param {Board} board @param {Said<RecurrenceSmall>} data @param {Ask} ask @param {number} y
 */
export function unrolled(board, data, ask, y) {
  const { theme } = board;
  const { t, texts, grown } = data;
  const n = texts.length;
  const [wide, high, each] = [104, 36, 178];
  const teal = theme.model;
  const olive = theme.ngram;
  const letter = n > 1 ? 27 : 34;
  const box = (/** @type {number} */ k) => 44 + k * each;
  for (let k = 0; k <= texts[0].length; k++) {
    const x = box(k);
    const there = k <= t;
    const g = board.group({ opacity: there ? 1 : 0.22 });
    if (k > 0) {
      const arrow = g.group({ opacity: grown ? 1 : 0 });
      arrow.arrow(box(k - 1) + wide + 3, y + high / 2, x - 4, y + high / 2, {
        ...{ stroke: olive, width: 3, head: 12 },
      });
      const style = `middle ${olive} 22`;
      const stands = there ? "W_hh" : undefined;
      if (grown) arrow.symbol((box(k - 1) + wide + x) / 2, y - 4, "W", "hh", { style, stands });
      if (k === t && board.step === 1) board.move(arrow.svg, { x: -60, opacity: 0 });
      g.arrow(x + wide / 2, y + high + 26, x + wide / 2, y + high + 3, { stroke: teal, width: 3, head: 12 });
      const input = { style: `${teal} 22`, ...(there && { stands: "W_xh" }) };
      g.symbol(x + wide / 2 + 12, y + high + 13, "W", "xh", input);
      const frame = { fill: "none", stroke: teal, rx: 6, "stroke-width": 2 };
      g.rect(x + wide / 2 - 19, y + high + 27, 38, n * letter, frame);
      texts.forEach((text, i) =>
        g.text(x + wide / 2, y + high + 27 + (i + 0.5) * letter, text[k - 1], "middle mono 700"),
      );
    }
    g.symbol(x + wide / 2, y - 18, "H", String(k), `middle 24 ${k === t ? "pinned" : "text"}`);
    const row = high / n;
    data.states[k].forEach((values, i) =>
      values.forEach((value, j) =>
        g.rect(x + (j * wide) / 4, y + i * row, wide / 4, row, {
          fill: there ? board.colour(value) : theme.background,
        }),
      ),
    );
    const border = g.rect(x, y, wide, high, {
      fill: "transparent",
      stroke: k === t ? theme.pinned : theme.axis,
      "stroke-width": k === t ? 4 : 1.5,
      rx: 2,
    });
    if (k === t) board.stands(border, "H_t");
    if (k === t - 1) board.stands(border, "H_t-1");
    if (k > 0) board.on(border, `node.${k}`, { click: () => ask({ t: k }), label: `t = ${k}` });
  }
}

/**
 * Every number of the step that is shown.
 * @param {Board} board @param {Said<RecurrenceSmall>} data @param {number} y
 */
export function numbers(board, data, y) {
  const { theme, local } = board;
  const { t, texts, grown } = data;
  const n = texts.length;
  const h = 25 + Math.min(6, board.spare / 12);
  const [input, weight, wide] = [32, 50, 58];
  const [middle, right] = [256, 548];
  const over = local.column;
  const hover = (/** @type {number | null} */ i, /** @type {number} */ j) => {
    const next = i === null ? undefined : j;
    if (next !== local.column) {
      local.column = next;
      board.redraw();
    }
  };
  const column = (/** @type {number} */ _i, /** @type {number} */ j) =>
    over === undefined ? 1 : j === over ? 2 : 0;
  const teal = theme.model;
  const olive = theme.ngram;
  const upper = y + 30;
  const lower = upper + 7 * h + 38;
  const bottom = lower + 4 * h;
  const common = { size: 20, full: 1.5 };
  const weights = { ...common, cell: [weight, h], digits: 1, lit: column };
  // A one-hot row picks a row of W_xh.
  const picked = (/** @type {number} */ i, /** @type {number} */ j) =>
    over === undefined && data.x.some((row) => row[i]) ? 2 : column(i, j);

  const row = upper + (7 - n) * 0.5 * h;
  const one = { cell: [input, h], digits: 0, label: ["X", String(t)], colour: teal, stands: "X_t" };
  board.matrix({ ...common, ...one, x: 8, y: row, values: data.x });
  data.symbols.forEach((symbol, j) =>
    board.text(8 + (j + 0.5) * input, row + n * h + 16, symbol, "20 middle mono muted"),
  );
  if (n > 1) board.text(120, row + n * h + 44, `n × d = ${n} × 7`, "20 middle 600 muted");
  board.text(middle - 15, upper + 3.5 * h, "·", "30 middle muted");
  const label = ["W", "xh"];
  const place = { x: middle, y: upper, label, colour: teal, lit: picked, stands: "W_xh" };
  const W_xh = board.matrix({ ...weights, ...place, values: data.W_xh });

  // What makes it recurrent: one term more, which grows onto the network without a state.
  const pace = (bottom - upper) / 5;
  const term = board.group();
  if (grown) {
    const before = { x: 6, y: lower + (4 - n) * 0.5 * h, cell: [wide, h], values: data.before };
    const named = { label: ["H", String(t - 1)], colour: olive, full: 1, stands: "H_t-1" };
    term.matrix({ ...common, ...before, ...named });
    term.text(middle - 10, lower + 2 * h, "·", "30 middle muted");
    if (n > 1) term.text(120, lower + 3 * h + 18, `n × h = ${n} × 4`, "20 middle 600 muted");
    const label = ["W", "hh"];
    const place = { x: middle, y: lower, label, colour: olive, stands: "W_hh" };
    const W_hh = term.matrix({ ...weights, ...place, values: data.W_hh });
    const from = [W_hh.right + 8, W_hh.y + W_hh.height / 2];
    flow(term, from, [right - 40, upper + 1.5 * pace], olive);
    if (board.step === 1) board.move(term.svg, { scale: 0.2, opacity: 0 }, { lasts: 700 });
  }
  flow(board, [W_xh.right + 8, W_xh.y + W_xh.height / 2], [right - 40, upper + pace / 2], teal);

  // The sum, from top to bottom.
  const [X, H] = [
    ["X", String(t)],
    ["H", String(t - 1)],
  ];
  /** @type {SumRow[]} */
  const rows = [
    { values: data.from_input, symbols: [X, ["W", "xh"]], colour: teal },
    ...(grown ? [{ values: data.from_state, symbols: [H, ["W", "hh"]], colour: olive, sign: "+" }] : []),
    { values: texts.map(() => data.b_h[0]), symbols: [["b", "h"]], sign: "+", stands: "b_h" },
    { values: data.pre_activation, words: data.words.sum, sign: "=", line: true },
    {
      ...{ values: data.state, symbols: [["H", String(t)]], sign: "φ", stands: "H_t" },
      ...{ colour: theme.pinned, full: 1 },
    },
  ];
  rows.forEach((part, i) => {
    const centre = upper + (i + (grown || !i ? 0.5 : 1.5)) * pace;
    const at = centre - (n * h) / 2;
    const into = part.colour === olive ? term : board;
    if (part.line)
      board.line(right - 6, at - (pace - n * h) / 2, right + 4 * wide + 6, at - (pace - n * h) / 2, {
        stroke: theme.muted,
        width: 2,
      });
    const sign = part.sign === "φ" ? { style: "italic", stands: "phi" } : { style: "" };
    into.text(right - 24, centre, part.sign ?? "", { ...sign, style: `26 middle muted ${sign.style}` });
    into.matrix({
      ...{ ...common, cell: [wide, h], x: right, y: at, values: part.values, colour: part.colour },
      ...{ name: `sum.${i}`, hover, pick: hover, lit: column, full: part.full ?? 1.5, stands: part.stands },
    });
    let x = right + 4 * wide + 14;
    for (const [letter, below] of part.symbols ?? []) {
      into.symbol(x, centre, letter, below, `23 ${part.colour ?? theme.text}`);
      x += 38;
    }
    if (part.words) into.text(x, centre, part.words, "20");
  });
  output(board, data, { x: 890, h, lower, upper, from: [right + 4 * wide + 52, upper + 4.5 * pace] });
}

/** @param {Shapes} into @param {number[]} from @param {number[]} to @param {string} stroke */
function flow(into, [x1, y1], [x2, y2], stroke) {
  const bend = (x1 + x2) / 2;
  into.path(`M${x1},${y1} C${bend},${y1} ${bend},${y2} ${x2 - 14},${y2}`, { stroke, width: 3 });
  into.arrow(x2 - 15, y2, x2, y2, { stroke, width: 3, head: 12 });
}

/**
 * O_t = H_t W_hq + b_q, from below: how the state is read.
 * @param {Board} board @param {Said<RecurrenceSmall>} data
 * @param {{ x: number, h: number, lower: number, upper: number, from: number[] }} at
 */
function output(board, data, { x, h, lower, upper, from }) {
  const { theme } = board;
  const n = data.texts.length;
  const w = 49;
  const common = { x, cell: [w, h], digits: 1, size: 20, full: 1.5 };
  board.arrow(from[0], from[1], x - 8, from[1], { stroke: theme.pinned, width: 3, head: 12 });
  board.matrix({ ...common, y: lower, values: data.W_hq, label: ["W", "hq"], stands: "W_hq" });
  const bias = lower - 44 - n * h;
  board.text(x - 22, bias + (n * h) / 2, "+", "26 middle muted");
  board.symbol(x + 20, bias - 20, "b", "q", "middle 23");
  board.matrix({ ...common, y: bias, values: data.texts.map(() => data.b_q[0]), stands: "b_q" });
  const top = upper + 14;
  const middle = x + 3.5 * w;
  board.arrow(middle, bias - 8, middle, top + n * h + 8, { stroke: theme.came, width: 3, head: 12 });
  board.symbol(middle, top - 42, "O", String(data.t), "middle came");
  board.matrix({ ...common, y: top, values: data.output, colour: theme.came, full: 3, stands: "O_t" });
  data.symbols.forEach((symbol, j) =>
    board.text(x + (j + 0.5) * w, top - 15, symbol, "20 middle mono muted"),
  );
}

/**
 * Every weight, counted; and that the count doesn't depend on how long the text is.
 * @param {Board} board @param {Said<RecurrenceSmall>} data @param {number} y
 */
export function parameters(board, data, y) {
  const { theme, W } = board;
  const { words, sizes, tables, t } = data;
  const cell = 16;
  const each = W / 5;
  const names = /** @type {const} */ (["W_xh", "W_hh", "b_h", "W_hq", "b_q"]);
  names.forEach((name, k) => {
    const values = data[name];
    const [rows, columns] = [values.length, values[0].length];
    const middle = (k + 0.46) * each;
    const left = middle - (columns * cell) / 2;
    const top = y + (7 * cell - rows * cell) / 2;
    values.forEach((row, i) =>
      row.forEach((value, j) =>
        board.rect(left + j * cell, top + i * cell, cell - 1, cell - 1, {
          fill: board.colour(value, "diverging", 1.5),
        }),
      ),
    );
    board.symbol(middle - 92, y + 7 * cell + 30, name[0], name.slice(2), "24 700");
    const said = `${rows} × ${columns} = ${sizes[name]}`;
    board.text(middle - 30, y + 7 * cell + 30, said, "22");
    if (k) board.text(k * each - 20, y + 3.5 * cell, "+", "28 middle muted");
  });

  const low = y + 7 * cell + 84;
  const [left, wide] = [250, (W - 260) / tables.length];
  board.text(0, low, "T", "24 700");
  board.text(0, low + 48, words.parameters, "24 700 model");
  board.text(0, low + 96, words.table, "22 muted");
  tables.forEach((table, k) => {
    const middle = left + (k + 0.5) * wide;
    const here = k + 1 === t;
    if (here) {
      const frame = { fill: "none", stroke: theme.pinned, "stroke-width": 3, rx: 8 };
      board.rect(left + k * wide + 4, low - 24, wide - 8, 144, frame);
    }
    board.text(middle, low, String(k + 1), `24 middle ${here ? "700 pinned" : ""}`);
    board.text(middle, low + 48, String(data.parameters), "28 middle 700 model");
    board.text(middle, low + 96, board.number(table, 0), "24 middle came");
  });
}
