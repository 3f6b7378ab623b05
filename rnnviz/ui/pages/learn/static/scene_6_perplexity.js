// Scene 6: five pictures about perplexity, one a step.

import { visible } from "../../../browser/static/characters.js";
import { fill } from "../../../browser/static/words.js";
import { shannon } from "./shannon.js";

/** @import { Untyped } from "../../../browser/static/types" */
/** @import { Board } from "./board.js" */
/** @import { Ask, Draw, PerplexityGame, PerplexityHeart, PerplexityLength, PerplexityRain, Range, Said, SceneTheme } from "./types" */

const SHOWS = { game, rain, length, heart, shannon };

/** @type {Draw<{ show: keyof typeof SHOWS }>} */
export function draw(board, data, ask) {
  /** @type {Draw<Untyped>} */ (SHOWS[data.show])(board, data, ask);
}

// ---- a probability for what came, as a bar to drag --------------------------------------------------

/** @param {Board} board @param {Said<PerplexityGame>} data @param {Ask} ask */
function game(board, data, ask) {
  const { theme, local } = board;
  const { words } = data;
  const p = local.dragged ?? data.p;
  const n = p.length;
  board.field("text", [0, 2, 330], data.text, { label: words.text, limit: 9, size: 24 }, (text) => {
    local.dragged = null;
    if (text) ask({ text });
  });
  /** @type {[string, string][]} */
  const cases = ["certain", "zero", "uniform"].map((key) => [key, words[key]]);
  board.choice("case", [380, 2], words.given, cases, data.case, (key) => {
    local.dragged = null;
    ask({ case: key });
  });
  const [left, top, high] = [96, 96, 270 + board.spare * 0.8];
  const each = Math.min(92, 700 / n);
  const wide = each * 0.66;
  const Y = (/** @type {number} */ v) => top + (1 - v) * high;
  for (const v of [0, 0.5, 1]) {
    board.line(left - 8, Y(v), left + n * each + 4, Y(v), { stroke: v ? theme.grid : theme.axis });
    board.text(left - 16, Y(v), String(v), "18 end muted");
  }
  board.text(left - 8, top - 26, words.given, "18 muted");
  const blind = 1 / data.symbols;
  board.line(left - 8, Y(blind), left + n * each + 4, Y(blind), {
    stroke: theme.uniform,
    width: 2,
    "stroke-dasharray": "6 6",
  });
  [...data.text].forEach((c, i) => {
    const x = left + i * each;
    const cost = local.dragged ? -Math.log(p[i]) : data.costs[i];
    board.rect(x, Y(p[i]), wide, p[i] * high, { fill: theme.model, rx: 4, stands: "P" });
    if (p[i] === 0) board.rect(x, Y(0) - 5, wide, 5, { fill: theme.came });
    board.text(x + wide / 2, Y(p[i]) - 14, decimals(board, p[i]), "18 middle 600");
    board.text(x + wide / 2, top + high + 30, visible(c), { style: "34 middle mono 700", stands: "x_t" });
    const infinite = cost === null || cost === Infinity;
    board.text(
      x + wide / 2,
      top + high + 78,
      infinite ? "∞" : board.number(cost, 2),
      `${infinite ? 32 : 22} middle came 600`,
    );
    const handle = board.rect(x - 4, top - 8, wide + 8, high + 16, { fill: "transparent", stands: "P" });
    board.on(handle, `bar.${i}`, {
      label: c,
      drag: (_, y) => {
        const now = [...(local.dragged ?? data.p)];
        const v = Math.max(0, Math.min(1, 1 - (y - top) / high));
        now[i] = v < 0.012 ? 0 : v > 0.988 ? 1 : Math.round(v * 1000) / 1000;
        local.dragged = now;
        local.wish = now;
        ask({ p: now, case: "" }); // a case chosen before, and not yet answered, is over
        board.redraw();
      },
    });
  });
  if (local.dragged && String(data.p) === String(local.dragged)) local.dragged = null;
  board.text(left - 16, top + high + 78, words.cost, "19 end muted");

  const x = Math.max(left + n * each + 60, 800);
  const side = board.W - x;
  board.text(x, 150, words.mean, "24 muted");
  board.text(x + side, 150, data.mean === null ? "∞" : board.number(data.mean, 3), "34 end came 600");
  board.text(x, 250, words.perplexity, "24 muted");
  board.text(x + side, 246, data.perplexity === null ? "+∞" : short(board, data.perplexity), {
    style: "84 end 700 model",
    stands: "perplexity",
  });
  board.line(x, 320, x + side, 320, { stroke: theme.grid });
  board.line(x, 352, x + 44, 352, { stroke: theme.uniform, "stroke-dasharray": "6 6", width: 2 });
  board.text(x + 56, 352, fill(words.blind, { n: data.symbols }), "20 muted");
  [
    ["certain", "1"],
    ["zero", "+∞"],
    ["uniform", `|V| = ${data.symbols}`],
  ].forEach(([key, value], i) => {
    const on = key === data.case;
    board.text(x, 402 + i * 36, words[key], `22 ${on ? 700 : 400} ${on ? "text" : "muted"}`);
    board.text(x + side, 402 + i * 36, value, `22 end ${on ? 700 : 400} ${on ? "model" : "muted"}`);
  });
}

