// One of the server's figures of a run against characters read, filled in.

import { find, place } from "../../../browser/static/dom.js";
import { gaps, purge, react } from "../../../browser/static/plotly.js";

/** @import { Figure, Untyped } from "../../../browser/static/types" */
/** @import { Curves } from "./types" */

const LARGE = 20; // pixels of type for a projector

export class Chart {
  /** @type {number | null} characters read at the mark */
  at = null;
  /** @type {Untyped} Plotly's own, which knows where values stand */
  axis;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.plot = find(root, "div.rt-lines");
    this.mark = find(root, "i.rt-now");
  }

  /** @param {Figure} figure @param {Curves} arrays @param {boolean} large for a projector */
  async draw(figure, arrays, large = false) {
    const { clientWidth: width, clientHeight: height } = this.root;
    if (width < 50) return;
    const { data, layout } = structuredClone(figure);
    if (large) enlarge(layout);
    for (const trace of data) [trace.x, trace.y] = [trace.x, trace.y].map((name) => gaps(arrays[name]));
    Object.assign(layout, { width, height });
    await react(this.plot, data, layout);
    this.axis = /** @type {Untyped} */ (this.plot)._fullLayout?.xaxis;
    this.point(this.at);
  }

  /** Mark how far training was when the picture on the left was taken; null for now. @param {number | null} characters */
  point(characters) {
    this.at = characters;
    const { axis } = this;
    this.mark.hidden = characters === null || !axis;
    if (characters === null || !axis) return;
    const x = axis.d2p(Math.max(characters, 1e-9)); // an axis of logarithms has no 0
    place(this.mark, { left: axis._offset + Math.max(0, Math.min(axis._length, x)) });
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
