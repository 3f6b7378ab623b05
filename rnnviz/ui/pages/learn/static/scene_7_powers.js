// Scene 7, steps 2 and 3: how far gradients reach in trained networks, and the powers of a matrix.

import { maths } from "./maths.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, BackwardsDial, BackwardsFlow, Said } from "./types" */

const WORST = 1e-18;

/**
 * Names beside the ends of lines, from top to bottom, kept from running into one another.
 * @param {Board} board @param {{ label: string, y: number, colour: string }[]} names
 * @param {number} x @param {number} apart @param {number} lowest @param {number} size
 */
export function beside(board, names, x, apart, lowest, size) {
  names.sort((a, b) => a.y - b.y);
  names.forEach((name, i) => {
    if (i) name.y = Math.max(name.y, names[i - 1].y + apart);
  });
  const over = Math.max(0, names[names.length - 1].y - lowest);
  for (const { label, y, colour } of names) board.text(x, y - over, label, `${size} 700 ${colour}`);
}

/** @param {Board} board @param {Said<BackwardsFlow>} data @param {Ask} ask */
export function flow(board, data, ask) {
  const { theme } = board;
  const { words } = data;
  board.field(
    "text",
    [0, 2, board.W],
    data.text,
    { label: words.text, limit: data.limit, size: 22 },
    (text) => {
      if (text.length > 1) ask({ text });
    },
  );
  board.text(board.W, 68, words.gates, "20 end muted");
  const values = data.curves.flatMap((c) => c.points).filter((v) => v > 0);
  const lowest = Math.max(WORST, Math.min(...values));
  const highest = Math.max(...values);
  const lags = data.curves[0].points.length - 1;
  const { Y } = board.chart(
    [84, 116, board.W - 346, 352 + board.spare],
    [0, Math.max(1, lags)],
    [10 ** Math.floor(Math.log10(lowest)), 10 ** Math.ceil(Math.log10(highest))],
    {
      log: true,
      size: 22,
      xTitle: words.lag,
      yTitle: words.norm,
      lines: data.curves.map((c) => ({
        points: c.points.map((v, k) => [k, v || null]),
        colour: theme.cells[c.cell],
        width: 5,
        stands: "l_T H_t",
      })),
    },
  );
  const ends = data.curves.map((c) => ({
    label: `${c.cell.toUpperCase()}  ${c.left}`,
    y: Y(Math.max(lowest, c.points.findLast((v) => v > 0) ?? lowest)),
    colour: theme.cells[c.cell],
  }));
  beside(board, ends, board.W - 252, 32, 468 + board.spare, 26);
}

/** @param {Board} board @param {Said<BackwardsDial>} data @param {Ask} ask */
export function dial(board, data, ask) {
  const { words } = data;
  const turned = board.slider(
    "radius",
    [0, 6, 620],
    `ρ = ${words.dial}`,
    { min: data.range[0], max: data.range[1], step: 0.01, value: data.radius, say: (v) => board.number(v) },
    (radius) => ask({ radius }),
  );
  board.stands(turned, "rho");
  const most = { min: 1, max: data.lags, value: data.power };
  board.stands(
    board.slider("power", [660, 6, 360], words.power, most, (power) => ask({ power })),
    "k",
  );
  board.button("seed", [board.W - 190, 2, 190], words.seed, () => ask({ seed: (data.seed + 1) % 1000 }));
  const middle = 294 + board.spare / 2;
  plane(board, data, 158, middle);
  powers(board, data, 340, middle);
  curves(board, data, 790);
}

/** The complex plane. @param {Board} board @param {Said<BackwardsDial>} data @param {number} cx @param {number} cy */
function plane(board, data, cx, cy) {
  const { theme } = board;
  const unit = 92;
  board.text(cx, cy - 206, data.words.plane, "22 middle muted");
  board.line(cx - 148, cy, cx + 148, cy, { stroke: theme.grid });
  board.line(cx, cy - 148, cx, cy + 148, { stroke: theme.grid });
  board.circle(cx, cy, unit, { fill: "none", stroke: theme.axis, "stroke-width": 2.5 });
  board.text(cx + unit - 8, cy + 18, "1", "20 end muted");
  board.circle(cx, cy, unit * data.radius, {
    fill: "none",
    stroke: theme.came,
    "stroke-width": 2,
    "stroke-dasharray": "7 6",
  });
  for (const [re, im] of data.eigenvalues) {
    const outside = Math.hypot(re, im) > 1 + 1e-9;
    board.circle(cx + re * unit, cy - im * unit, 9, {
      stands: "lambda_i i_eigenvalue",
      fill: outside ? theme.came : theme.model,
      stroke: theme.background,
      "stroke-width": 2,
    });
  }
  board.text(cx, cy + 194, `ρ = ${board.number(data.radius)}`, {
    style: `30 middle 700 ${data.radius > 1 ? "came" : "model"}`,
    stands: "rho",
  });
}

/** The matrix, multiplied with itself. @param {Board} board @param {Said<BackwardsDial>} data @param {number} x @param {number} cy */
function powers(board, data, x, cy) {
  const n = data.matrix.length;
  const cell = [61, 50];
  const y = cy - (n * cell[1]) / 2 - 8;
  const middle = x + (n * cell[0]) / 2;
  // What is too long for an entry has its power of ten in front.
  const largest = Math.max(...data.matrix.flat().map(Math.abs));
  const tens = largest < 10 ? 0 : Math.floor(Math.log10(largest));
  const ahead = tens ? `  =  10^{${tens}} ×` : "";
  maths(board, middle, cy - 206, `(W_{hh})^{${data.power}}${ahead}`, "28 middle");
  const grid = board.group({ stands: "W_hh" });
  const values = data.matrix.map((row) => row.map((value) => value / 10 ** tens));
  grid.matrix({ x, y, values, cell, full: 10 ** -tens });
  const [size, rule] = [board.power(data.size), board.power(data.rule[data.power])];
  maths(
    board,
    middle - 12,
    cy + 194,
    `‖(W_{hh})^{${data.power}}‖ = ${size}  ≥  ρ^{${data.power}} = ${rule}`,
    "22 middle",
  );
}

/** What comes back. @param {Board} board @param {Said<BackwardsDial>} data @param {number} x */
function curves(board, data, x) {
  const { theme } = board;
  const { words } = data;
  const points = (/** @type {number[]} */ values) => values.map((v, k) => [k, v]);
  const width = board.W - x - 84;
  const { Y } = board.chart([x, 112, width, 350 + board.spare], [0, data.lags], data.norms, {
    log: true,
    xTitle: words.lag,
    yTitle: words.norm,
    marks: [{ x: data.power, colour: theme.pinned }],
    lines: [
      { points: points(data.linear), colour: theme.came, width: 9 },
      { points: points(data.tanh), colour: theme.model, width: 3.5 },
      { points: points(data.rule), colour: theme.text, dash: "3 7", width: 2.5 },
    ],
  });
  const end = (/** @type {number[]} */ values) => Y(values[values.length - 1]);
  const names = [
    { label: words.linear, y: end(data.linear), colour: theme.came },
    { label: "tanh", y: end(data.tanh), colour: theme.model },
    { label: "ρᵏ", y: end(data.rule), colour: theme.text },
  ];
  beside(board, names, x + width + 8, 25, 456 + board.spare, 21);
}
