// Two products added, and one product: the same numbers.

import { fill } from "../../../browser/static/words.js";
import { wordStep } from "./word_product.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, Factor, Laid, Product, Said } from "./types" */

const [w, h] = [61, 38]; // an entry
const SIGN = 42; // room for an operator
const TALL = 4 * h; // above
const HIGH = 5 * h; // below

/** @param {Board} board @param {Said<Product>} data @param {Ask} ask */
export function draw(board, data, ask) {
  const { local, step, H } = board;
  if (step === 4) {
    wordStep(board, data, ask);
    return;
  }
  local.now = data; // numbers that are typed before the answer to the last one arrives
  const first = (H - 540) * 0.3;
  const top = step === 0 ? H * 0.34 : 62 + first;
  const below = 62 + first + TALL + 56;
  const upper = above(board, data, ask, top);
  // The sum of two makes room for the one.
  if (step === 1) board.move(upper.svg, { y: H * 0.34 - top });
  if (step >= 1) one(board, data, upper.places, below);
  const over = at(board);
  const line = step === 0 ? top + TALL + 84 : below + HIGH + 52;
  if (over) sum(board, data, over, line);
  const difference = `${data.words.difference}  ${board.power(data.difference)}`;
  if (step === 3 && !over) board.text(board.W / 2, line, difference, "26 middle 700 model");
  board.button("draw", [4, 2], data.words.draw, () => ask({ seed: 1 + Math.floor(Math.random() * 9998) }));
  const seed = fill(data.edited ? data.words.edited : data.words.seed, { n: data.seed });
  board.say("seed", [250, 6, 300], [[seed, "quiet"]], { size: 20 });
}

/** The entry whose row and column are lit. @param {Board} board @returns {[number, number] | null} */
function at({ local, step }) {
  return local.over ?? (step === 0 || step === 2 ? [0, 0] : null);
}

/** How an entry of X or H, of a weight, and of the result is lit. @param {Board} board */
function lighting(board) {
  const over = at(board);
  return {
    row: (/** @type {number} */ i) => (over ? (i === over[0] ? 2 : 0) : 1),
    column: (/** @type {number} */ _i, /** @type {number} */ j) => (over ? (j === over[1] ? 2 : 0) : 1),
    entry: (/** @type {number} */ i, /** @type {number} */ j) =>
      over && i === over[0] && j === over[1] ? 2 : 1,
  };
}

/** What pointing at a result does. @param {Board} board */
function pointing(board) {
  const hover = (/** @type {number | null} */ i, /** @type {number} */ j) => {
    board.local.over = i === null ? undefined : [i, j];
    board.redraw();
  };
  return { hover, pick: hover };
}

/** Under a matrix its shape, as torch writes it. @param {Board} board @param {Laid} place @param {number} y @param {string} said */
function shape(board, place, y, said, colour = "muted") {
  board.text(place.x + place.width / 2, y, said, `20 middle 600 ${colour}`);
}

/**
 * X W_xh + H W_hh, and where its four factors stand.
 * @param {Board} board @param {Said<Product>} data @param {Ask} ask @param {number} top
 */
function above(board, data, ask, top) {
  const { theme, W } = board;
  const { row, column, entry } = lighting(board);
  const g = board.group();
  let x = (W - 17 * w - 4 * SIGN) / 2;
  /** @type {Record<string, Laid>} */
  const places = {};
  /** @param {Factor | "sum"} name @param {string} sign @param {object} options */
  const put = (name, sign, options) => {
    const values = data[name];
    const y = top + (TALL - values.length * h) / 2;
    places[name] = g.matrix({ cell: [w, h], size: 20, x, y, values, name, ...options });
    shape(g, places[name], top + TALL + 22, `(${values.length}, ${values[0].length})`);
    x += places[name].width;
    if (!sign) return;
    g.text(x + SIGN / 2, top + TALL / 2, sign, "30 middle muted");
    if (sign !== "·") g.text(x + SIGN / 2, top + TALL + 22, sign, "20 middle 600 muted");
    x += SIGN;
  };
  /** @param {Factor} name */
  const edit = (name) => (/** @type {number} */ i, /** @type {number} */ j, /** @type {number} */ value) => {
    const matrix = board.local.now[name];
    matrix[i][j] = value;
    ask({ [name]: matrix });
  };
  put("X", "·", { stands: "X_t", label: ["X", "t"], lit: row, colour: theme.model, edit: edit("X") });
  put("W_xh", "+", {
    stands: "W_xh",
    label: ["W", "xh"],
    lit: column,
    colour: theme.model,
    edit: edit("W_xh"),
  });
  put("H", "·", { stands: "H_t-1", label: ["H", "t−1"], lit: row, colour: theme.ngram, edit: edit("H") });
  put("W_hh", "=", {
    stands: "W_hh",
    label: ["W", "hh"],
    lit: column,
    colour: theme.ngram,
    edit: edit("W_hh"),
  });
  put("sum", "", { label: data.words.two, lit: entry, full: 4, ...pointing(board) });
  return { svg: g.svg, places };
}

