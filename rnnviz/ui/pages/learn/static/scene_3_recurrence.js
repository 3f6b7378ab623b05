// One time step after another: a small net whose every number is shown, and one unit of a real one.
// The small net's walk and its parameters: recurrence_walk.js; steps as boxes and arrows: recurrence_steps.js.

import { fill } from "../../../browser/static/words.js";
import { figure } from "./recurrence_steps.js";
import { head, numbers, parameters, reader, unrolled } from "./recurrence_walk.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, RecurrenceReal, RecurrenceSmall, Said, Term } from "./types" */

/** @param {Board} board @param {Said<RecurrenceSmall | RecurrenceReal>} data @param {Ask} ask */
export function draw(board, data, ask) {
  if (data.show === "unit") return real(board, data, ask);
  head(board, data, ask);
  if (data.show === "figure") return figure(board, data);
  const spare = Math.max(0, board.H - 540);
  unrolled(board, data, ask, 70 + spare * 0.15);
  if (data.show === "walk") numbers(board, data, 192 + spare * 0.25);
  else parameters(board, data, 206 + spare * 0.4);
}

// ---- the real one ---------------------------------------------------------------------------------

/** @param {Board} board @param {Said<RecurrenceReal>} data @param {Ask} ask */
function real(board, data, ask) {
  const { theme, W, H } = board;
  const { words, t, unit } = data;
  board.field(
    "text",
    [0, 2, 470],
    data.text,
    { label: words.text, limit: data.limit },
    (text) => text && ask({ text }),
  );
  reader(board, data, ask, 500, data.marks.length);
  board.text(W, 21, data.model, "end mono 20 muted");

  // All of H_t for some units: click to choose.
  const [x, y] = [92, 92];
  const [wide, high] = [528, H - y - 44];
  const [w, h] = [Math.min(36, wide / data.marks.length), high / data.units.length];
  board.text(x, y - 20, fill(words.units, { n: data.units.length, count: data.count }), "20 muted");
  data.states.forEach((row, k) =>
    row.forEach((value, i) => {
      const cell = board.rect(x + k * w, y + i * h, w + 0.4, h + 0.4, { fill: board.colour(value) });
      board.on(cell, `h.${k}.${i}`, { click: () => ask({ t: k + 1, unit: data.units[i] }) });
      cell.removeAttribute("tabindex");
    }),
  );
  data.marks.forEach((mark, k) =>
    board.text(
      x + (k + 0.5) * w,
      y + high + 20,
      mark,
      `middle mono ${Math.min(24, w * 1.1)} ${k + 1 === t ? 700 : 400} ${k + 1 === t ? "pinned" : "text"}`,
    ),
  );
  board.rect(x + (t - 1) * w, y, w, high, {
    fill: "none",
    stroke: theme.pinned,
    "stroke-width": 3,
    "pointer-events": "none",
  });
  const row = data.units.indexOf(unit);
  if (row >= 0) {
    board.rect(x, y + row * h, w * data.marks.length, h, {
      fill: "none",
      stroke: theme.cursor,
      "stroke-width": 2.5,
      "pointer-events": "none",
    });
    board.text(x - 10, y + (row + 0.5) * h, String(unit), "end 700 22");
  }
  sum(board, data, 668, 84);
}

/**
 * The parts of one unit's pre-activation, as bars from zero; then φ.
 * @param {Board} board @param {Said<RecurrenceReal>} data @param {number} x @param {number} y
 */
function sum(board, data, x, y) {
  const { theme, W, H } = board;
  const { words, t, unit } = data;
  /** @type {Term[]} */
  const rows = [
    {
      said: fill(words.reads, { character: data.marks[t - 1] }),
      value: data.input,
      colour: theme.model,
      stands: "X_t W_xh",
    },
    {
      said: data.t === 1 ? words.began : words.before,
      value: data.before,
      colour: theme.ngram,
      stands: "h_t-1i w_ij i",
    },
    { said: words.bias, value: data.bias, colour: theme.muted, stands: "b_j" },
    { said: words.sum, value: data.sum, strong: true, line: true },
    { said: "φ", value: data.h, strong: true, phi: true },
  ];
  const pace = Math.min(76, (H - y - 14) / rows.length);
  const [names, numbers] = [170, 92];
  const from = x + names;
  const track = W - from - numbers;
  const full = Math.max(0.6, ...rows.map((row) => Math.abs(row.value)));
  const zero = from + track / 2;
  const scale = track / 2 / full;
  board.text(x, y - 14, `${fill(words.unit, { n: unit })},  t = ${t}`, { style: "700 pinned", stands: "j" });
  board.line(zero, y + 4, zero, y + pace * rows.length, { stroke: theme.axis });
  rows.forEach((row, i) => {
    const middle = y + (i + 0.5) * pace + 6;
    const fillOf = row.colour ?? board.colour(Math.sign(row.value) * 0.62);
    if (row.line) board.line(x, middle - pace / 2, W, middle - pace / 2, { stroke: theme.muted, width: 2 });
    const weight = row.strong ? 700 : 400;
    if (row.phi) board.symbol(x, middle, "H", `${t}, ${unit}`, { style: "28 pinned", stands: "h_tj" });
    else board.text(x, middle, row.said, { style: `${weight} 22`, stands: row.stands });
    const phi = { style: "end 22 italic muted", stands: "phi" };
    if (row.phi) board.text(x + names - 16, middle, "φ(Σ)", phi);
    const long = row.value * scale;
    const high = pace * 0.56;
    board.rect(Math.min(zero, zero + long), middle - high / 2, Math.max(1.5, Math.abs(long)), high, {
      fill: row.phi ? board.colour(row.value) : fillOf,
      rx: 3,
      stroke: row.phi ? theme.pinned : "none",
      "stroke-width": 2.5,
      stands: row.phi ? "h_tj" : row.stands,
    });
    board.text(W, middle, board.number(row.value), `end ${weight}`);
  });
}
