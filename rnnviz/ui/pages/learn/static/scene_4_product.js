// Two products added, and one product: the same numbers.

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, Product, Said } from "./types" */

const CELL = [61, 40];

/** @param {Board} board @param {Said<Product>} data @param {Ask} ask */
export function draw(board, data, ask) {
  const { theme, local, step, W, H } = board;
  const { words } = data;
  /** @type {[number, number] | null} */
  const over = local.over ?? (step === 2 ? [0, 0] : null); // the entry whose row and column are lit
  const hover = (/** @type {number | null} */ i, /** @type {number} */ j) => {
    local.over = i === null ? undefined : [i, j];
    board.redraw();
  };
  const edit =
    (/** @type {"X" | "W_xh" | "H" | "W_hh"} */ name) =>
    (/** @type {number} */ i, /** @type {number} */ j, /** @type {number} */ value) =>
      ask({ [name]: data[name].map((row, r) => row.map((v, c) => (r === i && c === j ? value : v))) });
  const row = (/** @type {number} */ i) => (over ? (i === over[0] ? 2 : 0) : 1);
  const column = (/** @type {number} */ j) => (over ? (j === over[1] ? 2 : 0) : 1);
  const entry = (/** @type {number} */ i, /** @type {number} */ j) =>
    over ? (i === over[0] && j === over[1] ? 2 : 1) : 1;
  const [w, h] = CELL;
  const sign = 42; // room for an operator
  const common = { cell: CELL, size: 20, shape: true };

  // Above: X W_xh + H W_hh.
  const wide = 17 * w + 4 * sign;
  let x = (W - wide) / 2;
  const lines = 4 * h;
  const top = step === 0 ? H * 0.36 : 72 + Math.max(0, H - 540) * 0.3;
  const operator = (/** @type {string} */ text) => {
    board.text(x + sign / 2, top + lines / 2, text, "30 middle muted");
    x += sign;
  };
  const put = (
    /** @type {"X" | "W_xh" | "H" | "W_hh" | "sum"} */ name,
    /** @type {string | string[]} */ label,
    /** @type {(i: number, j: number) => number} */ lit,
    /** @type {number} */ rows,
    extra = {},
  ) => {
    const y = top + (lines - rows * h) / 2;
    const made = board.matrix({
      ...common,
      x,
      y,
      values: data[name],
      label,
      name,
      lit,
      hover: null,
      ...extra,
    });
    x += made.width;
    return made;
  };
  const teal = theme.model;
  const orange = theme.ngram;
  put("X", ["X", "t"], (i) => row(i), 3, { edit: edit("X"), colour: teal, shape: false });
  operator("·");
  put("W_xh", ["W", "xh"], (_i, j) => column(j), 1, { edit: edit("W_xh"), colour: teal });
  operator("+");
  put("H", ["H", "t−1"], (i) => row(i), 3, { edit: edit("H"), colour: orange });
  operator("·");
  put("W_hh", ["W", "hh"], (_i, j) => column(j), 4, { edit: edit("W_hh"), colour: orange });
  operator("=");
  put("sum", words.two, entry, 3, { hover, pick: hover, shape: false, full: 4 });

  // Below: the one product.
  if (step >= 1) {
    const from = top + lines + 58;
    const high = 5 * h;
    const long = (step >= 2 ? 13 : 9) * w + (step >= 2 ? 2 : 1) * sign;
    x = (W - (13 * w + 2 * sign)) / 2 + (step >= 2 ? 0 : (13 * w + 2 * sign - long) / 2);
    const middle = from + high / 2;
    const left = board.matrix({
      ...common,
      x,
      y: from + h,
      values: data.joinedInputs,
      lit: (i) => row(i),
      shape: false,
      label: ["[X, H]"],
    });
    board.rect(x + 0.5, from + h, w - 1, 3 * h, { fill: "none", stroke: teal, "stroke-width": 3, rx: 5 });
    board.rect(x + w + 1, from + h, 4 * w - 2, 3 * h, {
      fill: "none",
      stroke: orange,
      "stroke-width": 3,
      rx: 5,
    });
    board.text(left.right + sign / 2, middle, "·", "30 middle muted");
    x = left.right + sign;
    const right = board.matrix({
      ...common,
      x,
      y: from,
      values: data.joinedWeights,
      lit: (_i, j) => column(j),
      shape: false,
    });
    board.rect(x, from + 0.5, 4 * w, h - 1, { fill: "none", stroke: teal, "stroke-width": 3, rx: 5 });
    board.rect(x, from + h + 1, 4 * w, 4 * h - 2, { fill: "none", stroke: orange, "stroke-width": 3, rx: 5 });
    if (step >= 2) {
      board.text(right.right + sign / 2, middle, "=", "30 middle muted");
      x = right.right + sign;
      board.matrix({
        ...common,
        x,
        y: from + h,
        values: data.product,
        name: "product",
        lit: entry,
        hover,
        pick: hover,
        full: 4,
        label: words.one,
        shape: false,
      });
    }
  }

  if (over) sum(board, data, over, step === 0 ? top + lines + 70 : top + lines + 58 + 5 * h + 30);
  const difference = `${words.difference}  ${board.power(data.difference)}`;
  if (step === 2) board.text(W - 4, 18, difference, "end 600");
  else if (step === 3 && !over)
    board.text(W / 2, top + lines + 58 + 5 * h + 30, difference, "30 middle 700 model");
  board.button("draw", [4, 2], words.draw, () => ask({ seed: 1 + Math.floor(Math.random() * 9998) }));
  board.say(
    "seed",
    [240, 6, 300],
    [[fill(data.edited ? words.edited : words.seed, { n: data.seed }), "quiet"]],
    { size: 20 },
  );
}

/**
 * The lit entry spelt out, and how far the two sides are apart.
 * @param {Board} board @param {Said<Product>} data @param {[number, number]} over @param {number} y
 */
function sum(board, data, over, y) {
  const { theme, W } = board;
  const [i, j] = over;
  const terms = data.joinedInputs[i].map((value, k) => [value, data.joinedWeights[k][j]]);
  const number = (/** @type {number} */ v) => (v < 0 ? `(${board.number(v)})` : board.number(v));
  const text = board.text(W / 2, y, "", "22 middle");
  terms.forEach(([a, b], k) => {
    board.span(text, `${k ? " + " : ""}${number(a)}·${number(b)}`, {
      fill: k === 0 ? theme.model : theme.ngram,
    });
  });
  board.span(text, ` = ${board.number(data.sum[i][j], 4)}`, { "font-weight": 700 });
}
