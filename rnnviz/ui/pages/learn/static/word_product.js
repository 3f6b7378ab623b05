// A step of the word's network as one product: [X_t, H_{t-1}] (1 × 11) times (11 × 4).

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, Product, Said } from "./types" */

const [w, h] = [60, 35]; // an entry
const NARROW = 42; // one of x_t: a digit
const SIGN = 42; // room for an operator

/** @param {Board} board @param {Said<Product>} data @param {Ask} ask */
export function wordStep(board, data, ask) {
  const { theme, W, H } = board;
  const { words } = data;
  const { t, symbols, x: input, before, W_xh, W_hh, from_input, from_state, sum, b_h, state } = data.word;
  const [inputs, units] = [symbols.length, W_hh.length];
  const rows = inputs + units;
  const first = inputs * NARROW; // where the state's block begins
  const wide = first + units * w;
  const left = (W - wide - 2 * units * w - 2 * SIGN - 40) / 2 + 4;
  const top = 62 + (H - 540) / 2;
  const middle = top + 3.5 * h;
  const common = { cell: [w, h], size: 20, full: 1.5 };
  const frame = (/** @type {number[]} */ [x, y, width, height], /** @type {string} */ stroke) =>
    board.rect(x, y, width, height, { fill: "none", stroke, "stroke-width": 3, rx: 5 });
  board.slider("t", [0, 4, 420], "t", { min: 1, max: data.word.steps, value: t }, (v) => ask({ t: v }));
  const letters = board.text(450, 22, "", "26 mono");
  [...data.word.inputs].forEach((letter, k) => {
    const here = { fill: theme.pinned, "font-weight": 700 };
    board.span(letters, letter, k + 1 === t ? here : { fill: k < t ? theme.text : theme.muted });
  });

  // The row: x_t and h_{t-1} side by side.
  const y = middle - h / 2;
  symbols.forEach((symbol, k) => {
    const style = `22 middle mono ${input[0][k] ? "700 pinned" : "muted"}`;
    board.text(left + (k + 0.5) * NARROW, y - 20, symbol, style);
  });
  board.matrix({
    ...common,
    cell: [NARROW, h],
    x: left,
    y,
    values: input,
    stands: "X_t",
    digits: 0,
    edges: false,
  });
  board.matrix({ ...common, x: left + first, y, values: before, stands: "H_t-1", full: 1, edges: false });
  frame([left, y, first, h], theme.model);
  frame([left + first, y, units * w, h], theme.ngram);
  board.edges({ x: left, y, width: wide, height: h });
  board.symbol(left + first / 2, y - 52, "X", String(t), "middle model");
  board.symbol(left + first + (units / 2) * w, y - 22, "H", String(t - 1), "middle ngram");
  board.text(left + wide / 2, y + h + 22, `(1, ${rows})`, "20 middle 600 muted");

  // The matrix: W_xh above W_hh.
  let x = left + wide;
  board.text(x + SIGN / 2, middle, "·", "30 middle muted");
  x += SIGN;
  const picked = input[0].indexOf(1);
  const lit = (/** @type {number} */ i) => (i === picked ? 2 : 1);
  board.matrix({ ...common, x, y: top, values: W_xh, stands: "W_xh", digits: 1, edges: false, lit });
  board.matrix({ ...common, x, y: top + inputs * h, values: W_hh, stands: "W_hh", digits: 1, edges: false });
  frame([x, top, units * w, inputs * h], theme.model);
  frame([x, top + inputs * h, units * w, units * h], theme.ngram);
  board.edges({ x, y: top, width: units * w, height: rows * h });
  board.symbol(x + (units / 2) * w, top - 20, "W", "xh", "middle model");
  board.symbol(x - 34, top + (inputs + units / 2) * h, "W", "hh", "middle ngram");
  board.text(x + (units / 2) * w, top + rows * h + 20, `(${rows}, ${units})`, "20 middle 600 muted");
  x += units * w;
  board.text(x + SIGN / 2, middle, "=", "30 middle muted");
  x += SIGN;

  // What it gives, and what becomes of it.
  const column = (/** @type {number} */ k) => middle - h / 2 + k * (h + 40);
  const one = board.matrix({ ...common, x, y: column(0), values: sum, label: words.one });
  board.text(one.x + one.width / 2, column(0) + h + 20, `(1, ${units})`, "20 middle 600 muted");
  [
    { values: b_h, stands: "b_h", label: ["b", "h"], sign: "+", digits: 1 },
    {
      values: state,
      stands: "H_t",
      label: ["H", String(t)],
      sign: "φ",
      colour: theme.pinned,
      full: 1,
      digits: 2,
    },
  ].forEach(({ sign, label, ...row }, k) => {
    const at = column(k + 1) + 24;
    board.text(x - 22, at + h / 2, sign, `26 middle muted ${sign === "φ" ? "italic" : ""}`);
    board.matrix({ ...common, x, y: at, ...row });
    board.symbol(x + units * w + 12, at + h / 2, label[0], label[1], row.colour ?? "");
  });

  // The two products, added.
  x = left + first - 56;
  [
    {
      values: from_input,
      colour: theme.model,
      names: [
        ["X", String(t)],
        ["W", "xh"],
      ],
      sign: "",
    },
    {
      values: from_state,
      colour: theme.ngram,
      names: [
        ["H", String(t - 1)],
        ["W", "hh"],
      ],
      sign: "+",
    },
    { values: sum, colour: theme.text, names: [], sign: "=" },
  ].forEach(({ values, colour, names, sign }, k) => {
    const at = y + h + 66 + k * (h + 18);
    board.matrix({ ...common, x, y: at, values, colour });
    board.text(x - 28, at + h / 2, sign, "26 middle muted");
    names.forEach(([letter, below], i) => {
      board.symbol(x - 126 + 38 * i, at + h / 2, letter, below, colour);
    });
    if (!names.length) board.text(x - 50, at + h / 2, words.two, "20 600 end");
  });
  board.say("picks", [left, y - 112, 460], [[fill(words.picks, { character: symbols[picked] }), "quiet"]], {
    size: 20,
  });
}
