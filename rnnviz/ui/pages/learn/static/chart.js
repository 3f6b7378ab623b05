// Axes and lines, straight or logarithmic.
//
//   x, y, width, height   the plot itself; ticks stand to its left and below it, titles beyond them
//   xs, ys                [low, high]; `log` makes y logarithmic, `logX` x
//   xTicks, yTicks        [[value, text], …]; made up if left out (powers of ten where logarithmic)
//   xTitle, yTitle
//   lines                 {points: [[x, y], …], colour, dash, width, dots, label, at}; null breaks a line;
//                         `label` stands right of the last point, or at x = `at` above the line
//   marks                 {x, text, colour}: upright lines
//
// Returns {X, Y}: from values to units.

export function chart(board, options) {
  const { x, y, width, height, xs, ys, log = false, logX = false, lines = [], marks = [], into } = options;
  const { xTitle, yTitle, size = 20 } = options;
  const { theme } = board;
  const along = logX ? Math.log10 : (v) => v;
  const up = log ? Math.log10 : (v) => v;
  const X = (v) => x + ((along(v) - along(xs[0])) / (along(xs[1]) - along(xs[0]))) * width;
  const Y = (v) => {
    const share = (up(v) - up(ys[0])) / (up(ys[1]) - up(ys[0]));
    return y + height - Math.max(-0.02, Math.min(1.02, share)) * height; // beyond the axes a line lies on their edge
  };
  const g = board.group({}, into);
  const yTicks = options.yTicks ?? (log ? powers(board, ys) : even(ys, 4));
  const xTicks = options.xTicks ?? (logX ? powers(board, xs) : even(xs, 6));
  for (const [value, text] of yTicks) {
    board.line(x, Y(value), x + width, Y(value), { stroke: theme.grid }, g);
    board.text(x - 10, Y(value), text, { size, anchor: "end", fill: theme.muted }, g);
  }
  for (const [value, text] of xTicks)
    board.text(X(value), y + height + 17, text, { size, anchor: "middle", fill: theme.muted }, g);
  board.line(x, y + height, x + width, y + height, { stroke: theme.axis, width: 2 }, g);
  if (yTitle) board.text(x - 6, y - 20, yTitle, { size, fill: theme.muted }, g);
  if (xTitle) board.text(x + width, y + height + 40, xTitle, { size, anchor: "end", fill: theme.muted }, g);
  for (const mark of marks) {
    board.line(X(mark.x), y, X(mark.x), y + height, { stroke: mark.colour ?? theme.pinned, width: 2.5 }, g);
    if (mark.text)
      board.text(X(mark.x), y - 18, mark.text, { size, anchor: "middle", fill: mark.colour ?? theme.pinned, weight: 700 }, g);
  }
  for (const line of lines) {
    const { points, colour = theme.model, dash, width: thick = 3.5, dots = false, label, at } = line;
    let d = "";
    let pen = "M";
    for (const [px, py] of points) {
      if (py === null || (log && py <= 0)) {
        pen = "M";
        continue;
      }
      d += `${pen}${X(px).toFixed(1)},${Y(py).toFixed(1)}`;
      pen = "L";
    }
    board.path(d, { stroke: colour, width: thick, "stroke-dasharray": dash, "stroke-linejoin": "round" }, g);
    if (dots) for (const [px, py] of points) if (py !== null) board.circle(X(px), Y(py), 5, { fill: colour }, g);
    if (!label || !points.length) continue;
    const last = points.findLast(([, py]) => py !== null);
    if (at === undefined) board.text(X(last[0]) + 10, Y(last[1]), label, { size, fill: colour, weight: 600 }, g);
    else board.text(X(at), Y(last[1]) - 15, label, { size, fill: colour, weight: 600, anchor: line.anchor ?? "start" }, g);
  }
  return { X, Y, g };
}

// Every power of ten between two values, or every second, third … so that at most six are named.
function powers(board, [low, high]) {
  const [from, to] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  const step = Math.max(1, Math.ceil((to - from) / 6));
  const ticks = [];
  for (let n = from; n <= to; n += step) {
    const plain = n >= 0 && n <= 4;
    ticks.push([10 ** n, plain ? (10 ** n).toLocaleString("en-GB") : `10${board.raised(n)}`]);
  }
  return ticks;
}

// Round values at equal distances, about `count` of them.
function even([low, high], count) {
  const rough = (high - low) / count;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * ten).find((s) => s >= rough);
  const ticks = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-6; v += step)
    ticks.push([v, String(Number(v.toFixed(6))).replace("-", "−")]);
  return ticks;
}
