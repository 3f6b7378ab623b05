// A chunk of text as elements: neighbours of one colour share a span, and no text is ever parsed.

import { running } from "../../../browser/static/characters.js";
import { make } from "../../../browser/static/dom.js";

/** @import { Chunk, Fixed, Mode, Painted } from "./types" */

const JOINED = /[\u200d\ufe0e\ufe0f\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}]|\p{M}/u;

/**
 * The number of the colour of each character of a chunk, 0 for none.
 * @param {Chunk} chunk @param {Mode} mode @param {Fixed} fixed
 */
export function levels(chunk, mode, fixed) {
  const n = chunk.codes.length;
  const level = new Uint8Array(n);
  if (mode === "rank") {
    const [one, few, some] = fixed.bands;
    for (let i = 0; i < n; i++) {
      const rank = Math.abs(chunk.rank[i]);
      level[i] = rank <= one ? 0 : rank <= few ? 1 : rank <= some ? 2 : 3;
    }
  } else if (mode === "versus" && chunk.versus) {
    const half = fixed.versusSteps >> 1;
    for (let i = 0; i < n; i++) {
      const share = chunk.versus[i] / Math.LN2 / fixed.versusFull;
      level[i] = Math.max(0, Math.min(2 * half, Math.round(half + share * half)));
    }
  } else {
    const top = fixed.surprisalSteps - 1;
    for (let i = 0; i < n; i++)
      level[i] = Math.max(
        0,
        Math.min(top, Math.round((chunk.nll[i] / Math.LN2 / fixed.surprisalFull) * top)),
      );
  }
  return level;
}

/**
 * Where clusters go on: characters that must be drawn together with the one before them.
 * @param {Chunk} chunk @param {Uint8Array} level @param {number} neutral
 */
function joined(chunk, level, neutral) {
  const text = String.fromCodePoint(...chunk.codes);
  if (!JOINED.test(text) || !Intl.Segmenter) return null;
  const goesOn = new Uint8Array(chunk.codes.length);
  let i = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)) {
    const first = i;
    for (const end = i + [...segment].length; i < end; i++)
      if (i > first) {
        goesOn[i] = 1;
        // A cluster has one colour: that of its most remarkable part.
        if (Math.abs(level[i] - neutral) > Math.abs(level[first] - neutral)) level[first] = level[i];
      }
    level.fill(level[first], first, i);
  }
  return goesOn;
}

/** The chunk on the page. @param {Chunk} chunk @param {Mode} mode @param {Fixed} fixed @returns {Painted} */
export function paint(chunk, mode, fixed) {
  const level = levels(chunk, mode, fixed);
  const neutral = mode === "versus" ? fixed.versusSteps >> 1 : 0;
  const goesOn = joined(chunk, level, neutral);
  const element = make("div", "vw-chunk");
  element.dataset.mode = mode;
  const { codes, rank } = chunk;
  const offsets = new Uint32Array(codes.length); // of a character in its span's text
  /** @type {Painted["runs"]} */
  const runs = [];
  let text = "";
  let from = 0;
  const finish = (/** @type {number} */ to) => {
    if (to === from) return;
    const span = make("span", level[from] === neutral ? "" : `vw-${level[from]}`, text);
    if (rank[from] < 0) span.classList.add("vw-unknown");
    if (codes[from] === 10) span.classList.add("vw-break");
    span.dataset.run = String(runs.length);
    runs.push({ span, from, to });
    element.append(span);
    from = to;
    text = "";
  };
  const kind = (/** @type {number} */ i) => level[i] * 4 + (rank[i] < 0 ? 2 : 0) + (codes[i] === 10 ? 1 : 0);
  for (let i = 0; i < codes.length; i++) {
    if (i > from && !goesOn?.[i] && kind(i) !== kind(i - 1)) finish(i);
    offsets[i] = text.length;
    text += running(codes[i]);
  }
  finish(codes.length);
  return { chunk, element, runs, offsets };
}

/** The run that holds the chunk's character i. @param {Painted} painted @param {number} i */
function runOf({ runs }, i) {
  let low = 0;
  let high = runs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (runs[middle].from <= i) low = middle;
    else high = middle - 1;
  }
  return runs[low];
}

/** A DOM range over the chunk's characters i .. j - 1. @param {Painted} painted @param {number} i @param {number} j */
export function range(painted, i, j) {
  const first = runOf(painted, i);
  const last = runOf(painted, j - 1);
  const text = (/** @type {HTMLElement} */ span) => /** @type {Text} */ (span.firstChild);
  const found = document.createRange();
  found.setStart(text(first.span), painted.offsets[i]);
  found.setEnd(text(last.span), j < last.to ? painted.offsets[j] : text(last.span).length);
  return found;
}

/** Where the chunk's character i stands on the screen. @param {Painted} painted @param {number} i */
export function box(painted, i) {
  return range(painted, i, i + 1).getClientRects()[0] ?? painted.element.getBoundingClientRect();
}

/**
 * The character of a run that is under a point of the screen.
 * @param {Painted} painted @param {number} run @param {number} x @param {number} y
 */
export function under(painted, run, x, y) {
  const { from, to } = painted.runs[run];
  let low = from;
  let high = to - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const rect = box(painted, middle);
    if (rect.top > y || (rect.bottom >= y && rect.left > x)) high = middle - 1;
    else low = middle;
  }
  return painted.chunk.start + low;
}
