// The heat map and the characters below it, painted into canvases. Plotly's heat map would take longer than all
// other drawing together.

import { visible } from "./characters.js";
import { setPixels } from "./dom.js";

/** @import { States, Theme, Window2D } from "./types" */

/** A colour "#rrggbb" as a 32-bit canvas pixel: ABGR, on little-endian machines RGBA bytes. @param {string} colour */
function pixel(colour) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  return (255 << 24) | (b << 16) | (g << 8) | r;
}

/**
 * Set a canvas's size in CSS pixels, with as many pixels as the screen has there. Returns its context, scaled to CSS
 * pixels. An unchanged size is not set again, because that would clear the canvas.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height
 */
export function fit(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    setPixels(canvas, { width, height });
  }
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}

/** The row of a heat map at pixel y of H. @param {number} y @param {number} H @param {{ from: number, count: number }} rows the rows drawn */
export function rowAt(y, H, { from, count }) {
  return from + Math.floor((y * count) / H);
}

/** First and stop of the rows at pixel y of H; several if rows are thinner than a pixel. @param {number} y @param {number} H @param {{ from: number, count: number }} rows */
function rowsAt(y, H, rows) {
  const from = rowAt(y, H, rows);
  return [from, Math.max(from + 1, rowAt(y + 1, H, rows))];
}

/**
 * The mean colour index of a column's rows from … to - 1.
 * @param {States} store @param {number} base the column's first index in `states` @param {number} from @param {number} to
 */
function mean({ states, unitOfRow }, base, from, to) {
  let sum = 0;
  for (let row = from; row < to; row++) sum += states[base + (unitOfRow ? unitOfRow[row] : row)];
  return Math.round(sum / (to - from));
}

/** The left edge of column i of a heat map, in pixels. @param {number} i @param {number} W @param {number} columns */
function edge(i, W, columns) {
  return Math.round((i * W) / columns);
}

/** The column at pixel x of W, the inverse of `edge`. @param {number} x @param {number} W @param {number} columns */
export function columnAt(x, W, columns) {
  return Math.ceil(((x + 0.5) * columns) / W) - 1;
}

export class Heat {
  /** @type {ImageData | undefined} */
  image;
  pixels = new Uint32Array();

  /** @param {HTMLCanvasElement} canvas @param {HTMLCanvasElement} strip the canvas of the characters below, see `drawLetters` */
  constructor(canvas, strip = canvas) {
    canvas.getContext("2d", { alpha: false }); // the first call sets the options: this canvas is opaque
    this.canvas = canvas;
    this.strip = strip;
  }

  /**
   * Paint columns first .. last - 1 of a view.
   * @param {States} store @param {Window2D} view @param {string[]} colours @param {string} background
   */
  draw(store, view, colours, background) {
    const { first, last, columns, width, height } = view;
    const pen = fit(this.canvas, width, height);
    const { width: W, height: H } = this.canvas;
    if (this.image?.width !== W || this.image.height !== H) {
      this.image = pen.createImageData(W, H);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    const { pixels } = this;
    const table = Uint32Array.from(colours, pixel);
    const gap = width / columns >= 9 ? Math.round(W / width) : 0;
    const edges = Array.from({ length: last - first + 1 }, (_, i) => edge(i, W, columns));
    pixels.fill(pixel(background));
    for (let y = 0; y < H; ) {
      // Lines of pixels with the same units are equal: the first is painted, the others are copies.
      const [from, to] = rowsAt(y, H, view.rows);
      const begin = y * W;
      for (let i = 0; i < last - first; i++) {
        const colour = table[mean(store, (first + i - store.start) * store.units, from, to)];
        pixels.fill(colour, begin + edges[i], begin + edges[i + 1] - gap);
      }
      for (y++; y < H && rowAt(y, H, view.rows) === from && rowsAt(y, H, view.rows)[1] === to; y++)
        pixels.copyWithin(y * W, begin, begin + W);
    }
    pen.putImageData(this.image, 0, 0);
  }

  /**
   * Draw the characters below their columns.
   * @param {string[]} list @param {States} store @param {Window2D} view @param {Theme} theme @param {string} font
   */
  drawLetters(list, store, view, theme, font) {
    const { first, last, columns, width, strip } = view;
    const pen = fit(this.strip, width, strip);
    pen.clearRect(0, 0, width, strip);
    const columnWidth = width / columns;
    const size = Math.max(9, Math.min(Math.round(0.78 * strip), Math.floor(columnWidth * 1.5)));
    pen.font = `${size}px ${font}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let t = first; t < last; t++) {
      const mark = visible(list[t] ?? "");
      const x = (t - first + 0.5) * columnWidth;
      const unknown = store.isUnknown(t);
      const quiet = mark !== list[t];
      pen.fillStyle = unknown ? theme.actual : quiet ? theme.muted : theme.text;
      pen.fillText(mark.startsWith("U+") ? "�" : mark, x, strip / 2 + 0.5, columnWidth * 1.6);
      if (unknown) pen.fillRect(x - columnWidth / 2 + 1, strip - 2, columnWidth - 2, 1.5);
    }
  }
}
