// Scene 6: a game of probabilities, two books, and a network that learns by heart; the other steps are beside it.

import { visible } from "../../../browser/static/characters.js";
import { fill } from "../../../browser/static/words.js";
import { bits, halo, length, rain, short } from "./scored_texts.js";
import { shannon } from "./shannon.js";
import { tally } from "./tally.js";

/** @import { Untyped } from "../../../browser/static/types" */
/** @import { Board } from "./board.js" */
/** @import { Ask, Draw, PerplexityBooks, PerplexityGame, PerplexityHeart, Said } from "./types" */

const SHOWS = { game, rain, books, length, bits, heart, shannon };

/** @type {Draw<{ show: keyof typeof SHOWS }>} */
export function draw(board, data, ask) {
  /** @type {Draw<Untyped>} */ (SHOWS[data.show])(board, data, ask);
}

// ---- a probability for each character, as a bar to drag ---------------------------------------------

/** @param {Board} board @param {Said<PerplexityGame>} data @param {Ask} ask */
function game(board, data, ask) {
  const { theme, local } = board;
  const { words } = data;
  const p = local.dragged ?? data.p;
  const n = p.length;
  board.field("text", [0, 18, 330], data.text, { label: words.text, limit: 9, size: 24 }, (text) => {
    local.dragged = null;
    if (text) ask({ text });
  });
  /** @type {[string, string][]} */
  const cases = ["network", "certain", "zero", "uniform"].map((key) => [key, words[key]]);
  board.choice("case", [380, 20], words.given, cases, data.case, (key) => {
    local.dragged = null;
    ask(key === "network" ? { text: data.word, case: key } : { case: key });
  });
  const [left, top, high] = [96, 118, 240 + board.spare * 0.8];
  const each = Math.min(92, 700 / n);
  const wide = each * 0.66;
  const Y = (/** @type {number} */ v) => top + (1 - v) * high;
  for (const v of [0, 0.5, 1]) {
    board.line(left - 8, Y(v), left + n * each + 4, Y(v), { stroke: v ? theme.grid : theme.axis });
    board.text(left - 16, Y(v), String(v), "20 end muted");
  }
  board.text(left - 8, top - 30, words.given, "20 muted");
  const blind = 1 / data.size;
  board.line(left - 8, Y(blind), left + n * each + 4, Y(blind), {
    stroke: theme.uniform,
    width: 2,
    "stroke-dasharray": "6 6",
  });
  const set = (/** @type {number} */ i, /** @type {number} */ v) => {
    const now = [...(local.dragged ?? data.p)];
    now[i] = v < 0.012 ? 0 : v > 0.988 ? 1 : Math.round(v * 1000) / 1000;
    local.dragged = now;
    ask({ p: now, case: "" }); // a case chosen before, and not yet answered, is over
    board.redraw();
  };
  [...data.text].forEach((c, i) => {
    const x = left + i * each;
    const cost = local.dragged ? -Math.log(p[i]) : data.costs[i];
    const infinite = cost === null || cost === Infinity;
    board.rect(x, Y(p[i]), wide, p[i] * high, { fill: theme.model, rx: 4, stands: "P" });
    if (p[i] === 0) board.rect(x, Y(0) - 5, wide, 5, { fill: theme.came });
    board.text(x + wide / 2, Y(p[i]) - 15, decimals(board, p[i]), { style: "20 middle 600", ...halo(theme) });
    board.text(x + wide / 2, top + high + 30, visible(c), { style: "34 middle mono 700", stands: "x_t" });
    const size = infinite ? 30 : each < 80 ? 20 : 22;
    board.text(x + wide / 2, top + high + 76, p[i] ? short(board, 1 / p[i]) : "∞", `${size} middle 600`);
    board.text(
      x + wide / 2,
      top + high + 116,
      infinite ? "∞" : board.number(cost, 2),
      `${size} middle came 600`,
    );
    const handle = board.rect(x - 4, top - 8, wide + 8, high + 16, { fill: "transparent", stands: "P" });
    board.on(handle, `bar.${i}`, {
      label: fill(words.bar, { character: c }),
      drag: (_, y) => set(i, Math.max(0, Math.min(1, 1 - (y - top) / high))),
      slide: {
        value: p[i],
        min: 0,
        max: 1,
        step: 0.02,
        said: board.numbers.rough(p[i], 2),
        change: (v) => set(i, v),
      },
    });
  });
  if (local.dragged && String(data.p) === String(local.dragged)) local.dragged = null;
  board.text(left - 16, top + high + 76, words.inverse, "20 end muted");
  board.text(left - 16, top + high + 116, words.cost, "20 end muted");

  const x = Math.max(left + n * each + 60, 800);
  const side = board.W - x;
  board.text(x, 130, words.mean, "24 muted");
  board.text(x + side, 130, data.mean === null ? "∞" : board.number(data.mean, 3), "34 end came 600");
  board.text(x, 240, words.perplexity, "24 muted");
  board.text(x + side, 236, data.perplexity === null ? "+∞" : short(board, data.perplexity), {
    style: "84 end 700 model",
    stands: "perplexity",
  });
  board.text(x + side, 300, words.geometric, "20 end muted");
  board.text(x + side, 326, words.choices, "20 end muted");
  board.line(x, 356, x + side, 356, { stroke: theme.grid });
  board.line(x, 396, x + 44, 396, { stroke: theme.uniform, "stroke-dasharray": "6 6", width: 2 });
  board.text(x + 56, 396, fill(words.blind, { n: data.size }), "24 muted");
  board.text(x + side, 396, `|V| = ${data.size}`, "24 end 600");
}

