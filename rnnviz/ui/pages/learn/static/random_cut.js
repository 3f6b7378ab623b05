// Cut at random, the last step of scene 7: weights that leave the gradient unbiased.

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, BackwardsRandom, Said } from "./types" */

/** @param {Board} board @param {Said<BackwardsRandom>} data @param {Ask} ask */
export function random(board, data, ask) {
  const { theme } = board;
  const { words } = data;
  const keep = board.slider(
    "keep",
    [0, 6, 560],
    words.keep,
    { min: 0.3, max: 1, step: 0.01, value: data.keep, say: (v) => board.number(v) },
    (keep) => ask({ keep }),
  );
  board.stands(keep, "pi");
  board.button("draw", [600, 2], words.draw, () => ask({ draw: (data.draw + 1) % 1000 }), { strong: true });
  const T = data.steps;
  const left = 96;
  const each = 38;
  const row = 58 + board.spare / 5;
  board.text(0, 78, words.weights, "20 muted");
  const most = Math.max(4, ...data.weights.flat());
  data.weights.forEach((weights, i) => {
    const y = 102 + i * row;
    board.text(left - 12, y + 22, `${i + 1}`, "20 end muted");
    const factors = board.group({ stands: "xi_t" });
    weights.forEach((w, k) => {
      const colour = w
        ? board.colour(Math.log(1 + w), "sequential", Math.log(1 + most) * 1.3)
        : theme.background;
      const stroke = w ? "none" : theme.grid;
      factors.rect(left + k * each, y, each - 3, 44, { fill: colour, stroke, rx: 4 });
      factors.text(
        left + (k + 0.5) * each - 1.5,
        y + 22,
        w ? board.number(w, w >= 10 ? 0 : 1) : "0",
        `16 middle ${w ? board.ink(colour) : theme.muted}`,
      );
    });
  });
  const y = 102 + 4 * row + 22;
  board.text(0, y - 2, words.average, "20 model 600");
  data.average.forEach((w, k) => {
    board.rect(left + k * each, y + 14, each - 3, 44, {
      fill: "none",
      stroke: theme.model,
      "stroke-width": 2,
      rx: 4,
    });
    board.text(left + (k + 0.5) * each - 1.5, y + 36, board.number(w, 1), "17 middle 700 model");
  });
  board.text(left - 12, y + 36, "Σ/n", "18 end model");
  board.text(left, y + 80, "0", "18 muted");
  board.text(left + T * each - 4, y + 80, `${T - 1} ${words.lag}`, "18 end muted");

  const x = left + T * each + 110;
  const width = board.W - x - 40;
  const low = Math.min(data.full, data.regular, ...data.mean.slice(6)) - data.band[18] / 2;
  const high = Math.max(data.full, data.regular, ...data.mean.slice(6)) + data.band[18] / 2;
  const { X, Y } = board.chart([x, 102, width, 330 + board.spare], [1, data.draws], [low, high], {
    logX: true,
    size: 18,
    xTitle: words.count,
    yTitle: words.mean,
    lines: [],
  });
  const inside = (/** @type {number} */ v) => Math.max(low, Math.min(high, v));
  const up = data.at.map((n, i) => `${X(n).toFixed(1)},${Y(inside(data.full + data.band[i])).toFixed(1)}`);
  const down = data.at
    .map((n, i) => `${X(n).toFixed(1)},${Y(inside(data.full - data.band[i])).toFixed(1)}`)
    .reverse();
  board.path(`M${[...up, ...down].join("L")}Z`, { fill: theme.model, stroke: "none", "fill-opacity": 0.15 });
  board.line(x, Y(data.full), x + width, Y(data.full), { stroke: theme.text, width: 2.5 });
  board.line(x, Y(data.regular), x + width, Y(data.regular), {
    stroke: theme.came,
    width: 2.5,
    "stroke-dasharray": "8 6",
  });
  const apart = Y(data.full) < Y(data.regular) ? -1 : 1;
  board.text(x + width, Y(data.full) + apart * 16, words.full, "19 end 600");
  board.text(x + width, 76, words.band, "19 end muted");
  board.text(0, 512 + board.spare, words.net, "20");
  board.text(
    x + width,
    Y(data.regular) - apart * 16,
    fill(words.regular, { n: data.cut }),
    "19 end 600 came",
  );
  const d = data.at
    .map((n, i) => `${i ? "L" : "M"}${X(n).toFixed(1)},${Y(inside(data.mean[i])).toFixed(1)}`)
    .join("");
  board.path(d, { stroke: theme.model, width: 4, stands: "E z_t" });
  const said = {
    mean: board.number(data.last, 3),
    error: board.number(data.error, 3),
    full: board.number(data.full, 3),
  };
  board.text(board.W - 12, 512 + board.spare, fill(words.result, said), "22 end 600 model");
}
