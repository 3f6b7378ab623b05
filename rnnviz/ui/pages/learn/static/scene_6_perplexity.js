// Scene 6: five pictures about perplexity, one a step.

import { fill } from "../../../browser/static/words.js";

// What a screen has in height beyond the lowest that a board can be.
const spare = (board) => Math.max(0, board.H - 560);
const shown = (c) => (c === " " ? "·" : c);

export function draw(board, data, ask) {
  ({ game, rain, length, heart, shannon })[data.show](board, data, ask);
}

// ---- a probability for what came, as a bar to drag --------------------------------------------------

function game(board, data, ask) {
  const { theme, local } = board;
  const { words } = data;
  const p = local.dragged ?? data.p;
  const n = p.length;
  board.field("text", {
    x: 0,
    y: 2,
    width: 330,
    label: words.text,
    value: data.text,
    limit: 9,
    size: 24,
    change: (text) => {
      local.dragged = null;
      if (text) ask({ text });
    },
  });
  const cases = ["certain", "zero", "uniform"].map((key) => [key, words[key]]);
  board.choice("case", {
    x: 380,
    y: 2,
    label: words.given,
    options: cases,
    value: data.case,
    pick: (key) => {
      local.dragged = null;
      ask({ case: key });
    },
  });
  const [left, top, high] = [96, 96, 270 + spare(board) * 0.8];
  const each = Math.min(92, 700 / n);
  const wide = each * 0.66;
  const Y = (v) => top + (1 - v) * high;
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
    board.rect(x, Y(p[i]), wide, p[i] * high, { fill: theme.model, rx: 4 });
    if (p[i] === 0) board.rect(x, Y(0) - 5, wide, 5, { fill: theme.came });
    board.text(x + wide / 2, Y(p[i]) - 14, decimals(p[i]), "18 middle 600");
    board.text(x + wide / 2, top + high + 30, shown(c), "34 middle mono 700");
    const infinite = cost === null || cost === Infinity;
    board.text(
      x + wide / 2,
      top + high + 78,
      infinite ? "∞" : board.number(cost, 2),
      `${infinite ? 32 : 22} middle came 600`,
    );
    const handle = board.rect(x - 4, top - 8, wide + 8, high + 16, { fill: "transparent" });
    board.on(handle, `bar.${i}`, {
      label: c,
      drag: (_, y) => {
        const now = [...(local.dragged ?? data.p)];
        const v = Math.max(0, Math.min(1, 1 - (y - top) / high));
        now[i] = v < 0.012 ? 0 : v > 0.988 ? 1 : Math.round(v * 1000) / 1000;
        local.dragged = now;
        local.wish = now;
        ask({ p: now });
        board.redraw();
      },
    });
  });
  if (local.dragged && String(data.p) === String(local.dragged)) local.dragged = null;
  board.text(left - 16, top + high + 78, words.cost, "19 end muted");

  const x = Math.max(left + n * each + 60, 800);
  const side = board.W - x;
  const infinite = data.perplexity === null;
  board.text(x, 150, words.mean, "24 muted");
  board.text(x + side, 150, infinite ? "∞" : board.number(data.mean, 3), "34 end came 600");
  board.text(x, 250, words.perplexity, "24 muted");
  board.text(x + side, 246, infinite ? "+∞" : short(data.perplexity), "84 end 700 model");
  board.line(x, 320, x + side, 320, { stroke: theme.grid });
  board.line(x, 352, x + 44, 352, { stroke: theme.uniform, "stroke-dasharray": "6 6", width: 2 });
  board.text(x + 56, 352, fill(words.blind, { n: data.symbols }), "20 muted");
  [
    ["certain", "1"],
    ["zero", "+∞"],
    ["uniform", "|V| = " + data.symbols],
  ].forEach(([key, value], i) => {
    const on = key === data.case;
    board.text(x, 402 + i * 36, words[key], `22 ${on ? 700 : 400} ${on ? "text" : "muted"}`);
    board.text(x + side, 402 + i * 36, value, `22 end ${on ? 700 : 400} ${on ? "model" : "muted"}`);
  });
}

function decimals(p) {
  return p === 0 || p === 1 ? String(p) : p.toFixed(p < 0.1 ? 3 : 2).replace(/^0/, "");
}

function short(v) {
  if (v >= 1000) return Math.round(v).toLocaleString("en-GB");
  return v === Math.round(v) ? String(v) : v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2);
}

// ---- three continuations ----------------------------------------------------------------------------

const models = (words) => ["mlp", "rnn", "gru", "lstm", "6gram"].map((key) => [key, words[key]]);

