// Running perplexity and surprisal, painted over Plotly's axes: what changes with every keystroke takes
// Plotly twenty times as long. Colours, widths and dashes are those of the figure's own traces.

import { fit } from "../../../browser/static/heat.js";

/** @import { Untyped, Window2D } from "../../../browser/static/types" */
/** @import { Store } from "./store.js" */
/** @import { Box } from "./types" */

const APART = 40; // pixels between two arrows
const ARROW = 4;
/** @type {Record<string, number[]>} */
const DASHES = { dot: [2, 3], dash: [8, 6] };

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Store} store
 * @param {Window2D} view
 * @param {Box} box
 * @param {Record<string, Untyped>} traces the figure's, by name
 * @param {{ decades: number, bits: number }} axes where they end
 */
export function drawLines(
  canvas,
  store,
  { first, last, columns },
  { inner, top, lines, bars },
  traces,
  axes,
) {
  const height = top.surprisal + bars - top.perplexity;
  const pen = fit(canvas, inner, height);
  pen.clearRect(0, 0, inner, height);
  const room = inner / columns;
  const n = last - first;
  if (!n) return;

  // Bits: one stepped area, each column as wide as above.
  const tall = bars / axes.bits;
  pen.beginPath();
  pen.moveTo(0, height);
  for (let i = 0; i < n; i++) {
    const y = height - Math.min(axes.bits, store.bits(first + i)) * tall;
    pen.lineTo(i * room, y);
    pen.lineTo((i + 1) * room, y);
  }
  pen.lineTo(n * room, height);
  pen.fillStyle = traces.surprisal.fillcolor;
  pen.fill();
  stroke(pen, traces.surprisal.line);
  const arrows = { room, n, edge: height - bars, colour: traces.surprisal.line.color };
  beyond(pen, (i) => store.bits(first + i) > axes.bits, arrows);

  // Perplexities: lines on a logarithmic axis, cut off where it ends.
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, inner, lines);
  pen.clip();
  const scale = lines / axes.decades;
  for (const [trace, running] of [
    [traces.ngram, store.hasCounts && store.counted],
    [traces.model, store.predicted],
  ]) {
    if (!running) continue;
    const y = (/** @type {number} */ i) =>
      lines - Math.log10(Math.min(1e9, running.perplexity(first + i))) * scale;
    pen.beginPath();
    for (let i = 0; i < n; i++) pen.lineTo((i + 0.5) * room, y(i));
    if (n === 1) pen.lineTo(room, y(0));
    stroke(pen, trace.line);
    pen.setLineDash([]);
    beyond(pen, (i) => y(i) < 0, { room, n, edge: 0, colour: trace.line.color });
  }
  pen.restore();
}

/**
 * Arrows along an upper edge, wherever what is drawn goes on beyond it.
 * @param {CanvasRenderingContext2D} pen @param {(i: number) => boolean} is
 * @param {{ room: number, n: number, edge: number, colour: string }} place
 */
function beyond(pen, is, { room, n, edge, colour }) {
  pen.fillStyle = colour;
  const step = Math.max(1, Math.round(APART / room));
  for (let i = 0; i < n; i += step) {
    if (!is(i)) continue;
    const x = (i + 0.5) * room;
    pen.beginPath();
    pen.moveTo(x, edge);
    pen.lineTo(x + ARROW, edge + 2 * ARROW);
    pen.lineTo(x - ARROW, edge + 2 * ARROW);
    pen.fill();
  }
}

/** @param {CanvasRenderingContext2D} pen @param {Untyped} line */
function stroke(pen, line) {
  pen.strokeStyle = line.color;
  pen.lineWidth = line.width;
  pen.lineJoin = "round";
  pen.setLineDash(DASHES[line.dash] ?? []);
  pen.stroke();
}
