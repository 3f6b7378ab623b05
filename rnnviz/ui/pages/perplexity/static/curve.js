// The curve above the text, as SVG; marks that move are elements over it.

import { together } from "../../../browser/static/alt_text.js";
import { countLeading } from "../../../browser/static/characters.js";
import { find, makeSvg } from "../../../browser/static/dom.js";
import { raised } from "../../../browser/static/number_format.js";
import { Axis, pathOf } from "../../../browser/static/plot.js";

/** @import { Numbers } from "../../../browser/static/number_format.js" */
/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { Arrays } from "./types" */

const HEIGHT_PX = 190;
const MARGIN = { left: 46, right: 10, top: 6, bottom: 22 }; // pixels around the axes, where view.css has the pad
const MARK_ROW_PX = 14; // pixels between two marks of values beyond the axis
const X_TICKS = 8;
/** @type {Record<string, number>} the share of the text by which a key moves */
const STEPS = {
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  PageUp: 0.1,
  PageDown: -0.1,
};

export class Curve {
  /** @type {[first: number, last: number]} */
  sight = [0, 0];
  length = 1;
  place = -1e9; // the character that the keys have moved to
  /** @type {ArrayLike<number>} */
  position = [];
  /** @type {{ running: ArrayLike<number>, rolling: ArrayLike<number> }[]} */
  lines = [];

  /** @param {HTMLElement} root @param {{ jump(position: number): void, say(position: number | null): void }} on */
  constructor(root, on) {
    this.root = find(root, "div.vw-curve");
    this.plot = find(root, "div.vw-plot");
    this.pad = find(root, "div.vw-pad");
    this.sightMark = find(root, "i.vw-sight");
    this.cursor = find(root, "i.vw-cursor");
    this.on = on;
    this.listen();
  }

  /** Take the lines of an answer. @param {Arrays} arrays @param {number} length @param {Numbers} numbers */
  set(arrays, length, numbers) {
    this.length = length;
    this.numbers = numbers;
    this.position = arrays.curveAt;
    this.lines = [];
    for (let n = 0; arrays[`curveRolling${n}`]; n++)
      this.lines.push({ rolling: arrays[`curveRolling${n}`], running: arrays[`curveRunning${n}`] });
  }

  /** Draw the curve. @param {number} window characters of the rolling mean @param {string} theme its name */
  draw(window, theme) {
    const { length, numbers, lines, position } = this;
    const width = this.plot.clientWidth;
    if (!position.length || !numbers) return;
    const { left, right, top, bottom } = MARGIN;
    const [low, high] = extent(lines, position, window);
    const [across, up] = [new Axis([0, length], [], false, 0), new Axis([low, high], [], true, 0)];
    const x = (/** @type {number} */ at) => left + across.share(at) * (width - left - right);
    const y = (/** @type {number} */ perplexity) =>
      HEIGHT_PX - bottom - up.share(Math.log10(perplexity)) * (HEIGHT_PX - top - bottom);
    const svg = makeSvg("svg", { width, height: HEIGHT_PX });
    const put = (
      /** @type {"path" | "text"} */ tag,
      /** @type {Record<string, string | number>} */ attributes,
      words = "",
      into = svg,
    ) => into.append(makeSvg(tag, attributes, words));
    for (const value of roundValues(low, high)) {
      put("path", { d: `M${left},${y(value)}H${width - right}`, class: "vw-grid" });
      put("text", { x: left - 6, y: y(value), class: "vw-tick-y" }, tick(value, numbers));
    }
    for (const value of across.roundValues(X_TICKS))
      put(
        "text",
        {
          x: x(value),
          y: HEIGHT_PX - bottom + 15,
          class: `vw-tick-x ${value > 0.97 * length ? "vw-tick-last" : ""}`,
        },
        numbers.whole(value),
      );
    put("path", { d: `M${left},${top}V${HEIGHT_PX - bottom}H${width - right}`, class: "vw-axis" });
    const box = { x: left, y: top, width: width - left - right, height: HEIGHT_PX - top - bottom };
    const inner = makeSvg("svg", { ...box, viewBox: Object.values(box).join(" ") }); // cuts off what is beyond the axes
    svg.append(inner);
    lines.forEach((line, n) => {
      for (const kind of /** @type {const} */ (["rolling", "running"])) {
        const points = Array.from(line[kind], (value, i) =>
          Number.isFinite(value) ? [x(position[i]), y(value)] : null,
        );
        put("path", { d: pathOf(points), class: `vw-path vw-${kind} vw-model-${n}` }, "", inner);
      }
    });
    for (const { at, value, above, row } of beyond(lines, position, low, high)) {
      const isLeft = at < length / 2;
      const words = [above ? "▲" : "▼", value === Infinity ? "∞" : numbers.number(value)];
      const line = above ? top + (row + 1) * MARK_ROW_PX : HEIGHT_PX - bottom - 4 - row * MARK_ROW_PX;
      put(
        "text",
        { x: x(at) + (isLeft ? -6 : 6), y: line, class: isLeft ? "vw-mark" : "vw-mark vw-mark-right" },
        (isLeft ? words : words.reverse()).join(" "),
      );
    }
    this.plot.replaceChildren(svg);
    this.root.dataset.drawn = theme;
    this.markSight(...this.sight);
  }

