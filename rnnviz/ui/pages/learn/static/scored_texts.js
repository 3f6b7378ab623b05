// Scene 6's steps on texts that models have read: three continuations, two texts of any length, stored bits.

import { visible } from "../../../browser/static/characters.js";
import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, PerplexityBits, PerplexityLength, PerplexityRain, Range, Said, SceneTheme } from "./types" */

/** A perplexity that is read from afar. @param {Board} board @param {number} v */
export function short(board, v) {
  return board.number(v, v === Math.round(v) || v >= 100 ? 0 : v >= 10 ? 1 : 2);
}

/** The models that can be chosen. @param {Board} board @param {Said<{ kinds: string[], kind: string }>} data @param {Ask} ask */
function models(board, { kinds, kind, words }, ask) {
  /** @type {[string, string][]} */
  const named = kinds.map((key) => [key, words[key]]);
  board.choice("kind", [0, 4], words.model, named, kind, (key) => ask({ kind: key }));
}

// ---- three continuations ----------------------------------------------------------------------------

/** @param {Board} board @param {Said<PerplexityRain>} data @param {Ask} ask */
export function rain(board, data, ask) {
  const { theme, local } = board;
  const { words, rows } = data;
  models(board, data, ask);
  const most = Math.log(Math.max(1000, data.uniform * 2, ...rows.map((r) => r.perplexity)));
  const x = 760;
  const room = board.W - x - 150;
  const X = (/** @type {number} */ v) => x + (Math.log(Math.max(1, v)) / most) * room;
  const begin = [...data.beginning].reduce((wide, c) => wide + (c > "\u2e80" ? 24 : 14.5), 10);
  const pitch = 150 + board.spare / 3;
  board.text(x, 22, words.perplexity, "22 muted");
  board.text(X(data.uniform), 56, `${words.blind} ${board.numbers.whole(data.uniform)}`, "20 middle uniform");
  rows.forEach((row, i) => {
    const y = 72 + i * pitch;
    board.text(0, y + 24, data.beginning, { style: "24 mono muted", stands: "m" });
    const { input } = board.field(
      `ending.${i}`,
      [begin, y + 2, 710 - begin],
      row.ending,
      { limit: data.limit, size: 24 },
      (text) => {
        // What was not typed stays the language's own.
        local.endings = rows.map((_, j) => (j === i ? text : (local.endings?.[j] ?? null)));
        if (text) ask({ endings: local.endings });
      },
    );
    input.setAttribute("aria-label", `${data.beginning} … (${i + 1})`);
    const letters = [...row.ending];
    const each = Math.min(37, 706 / letters.length);
    letters.forEach((c, t) => {
      const colour = board.colour(row.bits[t], "surprisal", 10);
      board.rect(t * each, y + 56, each - 2, 34, { fill: colour, rx: 3, stroke: theme.grid });
      const style = `${Math.min(22, each * 0.8)} middle mono`;
      board.text((t + 0.5) * each - 1, y + 73, visible(c), { style, stands: "x_t" });
      if (each >= 28)
        board.text((t + 0.5) * each - 1, y + 106, board.number(row.bits[t], 0), "20 middle muted");
    });
    if (each >= 28) board.text(letters.length * each + 6, y + 106, words.bits, "20 muted");
    board.rect(x, y + 6, Math.max(3, X(row.perplexity) - x), 44, { fill: theme.model, rx: 5 });
    board.line(X(data.uniform), y, X(data.uniform), y + 56, {
      stroke: theme.uniform,
      width: 2,
      "stroke-dasharray": "6 6",
    });
    const large = row.perplexity >= 1e5; // too wide beside the longest bar
    const read = large ? power(board, Math.log10(row.perplexity)) : board.numbers.rough(row.perplexity);
    board.text(board.W, y + 28, read, { style: "38 end 700 model", stands: "perplexity" });
    /** @type {[string, string][]} */
    const parts = [
      [row.reads, "line"],
      [fill(words.times, { times: board.numbers.rough(row.times, 2) }), "quiet"],
    ];
    board.say(`reads.${i}`, [x, y + 60, board.W - x], row.reads ? parts : parts.slice(1), { size: 20 });
  });
}

