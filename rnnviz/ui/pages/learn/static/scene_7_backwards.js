// Scene 7: five pictures about gradients on their way back, one a step.

import { random } from "./random_cut.js";

/** @import { Untyped } from "../../../browser/static/types" */
/** @import { Board } from "./board.js" */
/** @import { Ask, Draw, BackwardsClip, BackwardsCut, BackwardsDial, BackwardsFlow, Said } from "./types" */

const SHOWS = { flow, dial, clip, cut, random };

/** @type {Draw<{ show: keyof typeof SHOWS }>} */
export function draw(board, data, ask) {
  /** @type {Draw<Untyped>} */ (SHOWS[data.show])(board, data, ask);
}

const WORST = 1e-18;

// ---- how far it reaches in trained models -----------------------------------------------------------

/** @param {Board} board @param {Said<BackwardsFlow>} data @param {Ask} ask */
function flow(board, data, ask) {
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
  const colours = { rnn: theme.cells.rnn, gru: theme.cells.gru, lstm: theme.cells.lstm, memory: theme.came };
  const values = data.curves.flatMap((c) => c.points).filter((v) => v > 0);
  const lowest = Math.max(WORST, Math.min(...values));
  const highest = Math.max(...values);
  const lags = data.curves[0].points.length - 1;
  const { Y } = board.chart(
    [84, 96, board.W - 300, 372 + board.spare],
    [0, Math.max(1, lags)],
    [10 ** Math.floor(Math.log10(lowest)), 10 ** Math.ceil(Math.log10(highest))],
    {
      log: true,
      size: 20,
      xTitle: words.lag,
      yTitle: words.norm,
      lines: data.curves.map((c) => ({
        points: c.points.map((v, k) => [k, v || null]),
        colour: colours[c.cell],
        width: c.cell === "memory" ? 3 : 4,
        dash: c.cell === "memory" ? "9 6" : undefined,
      })),
    },
  );
  // Names beside the lines' ends, kept from running into one another.
  const ends = data.curves
    .map((c) => ({ cell: c.cell, y: Y(Math.max(lowest, c.points.findLast((v) => v > 0) ?? lowest)) }))
    .sort((a, b) => a.y - b.y);
  ends.forEach((end, i) => {
    if (i) end.y = Math.max(end.y, ends[i - 1].y + 28);
  });
  const over = Math.max(0, ends[ends.length - 1].y - 468 - board.spare);
  for (const end of ends)
    board.text(
      board.W - 204,
      end.y - over,
      words[end.cell] ?? end.cell.toUpperCase(),
      `22 700 ${colours[end.cell]}`,
    );
}

// ---- the dial ---------------------------------------------------------------------------------------

/** @param {Board} board @param {Said<BackwardsDial>} data @param {Ask} ask */
function dial(board, data, ask) {
  const { theme } = board;
  const { words } = data;
  const turned = board.slider(
    "radius",
    [0, 6, 620],
    `ρ = ${words.dial}`,
    { min: data.range[0], max: data.range[1], step: 0.01, value: data.radius, say: (v) => board.number(v) },
    (radius) => ask({ radius }),
  );
  board.stands(turned, "rho");
  const powers = { min: 1, max: data.lags, value: data.power };
  const power = board.slider("power", [660, 6, 360], words.power, powers, (power) => ask({ power }));
  board.stands(power, "k");
  board.button("seed", [board.W - 190, 2, 190], words.seed, () => ask({ seed: (data.seed + 1) % 1000 }));

  // The complex plane.
  const [cx, cy, unit] = [176, 290 + board.spare / 2, 96];
  board.text(cx, cy - 206, words.plane, "20 middle muted");
  board.line(cx - 160, cy, cx + 160, cy, { stroke: theme.grid });
  board.line(cx, cy - 160, cx, cy + 160, { stroke: theme.grid });
  board.circle(cx, cy, unit, { fill: "none", stroke: theme.axis, "stroke-width": 2.5 });
  board.text(cx + unit + 6, cy + 18, "1", "18 muted");
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
  board.text(cx, cy + 190, `ρ = ${board.number(data.radius)}`, {
    style: `30 middle 700 ${data.radius > 1 ? "came" : "model"}`,
    stands: "rho",
  });

  // The matrix, multiplied with itself.
  const n = data.matrix.length;
  const cell = 50;
  const [mx, my] = [388, cy - 150 + 8];
  const head = board.symbol(mx + (n * cell) / 2, cy - 206, "W", "hh", "middle 26");
  board.span(head, String(data.power), { dy: -16, "font-size": 18 });
  const grid = board.group({ stands: "W_hh" });
  grid.matrix({ x: mx, y: my, values: data.matrix, cell: [cell, cell], full: 1, size: 16 });
  board.text(
    mx + (n * cell) / 2,
    cy + 190,
    `‖W${board.raised(data.power)}‖ = ${board.power(data.size)} ≥ ρ${board.raised(data.power)} = ${board.power(data.rule[data.power])}`,
    "24 middle 600",
  );

  // The curve.
  const x = 790;
  const points = (/** @type {number[]} */ values) => values.map((v, k) => [k, v]);
  const width = board.W - x - 80;
  const { Y } = board.chart([x, 112, width, 340 + board.spare], [0, data.lags], data.norms, {
    log: true,
    xTitle: words.lag,
    yTitle: words.norm,
    marks: [{ x: data.power, colour: theme.pinned }],
    lines: [
      { points: points(data.rule), colour: theme.uniform, dash: "6 6", width: 2.5 },
      { points: points(data.linear), colour: theme.came, width: 8 },
      { points: points(data.tanh), colour: theme.model, width: 3 },
    ],
  });
  const names = [
    { label: words.linear, y: Y(data.linear[data.linear.length - 1]), colour: theme.came },
    { label: "tanh", y: Y(data.tanh[data.tanh.length - 1]), colour: theme.model },
    { label: "ρᵏ", y: Y(data.rule[data.rule.length - 1]), colour: theme.uniform },
  ].sort((a, b) => a.y - b.y);
  names.forEach((name, i) => {
    if (i) name.y = Math.max(name.y, names[i - 1].y + 24);
  });
  const over = Math.max(0, names[names.length - 1].y - 448 - board.spare);
  for (const name of names) board.text(x + width + 8, name.y - over, name.label, `19 700 ${name.colour}`);
}

