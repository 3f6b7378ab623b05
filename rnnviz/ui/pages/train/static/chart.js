// Perplexity, gradient norm and learning rate against characters read: the server's figure, filled in.

import { find, place } from "../../../browser/static/dom.js";
import { gaps, purge, react } from "../../../browser/static/plotly.js";

/** @import { Untyped } from "../../../browser/static/types" */
/** @import { Curves, TrainTheme } from "./types" */

const LARGE = 20; // pixels of type for a projector

export class Chart {
  /** @type {number | null} characters read at the mark */
  at = null;
  /** @type {((characters: number) => number) | null} where that is, in pixels */
  left = null;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.plot = find(root, "div.rt-lines");
    this.mark = find(root, "i.rt-now");
  }

  /**
   * @param {TrainTheme["figure"]} figure @param {Curves} arrays @param {number} width @param {number} height
   * @param {boolean} large for a projector
   */
  draw(figure, arrays, width, height, large = false) {
    if (width < 50) return;
    const { data, layout } = structuredClone(figure);
    if (large) enlarge(layout);
    const { clip, spread } = figure;
    const norms = arrays.gradient.map((g) => Math.min(clip * spread, Math.max(clip / spread, g)));
    const clipped = (/** @type {Float32Array} */ values) =>
      values.filter((_, i) => arrays.gradient[i] > clip);
    /** @type {Record<string, [Float32Array, Float32Array]>} */
    const filled = {
      train: [arrays.characters, arrays.train],
      validation: [arrays.measured, arrays.validation],
      held_out: [arrays.looked, arrays.held_out],
      gradient: [arrays.characters, norms],
      clipped: [clipped(arrays.characters), clipped(norms)],
      rate: [arrays.characters, arrays.rate],
    };
    for (const trace of data) [trace.x, trace.y] = filled[trace.name].map(gaps);
    Object.assign(layout, { width, height });
    const { l, r } = layout.margin;
    const [low, high] = layout.xaxis.range;
    const log = layout.xaxis.type === "log";
    this.left = (c) => {
      const share = ((log ? Math.log10(Math.max(c, 1e-9)) : c) - low) / (high - low);
      return l + (width - l - r) * Math.max(0, Math.min(1, share));
    };
    react(this.plot, data, layout);
    this.point(this.at);
  }

  /** Mark how far training was when the picture on the left was taken; null for now. @param {number | null} characters */
  point(characters) {
    this.at = characters;
    this.mark.hidden = characters === null || !this.left;
    if (characters !== null && this.left) place(this.mark, { left: this.left(characters) });
  }

  close() {
    purge(this.plot);
  }
}

/** Type and margins for a projector. @param {Untyped} layout */
function enlarge(layout) {
  for (const axis of Object.values(layout).filter((part) => part?.tickfont))
    axis.tickfont.size = axis.title.font.size = LARGE;
  for (const note of layout.annotations ?? []) note.font = { ...note.font, size: LARGE };
  for (const side of ["l", "r", "t", "b"]) layout.margin[side] *= 1.7;
}
