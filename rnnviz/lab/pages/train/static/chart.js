// A chart of a run against characters read: a figure from the server, filled with the answer's arrays.

import { find, setPixels } from "../../../../ui/browser/static/dom.js";
import { gaps, purge, react } from "../../../../ui/browser/static/plotly.js";

/** @import { Figure, Untyped } from "../../../../ui/browser/static/types" */
/** @import { Curves } from "./types" */

const LARGE = 20; // pixels of the font for a projector

export class Chart {
  /** @type {number | null} characters read at the mark */
  at = null;
  /** @type {Untyped} Plotly's computed x axis, which converts values to pixels */
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

  /** Mark the characters read at the snapshot in view; null: the newest one, without a mark. @param {number | null} characters */
  point(characters) {
    this.at = characters;
    const { axis } = this;
    this.mark.hidden = characters === null || !axis;
    if (characters === null || !axis) return;
    const x = axis.d2p(Math.max(characters, 1e-9)); // a logarithmic axis has no 0
    setPixels(this.mark, { left: axis._offset + Math.max(0, Math.min(axis._length, x)) });
  }

  close() {
    purge(this.plot);
  }
}

/** Enlarge fonts and margins for a projector. @param {Untyped} layout */
function enlarge(layout) {
  for (const axis of Object.values(layout).filter((part) => part?.tickfont))
    axis.tickfont.size = axis.title.font.size = LARGE;
  for (const note of layout.annotations ?? []) note.font = { ...note.font, size: LARGE };
  for (const side of ["l", "r", "t", "b"]) layout.margin[side] *= 1.7;
}
