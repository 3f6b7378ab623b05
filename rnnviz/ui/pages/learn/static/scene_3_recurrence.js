// One time step after another: a small net whose every number is shown, and one unit of a real one.

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, MatrixOptions, RecurrenceReal, RecurrenceSmall, Said, SumRow, Term } from "./types" */

/** @param {Board} board @param {Said<RecurrenceSmall | RecurrenceReal>} data @param {Ask} ask */
export function draw(board, data, ask) {
  if (data.real) real(board, data, ask);
  else small(board, data, ask);
}

/**
 * ‹ t = 3 ›
 * @param {Board} board @param {Said<{ t: number }>} data @param {Ask} ask @param {number} x @param {number} last
 */
function walk(board, data, ask, x, last) {
  const { words, t } = data;
  board.button("backward", [x, 2], "‹", () => ask({ t: t - 1 }), { off: t <= 1, title: words.backward });
  board.text(x + 84, 21, `t = ${t}`, "middle 600");
  board.button("forward", [x + 126, 2], "›", () => ask({ t: t + 1 }), {
    off: t >= last,
    title: words.forward,
  });
}

// ---- the small net --------------------------------------------------------------------------------

/** @param {Board} board @param {Said<RecurrenceSmall>} data @param {Ask} ask */
function small(board, data, ask) {
  const { W, H } = board;
  const { words } = data;
  board.field(
    "word",
    [0, 2, 230],
    data.word,
    { label: words.word, limit: data.longest },
    (word) => word && ask({ word }),
  ).title = words["word.help"];
  walk(board, data, ask, 262, data.word.length);
  board.button("draw", [W - 226, 2, 226], words.draw, () =>
    ask({ seed: 1 + Math.floor(Math.random() * 9998) }),
  );
  board.text(W - 240, 21, fill(words.seed, { n: data.seed }), "end muted 20");
  const spare = Math.max(0, H - 540);
  unrolled(board, data, ask, 88 + spare * 0.2);
  numbers(board, data, 242 + spare * 0.6);
}

/**
 * The net once for every character: one more with each step, all with the same parameters.
 * @param {Board} board @param {Said<RecurrenceSmall>} data @param {Ask} ask @param {number} y
 */
function unrolled(board, data, ask, y) {
  const { theme } = board;
  const { words, t, apart } = data;
  const characters = [...data.word];
  const [wide, high, each] = [104, 40, 178];
  const teal = theme.model;
  const orange = theme.ngram;
  const box = (/** @type {number} */ k) => 44 + k * each;
  for (let k = 0; k <= characters.length; k++) {
    const x = box(k);
    const there = k <= t;
    const g = board.group({ opacity: there ? 1 : 0.22 });
    if (k > 0) {
      g.arrow(box(k - 1) + wide + 3, y + high / 2, x - 4, y + high / 2, {
        stroke: orange,
        width: apart ? 5 : 3,
        head: 12,
      });
      const one = there ? { stands: "W_hh" } : {};
      g.symbol((box(k - 1) + wide + x) / 2, y - 2, "W", "hh", { style: `middle ${orange} 19`, ...one });
      g.arrow(x + wide / 2, y + high + 46, x + wide / 2, y + high + 4, { stroke: teal, width: 3, head: 12 });
      const other = there ? { stands: "W_xh" } : {};
      g.symbol(x + wide / 2 + 10, y + high + 26, "W", "xh", { style: `${teal} 19`, ...other });
      g.rect(x + wide / 2 - 19, y + high + 48, 38, 34, {
        fill: "none",
        stroke: teal,
        rx: 6,
        "stroke-width": 2,
      });
      g.text(x + wide / 2, y + high + 65, characters[k - 1], "middle mono 700");
    }
    g.symbol(x + wide / 2, y - 19, "H", String(k), `middle 21 ${k === t ? "pinned" : "text"}`);
    const values = data.states[k];
    values.forEach((value, i) =>
      g.rect(x + (i * wide) / 4, y, wide / 4, high, { fill: there ? board.colour(value) : theme.background }),
    );
    const frame = k > 0 && apart ? teal : k === t ? theme.pinned : theme.axis;
    const border = g.rect(x, y, wide, high, {
      fill: "transparent",
      stroke: frame,
      "stroke-width": k === t || apart ? 4 : 1.5,
      rx: 2,
    });
    if (k === t) board.stands(border, "H_t");
    if (k === t - 1) board.stands(border, "H_t-1");
    if (k > 0) board.on(border, `node.${k}`, { click: () => ask({ t: k }), label: `t = ${k}` });
  }
  if (!apart) return;
  const right = box(characters.length) + wide + 34;
  const room = board.W - right;
  const beside = room > 210;
  /** @type {[string, string][]} */
  const [layer, line, state] = [
    [words.layer, "model bold"],
    ["", "line"],
    [words.state, "ngram bold"],
  ];
  const parts = [layer, ` · ${words["layer.is"]}`, line, state, ` · ${words["state.is"]}`];
  const size = beside ? 20 : 17;
  board.say("apart", beside ? [right, y - 34, room] : [470, 0, board.W - 790], parts, { size });
}