/** A number too small or too large to be written out, from its logarithm. @param {Board} board @param {number} log10 */
function power(board, log10) {
  const ten = Math.floor(log10 + 1e-9);
  return `${board.number(Math.min(9.9, 10 ** (log10 - ten)), 1)} × 10${board.raised(ten)}`;
}

/** A rim that keeps a number readable where it stands on a line. @param {SceneTheme} theme */
export function halo(theme) {
  return { stroke: theme.background, "stroke-width": 7, "stroke-linejoin": "round", "paint-order": "stroke" };
}

// ---- two texts of any length ------------------------------------------------------------------------

/** @param {Board} board @param {Said<PerplexityLength>} data @param {Ask} ask */
export function length(board, data, ask) {
  const { theme, local } = board;
  const { words, rows } = data;
  const colours = [theme.model, theme.came];
  models(board, data, ask);
  const cuts = rows.map((r) => r.cut);
  if (
    local.cuts?.every(
      (/** @type {number | null} */ cut, /** @type {number} */ i) => cut === null || cut === cuts[i],
    )
  )
    local.cuts = null;
  const longest = Math.max(...rows.map((r) => r.text.length));
  const lowest = Math.min(-5, ...rows.map((r) => r.log10[r.log10.length - 1]));
  const highest = Math.max(30, ...rows.map((r) => Math.max(...r.perplexity.slice(2))));
  const wide = (board.W - 200) / 2;
  /** @type {["log10" | "perplexity", string, number, Range][]} */
  const pictures = [
    ["log10", words.likelihood, 66, [lowest, 0]],
    ["perplexity", words.perplexity, 66 + wide + 110, [1, highest * 1.3]],
  ];
  for (const [key, yTitle, x, ys] of pictures) {
    const log = key === "perplexity";
    const { X, Y } = board.chart([x, 90, wide, 196 + board.spare], [0, longest], ys, {
      log,
      xTitle: words.characters,
      yTitle,
      yTicks: log
        ? [1, 3, 10, 30, 100, 300, 1000].filter((v) => v <= ys[1]).map((v) => [v, String(v)])
        : undefined,
      lines: rows.map((r, i) => ({
        points: r[key].map((v, n) => [n + 1, v]),
        colour: colours[i],
        width: 3,
        stands: log ? "perplexity" : "P",
      })),
    });
    const values = rows.map((r, i) => r[key][cuts[i] - 1]);
    rows.forEach((_r, i) => {
      const value = values[i];
      board.circle(X(cuts[i]), Y(value), 9, {
        fill: colours[i],
        stroke: theme.background,
        "stroke-width": 2.5,
      });
      // The two numbers stand apart: the higher one above its dot, the other one below.
      const above = Y(value) < Y(values[1 - i]) || (Y(value) === Y(values[1 - i]) && i === 0);
      const beside = above && Y(value) < 120; // above it stands the title
      board.text(
        Math.min(X(cuts[i]) + (beside ? 50 : 0), x + wide - 36),
        Y(value) + (beside ? 0 : above ? -24 : 26),
        key === "log10" ? board.number(value, 1) : short(board, value),
        { style: `22 middle 700 ${colours[i]}`, ...halo(theme) },
      );
    });
  }
  rows.forEach((r, i) => {
    const y = 350 + board.spare + i * 96;
    board.circle(10, y + 20, 9, { fill: colours[i] });
    const said = `${words.text} ${i + 1}`;
    const { input } = board.field(
      `text.${i}`,
      [28, y, board.W - 28],
      r.text,
      { limit: data.limit, size: 20 },
      (text) => {
        if (text) ask({ [i ? "short" : "long"]: text });
      },
    );
    input.setAttribute("aria-label", said);
    const numbers = {
      likelihood: power(board, r.log10[r.cut - 1]),
      perplexity: short(board, r.perplexity[r.cut - 1]),
    };
    board.text(28, y + 66, fill(words.numbers, numbers), `22 ${colours[i]} 600`);
    const cut = board.slider(
      `cut.${i}`,
      [board.W - 560, y + 52, 560],
      words.cut,
      { min: 1, max: r.text.length, value: r.cut },
      (value) => {
        // What was not moved stays the language's own.
        local.cuts = rows.map((_, j) => (j === i ? value : (local.cuts?.[j] ?? null)));
        ask({ cuts: local.cuts });
      },
    );
    cut.input.setAttribute("aria-label", board.pair(said, words.cut));
    board.stands(cut, "T");
  });
}

