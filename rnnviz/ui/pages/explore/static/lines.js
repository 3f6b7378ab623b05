// 1 / P of each character and the running perplexities over their axis, painted: they change with every keystroke, which
// would take a drawing library twenty times as long.

import { fit } from "../../../browser/static/heat.js";

/** @import { Theme, Window2D } from "../../../browser/static/types" */
/** @import { Store } from "./store.js" */
/** @import { Box } from "./types" */

const ARROW_GAP_PX = 40; // pixels between two arrows
const ARROW_PX = 4;
const LEAST_TOP = 10_000; // of the axis: a character of one in ten thousand is rare in every text
const DASHES = { uniform: [9, 9], ngram: [2, 3], memoryless: [8, 3, 2, 3], model: [] };
const WIDTHS = { uniform: 1.5, ngram: 1.5, memoryless: 1.5, model: 2.25 };

/** The length of the axis from 1, in powers of ten: unlikely texts cost more than a uniform guess. @param {Store} store */
export function axisDecades({ fixed }) {
  return Math.log10(Math.max(LEAST_TOP, 10 * (fixed.symbols.length + 1)));
}

/** @param {HTMLCanvasElement} canvas @param {Store} store @param {Window2D} view @param {Box} box @param {Theme} theme */
export function drawLines(canvas, store, { first, last, columns }, { inner, lines }, theme) {
  const pen = fit(canvas, inner, lines);
  pen.clearRect(0, 0, inner, lines);
  if (!lines) return;
  const decades = axisDecades(store);
  const scale = lines / decades; // pixels of a power of ten
  const level = (/** @type {number} */ value) => lines - Math.log10(value) * scale;
  const across = (/** @type {number} */ y) => {
    pen.beginPath();
    pen.moveTo(0, y);
    pen.lineTo(inner, y);
  };
  for (let k = 1; k < decades; k++) {
    across(Math.round(level(10 ** k)) + 0.5);
    stroke(pen, theme.grid, 1);
  }
  across(level(store.fixed.symbols.length + 1));
  stroke(pen, theme.uniform, WIDTHS.uniform, DASHES.uniform);
  const columnWidth = inner / columns;
  const n = last - first;
  if (!n) return;

  // 1 / P: a stepped area on a logarithmic axis, with the heat map's columns.
  const bitHeight = scale * Math.log10(2); // in pixels
  pen.beginPath();
  pen.moveTo(0, lines);
  for (let i = 0; i < n; i++) {
    const y = Math.max(0, lines - (store.bits(first + i) || 0) * bitHeight); // a diverged network has none
    pen.lineTo(i * columnWidth, y);
    pen.lineTo((i + 1) * columnWidth, y);
  }
  pen.lineTo(n * columnWidth, lines);
  const colour = /** @type {string} */ (theme.surprisal.at(-1));
  pen.fillStyle = colour;
  pen.fill();
  stroke(pen, colour, 1);
  beyond(pen, (i) => store.bits(first + i) * bitHeight > lines, { columnWidth, n, colour });

  // Running perplexities: lines, clipped at the axis's end.
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, inner, lines);
  pen.clip();
  const runnings = {
    ngram: store.hasNgram && store.ngramRunning,
    memoryless: store.memorylessRows && store.memorylessRunning,
    model: store.networkRunning,
  };
  for (const name of /** @type {const} */ (["ngram", "memoryless", "model"])) {
    const running = runnings[name];
    if (!running) continue;
    const y = (/** @type {number} */ i) => level(Math.min(1e9, running.perplexity(first + i)));
    pen.beginPath();
    for (let i = 0; i < n; i++) pen.lineTo((i + 0.5) * columnWidth, y(i));
    if (n === 1) pen.lineTo(columnWidth, y(0));
    stroke(pen, theme.background, WIDTHS[name] + 2); // apart from the area behind
    stroke(pen, theme[name], WIDTHS[name], DASHES[name]);
    beyond(pen, (i) => y(i) < 0, { columnWidth, n, colour: theme[name] });
  }
  pen.restore();
}

/**
 * Draw arrows along the upper edge where a line goes beyond it.
 * @param {CanvasRenderingContext2D} pen @param {(i: number) => boolean} is
 * @param {{ columnWidth: number, n: number, colour: string }} place
 */
function beyond(pen, is, { columnWidth, n, colour }) {
  pen.fillStyle = colour;
  const step = Math.max(1, Math.round(ARROW_GAP_PX / columnWidth));
  for (let i = 0; i < n; i += step) {
    if (!is(i)) continue;
    const x = (i + 0.5) * columnWidth;
    pen.beginPath();
    pen.moveTo(x, 0);
    pen.lineTo(x + ARROW_PX, 2 * ARROW_PX);
    pen.lineTo(x - ARROW_PX, 2 * ARROW_PX);
    pen.fill();
  }
}

/** @param {CanvasRenderingContext2D} pen @param {string} colour @param {number} width @param {number[]} [dash] */
function stroke(pen, colour, width, dash = []) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.lineJoin = "round";
  pen.setLineDash(dash);
  pen.stroke();
}