/**
 * Every number of the step that is shown.
 * @param {Board} board @param {Said<RecurrenceSmall>} data @param {number} y
 */
function numbers(board, data, y) {
  const { theme, local, W } = board;
  const { words, t } = data;
  const cell = [62, 32];
  const [w, h] = cell;
  const left = (W - 1180) / 2 + 16;
  const middle = left + 4 * w + 46;
  const right = middle + 4 * w + 118;
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
  const common = { cell, size: 19, full: 1.5 };
  const teal = theme.model;
  const orange = theme.ngram;
  const upper = y + 26;
  const lower = upper + 3 * h + 48;
  const dot = (/** @type {number} */ at) => board.text(middle - 24, at, "·", "30 middle muted");
  board.matrix({
    ...common,
    x: left + w,
    y: upper + h,
    values: data.x,
    stands: "X_t",
    digits: 0,
    label: ["X", String(t)],
    colour: teal,
  });
  dot(upper + 1.5 * h);
  const input = board.matrix({
    ...common,
    x: middle,
    y: upper,
    values: data.W_xh,
    stands: "W_xh",
    digits: 1,
    label: ["W", "xh"],
    colour: teal,
    lit: column,
  });
  board.matrix({
    ...common,
    x: left,
    y: lower + 1.5 * h,
    values: data.before,
    stands: "H_t-1",
    label: ["H", String(t - 1)],
    colour: orange,
    full: 1,
  });
  dot(lower + 2 * h);
  const state = board.matrix({
    ...common,
    x: middle,
    y: lower,
    values: data.W_hh,
    stands: "W_hh",
    digits: 1,
    label: ["W", "hh"],
    colour: orange,
    lit: column,
  });

  // The sum, from top to bottom.
  /** @type {SumRow[]} */
  const rows = [
    {
      values: data.from_input,
      symbols: [
        ["X", String(t)],
        ["W", "xh"],
      ],
      colour: teal,
      from: input,
    },
    {
      values: data.from_state,
      symbols: [
        ["H", String(t - 1)],
        ["W", "hh"],
      ],
      colour: orange,
      from: state,
    },
    { values: data.b_h, symbols: [["b", "h"]], sign: "+", stands: "b_h" },
    { values: data.pre_activation, words: words.sum, sign: "=", line: true },
    {
      values: data.state,
      symbols: [["H", String(t)]],
      sign: "φ",
      stands: "H_t",
      colour: theme.pinned,
      full: 1,
    },
  ];
  const pace = (state.bottom - upper + 4) / rows.length;
  rows.forEach((row, i) => {
    const at = upper + i * pace + 2;
    const centre = at + h / 2;
    if (row.from) {
      const [x1, y1] = [row.from.right + 14, row.from.y + row.from.height / 2];
      const bend = (x1 + right) / 2;
      const d = `M${x1},${y1} C${bend},${y1} ${bend},${centre} ${right - 54},${centre}`;
      board.path(d, { stroke: row.colour, width: 3 });
      board.arrow(right - 55, centre, right - 40, centre, { stroke: row.colour, width: 3, head: 12 });
    }
    if (row.line) board.line(right - 6, at - 8, right + 4 * w + 6, at - 8, { stroke: theme.muted, width: 2 });
    const sign = row.sign ?? (i ? "+" : "");
    const phi = sign === "φ";
    const style = `26 middle muted ${phi ? "italic" : ""}`;
    board.text(right - 24, centre, sign, phi ? { style, stands: "phi" } : style);
    board.matrix({
      ...common,
      x: right,
      y: at,
      values: row.values,
      stands: row.stands,
      colour: row.colour,
      name: `sum.${i}`,
      hover,
      pick: hover,
      lit: column,
      full: row.full ?? 1.5,
    });
    let x = right + 4 * w + 20;
    for (const [letter, below] of row.symbols ?? []) {
      board.symbol(x, centre, letter, below, `23 ${row.colour ?? theme.text}`);
      x += letter === "W" ? 46 : 38;
    }
    if (row.words) board.text(x, centre, row.words, "20");
  });
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
  walk(board, data, ask, 500, data.marks.length);
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
    { said: fill(words.input, { character: data.marks[t - 1] }), value: data.input, colour: theme.model },
    ...data.terms.map(([i, before, weight, term]) => ({
      said: fill(words.unit, { n: i }),
      value: term,
      extra: `${board.number(before)} × ${board.number(weight)}`,
    })),
    { said: fill(words.others, { n: data.others }), value: data.rest },
    { said: words.bias, value: data.bias, colour: theme.muted },
    { said: words.sum, value: data.sum, strong: true, line: true },
    { said: "φ", value: data.h, strong: true, phi: true },
  ];
  const pace = Math.min(52, (H - y - 14) / rows.length);
  const [names, extras, numbers] = [160, 132, 84];
  const from = x + names + extras;
  const track = W - from - numbers;
  const full = Math.max(0.6, ...rows.map((row) => Math.abs(row.value)));
  const zero = from + track / 2;
  const scale = track / 2 / full;
  board.text(x, y - 14, `${fill(words.unit, { n: unit })},  t = ${t}`, "700 pinned");
  board.line(zero, y + 4, zero, y + pace * rows.length, { stroke: theme.axis });
  rows.forEach((row, i) => {
    const middle = y + (i + 0.5) * pace + 6;
    const fillOf = row.colour ?? board.colour(Math.sign(row.value) * 0.62);
    if (row.line) board.line(x, middle - pace / 2, W, middle - pace / 2, { stroke: theme.muted, width: 2 });
    const weight = row.strong ? 700 : 400;
    if (row.phi) board.symbol(x, middle, "H", `${t}, ${unit}`, "24 pinned");
    else board.text(x, middle, row.said, `${weight} 20`);
    if (row.phi) board.text(x + names + extras - 12, middle, "φ(Σ)", "end 20 italic muted");
    if (row.extra) board.text(x + names + extras - 12, middle, row.extra, "end 18 muted");
    const long = row.value * scale;
    board.rect(
      Math.min(zero, zero + long),
      middle - pace * 0.32,
      Math.max(1.5, Math.abs(long)),
      pace * 0.64,
      {
        fill: row.phi ? board.colour(row.value) : fillOf,
        rx: 3,
        stroke: row.phi ? theme.pinned : "none",
        "stroke-width": 2.5,
      },
    );
    board.text(W, middle, board.number(row.value), `end ${weight}`);
  });
}
