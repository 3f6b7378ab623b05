// What a state may be: three f's on the same text, what each tells apart, and what it costs.

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, Kept, Rules, Said } from "./types" */

/** A rule's colour. @param {Board} board @param {string} kind */
function colour(board, kind) {
  const { theme } = board;
  return { append: theme.ngram, last: theme.uniform, rnn: theme.model }[kind] ?? theme.text;
}

/** h_t = f(x_t, h_{t-1}), as this rule has it: letters, each with what stands below it. @type {Record<string, string[][]>} */
const FORMULAS = {
  append: [["h", "t"], [" = ("], ["h", "t−1"], [", "], ["x", "t"], [")"]],
  last: [["h", "t"], [" = "], ["x", "t"]],
  rnn: [["h", "t"], [" = tanh(…)"]],
  x: [["x", "t"]],
  P: [["P("], ["x", "t+1"], [" | "], ["h", "t"], [")"]],
};

/** A formula in the picture. @param {Board} board @param {number} x @param {number} y @param {string} name @param {string} style */
function formula(board, x, y, name, style) {
  const text = board.text(x, y, "", { style, "font-family": "KaTeX_Main, 'Times New Roman', serif" });
  const size = Number(text.getAttribute("font-size"));
  for (const [letter, below] of FORMULAS[name]) {
    const plain = letter === "h" ? { "font-weight": 700 } : letter === "x" ? { "font-style": "italic" } : {};
    board.span(text, letter, plain);
    if (!below) continue;
    board.span(text, below, {
      dy: size * 0.24,
      "font-size": Math.max(20, size * 0.75),
      "font-style": "italic",
    });
    board.span(text, "\u200b", { dy: -size * 0.24 });
  }
  return text;
}

/** @param {Board} board @param {Said<{ t: number, steps: number }>} data @param {Ask} ask @param {number} x */
function slider(board, data, ask, x) {
  board.slider("t", [x, 4, board.W - x], "t", { min: 1, max: data.steps, value: data.t }, (t) => ask({ t }));
}

/**
 * The step from h_{t-1} and x_t to h_t and what it predicts, by three rules.
 * @param {Board} board @param {Said<Kept>} data @param {Ask} ask
 */
export function kept(board, data, ask) {
  const { theme, H } = board;
  const { words } = data;
  const first = { label: words.first, limit: data.short };
  board.field("first", [0, 2, 440], data.first, first, (text) => text && ask({ first: text }));
  slider(board, data, ask, 470);

  // h_{t-1} and x_t go into f; out comes h_t, and from it P.
  const [before, input, rules, after, next] = [360, 545, 620, 820, 1120];
  const y = 92;
  const box = (
    /** @type {number} */ x,
    /** @type {string} */ letter,
    /** @type {string} */ below,
    /** @type {string} */ name,
  ) => {
    const g = board.group();
    g.rect(x - 46, y - 27, 92, 54, { fill: "none", stroke: theme.axis, "stroke-width": 2.5, rx: 8 });
    g.symbol(x, y, letter, below, "30 middle");
    board.stands(g.svg, name);
  };
  box(before, "h", "t−1", "h_t-1");
  board.stands(formula(board, input, y, "x", "30 middle"), "x_t");
  const f = board.group();
  f.circle(rules + 45, y, 30, { fill: theme.model, stroke: "none" });
  f.text(rules + 45, y, "f", `30 middle italic 600 ${board.ink(theme.model)}`);
  board.stands(f.svg, "f");
  box(after + 20, "h", "t", "h_t.state");
  board.text((before + input) / 2 + 16, y + 4, ",", "30 middle");
  board.arrow(input + 24, y, rules + 12, y, { stroke: theme.muted });
  board.arrow(rules + 77, y, after - 30, y, { stroke: theme.muted });
  board.arrow(after + 70, y, next - 96, y, { stroke: theme.muted });
  board.stands(formula(board, next, y, "P", "28 middle"), "P");

  const top = 142;
  const high = (H - top) / 3;
  data.rows.forEach((row, i) => {
    const middle = top + (i + 0.5) * high;
    board.line(0, top + i * high, board.W, top + i * high, { stroke: theme.grid });
    const look = colour(board, row.kind);
    board.text(0, middle - 17, words[row.kind], `22 700 ${look}`);
    formula(board, 0, middle + 19, row.kind, "25 muted");
    state(board, row.before, before, middle);
    board.text(input, middle, data.character, "30 middle mono 700 pinned");
    board.arrow(input + 30, middle, after - 145, middle, { stroke: look, width: 3, head: 12 });
    const g = board.group();
    state(g, row.after, after + 20, middle);
    board.move(g.svg, { x: before - after - 20, opacity: 0 });
    if (row.times === null) {
      const many = fill(words.numbers, { n: row.after.length });
      // What a network knows before the first character is a start symbol.
      board.text(before, middle + 44, data.t === 1 ? words.began : many, "20 middle muted");
      board.text(after + 20, middle + 44, many, "20 middle muted");
    }
    if (row.times !== null) {
      const times = fill(words[row.times ? "times" : "none"], { count: board.number(row.times, 0) });
      board.say(`times.${i}`, [1000, middle - 50, 240], [[times, row.times ? "quiet" : "strong"]], {
        size: 20,
      });
    }
    row.next.forEach(([symbol, chance], k) => {
      const at = middle + (row.times === null ? 30 * (k - 1) : 30 * k - 8);
      board.text(1030, at, symbol, `22 mono 700 ${look}`);
      board.text(1130, at, board.percent(chance), "22 end");
    });
  });
}