// ---- stored bits --------------------------------------------------------------------------------------

/** @param {Board} board @param {Said<PerplexityBits>} data @param {Ask} ask */
export function bits(board, data, ask) {
  const { theme } = board;
  const { words, rows } = data;
  models(board, data, ask);
  board.field(
    "stored",
    [420, 2, board.W - 420],
    data.text,
    { label: words.text, limit: data.limit, size: 22 },
    (text) => {
      if (text) ask({ stored: text });
    },
  );
  const letters = [...data.text];
  const each = Math.min(36, board.W / letters.length);
  letters.forEach((c, t) => {
    const colour = board.colour(data.surprisals[t], "surprisal", 10);
    board.rect(t * each, 62, each - 2, 42, { fill: colour, rx: 3, stroke: theme.grid });
    board.text((t + 0.5) * each - 1, 83, visible(c), {
      style: `${Math.min(24, each * 0.84)} middle mono`,
      stands: "x_t",
    });
  });
  const [x, wide, pitch] = [210, 330, Math.min(62, (370 + board.spare) / rows.length)];
  const most = Math.max(...rows.map((row) => row.bits));
  rows.forEach((row, i) => {
    const y = 148 + (i + 0.5) * pitch;
    const on = row.name === data.kind;
    const plain = row.name === "bytes" || row.name === "uniform";
    board.text(x - 14, y, words[row.name], `22 end ${on ? 700 : 400} ${plain ? "muted" : "text"}`);
    const bar = board.rect(x, y - pitch * 0.34, Math.max(3, (row.bits / most) * wide), pitch * 0.68, {
      fill: plain ? theme.uniform : theme.model,
      opacity: on || plain ? 1 : 0.55,
      rx: 4,
    });
    board.move(bar, { clipPath: "inset(0 100% 0 0)" }, { to: { clipPath: "inset(0)" } });
    const end = x + (row.bits / most) * wide + 12;
    board.text(end, y, fill(words.bits, { bits: board.numbers.whole(Math.round(row.bits)) }), {
      style: `22 ${on ? 700 : 400}`,
      stands: "bits",
    });
    board.text(
      x + wide + 266,
      y,
      fill(words.each, { bits: board.number(row.bits / letters.length, 2) }),
      `22 end ${on ? 700 : 400} muted`,
    );
  });
  const side = x + wide + 304;
  const said = { bits: board.number(data.mean, 2), perplexity: short(board, data.perplexity) };
  ["surprisal", "cross", "entropy", "perplexity"].forEach((name, i) => {
    const y = 136 + i * Math.min(108, (400 + board.spare) / 4);
    /** @type {[string, string][]} */
    const parts = [
      [words[name], `line strong ${name === "perplexity" ? "model" : "came"}`],
      [fill(words[`${name}.is`], said), "line"],
    ];
    const definition = board.say(`define.${name}`, [side, y, board.W - side], parts, { size: 21 });
    if (name === "perplexity") board.stands(definition, "perplexity");
  });
}