  /**
   * Set the text alternative: the end of each model's line, and the most and least surprising places.
   * @param {Phrase} phrase @param {string[]} names of the models @param {number} window characters of the rolling mean
   */
  describe(phrase, names, window) {
    if (!this.numbers) return;
    this.plot.setAttribute("aria-label", description(this, this.numbers, phrase, names, window));
  }

  /** Mark the visible part of the text. @param {number} first @param {number} last */
  markSight(first, last) {
    this.sight = [first, last];
    this.sightMark.hidden = last - first >= this.length; // no mark if the whole text is visible
    this.sightMark.style.left = percent(first, this.length);
    this.sightMark.style.width = `max(3px, ${percent(last - first, this.length)})`;
    this.pad.setAttribute("aria-valuenow", String(first + 1));
    this.pad.setAttribute("aria-valuemax", String(this.length));
    this.pad.setAttribute("aria-valuetext", this.numbers?.whole(first + 1) ?? "");
  }

  /** @param {number | null} position */
  point(position) {
    this.cursor.hidden = position === null;
    if (position !== null) this.cursor.style.left = percent(position, this.length);
  }

  /** The values at the drawn point nearest to a place. @param {number} position */
  values(position) {
    const at = drawnAt(this.position, position);
    const lines = this.lines.map(({ running, rolling }) => ({ running: running[at], rolling: rolling[at] }));
    return { at: this.position[at], lines };
  }

  listen() {
    const { pad, on } = this;
    const at = (/** @type {MouseEvent} */ event) => {
      const frame = pad.getBoundingClientRect();
      return characterAt((event.clientX - frame.left) / frame.width, this.length);
    };
    pad.onpointermove = (event) => {
      if (event.buttons & 1) on.jump(at(event));
      on.say(at(event));
    };
    pad.onpointerleave = () => on.say(null);
    pad.onclick = (event) => on.jump(at(event));
    pad.onkeydown = (event) => {
      const to = reached(event.key, this.place, this.sight[0], this.length);
      if (to === undefined) return;
      this.place = to;
      on.jump(to);
      event.preventDefault();
    };
  }
}

/** A round number beside the axis: 2,000 or 5·10⁶. @param {number} value @param {Numbers} numbers */
function tick(value, numbers) {
  if (value < 1e5) return numbers.rough(value, 6);
  const power = Math.floor(Math.log10(value) + 1e-9);
  const factor = Math.round(value / 10 ** power);
  return `${factor === 1 ? "" : `${factor}·`}10${raised(power)}`;
}

/** @typedef {{ running: ArrayLike<number>, rolling: ArrayLike<number> }} Line */

/**
 * The ends of the axis: all values but those of the first window, or in a short text its first quarter, where characters
 * may cost thousands; with some room.
 * @param {Line[]} lines @param {ArrayLike<number>} position @param {number} window @returns {[low: number, high: number]}
 */
export function extent(lines, position, window) {
  const settled = Math.min(window, position[position.length - 1] / 4);
  const values = lines.flatMap(({ running, rolling }) =>
    [running, rolling].flatMap((line) => Array.from(line).filter((_, i) => position[i] >= settled)),
  );
  const powers = values.filter(Number.isFinite).map((value) => Math.log10(Math.max(1, value)));
  if (!powers.length) return [1, 100];
  const [low, high] = [powers.reduce((a, b) => Math.min(a, b)), powers.reduce((a, b) => Math.max(a, b))];
  const room = Math.max(0.06, 0.06 * (high - low));
  return [10 ** Math.max(0, low - room), 10 ** (high + room)];
}

