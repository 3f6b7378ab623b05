// A plot before Plotly has come: its frame, lines and names, drawn at once in the same place. Ticks follow.

import { makeSvg } from "../../../browser/static/dom.js";

/** @typedef {{ x: (number | null)[], y: (number | null)[], line: { color: string, width?: number } }} Line */

/**
 * The points of a line in pixels, as SVG's `points`, a text for each piece without a gap.
 * @param {Line} line @param {[number, number]} xs the ends of the x axis @param {[number, number]} ys
 * @param {{ x: number, y: number, width: number, height: number }} box @param {{ x: boolean, y: boolean }} log which axes are logarithmic, their ends as powers of ten
 */
export function pieces(line, xs, ys, box, log) {
  /** @type {string[][]} */
  const runs = [[]];
  line.x.forEach((x, i) => {
    const [h, v] = [
      along(x, xs, log.x) * box.width + box.x,
      box.y + box.height - along(line.y[i], ys, log.y) * box.height,
    ];
    if (Number.isFinite(h) && Number.isFinite(v))
      runs[runs.length - 1].push(`${h.toFixed(1)},${v.toFixed(1)}`);
    else if (runs[runs.length - 1].length) runs.push([]);
  });
  return runs.filter((points) => points.length).map((points) => points.join(" "));
}

/** The share of an axis below a value. @param {number | null} value @param {[number, number]} ends @param {boolean} log */
function along(value, [low, high], log) {
  const at = value === null ? NaN : log ? Math.log10(value) : value;
  return (at - low) / (high - low || 1);
}

/** The sketch of a Plotly figure. @param {any[]} data @param {any} layout as primitives.js makes them */
export function sketch(data, layout) {
  const { width, height, margin, font, xaxis, yaxis } = layout;
  const box = {
    x: margin.l,
    y: margin.t,
    width: width - margin.l - margin.r,
    height: height - margin.t - margin.b,
  };
  const log = { x: xaxis.type === "log", y: yaxis.type === "log" };
  const all = data.flatMap((line) => line.x).map((x) => (log.x ? Math.log10(x) : x));
  // As Plotly does, where markers need room.
  const room = data.some((line) => line.mode !== "lines") ? 0.06 * (Math.max(...all) - Math.min(...all)) : 0;
  const xs = xaxis.range ?? [Math.min(...all) - room, Math.max(...all) + room];
  const svg = makeSvg("svg", { width, height, class: "kit-sketch" });
  const frame = `M${box.x},${box.y}v${box.height}h${box.width}`;
  svg.append(makeSvg("path", { d: frame, fill: "none", stroke: xaxis.linecolor }));
  for (const line of data) {
    const { color, width = 2, dash } = line.line;
    const pen = {
      fill: "none",
      stroke: color,
      "stroke-width": width,
      "stroke-dasharray": dash ? "3 3" : "none",
    };
    for (const points of pieces(line, xs, yaxis.range, box, log))
      svg.append(makeSvg("polyline", { points, ...pen }));
  }
  const words = { "font-family": font.family, "font-size": font.size, fill: font.color };
  for (const { text, y, font: labelFont } of layout.annotations) {
    const at =
      box.y + box.height - ((y - yaxis.range[0]) / (yaxis.range[1] - yaxis.range[0] || 1)) * box.height;
    svg.append(
      makeSvg("text", { ...words, x: box.x + box.width, y: at + font.size / 3, fill: labelFont.color }, text),
    );
  }
  const middle = { ...words, "text-anchor": "middle" };
  svg.append(
    makeSvg("text", { ...middle, x: box.x + box.width / 2, y: height - font.size * 0.5 }, xaxis.title.text),
  );
  const turned = `translate(${font.size},${box.y + box.height / 2}) rotate(-90)`;
  svg.append(makeSvg("text", { ...middle, transform: turned }, yaxis.title.text));
  return svg;
}
