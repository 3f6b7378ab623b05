// Scene 7: cut at random, beside the full gradient and a regular cut: what each term is multiplied by.

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, BackwardsRandom, Said } from "./types" */

const [LEFT, EACH] = [158, 44];

/** @param {Board} board @param {Said<BackwardsRandom>} data @param {Ask} ask */
export function random(board, data, ask) {
  const { words, steps } = data;
  const say = (/** @type {number} */ v) => board.number(v);
  const going = board.slider(
    "keep",
    [0, 6, 480],
    words.keep,
    { min: 0.3, max: 1, step: 0.01, value: data.keep, say },
    (keep) => ask({ keep }),
  );
  board.stands(going, "pi");
  board.slider("cut", [520, 6, 360], words.cut, { min: 1, max: steps, value: data.cut }, (to) =>
    ask({ cut: to }),
  );
  board.button("draw", [board.W - 260, 2, 260], words.draw, () => ask({ draw: (data.draw + 1) % 1000 }), {
    strong: true,
  });
  board.text(0, 66, words.net, { style: "22 600", stands: "w f_t h_t" });
  weights(board, data);
  running(board, data, LEFT + steps * EACH + 88);
}

/** A row of weights for each way to cut. @param {Board} board @param {Said<BackwardsRandom>} data */
function weights(board, data) {
  const { theme } = board;
  const { words, steps } = data;
  board.text(0, 102, words.weights, "20 muted");
  const row = 52 + board.spare / 8;
  const most = Math.max(4, ...data.weights.flat());
  /** @type {[string, number[], string][]} */
  const rows = [
    [words.whole, data.terms.map(() => 1), theme.text],
    [words.regular, data.terms.map((_, k) => (k < data.cut ? 1 : 0)), theme.came],
    ...data.weights.map(
      (drawn, i) =>
        /** @type {[string, number[], string]} */ ([fill(words.random, { n: i + 1 }), drawn, theme.model]),
    ),
  ];
  rows.forEach(([label, values, colour], i) => {
    const y = 124 + i * row;
    board.text(LEFT - 12, y + 21, label, `20 end 600 ${colour}`);
    const factors = board.group({ stands: i > 1 ? "xi_t" : null });
    values.forEach((w, k) => {
      const shade = w
        ? board.colour(Math.log(1 + w), "sequential", Math.log(1 + most) * 1.3)
        : theme.background;
      factors.rect(LEFT + k * EACH, y, EACH - 3, 42, { fill: shade, stroke: w ? "none" : theme.grid, rx: 4 });
      const said = w ? board.number(w, w >= 10 || w === 1 ? 0 : 1) : "0";
      const ink = w ? board.ink(shade) : theme.muted;
      factors.text(LEFT + (k + 0.5) * EACH - 1.5, y + 21, said, `20 middle ${ink}`);
    });
  });
  const y = 124 + rows.length * row + 6;
  board.text(LEFT - 12, y + 21, words.average, "20 end 600 model");
  data.average.forEach((w, k) => {
    const edge = { fill: "none", stroke: theme.model, "stroke-width": 2, rx: 4 };
    board.rect(LEFT + k * EACH, y, EACH - 3, 42, edge);
    board.text(LEFT + (k + 0.5) * EACH - 1.5, y + 21, board.number(w, 1), "20 middle 700 model");
  });
  board.text(LEFT, y + 62, "0", "20 muted");
  board.text(LEFT + steps * EACH - 4, y + 62, fill(words.lag, { n: steps - 1 }), "20 end muted");
}

/** The mean of more and more estimates. @param {Board} board @param {Said<BackwardsRandom>} data @param {number} x */
function running(board, data, x) {
  const { theme } = board;
  const { words } = data;
  const width = board.W - x - 122;
  const shown = data.at.findIndex((n) => n >= 3); // fewer draws have no band to speak of
  const middle = [data.full, data.regular, ...data.mean.slice(shown)];
  const low = Math.min(...middle) - data.band[18] / 2 - 0.05;
  const high = Math.max(...middle) + data.band[18] / 2 + 0.05;
  const { X, Y } = board.chart([x, 124, width, 268 + board.spare], [1, data.draws], [low, high], {
    logX: true,
    size: 20,
    xTitle: words.count,
    yTitle: words.mean,
    lines: [],
  });
  const inside = (/** @type {number} */ v) => Math.max(low, Math.min(high, v));
  const place = (/** @type {number} */ n, /** @type {number} */ v) =>
    `${X(n).toFixed(1)},${Y(inside(v)).toFixed(1)}`;
  const up = data.at.map((n, i) => place(n, data.full + data.band[i]));
  const down = data.at.map((n, i) => place(n, data.full - data.band[i])).reverse();
  board.path(`M${[...up, ...down].join("L")}Z`, { fill: theme.model, stroke: "none", "fill-opacity": 0.15 });
  board.path(`M${data.at.map((n, i) => place(n, data.mean[i])).join("L")}`, {
    stroke: theme.model,
    width: 6,
    stands: "E z_t",
  });
  board.line(x, Y(data.full), x + width, Y(data.full), { stroke: theme.text, width: 2 });
  const dash = { stroke: theme.came, width: 2.5, "stroke-dasharray": "8 6" };
  board.line(x, Y(data.regular), x + width, Y(data.regular), dash);
  const apart = Math.max(0, 26 - Math.abs(Y(data.full) - Y(data.regular))) / 2;
  const side = Y(data.full) <= Y(data.regular) ? -apart : apart;
  board.text(x + width + 10, Y(data.full) + side, words.whole, "20 600");
  board.text(x + width + 10, Y(data.regular) - side, words.regular, "20 600 came");
  board.text(x, 432 + board.spare, words.band, "20 muted");
  const said = {
    mean: board.number(data.last, 3),
    error: board.number(data.error, 3),
    full: board.number(data.full, 3),
  };
  board.text(0, 512 + board.spare, words.cures, "22 600");
  board.text(board.W - 4, 512 + board.spare, fill(words.result, said), "22 end 600 model");
}
