// Scene 7: clipping, of an arrow that can be dragged, and of the word's gradients.

import { fill } from "../../../browser/static/words.js";
import { maths } from "./maths.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, BackwardsClip, Said } from "./types" */

const [ACROSS, UP] = [4.8, 4.2]; // as far as the arrow goes

/** @param {Board} board @param {Said<BackwardsClip>} data @param {Ask} ask */
export function clip(board, data, ask) {
  const { words } = data;
  const say = (/** @type {number} */ v) => board.number(10 ** v, v < 0 ? 2 : 1);
  const threshold = board.slider(
    "threshold",
    [0, 6, 520],
    `θ = ${words.threshold}`,
    { min: -1, max: 1, step: 0.02, value: Math.log10(data.threshold), say },
    (v) => ask({ threshold: Number((10 ** v).toFixed(3)) }),
  );
  board.stands(threshold, "theta");
  arrow(board, data, ask, 270 + board.spare / 8, 276 + board.spare / 2);
  parts(board, data, 640);
}

/** @param {Board} board @param {Said<BackwardsClip>} data @param {Ask} ask @param {number} cx @param {number} cy */
function arrow(board, data, ask, cx, cy) {
  const { theme, local } = board;
  const { words } = data;
  const unit = 44 + Math.min(board.spare, 300) / 20; // beside the code a board is higher than wide
  if (local.arrow && String(local.arrow) === String(data.gradient)) local.arrow = null;
  const g = local.arrow ?? data.gradient;
  for (let v = -4; v <= 4; v++) {
    const look = { stroke: theme.grid, width: v ? 1 : 2 };
    board.line(cx + v * unit, cy - UP * unit, cx + v * unit, cy + UP * unit, look);
    board.line(cx - ACROSS * unit, cy - v * unit, cx + ACROSS * unit, cy - v * unit, look);
  }
  board.circle(cx, cy, Math.min(data.threshold, 4.2) * unit, {
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
  board.arrow(cx, cy, cx + c[0] * unit, cy - c[1] * unit, { stroke: theme.model, width: 7, head: 18 });
  const to = (/** @type {number[]} */ wished) => {
    const within = (/** @type {number} */ v, /** @type {number} */ most) =>
      Math.round(Math.max(-most, Math.min(most, v)) * 20) / 20;
    local.arrow = [within(wished[0], ACROSS), within(wished[1], UP)];
    ask({ gradient: local.arrow });
    board.redraw();
  };
  // The arrow's two numbers, on the axes, for the keys.
  const knobs = [
    { key: "across", x: end[0], y: cy, label: words.across, most: ACROSS },
    { key: "up", x: cx, y: end[1], label: words.up, most: UP },
  ];
  knobs.forEach(({ key, x, y, label, most }, i) => {
    const look = { stroke: theme.came, width: 1.5, "stroke-dasharray": "4 5" };
    board.line(x, y, ...end, { ...look, "pointer-events": "none" }); // it ends where the arrow is taken
    const knob = board.circle(x, y, 9, { fill: theme.came, stroke: theme.background, "stroke-width": 2 });
    const change = (/** @type {number} */ v) => to(i ? [g[0], v] : [v, g[1]]);
    board.on(knob, key, {
      label,
      drag: (px, py) => change(i ? (cy - py) / unit : (px - cx) / unit),
      slide: { value: g[i], min: -most, max: most, step: 0.1, said: board.number(g[i], 1), change },
    });
  });
  const handle = board.circle(...end, 26, { fill: theme.came, "fill-opacity": 0.15 });
  board.on(handle, "arrow", { label: words.drag, drag: (x, y) => to([(x - cx) / unit, (cy - y) / unit]) });
  board.text(cx - ACROSS * unit, cy - UP * unit - 16, words.drag, "20 muted");
  const lines = [
    [words.gradient, g, data.norms[0], theme.came],
    [words.clipped, c, data.norms[1], theme.model],
  ];
  lines.forEach(([label, v, norm, colour], i) =>
    board.text(
      cx - ACROSS * unit,
      cy + UP * unit + 26 + i * 30,
      `${label} (${board.number(v[0], 2)}, ${board.number(v[1], 2)}), ‖g‖ = ${board.number(norm, 2)}`,
      `22 600 ${colour}`,
    ),
  );
}

/** The word's gradients, part by part. @param {Board} board @param {Said<BackwardsClip>} data @param {number} x */
function parts(board, data, x) {
  const { theme } = board;
  const { words } = data;
  const [left, right] = [x + 84, board.W - 150];
  const row = 58 + board.spare / 8;
  board.text(x, 24, fill(words.word, { inputs: data.inputs, count: data.numbers }), "22 600");
  board.text(x, 56, words.sizes, "20 muted");
  /** @type {[string, number, number][]} */
  const rows = Object.entries(data.sizes).map(([name, [before, after]]) => [
    name.replace(/_(.*)/, "_{$1}"),
    before,
    after,
  ]);
  rows.push([words.all, data.norm, data.short]);
  const most = Math.max(data.norm, Math.min(data.threshold, data.norm * 1.3));
  const long = (/** @type {number} */ v) => (v / most) * (right - left);
  const top = 78;
  rows.forEach(([name, before, after], i) => {
    const last = i === rows.length - 1;
    const y = top + i * row + (last ? 14 : 0);
    maths(board, left - 12, y + row / 2, name, `${last ? "22 700" : 24} end`);
    board.rect(left, y + 6, long(before), row / 2 - 8, { fill: theme.came, rx: 3 });
    board.rect(left, y + row / 2, long(after), row / 2 - 8, { fill: theme.model, rx: 3 });
    const at = left + long(before) + 10;
    board.text(at, y + row / 4 + 2, board.number(before), `20 came ${last ? 700 : 400}`);
    board.text(at, y + (row * 3) / 4 - 4, board.number(after), `20 model ${last ? 700 : 400}`);
  });
  const bottom = top + rows.length * row + 14;
  if (data.threshold <= most) {
    const at = left + long(data.threshold);
    board.line(at, bottom - row - 6, at, bottom + 4, {
      stroke: theme.pinned,
      width: 3,
      "stroke-dasharray": "7 5",
    });
    board.text(at, bottom + 18, "θ", "22 middle 700 pinned");
  }
  const [norm, theta] = [board.number(data.norm), board.number(data.threshold)];
  board.text(
    board.W,
    bottom + 46,
    `min(1, θ/‖g‖) = min(1, ${theta}/${norm}) = ${board.number(data.factor)}`,
    "22 end 600 model",
  );
}
