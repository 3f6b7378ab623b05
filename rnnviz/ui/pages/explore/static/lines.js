// 1 / P of each character and the running perplexities, painted over Plotly's axis. They change with every keystroke,
// which would take Plotly twenty times as long. Colours, widths and dashes come from the figure's traces.

import { fit } from "../../../browser/static/heat.js";

/** @import { Untyped, Window2D } from "../../../browser/static/types" */
/** @import { Store } from "./store.js" */
/** @import { Box } from "./types" */

const ARROW_GAP_PX = 40; // pixels between two arrows
const ARROW_PX = 4;
/** @type {Record<string, number[]>} */
const DASHES = { dot: [2, 3], dash: [8, 6], dashdot: [8, 3, 2, 3] };

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Store} store
 * @param {Window2D} view
 * @param {Box} box
 * @param {Record<string, Untyped>} traces the figure's, by name
 * @param {number} decades the length of the logarithmic axis, from 1
 * @param {string} background the page's colour
 */
export function drawLines(
  canvas,
  store,
  { first, last, columns },
  { inner, lines },
  traces,
  decades,
  background,
) {
  const pen = fit(canvas, inner, lines);
  pen.clearRect(0, 0, inner, lines);
  if (!lines) return;
  const room = inner / columns;
  const n = last - first;
  if (!n) return;

  // 1 / P: a stepped area on a logarithmic axis, with the heat map's columns.
  const tall = (lines / decades) * Math.log10(2); // pixels of a bit
  pen.beginPath();
  pen.moveTo(0, lines);
  for (let i = 0; i < n; i++) {
    const y = Math.max(0, lines - store.bits(first + i) * tall);
    pen.lineTo(i * room, y);
    pen.lineTo((i + 1) * room, y);
  }
  pen.lineTo(n * room, lines);
  pen.fillStyle = traces.surprisal.fillcolor;
  pen.fill();
  stroke(pen, traces.surprisal.line);
  const arrows = { room, n, colour: traces.surprisal.line.color };
  beyond(pen, (i) => store.bits(first + i) * tall > lines, arrows);

  // Running perplexities: lines, clipped at the axis's end.
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, inner, lines);
  pen.clip();
  const scale = lines / decades;
  for (const [trace, running] of [
    [traces.ngram, store.hasNgram && store.ngramRunning],
    [traces.memoryless, store.memorylessRows && store.memorylessRunning],
    [traces.model, store.networkRunning],
  ]) {
    if (!running) continue;
    const y = (/** @type {number} */ i) =>
      lines - Math.log10(Math.min(1e9, running.perplexity(first + i))) * scale;
    pen.beginPath();
    for (let i = 0; i < n; i++) pen.lineTo((i + 0.5) * room, y(i));
    if (n === 1) pen.lineTo(room, y(0));
    stroke(pen, { color: background, width: trace.line.width + 2 }); // apart from the area behind
    stroke(pen, trace.line);
    pen.setLineDash([]);
    beyond(pen, (i) => y(i) < 0, { room, n, colour: trace.line.color });
  }
  pen.restore();
}

/**
 * Draw arrows along the upper edge where a line goes beyond it.
 * @param {CanvasRenderingContext2D} pen @param {(i: number) => boolean} is
 * @param {{ room: number, n: number, colour: string }} place
 */
function beyond(pen, is, { room, n, colour }) {
  pen.fillStyle = colour;
  const step = Math.max(1, Math.round(ARROW_GAP_PX / room));
  for (let i = 0; i < n; i += step) {
    if (!is(i)) continue;
    const x = (i + 0.5) * room;
    pen.beginPath();
    pen.moveTo(x, 0);
    pen.lineTo(x + ARROW_PX, 2 * ARROW_PX);
    pen.lineTo(x - ARROW_PX, 2 * ARROW_PX);
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