function rain(board, data, ask) {
  const { theme, local } = board;
  const { words, rows } = data;
  board.choice("kind", {
    x: 0,
    y: 2,
    label: words.model,
    options: models(words),
    value: data.kind,
    pick: (kind) => ask({ kind }),
  });
  const most = Math.log(Math.max(1000, data.uniform * 2, ...rows.map((r) => r.perplexity)));
  const x = 760;
  const room = board.W - x - 120;
  const X = (v) => x + (Math.log(Math.max(1, v)) / most) * room;
  board.text(X(data.uniform), 84, `${words.blind} ${data.uniform}`, "19 middle uniform");
  board.line(X(data.uniform), 100, X(data.uniform), 522 + spare(board), {
    stroke: theme.uniform,
    width: 2,
    "stroke-dasharray": "6 6",
  });
  board.text(x, 52, words.perplexity, "22 muted");
  rows.forEach((row, i) => {
    const y = 106 + i * (144 + spare(board) / 3);
    board.text(0, y + 22, data.beginning, "24 mono muted");
    board.field(`ending.${i}`, {
      x: 210,
      y,
      width: 500,
      label: "",
      value: row.ending,
      limit: data.limit,
      size: 24,
      change: (text) => {
        local.endings = rows.map((r, j) => (j === i ? text : (local.endings?.[j] ?? r.ending)));
        if (text) ask({ endings: local.endings });
      },
    });
    const letters = [...row.ending];
    const each = Math.min(36, 706 / letters.length);
    letters.forEach((c, t) => {
      const colour = board.colour(row.bits[t], "surprisal", 10);
      board.rect(t * each, y + 56, each - 2, 34, { fill: colour, rx: 3, stroke: theme.grid });
      board.text((t + 0.5) * each - 1, y + 73, shown(c), `${Math.min(22, each * 0.8)} middle mono`);
      if (each >= 28) board.text((t + 0.5) * each - 1, y + 104, row.bits[t].toFixed(0), "16 middle muted");
    });
    if (each >= 28) board.text(letters.length * each + 6, y + 104, words.bits, "16 muted");
    board.rect(x, y + 20, Math.max(3, X(row.perplexity) - x), 56, { fill: theme.model, rx: 5 });
    board.text(board.W, y + 48, short(row.perplexity), "38 end 700 model");
  });
}

// A rim that keeps a number readable where it stands on a line.
function halo(theme) {
  return { stroke: theme.background, "stroke-width": 7, "stroke-linejoin": "round", "paint-order": "stroke" };
}

// ---- two texts of any length ------------------------------------------------------------------------

function length(board, data, ask) {
  const { theme, local } = board;
  const { words, rows } = data;
  const colours = [theme.model, theme.came];
  board.choice("kind", {
    x: 0,
    y: 2,
    label: words.model,
    options: models(words),
    value: data.kind,
    pick: (kind) => ask({ kind }),
  });
  const cuts = rows.map((r) => r.cut);
  const longest = Math.max(...rows.map((r) => r.text.length));
  const lowest = Math.min(-5, ...rows.map((r) => r.log10.at(-1)));
  const highest = Math.max(30, ...rows.map((r) => Math.max(...r.perplexity.slice(2))));
  const wide = (board.W - 200) / 2;
  const pictures = [
    ["log10", words.likelihood, 66, [lowest, 0], false],
    ["perplexity", words.perplexity, 66 + wide + 110, [1, highest * 1.3], true],
  ];
  for (const [key, yTitle, x, ys, log] of pictures) {
    const { X, Y } = board.chart({
      x,
      y: 90,
      width: wide,
      height: 196 + spare(board),
      xs: [0, longest],
      ys,
      log,
      yTitle,
      yTicks: log
        ? [1, 3, 10, 30, 100, 300, 1000].filter((v) => v <= ys[1]).map((v) => [v, String(v)])
        : undefined,
      xTitle: words.characters,
      lines: rows.map((r, i) => ({ points: r[key].map((v, n) => [n + 1, v]), colour: colours[i], width: 3 })),
    });
    const values = rows.map((r, i) => r[key][cuts[i] - 1]);
    rows.forEach((r, i) => {
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
        key === "log10" ? board.number(value, 1) : short(value),
        { style: `22 middle 700 ${colours[i]}`, ...halo(theme) },
      );
    });
  }
  rows.forEach((r, i) => {
    const y = 350 + spare(board) + i * 96;
    board.circle(10, y + 20, 9, { fill: colours[i] });
    board.field(`text.${i}`, {
      x: 28,
      y,
      width: board.W - 28,
      label: "",
      value: r.text,
      limit: data.limit,
      size: 19,
      change: (text) => {
        if (text) ask({ [i ? "short" : "long"]: text });
      },
    });
    const numbers = {
      likelihood: "10" + board.raised(Math.round(r.log10[r.cut - 1])),
      perplexity: short(r.perplexity[r.cut - 1]),
      bits: Math.round(r.bits),
      ideal: Math.ceil(r.bits / 8),
    };
    board.text(28, y + 64, fill(words.numbers, numbers), `19 ${colours[i]} 600`);
    board.slider(`cut.${i}`, {
      x: board.W - 700,
      y: y + 50,
      width: 330,
      label: words.cut,
      min: 1,
      max: r.text.length,
      value: r.cut,
      change: (value) => {
        local.cuts = [...(local.cuts ?? cuts)];
        local.cuts[i] = value;
        ask({ cuts: local.cuts });
      },
    });
    board.text(board.W, y + 64, fill(words.file, { bytes: r.bytes, header: data.header }), "19 end muted");
  });
  if (local.cuts && String(local.cuts) === String(cuts)) local.cuts = null;
}