/** A state: a text, or numbers in a row. @param {Board} board @param {string | number[]} value @param {number} x its middle @param {number} y */
function state(board, value, x, y) {
  if (typeof value !== "string")
    board.strip({ x: x - 130, y: y - 26, width: 260, height: 52, values: value });
  else board.text(x, y, value || "–", `${Math.min(24, 260 / (0.6 * Math.max(1, value.length)))} middle mono`);
}

/**
 * Two texts that differ early: where each rule has them apart, and what it costs at t.
 * @param {Board} board @param {Said<Rules>} data @param {Ask} ask
 */
export function compared(board, data, ask) {
  const { theme, H, W } = board;
  const { words, t, steps } = data;
  for (const [name, x] of /** @type {["first" | "second", number][]} */ ([
    ["first", 0],
    ["second", 440],
  ])) {
    const options = { label: words[name], limit: data.short };
    board.field(name, [x, 2, 420], data[name], options, (text) => text && ask({ [name]: text }));
  }
  slider(board, data, ask, 890);

  const left = 196;
  const each = Math.min(26, 560 / steps);
  const texts = [[...data.first], [...data.second]];
  texts.forEach((characters, row) => {
    characters.slice(0, steps).forEach((character, k) => {
      const differs = texts[0][k] !== texts[1][k];
      const look = `${differs ? "700 pinned" : k < t ? "text" : "muted"} middle mono 22`;
      const stands = k === t - 1 ? "x_t" : "";
      board.text(left + (k + 0.5) * each, 76 + 32 * row, character === " " ? "·" : character, {
        style: look,
        stands,
      });
    });
  });
  const [top, foot] = [134, H - 2];
  const high = (foot - top) / 3;
  const columns = [
    { x: 830, said: words.apart },
    { x: 960, said: words.store },
    { x: 1090, said: words.predict },
    { x: W, said: words.work },
  ];
  for (const { x, said } of columns) board.text(x, 108, said, "20 end muted");
  data.rows.forEach((row, i) => {
    const middle = top + (i + 0.5) * high;
    const look = colour(board, row.kind);
    board.line(0, top + i * high, W, top + i * high, { stroke: theme.grid });
    board.text(0, middle - 17, words[row.kind], `22 700 ${look}`);
    board.stands(formula(board, 0, middle + 19, row.kind, "25 muted"), "f");
    const states = board.group({ stands: "h_t.state" });
    row.apart.forEach((value, k) => {
      const cell = states.rect(left + k * each, middle - 26, each - 1.5, 52, {
        fill: board.colour(value, "sequential"),
        rx: 3,
      });
      board.on(cell, `apart.${i}.${k}`, { click: () => ask({ t: k + 1 }) });
      cell.removeAttribute("tabindex"); // the slider has the keys
    });
    const now = row.apart[t - 1];
    const sign = row.kind === "append" ? (now ? "≠" : "=") : now ? board.percent(now) : "0 %";
    const stored = row.stored ?? `${data.size}${board.raised(t + 1)}`;
    const unit = row.kind === "rnn" ? words["unit.parameters"] : words["unit.entries"];
    const work = words[row.kind === "rnn" ? "unit.products" : row.work === 1 ? "unit.one" : "unit.read"];
    /** @type {[string, string][]} */
    const cells = [
      [sign, ""],
      [board.number(row.bits, row.bits < 1000 ? 1 : 0), words["unit.bits"]],
      [stored, unit],
      [board.number(row.work, 0), work],
    ];
    cells.forEach(([big, small], k) => {
      board.text(columns[k].x, middle - (small ? 15 : 0), big, `24 end 700 ${look}`);
      if (small) board.text(columns[k].x, middle + 15, small, "20 end muted");
    });
  });
  const marker = { fill: "none", stroke: theme.pinned, "stroke-width": 3, rx: 4, "pointer-events": "none" };
  board.rect(left + (t - 1) * each - 1, 58, each + 1, foot - 66, marker);
}
