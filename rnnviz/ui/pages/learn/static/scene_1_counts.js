// A table of n-grams against a network: how many numbers, and who is surprised where.

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, Counts, Line, Said } from "./types" */

/** @param {Board} board @param {Said<Counts>} data @param {Ask} ask */
export function draw(board, data, ask) {
  const { step } = board;
  const reading = step >= 2;
  // The tables keep the upper part once the text is there.
  sizes(board, data, ask, reading ? 150 + (board.H - 540) * 0.5 : board.H - 150);
  if (reading) rows(board, data, ask, board.H - 285);
}

/** @param {Board} board @param {Said<Counts>} data @param {Ask} ask @param {number} height */
function sizes(board, data, ask, height) {
  const { theme, step, W } = board;
  const { words, n } = data;
  const [x, y] = [96, 44];
  const width = W - x - 500;
  /** @type {Line[]} */
  const fits =
    step >= 1 ? [{ points: data.seen, colour: theme.ngram, dash: "3 7", width: 4, dots: false }] : [];
  const flat = [
    [1, data.parameters],
    [data.longest, data.parameters],
  ];
  if (step >= 1) fits.push({ points: flat, colour: theme.model, width: 5 });
  const { X, Y } = board.chart([x, y, width, height], [1, data.longest], [1, 1e19], {
    log: true,
    xTitle: step < 2 ? words.axis : undefined,
    yTitle: words.sizes,
    xTicks: data.sizes.map(([k]) => [k, String(k)]),
    yTicks: [0, 6, 12, 18].map((k) => [10 ** k, k ? `10${board.raised(k)}` : "1"]),
    lines: [{ points: data.sizes, colour: theme.ngram, width: 4, dots: true }, ...fits],
  });
  const at = data.sizes[n - 1];
  board.circle(X(n), Y(at[1]), 11, { fill: "none", stroke: theme.pinned, "stroke-width": 4 });
  board.line(X(n), Y(at[1]) + 11, X(n), y + height, {
    stroke: theme.pinned,
    "stroke-dasharray": "4 5",
    width: 2,
  });
  const label = (
    /** @type {number} */ px,
    /** @type {number} */ py,
    /** @type {string} */ text,
    /** @type {string} */ fill,
    anchor = "start",
  ) => board.text(px, py, text, `${fill} ${anchor} 600 20`);
  label(
    X(8) - 16,
    Y(data.sizes[7][1]) - 6,
    fill(words["line.table"], { symbols: data.symbols }),
    theme.ngram,
    "end",
  );
  if (step >= 1) {
    label(
      X(data.longest),
      Y(data.parameters) - 20,
      `RNN: ${board.number(data.parameters, 0)}`,
      theme.model,
      "end",
    );
    label(X(6) + 12, Y(data.seen[5][1]) + (height > 200 ? 24 : 18), words["line.seen"], theme.ngram);
  }

  const right = W - 440;
  const top = step >= 2 ? 22 : 70;
  board.slider("n", [right, top, 430], words.n, { min: 1, max: data.longest, value: n }, (v) =>
    ask({ n: v }),
  );
  const size = data.table.length > 19 ? 30 : 38;
  /** @type {[string, string][]} */
  const lines = [
    [data.table, "ngram big line"],
    [fill(words.table, { n }), "line quiet"],
  ];
  const table = board.say("table", [right, top + 42, 430], lines);
  /** @type {HTMLElement} */ (table.firstChild).style.fontSize = `${size * board.scale}px`;
  if (step < 1) return;
  const seen = data.seenNow
    ? fill(words.seen, { count: data.seenNow })
    : fill(words[step < 2 ? "seen.unknown" : "rows"], { n: data.order });
  board.say("seen", [right, top + 116, 430], [[seen, "line quiet"]]);
  if (step < 2)
    board.say(
      "parameters",
      [right, top + 180, 430],
      [
        [board.number(data.parameters, 0), "model big line"],
        [words.parameters, "line quiet"],
      ],
    );
}

/** @param {Board} board @param {Said<Counts>} data @param {Ask} ask @param {number} y */
function rows(board, data, ask, y) {
  const { theme, step, W, local } = board;
  const { words } = data;
  const characters = [...data.text];
  const shown = data.rows.filter(({ kind }) => step >= 3 || kind === "mlp" || kind === "ngram");
  board.field(
    "text",
    [0, y, 700],
    data.text,
    { label: words.text, limit: data.limit },
    (text) => text && ask({ text }),
  );
  const [left, right] = [110, 96];
  const each = Math.min(30, (W - left - right) / characters.length);
  const [top, high] = [y + 76, 46];
  const over = local.over < characters.length ? local.over : undefined;
  board.text(W, top - 22, words.bits, "18 end muted");
  const point = (/** @type {number | undefined} */ t) => {
    local.over = t;
    board.redraw();
  };
  shown.forEach((row, i) => {
    const at = top + i * high;
    board.text(left - 16, at + high / 2 - 3, row.name, `end 600 ${theme.cells[row.kind]}`);
    characters.forEach((character, t) => {
      const colour = board.colour(Math.min(row.bits[t], data.full), "surprisal", data.full);
      const cell = board.group({});
      cell.rect(left + t * each, at, each - 1, high - 6, {
        fill: colour,
        rx: 3,
        stroke: t === over ? theme.pinned : "none",
        "stroke-width": 3,
      });
      const mark = character === " " ? "·" : character;
      cell.text(left + (t + 0.5) * each, at + high / 2 - 3, mark, `${Math.min(24, each * 1.1)} middle mono`);
      board.on(cell.svg, `${i}.${t}`, { enter: () => over !== t && point(t), leave: () => point(undefined) });
    });
    board.text(W, at + high / 2 - 3, board.number(row.mean, 2), `end 700 ${theme.cells[row.kind]}`);
  });
  if (over === undefined) return;
  const line = board.text(720, y + 20, "", "22");
  board.span(line, `P(${characters[over] === " " ? "·" : characters[over]}):  `, { fill: theme.muted });
  for (const row of shown) {
    board.span(line, `${board.percent(row.chances[over])}   `, {
      fill: theme.cells[row.kind],
      "font-weight": 600,
    });
  }
}