// ---- clipping ---------------------------------------------------------------------------------------

/** @param {Board} board @param {Said<BackwardsClip>} data @param {Ask} ask */
function clip(board, data, ask) {
  const { theme, local } = board;
  const { words } = data;
  const say = (/** @type {number} */ v) => board.number(10 ** v, v < 0 ? 2 : 1);
  const threshold = board.slider(
    "threshold",
    [0, 6, 560],
    `θ = ${words.threshold}`,
    { min: -1, max: 1, step: 0.02, value: Math.log10(data.threshold), say },
    (v) => ask({ threshold: Number((10 ** v).toFixed(3)) }),
  );
  board.stands(threshold, "theta");
  const [cx, cy, unit] = [280, 290 + board.spare / 2, 46];
  const g = local.arrow ?? data.gradient;
  if (local.arrow && String(local.arrow) === String(data.gradient)) local.arrow = null;
  for (let v = -5; v <= 5; v++) {
    board.line(cx + v * unit, cy - 5 * unit + 30, cx + v * unit, cy + 5 * unit - 30, {
      stroke: theme.grid,
      width: v ? 1 : 2,
    });
    if (Math.abs(v) < 5)
      board.line(cx - 5 * unit, cy - v * unit, cx + 5 * unit, cy - v * unit, {
        stroke: theme.grid,
        width: v ? 1 : 2,
      });
  }
  const r = Math.min(data.threshold, 4.3);
  board.circle(cx, cy, r * unit, {
    fill: theme.model,
    "fill-opacity": 0.1,
    stroke: theme.model,
    "stroke-width": 2.5,
    "stroke-dasharray": "8 6",
    stands: "theta",
  });
  /** @type {[number, number]} */
  const end = [cx + g[0] * unit, cy - g[1] * unit];
  board.arrow(cx, cy, ...end, { stroke: theme.came, width: 4, head: 18, stands: "g" });
  const c = data.clipped;
  board.arrow(cx, cy, cx + c[0] * unit, cy - c[1] * unit, { stroke: theme.model, width: 6, head: 18 });
  const handle = board.circle(...end, 26, { fill: theme.came, "fill-opacity": 0.15 });
  board.on(handle, "arrow", {
    label: words.drag,
    drag: (x, y) => {
      const to = (/** @type {number} */ v, /** @type {number} */ most) =>
        Math.round(Math.max(-most, Math.min(most, v)) * 20) / 20;
      local.arrow = [to((x - cx) / unit, 4.8), to((cy - y) / unit, 4.2)];
      ask({ gradient: local.arrow });
      board.redraw();
    },
  });
  const lines = [
    [words.gradient, g, data.norms[0], theme.came],
    [words.clipped, c, data.norms[1], theme.model],
  ];
  lines.forEach(([label, v, norm, colour], i) =>
    board.text(
      40,
      cy + 222 + i * 28,
      `${label} (${board.number(v[0], 2)}, ${board.number(v[1], 2)}), ‖g‖ = ${board.number(norm, 2)}`,
      `21 600 ${colour}`,
    ),
  );
  board.text(40, cy - 224, words.drag, "20 muted");

  const x = 690;
  const low = 10 ** Math.floor(Math.log10(Math.min(...data.weights, data.threshold)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...data.weights, data.threshold)));
  board.chart(
    [x, 96, board.W - x - 20, 366 + board.spare],
    [data.radii[0], data.radii[data.radii.length - 1]],
    [low, high],
    {
      log: true,
      size: 20,
      xTitle: words.radius,
      yTitle: words.norm,
      lines: [
        {
          points: data.radii.map((v) => [v, data.threshold]),
          colour: theme.muted,
          dash: "7 6",
          width: 2.5,
          label: "θ",
          at: data.radii[1],
        },
        { points: data.radii.map((v, i) => [v, data.weights[i]]), colour: theme.came, width: 4 },
        { points: data.radii.map((v, i) => [v, data.cut[i]]), colour: theme.model, width: 5 },
      ],
    },
  );
}