/** A probability in as few characters as its bar is wide. @param {Board} board @param {number} p */
function decimals(board, p) {
  return p === 0 || p === 1 ? String(p) : board.number(p, p < 0.1 ? 3 : 2).replace(/^0/, "");
}

/** A perplexity that is read from afar. @param {Board} board @param {number} v */
function short(board, v) {
  return board.number(v, v === Math.round(v) || v >= 100 ? 0 : v >= 10 ? 1 : 2);
}

// ---- three continuations ----------------------------------------------------------------------------

/** The networks that can be chosen. @param {Record<string, string>} words @returns {[string, string][]} */
const models = (words) => ["mlp", "rnn", "gru", "lstm", "6gram"].map((key) => [key, words[key]]);

/** @param {Board} board @param {Said<PerplexityRain>} data @param {Ask} ask */
function rain(board, data, ask) {
  const { theme, local } = board;
  const { words, rows } = data;
  board.choice("kind", [0, 2], words.model, models(words), data.kind, (kind) => ask({ kind }));
  const most = Math.log(Math.max(1000, data.uniform * 2, ...rows.map((r) => r.perplexity)));
  const x = 760;
  const room = board.W - x - 120;
  const X = (/** @type {number} */ v) => x + (Math.log(Math.max(1, v)) / most) * room;
  board.text(X(data.uniform), 84, `${words.blind} ${data.uniform}`, "19 middle uniform");
  board.line(X(data.uniform), 100, X(data.uniform), 522 + board.spare, {
    stroke: theme.uniform,
    width: 2,
    "stroke-dasharray": "6 6",
  });
  board.text(x, 52, words.perplexity, "22 muted");
  rows.forEach((row, i) => {
    const y = 106 + i * (144 + board.spare / 3);
    board.text(0, y + 22, data.beginning, "24 mono muted");
    board.field(`ending.${i}`, [210, y, 500], row.ending, { limit: data.limit, size: 24 }, (text) => {
      local.endings = rows.map((r, j) => (j === i ? text : (local.endings?.[j] ?? r.ending)));
      if (text) ask({ endings: local.endings });
    });
    const letters = [...row.ending];
    const each = Math.min(36, 706 / letters.length);
    letters.forEach((c, t) => {
      const colour = board.colour(row.bits[t], "surprisal", 10);
      board.rect(t * each, y + 56, each - 2, 34, { fill: colour, rx: 3, stroke: theme.grid });
      board.text((t + 0.5) * each - 1, y + 73, visible(c), `${Math.min(22, each * 0.8)} middle mono`);
      if (each >= 28)
        board.text((t + 0.5) * each - 1, y + 104, board.number(row.bits[t], 0), "16 middle muted");
    });
    if (each >= 28) board.text(letters.length * each + 6, y + 104, words.bits, "16 muted");
    board.rect(x, y + 20, Math.max(3, X(row.perplexity) - x), 56, { fill: theme.model, rx: 5 });
    board.text(board.W, y + 48, short(board, row.perplexity), {
      style: "38 end 700 model",
      stands: "perplexity",
    });
  });
}

/** A probability too small for a number of its own, from its logarithm. @param {Board} board @param {number} log10 */
function likelihood(board, log10) {
  const ten = Math.floor(log10 + 1e-9);
  return `${board.number(Math.min(9.9, 10 ** (log10 - ten)), 1)} × 10${board.raised(ten)}`;
}

/** A rim that keeps a number readable where it stands on a line. @param {SceneTheme} theme */
function halo(theme) {
  return { stroke: theme.background, "stroke-width": 7, "stroke-linejoin": "round", "paint-order": "stroke" };
}

// ---- two texts of any length ------------------------------------------------------------------------