// ---- by heart ---------------------------------------------------------------------------------------

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
  board.chart({
    x: 70,
    y: 62,
    width: wide - 90,
    height: 356 + spare(board),
    xs: [1, data.passes],
    ys: [1, 400],
    log: true,
    logX: true,
    yTicks: [1, 3, 10, 30, 100, 300].map((v) => [v, String(v)]),
    xTicks: [1, 3, 10, 30, 100, 300].map((v) => [v, String(v)]),
    yTitle: words.perplexity,
    xTitle: words.passes,
    size: 20,
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
    marks:
      now >= data.best
        ? [{ x: data.best, text: fill(words.best, { n: data.best }), colour: theme.muted }]
        : [],
  });
  const y = 490 + spare(board);
  board.button("play", {
    x: 60,
    y: y - 8,
    width: 110,
    strong: !data.vote,
    label: local.playing ? words.stop : words.play,
    press: () => {
      local.playing = !local.playing;
      local.began = performance.now();
      local.until = data.passes;
      if (local.playing) local.at = 1;
      else ask({ pass: local.at });
      board.redraw();
    },
  });
  board.slider("pass", {
    x: 190,
    y,
    width: wide - 200,
    label: words.pass,
    min: 0,
    max: 100,
    value: (Math.log(now) / Math.log(data.passes)) * 100,
    say: (v) => String(Math.max(1, Math.round(data.passes ** (v / 100)))),
    change: (v) => {
      local.playing = false;
      local.at = Math.max(1, Math.round(data.passes ** (v / 100)));
      ask({ pass: local.at });
      board.redraw();
    },
  });
  const x = wide + 40;
  const side = board.W - x;
  const number = (at, label, value, colour) => {
    board.text(x, at, label, `24 ${colour} 600`);
    board.text(x + side, at, short(value), `52 end 700 ${colour}`);
  };
  board.text(x, 24, words.recipe, "18 muted");
  number(80, words.train, data.train[now - 1], theme.model);
  number(150, words.held, data.held[now - 1], theme.came);
  if (now < data.passes && !data.vote) return;
  board.say("ask", words.ask, { x, y: 210, width: side });
  ["train", "held_out"].forEach((key, i) =>
    board.button(`vote.${key}`, {
      x: x + i * (side / 2 + 5),
      y: 284,
      width: side / 2 - 5,
      label: i ? words.held : words.train,
      strong: data.vote === key,
      press: () => ask({ vote: key }),
    }),
  );
  if (data.vote)
    board.say("verdict", [[data.vote === "held_out" ? words.right : words.wrong, "strong"]], {
      x,
      y: 344,
      width: side,
    });
}

// ---- Shannon's game ---------------------------------------------------------------------------------

const KEYS = ["abcdefghijklmn", "opqrstuvwxyz "];

