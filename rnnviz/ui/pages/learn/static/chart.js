// Axes and lines, straight or logarithmic.
//
//   area             the plot itself; ticks stand to its left and below it, titles beyond them
//   xs, ys           [low, high]; `log` makes y logarithmic, `logX` x
//   xTicks, yTicks   [[value, text], …]; made up if left out (powers of ten where logarithmic)
//   lines            null breaks a line; `label` stands right of the last point, or at x = `at` above the line
//   marks            upright lines

/** @import { Board } from "./board.js" */
/** @import { Area, ChartOptions, Range, Ticks } from "./types" */

/** @param {Board} board @param {Area} area @param {Range} xs @param {Range} ys @param {ChartOptions} options */
export function chart(board, [x, y, width = 0, height = 0], xs, ys, options) {
  const { log = false, logX = false, lines = [], marks = [], size = 20, xTitle, yTitle } = options;
  const { theme } = board;
  const share = (
    /** @type {number} */ v,
    /** @type {number[]} */ [low, high],
    /** @type {boolean} */ logarithmic,
  ) => {
    const along = logarithmic ? Math.log10 : Number;
    return (along(v) - along(low)) / (along(high) - along(low));
  };
  const X = (/** @type {number} */ v) => x + share(v, xs, logX) * width;
  // Beyond the axes a line lies on their edge.
  const Y = (/** @type {number} */ v) =>
    y + height - Math.max(-0.02, Math.min(1.02, share(v, ys, log))) * height;
  const g = board.group();
  for (const [value, text] of options.yTicks ?? (log ? powers(board, ys) : even(board, ys, 4))) {
    g.line(x, Y(value), x + width, Y(value), { stroke: theme.grid });
    g.text(x - 10, Y(value), text, `${size} end muted`);
  }
  for (const [value, text] of options.xTicks ?? (logX ? powers(board, xs) : even(board, xs, 6)))
    g.text(X(value), y + height + 17, text, `${size} middle muted`);
  g.line(x, y + height, x + width, y + height, { width: 2 });
  if (yTitle) g.text(x - 6, y - 20, yTitle, `${size} muted`);
  if (xTitle) g.text(x + width, y + height + 40, xTitle, `${size} end muted`);
  for (const { x: at, text, colour = theme.pinned } of marks) {
    g.line(X(at), y, X(at), y + height, { stroke: colour, width: 2.5 });
    if (text) g.text(X(at), y - 18, text, `${size} middle 700 ${colour}`);
  }
  for (const line of lines) {
    const {
      points,
      colour = theme.model,
      dash,
      width: thick = 3.5,
      dots = false,
      label,
      at,
      anchor = "start",
      stands,
    } = line;
    let d = "";
    let pen = "M";
    for (const [px, py] of points) {
      const drawn = py !== null && (!log || py > 0);
      if (drawn) d += `${pen}${X(Number(px)).toFixed(1)},${Y(py).toFixed(1)}`;
      pen = drawn ? "L" : "M";
    }
    g.path(d, { stroke: colour, width: thick, "stroke-dasharray": dash, "stroke-linejoin": "round", stands });
    if (dots)
      for (const [px, py] of points) if (py !== null) g.circle(X(Number(px)), Y(py), 5, { fill: colour });
    const last = points.findLast(([, py]) => py !== null);
    if (!label || !last) continue;
    const [left, top] =
      at === undefined ? [X(Number(last[0])) + 10, Y(Number(last[1]))] : [X(at), Y(Number(last[1])) - 15];
    g.text(left, top, label, `${size} 600 ${at === undefined ? "start" : anchor} ${colour}`);
  }
  return { X, Y };
}

/**
 * Every power of ten between two values, or every second, third … so that at most six are named.
 * @param {Board} board @param {number[]} range @returns {Ticks}
 */
function powers(board, [low, high]) {
  const [from, to] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  const step = Math.max(1, Math.ceil((to - from) / 6));
  // One axis has one way to write: plain numbers where all of them are short.
  const plain = from >= -2 && to <= 4;
  const named = (/** @type {number} */ n) =>
    plain ? board.numbers.rough(10 ** n, 6) : n ? `10${board.raised(n)}` : "1";
  const count = Math.max(0, Math.floor((to - from) / step) + 1);
  return Array.from({ length: count }, (_, i) => [10 ** (from + i * step), named(from + i * step)]);
}

/** Round values at equal distances, about `count` of them. @param {Board} board @param {number[]} range @param {number} count */
function even(board, [low, high], count) {
  const rough = (high - low) / count;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * ten).find((s) => s >= rough) ?? rough;
  /** @type {Ticks} */
  const ticks = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-6; v += step)
    ticks.push([v, board.numbers.rough(Number(v.toFixed(6)), 6)]);
  return ticks;
}