/**
 * The values farthest beyond the axis, of each line on each side, with a row for each on one side.
 * @param {Line[]} lines @param {ArrayLike<number>} position @param {number} low @param {number} high
 */
export function beyond(lines, position, low, high) {
  return [true, false].flatMap((above) => {
    const marks = lines.flatMap(({ running, rolling }) => {
      const worst = Array.from(running, (value, i) =>
        Number.isNaN(rolling[i]) ? value : (above ? Math.max : Math.min)(value, rolling[i]),
      );
      const at = extreme(worst, above ? 1 : -1, 0);
      const outside = above ? worst[at] > high : worst[at] < low;
      return outside ? [{ at: position[at], value: worst[at], above }] : [];
    });
    return marks.map((mark, row) => ({ ...mark, row }));
  });
}

/** Round values on a logarithmic axis: powers of ten, with 2 and 5 between, or evenly spaced ones within a factor of five. @param {number} low @param {number} high */
export function roundValues(low, high) {
  const decades = Math.log10(high / low);
  if (decades <= 0.7) return new Axis([low, high], [], false, 0).roundValues(4);
  const step = Math.ceil(decades / 6);
  const values = [];
  for (let k = Math.floor(Math.log10(low) / step) * step; 10 ** k <= high; k += step)
    values.push(...(decades > 3 ? [10 ** k] : [10 ** k, 2 * 10 ** k, 5 * 10 ** k]));
  return values.filter((value) => value >= low && value <= high);
}

/**
 * The end of each model's line, and the most and least surprising places.
 * @param {Pick<Curve, "lines" | "position">} curve @param {Numbers} numbers
 * @param {Phrase} phrase @param {string[]} names of the models @param {number} window characters of the rolling mean
 */
export function description({ lines, position }, numbers, phrase, names, window) {
  const sentences = lines.map(({ running, rolling }, n) => {
    // The rolling mean is partial before the first whole window.
    const first = Math.max(
      0,
      Array.from(position).findIndex((at) => at >= window),
    );
    const [low, high] = [extreme(rolling, -1, first), extreme(rolling, 1, first)];
    const at = (/** @type {number} */ i) => numbers.whole(position[i]);
    const ending = phrase("curve.ends", { p: numbers.number(running[running.length - 1]) });
    const peaks = { high: numbers.number(rolling[high]), at: at(high), low: numbers.number(rolling[low]) };
    const rest =
      high === low ? "" : phrase("curve.peaks", { ...peaks, n: numbers.whole(window), and: at(low) });
    return together(names.length > 1 ? `${names[n]}:` : "", ending, rest);
  });
  return together(...sentences);
}

/** A place as a share of the text, for CSS. @param {number} place @param {number} length of the text */
export function percent(place, length) {
  return `${(100 * place) / Math.max(1, length)}%`;
}

/** The character at a share of the curve's width. @param {number} share @param {number} length of the text */
export function characterAt(share, length) {
  return Math.min(length - 1, Math.round(Math.max(0, Math.min(1, share)) * length));
}

/** The index of the drawn point nearest to a place. @param {ArrayLike<number>} position of the points @param {number} place */
export function drawnAt(position, place) {
  return countLeading(position.length - 1, (i) => position[i] < place + 1);
}

/**
 * The character that a key moves to; undefined for a key that moves nowhere.
 * @param {string} key @param {number} place the character that the last key has moved to
 * @param {number} first the first visible character @param {number} length of the text
 */
export function reached(key, place, first, length) {
  let to = /** @type {Record<string, number>} */ ({ Home: 0, End: length - 1 })[key];
  if (key in STEPS) {
    const near = Math.abs(place - first) < 0.02 * length;
    to = (near ? place : first) + STEPS[key] * length;
  }
  return to === undefined ? undefined : Math.round(Math.max(0, Math.min(length - 1, to)));
}

/** The index of the highest (sign 1) or lowest (−1) value, without NaN. @param {ArrayLike<number>} values @param {1 | -1} sign @param {number} first the index to begin at */
export function extreme(values, sign, first) {
  let best = first;
  for (let i = first + 1; i < values.length; i++)
    if (!(sign * values[i] <= sign * values[best]) && !Number.isNaN(values[i])) best = i;
  return best;
}