/** A probability in as few characters as its bar is wide. @param {Board} board @param {number} p */
function decimals(board, p) {
  return p === 0 || p === 1 ? String(p) : board.number(p, p < 0.1 ? 3 : 2).replace(/^0/, "");
}

// ---- two books ----------------------------------------------------------------------------------------

/** @param {Board} board @param {Said<PerplexityBooks>} data @param {Ask} ask */
function books(board, data, ask) {
  const { theme, local } = board;
  const { words, rows } = data;
  const read = rows.map((row) => row.perplexity);
  if (local.read && String(local.read) === String(read)) local.read = null;
  const room = board.W - 330;
  const most = Math.max(...rows.map((row) => -row.log10));
  const mean = Math.log(data.range[1]);
  rows.forEach((row, i) => {
    const y = 40 + i * (260 + board.spare / 2);
    board.text(0, y, row.title, "30 700");
    board.text(330, y + 2, fill(words.characters, { n: board.numbers.whole(row.characters) }), "22 muted");
    const { input } = board.slider(
      `read.${i}`,
      [board.W - 470, y - 14, 470],
      words.read,
      { min: data.range[0], max: data.range[1], value: row.perplexity },
      (value) => {
        local.read = [...(local.read ?? read)];
        local.read[i] = value;
        ask({ read: local.read });
      },
    );
    input.setAttribute("aria-label", board.pair(row.title, words.read));
    const grows = { clipPath: "inset(0 100% 0 0)" };
    const whole = { to: { clipPath: "inset(0)" } };
    board.text(0, y + 82, words.likelihood, "24 muted");
    board.text(0, y + 108, words.exponent, "20 muted");
    const power = board.text(180, y + 84, "10", { style: "44 700 came", stands: "P" });
    board.span(power, board.numbers.whole(Math.round(row.log10)), { dy: -16, "font-size": 30 });
    const long = board.rect(520, y + 62, Math.max(4, (-row.log10 / most) * (board.W - 520)), 40, {
      fill: theme.came,
      rx: 5,
    });
    board.move(long, grows, whole);
    board.text(0, y + 156, words.mean, "24 muted");
    board.text(330, y + 156, board.number(row.mean, 2), "44 700 model");
    const each = board.rect(520, y + 136, (row.mean / mean) * (room - 190), 40, { fill: theme.model, rx: 5 });
    board.move(each, grows, whole);
  });
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
      {
        points: data.train.slice(0, now).map((v, n) => [n + 1, v]),
        colour: theme.model,
        width: 4.5,
        stands: "P",
      },
      {
        points: data.held.slice(0, now).map((v, n) => [n + 1, v]),
        colour: theme.came,
        width: 4.5,
        stands: "P",
      },
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
  board.text(x, 28, words.recipe, "20 muted");
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
  const votes = tally(board, "vote");
  for (const [i, name] of votes ? [words.train, words.held].entries() : []) {
    const y = 452 + i * 50;
    votes?.bar(board, i, [x, y - 20, side, 40]);
    board.text(x + 10, y, name, "22");
    board.text(x + side, y, votes?.said(i) ?? "", "24 end 700 came");
  }
  if (data.vote)
    board.say("verdict", [x, 344, side], [[data.vote === "held_out" ? words.right : words.wrong, "strong"]]);
}