/**
 * [X, H] [W_xh; W_hh]: the blocks come from where they stand above.
 * @param {Board} board @param {Said<Product>} data @param {Record<string, Laid>} places @param {number} y
 */
function one(board, data, places, y) {
  const { theme, step, W } = board;
  const { words } = data;
  const { row, column, entry } = lighting(board);
  const middle = y + HIGH / 2;
  const shapes = y + HIGH + 22;
  const common = { cell: [w, h], size: 20 };
  /** @param {Factor} name @param {number} x @param {number} y @param {string} colour @param {object} more */
  const block = (name, x, y, colour, more) => {
    const g = board.group();
    const made = g.matrix({ ...common, x, y, values: data[name], edges: false, ...more });
    g.rect(x + 0.5, y + 0.5, made.width - 1, made.height - 1, {
      fill: "none",
      stroke: colour,
      "stroke-width": 3,
      rx: 5,
    });
    if (step === 1) board.move(g.svg, { x: places[name].x - x, y: places[name].y - y });
    return made;
  };
  let x = (W - 17 * w - 4 * SIGN) / 2;
  block("X", x, y + h, theme.model, { stands: "X_t", lit: row });
  block("H", x + w, y + h, theme.ngram, { stands: "H_t-1", lit: row });
  const left = board.edges({ x, y: y + h, width: 5 * w, height: 3 * h });
  board.symbol(x + 2.5 * w, y + h - 20, "[X, H]", "", "middle");
  shape(board, left, shapes, "(3, 5)");
  x += 5 * w;
  board.text(x + SIGN / 2, middle, "·", "30 middle muted");
  x += SIGN;
  block("W_xh", x, y, theme.model, { stands: "W_xh", lit: column });
  block("W_hh", x, y + h, theme.ngram, { stands: "W_hh", lit: column });
  const right = board.edges({ x, y, width: 4 * w, height: HIGH });
  shape(board, right, shapes, "(5, 4)");
  x += 4 * w;
  if (step === 1) {
    board.say("axis1", [x + 50, y + h, 480], [[words.axis1, "model strong"]]);
    board.say("axis0", [x + 50, y + 3 * h, 480], [[words.axis0, "ngram strong"]]);
    return;
  }
  board.text(x + SIGN / 2, middle, "=", "30 middle muted");
  board.text(x + SIGN / 2, shapes, "=", "20 middle 600 muted");
  x += SIGN;
  const place = { ...common, y: y + h, lit: entry, ...pointing(board) };
  const product = { ...place, x, values: data.product, name: "product", full: 4, label: words.one };
  shape(board, board.matrix(product), shapes, "(3, 4)");
  if (step < 3) return;
  const apart = {
    x: x + 4 * w + 70,
    values: data.apart,
    name: "apart",
    digits: 1,
    full: 10,
    label: words.apart,
  };
  board.matrix({ ...place, ...apart });
}

/**
 * The lit entry spelt out.
 * @param {Board} board @param {Said<Product>} data @param {[number, number]} over @param {number} y
 */
function sum(board, data, over, y) {
  const { theme, W } = board;
  const [i, j] = over;
  const number = (/** @type {number} */ v) => (v < 0 ? `(${board.number(v)})` : board.number(v));
  const terms = [
    ...data.X[i].map((value, k) => [value, data.W_xh[k][j], theme.model]),
    ...data.H[i].map((value, k) => [value, data.W_hh[k][j], theme.ngram]),
  ];
  const text = board.text(W / 2, y, "", "22 middle");
  terms.forEach(([a, b, colour], k) => {
    const term = `${k ? " + " : ""}${number(Number(a))}·${number(Number(b))}`;
    board.span(text, term, { fill: colour });
  });
  board.span(text, ` = ${board.number(data.sum[i][j], 4)}`, { "font-weight": 700 });
}
