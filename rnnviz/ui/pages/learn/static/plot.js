// A plot: lines over two axes, as SVG, with names at the lines' ends that don't overlap.

import { makeSvg } from "../../../browser/static/dom.js";
import { raised } from "../../../browser/static/number_format.js";

/** @import { Numbers } from "../../../browser/static/number_format.js" */
/** @import { KitNode } from "./types" */

const TICKS = 6; // round values along an axis, at most
/** @type {Record<string, string>} */
const DASHES = { dash: "9 9", dot: "3 3" };

/** @typedef {(number | null)[]} Values null is a gap */

/** An axis. On a logarithmic one, its ends and round values are powers of ten. */
export class Axis {
  /** @param {number[] | undefined} ends the axis's; without, it spans the values with a share of `room` at both ends @param {Values} values @param {boolean} log @param {number} room */
  constructor(ends, values, log, room) {
    this.log = log;
    const powers = (ends ?? values).map((value) => this.power(value)).filter(Number.isFinite);
    const [low, high] = [Math.min(...powers), Math.max(...powers)];
    const beyond = ends ? 0 : (high - low || 1) * room;
    this.low = low - beyond;
    this.high = high + beyond;
  }

  /** @param {number | null} value */
  power(value) {
    if (value === null) return NaN;
    return this.log ? Math.log10(value) : value;
  }

  /** The share of the axis below a power. @param {number} power */
  share(power) {
    return (power - this.low) / (this.high - this.low || 1);
  }

  /** Round values, `most` at most. @param {number} most */
  roundValues(most) {
    const least = (this.high - this.low) / most;
    const ten = 10 ** Math.floor(Math.log10(least));
    const round = [1, 2, 5].find((n) => n * ten >= least) ?? 10;
    const step = this.log ? Math.max(1, Math.ceil(least)) : round * ten;
    const [first, last] = [Math.ceil(this.low / step), Math.floor(this.high / step)];
    return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  }

  /** The ticks' shares of the axis and their labels, which `names` may give. @param {Record<string, string> | undefined} names @param {number} most @param {Numbers} numbers @returns {[number, string][]} */
  ticks(names, most, numbers) {
    if (names)
      return Object.entries(names).map(([value, label]) => [this.share(this.power(Number(value))), label]);
    const few = this.low > -1 && this.high < 4; // the labels of all have the same form
    const label = (/** @type {number} */ power) => {
      if (!this.log) return numbers.rough(power, 6);
      return few || power === 0 || power === 1 ? numbers.whole(10 ** power) : `10${raised(power)}`;
    };
    return this.roundValues(most).map((power) => [this.share(power), label(power)]);
  }
}

