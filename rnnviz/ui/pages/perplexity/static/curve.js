// The curve above the text. Plotly draws it once; marks that move are elements over it.

import { together } from "../../../browser/static/alt_text.js";
import { countLeading } from "../../../browser/static/characters.js";
import { find } from "../../../browser/static/dom.js";
import { gaps, loadPlotly, purge, react } from "../../../browser/static/plotly.js";

/** @import { Numbers } from "../../../browser/static/number_format.js" */
/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { Arrays, ViewerTheme } from "./types" */

const HEIGHT_PX = 190;
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

  /** Draw the curve; resolves to "", or to the address where Plotly is missing. @param {ViewerTheme} theme */
  async draw(theme) {
    const missing = await loadPlotly();
    if (missing || !this.position.length) return missing;
    const { data, layout } = structuredClone(theme.figure);
    const x = Array.from(this.position);
    this.lines.forEach((line, n) => {
      Object.assign(data[2 * n], { x, y: gaps(line.rolling) });
      Object.assign(data[2 * n + 1], { x, y: gaps(line.running) });
    });
    Object.assign(layout, { width: this.plot.clientWidth, height: HEIGHT_PX });
    const { l: left, r: right, b: bottom } = layout.margin;
    Object.assign(this.pad.style, { left: `${left}px`, right: `${right}px`, bottom: `${bottom}px` });
    await react(this.plot, data, layout);
    this.root.dataset.drawn = theme.name;
    this.markSight(...this.sight);
    return "";
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

  close() {
    purge(this.plot);
  }
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