function shannon(board, data, ask) {
  const { theme, local } = board;
  const { words } = data;
  if (local.sentence !== data.sentence) Object.assign(local, { sentence: data.sentence, wish: null });
  if (local.wish === data.history) local.wish = null;
  // A guess is added to all that were made: an ask that is dropped loses none.
  const guess = (c) => {
    const history = (local.wish ?? data.history) + c;
    if (history.length > data.limit) return;
    local.wish = history;
    ask({ history });
  };
  const size = 27;
  const step = size * 0.605;
  const put = (text, y, colour) =>
    [...text].forEach((c, i) => board.text(3 + i * step, y, c, `${size} mono ${colour} 600`));
  put(data.given, 26, theme.muted);
  put(data.shown, 66, theme.model);
  const at = data.shown.length;
  if (data.left) {
    board.rect(2 + at * step, 48, step + 2, 36, {
      fill: "none",
      stroke: theme.came,
      "stroke-width": 3,
      rx: 4,
    });
    for (let i = 1; i < data.left; i++)
      board.line((at + i) * step + 3, 80, (at + i + 1) * step - 3, 80, { stroke: theme.axis, width: 2 });
  }
  const key = 42;
  KEYS.forEach((row, r) =>
    [...row].forEach((c, i) => {
      const tried = data.tried.includes(c);
      const wide = c === " " ? key * 2 + 4 : key;
      const [x, y] = [1 + i * (key + 4), 112 + r * 52];
      const g = board.group({ opacity: tried ? 0.3 : 1 });
      board.rect(
        x,
        y,
        wide,
        46,
        { fill: tried ? theme.grid : theme.background, stroke: theme.axis, "stroke-width": 1.5, rx: 6 },
        g,
      );
      board.text(
        x + wide / 2,
        y + 23,
        c === " " ? words.space : c,
        `${c === " " ? 18 : 24} middle ${c !== " " ? "mono" : ""}`,
        g,
      );
      if (data.left) board.on(g, `key.${c}`, { click: () => guess(c), label: c === " " ? words.space : c });
    }),
  );
  const field = board.field("guess", {
    x: 0,
    y: 224,
    width: 250,
    label: words.guess,
    value: "",
    limit: 2,
    size: 24,
    change: (text) => {
      const c = text.at(-1)?.toLowerCase();
      field.querySelector("input").value = "";
      if (c && /[a-z ]/.test(c) && data.left) guess(c);
    },
  });
  field.querySelector("input").value = "";
  board.button("pass", { x: 268, y: 226, label: words.pass, off: !data.left, press: () => guess("?") });
  const other = () => ask({ sentence: (data.sentence + 1) % data.sentences, history: "" });
  board.button("other", { x: 420, y: 226, label: words.other, press: other });

  const names = ["1", "2", "3", "4", "5", "6+"];
  const most = Math.max(4, ...data.ranks);
  board.text(0, 300, words.ranks, "20 muted");
  board.bars({
    x: 0,
    y: 316,
    width: 640,
    row: 34,
    labels: 44,
    numbers: 60,
    max: most,
    rows: data.ranks.map((n, i) => ({
      label: names[i],
      value: n,
      text: String(n),
      colour: i ? theme.bar : theme.model,
    })),
  });

  const x = 700;
  const axis = x + 130;
  const room = board.W - axis - 20;
  const X = (bits) => axis + (bits / 5) * room;
  const top = 190;
  for (let b = 0; b <= 5; b++) {
    board.line(X(b), top, X(b), top + 280, { stroke: theme.grid });
    board.text(X(b), top + 298, String(b), "18 middle muted");
  }
  board.text(board.W, top + 326, words.bits, "18 end muted");
  const blind = X(data.uniform);
  board.line(blind, top, blind, top + 280, { stroke: theme.uniform, width: 2, "stroke-dasharray": "6 6" });
  board.text(board.W, top - 16, `${words.blind} ${data.uniform.toFixed(2)}`, "18 end uniform");
  const rows = [...(data.class ? [{ kind: "class", ...data.class }] : []), ...data.models];
  rows.forEach((row, i) => {
    const y = top + 38 + i * 68;
    const own = row.kind === "class";
    const colour = own ? theme.came : theme.model;
    board.text(axis - 14, y, words[row.kind], `22 end ${own ? 700 : 400} ${own ? "came" : "text"}`);
    board.rect(X(row.lower), y - 15, Math.max(4, X(row.upper) - X(row.lower)), 30, {
      fill: colour,
      opacity: own ? 0.85 : 0.45,
      rx: 5,
    });
    if (row.bits !== undefined)
      board.circle(X(row.bits), y, 9, { fill: colour, stroke: theme.background, "stroke-width": 2.5 });
    const said = own ? `${row.lower.toFixed(1)} – ${row.upper.toFixed(1)}` : row.bits.toFixed(1);
    board.text(
      Math.min(X(Math.max(row.upper, row.bits ?? 0)) + 14, board.W - 70),
      y,
      said,
      `20 600 ${colour}`,
    );
  });
  const note = data.class ? [fill(words.few, { n: data.class.n }), " ", words.exact] : [words.begin];
  board.say(
    "note",
    note.map((s) => [s, "quiet"]),
    { x: axis, y: 98, width: board.W - axis, size: data.class ? 17 : 22 },
  );
}