/** @param {KitNode} node @param {Numbers} numbers @param {number} size of the font, in pixels @param {{ width: number, height: number }} box */
export function drawPlot(node, numbers, size, { width, height }) {
  const { x, y, log, log_x, mark, xs, ys, ticks, levels } = node;
  /** @type {KitNode[]} */
  const lines = node.lines;
  const named = lines.filter((line) => line.name);
  const labels = levels ? 2.2 + widest(Object.values(levels)) * 0.56 : log ? 4.5 : 3.9; // in em, with the axis's name
  const [left, top] = [size * labels, size * 0.9];
  const right = width - size * (0.8 + widest(named.map(({ name }) => name)) * 0.56);
  const bottom = height - size * 3.1;
  const places = lines.map((line) => line.xs ?? [...line.ys.keys()]);
  const across = new Axis(xs, places.flat(), log_x, lines.some(({ dots }) => dots) ? 0.06 : 0); // a dot has a width
  const up = new Axis(
    ys,
    lines.flatMap((line) => line.ys),
    log,
    0.04,
  );
  const atX = (/** @type {number} */ share) => left + share * (right - left);
  const atY = (/** @type {number} */ share) => bottom - share * (bottom - top);
  const svg = makeSvg("svg", { width, height, "font-size": size });
  /** @param {"path" | "text" | "circle"} tag @param {Record<string, string | number>} attributes */
  const put = (tag, attributes, words = "", into = svg) => into.appendChild(makeSvg(tag, attributes, words));
  for (const [share, label] of up.ticks(levels, TICKS, numbers)) {
    put("path", { d: `M${left},${atY(share)}H${right}`, class: "kit-grid" });
    put("text", { x: left - size * 0.3, y: atY(share), "text-anchor": "end" }, label);
  }
  for (const [share, label] of across.ticks(ticks, TICKS, numbers)) {
    put("path", { d: `M${atX(share)},${top}V${bottom}`, class: "kit-grid" });
    label.split("\n").forEach((words, n) => {
      put("text", { x: atX(share), y: bottom + size * (0.8 + 1.2 * n), "text-anchor": "middle" }, words);
    });
  }
  put("path", { d: `M${left},${top}V${bottom}H${right}`, class: "kit-axis" });
  // Lines are in an SVG of the frame's size, which cuts off what lies beyond the axes; dots on its edge stay whole.
  const [wide, tall] = [right - left, bottom - top];
  const inner = makeSvg("svg", {
    x: left,
    y: top,
    width: wide,
    height: tall,
    viewBox: `${left} ${top} ${wide} ${tall}`,
  });
  svg.append(inner);
  const markShare = across.share(across.power(mark ?? null));
  if (Number.isFinite(markShare))
    put("path", { d: `M${atX(markShare)},${top}V${bottom}`, class: "kit-mark" }, "", inner);
  const ink = (/** @type {KitNode} */ { colour }) => `var(--rv-${colour}, var(--rv-muted))`;
  lines.forEach((line, n) => {
    /** @type {(number[] | null)[]} */
    const points = line.ys.map((/** @type {number | null} */ value, /** @type {number} */ i) => {
      const [h, v] = [across.share(across.power(places[n][i])), up.share(up.power(value))];
      return Number.isFinite(h) && Number.isFinite(v) ? [atX(h), atY(v)] : null;
    });
    const pen = {
      stroke: ink(line),
      "stroke-width": line.width,
      "stroke-dasharray": DASHES[line.dash] ?? "none",
    };
    put("path", { d: pathOf(points), ...pen }, "", inner);
    for (const point of line.dots ? points : [])
      if (point) put("circle", { cx: point[0], cy: point[1], r: 4, fill: ink(line) });
  });
  const last = (/** @type {Values} */ values) => values.findLast((value) => value !== null) ?? null;
  const ended = named.filter((line) => last(line.ys) !== null);
  const ends = ended.map((line) => up.share(up.power(last(line.ys))));
  spreadApart(ends, (size * 1.25) / tall, 0, 1).forEach((share, i) => {
    put("text", { x: right + size * 0.3, y: atY(share), fill: ink(ended[i]) }, ended[i].name);
  });
  const title = { "text-anchor": "middle", "font-size": size * 1.1 };
  put("text", { ...title, x: (left + right) / 2, y: height - size * 0.7 }, x);
  const turned = `translate(${size * 0.8},${(top + bottom) / 2}) rotate(-90)`;
  put("text", { ...title, transform: turned }, y);
  return svg;
}

/** The path through points, which begins anew after each gap. @param {(number[] | null)[]} points */
export function pathOf(points) {
  const to = (/** @type {number[]} */ [x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`;
  return points.map((point, i) => point && `${points[i - 1] ? "L" : "M"}${to(point)}`).join("");
}

/** The length of the longest text, in Latin letters; a Chinese one counts 1.8. @param {string[]} texts */
export function widest(texts) {
  const widths = texts.map((words) => [...words].reduce((n, c) => n + (c > "\u2e80" ? 1.8 : 1), 0));
  return Math.max(0, ...widths);
}

/**
 * Places near the wanted ones, at least `least` apart, from `low` to `high`: 40 turns that push close ones apart.
 * @param {number[]} places @param {number} least @param {number} low @param {number} high
 */
export function spreadApart(places, least, low, high) {
  const order = places.map((_at, i) => i).sort((i, j) => places[i] - places[j]);
  const spread = [...places];
  for (let turn = 0; turn < 40; turn++) {
    order.slice(1).forEach((i, n) => {
      const below = order[n];
      const lacks = (least - (spread[i] - spread[below])) / 2;
      if (lacks > 0) {
        spread[i] += lacks;
        spread[below] -= lacks;
      }
    });
    for (const i of order) spread[i] = Math.max(low, Math.min(high, spread[i]));
  }
  return spread;
}
