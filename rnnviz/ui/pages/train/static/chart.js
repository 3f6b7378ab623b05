// One of the server's figures of a run against characters read, filled in.

import { find, place } from "../../../browser/static/dom.js";
import { gaps, purge, react } from "../../../browser/static/plotly.js";

/** @import { Figure, Untyped } from "../../../browser/static/types" */
/** @import { Curves } from "./types" */

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

  /** @param {Figure} figure @param {Curves} arrays @param {boolean} large for a projector */
  draw(figure, arrays, large = false) {
    const { clientWidth: width, clientHeight: height } = this.root;
    if (width < 50) return;
    const { data, layout } = structuredClone(figure);
    if (large) enlarge(layout);
    for (const trace of data) [trace.x, trace.y] = [trace.x, trace.y].map((name) => gaps(arrays[name]));
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