/** @param {Board} board @param {Said<PerplexityLength>} data @param {Ask} ask */
function length(board, data, ask) {
  const { theme, local } = board;
  const { words, rows } = data;
  const colours = [theme.model, theme.came];
  board.choice("kind", [0, 2], words.model, models(words), data.kind, (kind) => ask({ kind }));
  const cuts = rows.map((r) => r.cut);
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
      lines: rows.map((r, i) => ({ points: r[key].map((v, n) => [n + 1, v]), colour: colours[i], width: 3 })),
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
      board.text(
        Math.min(X(cuts[i]), x + wide - 36),
        Y(value) + (above ? -24 : 26),
        key === "log10" ? board.number(value, 1) : short(board, value),
        { style: `22 middle 700 ${colours[i]}`, ...halo(theme) },
      );
    });
  }
  rows.forEach((r, i) => {
    const y = 350 + board.spare + i * 96;
    board.circle(10, y + 20, 9, { fill: colours[i] });
    board.field(`text.${i}`, [28, y, board.W - 28], r.text, { limit: data.limit, size: 19 }, (text) => {
      if (text) ask({ [i ? "short" : "long"]: text });
    });
    const numbers = {
      likelihood: likelihood(board, r.log10[r.cut - 1]),
      perplexity: short(board, r.perplexity[r.cut - 1]),
      bits: Math.round(r.bits),
      ideal: Math.ceil(r.bits / 8),
    };
    board.text(28, y + 64, fill(words.numbers, numbers), `19 ${colours[i]} 600`);
    board.slider(
      `cut.${i}`,
      [board.W - 700, y + 50, 330],
      words.cut,
      { min: 1, max: r.text.length, value: r.cut },
      (value) => {
        local.cuts = [...(local.cuts ?? cuts)];
        local.cuts[i] = value;
        ask({ cuts: local.cuts });
      },
    );
    board.text(board.W, y + 64, fill(words.file, { bytes: r.bytes, header: data.header }), "19 end muted");
  });
  if (local.cuts && String(local.cuts) === String(cuts)) local.cuts = null;
}

// ---- by heart ---------------------------------------------------------------------------------------

/** @param {Board} board @param {Said<PerplexityHeart>} data @param {Ask} ask */
function heart(board, data, ask) {
  const { theme, local } = board;
  const { words } = data;
  const now = local.at ?? data.pass;
  clearTimeout(local.timer);
  if (local.playing && local.until !== undefined) {
    const share = Math.min(1, (performance.now() - local.began) / 5000);
    const next = Math.max(1, Math.round(data.passes ** share));
    if (share < 1)
      local.timer = setTimeout(() => {
        local.at = next;
        board.redraw();
      }, 40);
    else {
      local.playing = false;
      local.at = data.passes;
      ask({ pass: data.passes });
    }
  }
  const wide = board.W - 470;
  board.chart([70, 62, wide - 90, 356 + board.spare], [1, data.passes], [1, 400], {
    log: true,
    logX: true,
    size: 20,
    xTitle: words.passes,
    yTitle: words.perplexity,
    xTicks: [1, 3, 10, 30, 100, 300].map((v) => [v, String(v)]),
    yTicks: [1, 3, 10, 30, 100, 300].map((v) => [v, String(v)]),
    marks:
      now >= data.best
        ? [{ x: data.best, text: fill(words.best, { n: data.best }), colour: theme.muted }]
        : [],
    lines: [
      {
        points: [
          [1, data.uniform],
          [data.passes, data.uniform],
        ],
        colour: theme.uniform,
        dash: "7 6",
        width: 2.5,
        label: fill(words.blind, { n: data.uniform }),
        at: 1.6,
      },
      { points: data.train.slice(0, now).map((v, n) => [n + 1, v]), colour: theme.model, width: 4.5 },
      { points: data.held.slice(0, now).map((v, n) => [n + 1, v]), colour: theme.came, width: 4.5 },
    ],
  });
  const y = 490 + board.spare;
  board.button(
    "play",
    [60, y - 8, 110],
    local.playing ? words.stop : words.play,
    () => {
      local.playing = !local.playing;
      local.began = performance.now();
      local.until = data.passes;
      if (local.playing) local.at = 1;
      else ask({ pass: local.at });
      board.redraw();
    },
    { strong: !data.vote },
  );
  board.slider(
    "pass",
    [190, y, wide - 200],
    words.pass,
    {
      min: 0,
      max: 100,
      value: (Math.log(now) / Math.log(data.passes)) * 100,
      say: (v) => String(Math.max(1, Math.round(data.passes ** (v / 100)))),
    },
    (v) => {
      local.playing = false;
      local.at = Math.max(1, Math.round(data.passes ** (v / 100)));
      ask({ pass: local.at });
      board.redraw();
    },
  );
  const x = wide + 40;
  const side = board.W - x;
  const number = (
    /** @type {number} */ at,
    /** @type {string} */ label,
    /** @type {number} */ value,
    /** @type {string} */ colour,
  ) => {
    board.text(x, at, label, `24 ${colour} 600`);
    board.text(x + side, at, short(board, value), `52 end 700 ${colour}`);
  };
  board.text(x, 24, words.recipe, "18 muted");
  number(80, words.train, data.train[now - 1], theme.model);
  number(150, words.held, data.held[now - 1], theme.came);
  if (now < data.passes && !data.vote) return;
  board.say("ask", [x, 210, side], words.ask);
  ["train", "held_out"].forEach((key, i) =>
    board.button(
      `vote.${key}`,
      [x + i * (side / 2 + 5), 284, side / 2 - 5],
      i ? words.held : words.train,
      () => ask({ vote: key }),
      { strong: data.vote === key },
    ),
  );
  if (data.vote)
    board.say("verdict", [x, 344, side], [[data.vote === "held_out" ? words.right : words.wrong, "strong"]]);
}