// ---- a cut that can be dragged ----------------------------------------------------------------------

/** @param {Board} board @param {Said<BackwardsCut>} data @param {Ask} ask */
function cut(board, data, ask) {
  const { theme, local } = board;
  const { words } = data;
  const T = data.steps;
  const now = local.cut ?? data.cut;
  if (local.cut === data.cut) local.cut = null;
  const left = 20;
  const each = (board.W - 2 * left) / T;
  const X = (/** @type {number} */ t) => left + (t - 0.5) * each; // t = 1 … T
  const y = 112;
  const wide = Math.min(66, each * 0.62);
  board.text(left, 24, `${words.forward} →`, "22 600 model");
  board.text(left, 54, `← ${words.backward}`, "22 600 came");
  board.button("seed", [board.W - 190, 2, 190], words.seed, () => ask({ seed: (data.seed + 1) % 1000 }));
  for (let t = 1; t <= T; t++) {
    const reached = t > T - now;
    const value = data.states[t];
    const colour = board.colour(value, "diverging", 1);
    const x = X(t);
    board.rect(x - wide / 2, y - 8, wide, 60, {
      fill: colour,
      stroke: reached ? theme.came : theme.axis,
      "stroke-width": reached ? 3.5 : 1.5,
      rx: 8,
    });
    board.text(x, y + 22, board.number(value, 2), `18 middle ${board.ink(colour)}`);
    board.text(x, y + 76, t === T ? "T" : `T−${T - t}`, "18 middle muted");
    if (t === T) continue;
    board.arrow(x + wide / 2 + 2, y + 10, X(t + 1) - wide / 2 - 3, y + 10, { stroke: theme.model, head: 9 });
    if (t >= T - now + 1 || t === T - now) {
      const crossing = t === T - now;
      if (!crossing)
        board.arrow(X(t + 1) - wide / 2 - 2, y + 36, x + wide / 2 + 3, y + 36, {
          stroke: theme.came,
          head: 9,
        });
    }
  }
  // Terms: what each step adds to the gradient.
  const zero = 366 + board.spare * 0.75;
  const most = Math.max(...data.terms.map(Math.abs));
  const high = 110 + board.spare * 0.7;
  board.text(left, 222, words.terms, "20 muted");
  board.text(board.W / 2 - 60, 24, words.net, "22 middle");
  board.line(left, zero, board.W - left, zero, { stroke: theme.axis });
  data.terms.forEach((term, k) => {
    const x = X(T - k);
    const counted = k < now;
    const long = (Math.abs(term) / most) * high * (term < 0 ? 0.6 : 1);
    board.rect(x - wide / 2, term < 0 ? zero : zero - long, wide, Math.max(1, long), {
      fill: counted ? theme.came : theme.grid,
      rx: 3,
    });
    board.text(
      x,
      term < 0 ? zero + long + 14 : zero - long - 14,
      board.number(term, 2),
      `18 middle ${counted ? "came" : "muted"} ${counted ? 600 : 400}`,
    );
  });
  if (now < T) {
    const at = left + (T - now) * each;
    board.line(at, 84, at, zero + 70, { stroke: theme.pinned, width: 4, "stroke-dasharray": "10 7" });
    board.text(at, zero + 86, words.drag, "19 middle 700 pinned");
  } else board.text(left + 60, zero + 86, words.drag, "19 middle 700 pinned");
  const at = left + (T - now) * each;
  const handle = board.rect(at - 22, 84, 44, zero + 14, { fill: "transparent" });
  board.on(handle, "cut", {
    label: words.cut,
    drag: (x) => {
      const to = Math.max(1, Math.min(T, T - Math.round((x - left) / each)));
      if (to === (local.cut ?? data.cut)) return;
      local.cut = to;
      ask({ cut: to });
      board.redraw();
    },
  });
  const sum = data.terms.slice(0, now).reduce((a, b) => a + b, 0);
  const third = board.W / 3;
  /** @type {[string, number, string][]} */
  const figures = [
    [words.full, data.full, theme.text],
    [words.truncated, now === data.cut ? data.truncated : sum, theme.came],
    [words.missing, data.full - (now === data.cut ? data.truncated : sum), theme.muted],
  ];
  figures.forEach(([label, value, colour], i) => {
    board.text(left + i * third, zero + 142, label, `22 ${colour}`);
    board.text(left + (i + 0.88) * third, zero + 140, board.number(value, 3), `36 end 700 ${colour}`);
  });
}
