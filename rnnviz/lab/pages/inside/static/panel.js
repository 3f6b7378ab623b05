// A panel of the dashboard: a figure drawn by Plotly, with elements over it that mark the cursor.

import { together } from "../../../../ui/browser/static/alt_text.js";
import { make, put, setPixels } from "../../../../ui/browser/static/dom.js";
import { purge, react } from "../../../../ui/browser/static/plotly.js";

/** @import { Untyped } from "../../../../ui/browser/static/types" */
/** @import { AboutPanel, Arrays } from "./types" */
/** @import { View } from "./view.js" */

const NEAR_PX = 30; // pixels from the pointer to a point that it points at, at most

/** A figure from the server with its arrays filled in; matrices become lists of rows. @param {Untyped} value @param {Arrays} arrays @returns {Untyped} */
export function filled(value, arrays) {
  if (Array.isArray(value)) return value.map((v) => filled(v, arrays));
  if (value === null || typeof value !== "object") return value;
  if (!value.$) return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, filled(v, arrays)]));
  const array = arrays[value.$];
  if (array.shape.length < 2) return array;
  const [rows, columns] = array.shape;
  return Array.from({ length: rows }, (_, r) => array.subarray(r * columns, (r + 1) * columns));
}

export class Panel {
  /** @type {AboutPanel} */
  about;
  /** @type {Arrays} */
  arrays = {};
  drawnKey = "";
  /** @type {Untyped} the traces; `axes` is Plotly's computed layout, which converts values to pixels */
  data;
  /** @type {Untyped} */
  axes;

  /** @param {View} dashboard */
  constructor(dashboard) {
    this.dashboard = dashboard;
    this.title = make("h2", "dash-title");
    this.plot = make("div", "dash-plot");
    this.plot.ariaHidden = "true"; // the pad over it has the text alternative
    this.upright = make("i", "dash-upright");
    this.level = make("i", "dash-level");
    this.dot = make("i", "dash-dot");
    this.pad = make("div", "dash-pad", this.upright, this.level, this.dot);
    this.frame = make("div", "dash-frame", this.plot, this.pad);
    this.notice = make("p", "dash-notice");
    this.limits = make("p", "dash-limits");
    this.element = make("section", "dash-panel", this.title, this.frame, this.notice, this.limits);
    this.pad.onpointermove = (event) => this.about.link && dashboard.point(this.find(event));
    this.pad.onpointerleave = () => this.about.link && dashboard.point(null);
    this.pad.onclick = (event) => this.pick(event);
  }

  close() {
    if (this.drawnKey) purge(this.plot);
    this.element.remove();
  }

  /** @param {AboutPanel} about @param {Arrays} arrays */
  set(about, arrays) {
    this.about = about;
    this.arrays = arrays;
    this.element.dataset.name = about.name;
    this.element.style.setProperty("--width", String(about.width));
    put(this.title, about.title);
    this.title.hidden = !about.title;
    put(this.notice, about.notice);
    put(this.limits, about.limits ? this.dashboard.phrase("misses", { what: about.limits }) : "");
    this.frame.style.height = `${about.height}px`;
    this.pad.classList.toggle("dash-picks", !!about.pick);
    this.pad.setAttribute("role", "img");
    this.pad.setAttribute(
      "aria-label",
      together(about.title && `${about.title}.`, about.altText, about.notice),
    );
  }

  /** The figure's width, and whether it is in the browser's window. */
  measure() {
    const { top, bottom } = this.frame.getBoundingClientRect();
    return { width: this.frame.clientWidth, seen: bottom > 0 && top < window.innerHeight };
  }

  /** @param {"light" | "dark"} theme @param {number} width in pixels */
  async draw(theme, width) {
    const size = { width, height: this.about.height };
    const key = JSON.stringify([theme, size, this.about.figures[theme]]);
    if (key === this.drawnKey) return; // arrays' names are digests, so equal names mean equal contents
    const { data, layout } = filled(this.about.figures[theme], this.arrays);
    this.data = data;
    this.drawnKey = key;
    await react(this.plot, data, Object.assign(layout, size));
    this.axes = /** @type {Untyped} */ (this.plot)._fullLayout; // private, but Plotly has no public conversion to pixels
  }

  // ---- the cursor -----------------------------------------------------------------------------------

  /** @param {number | null} t */
  mark(t) {
    const { link } = this.about;
    const { xaxis, yaxis, _size: size } = this.axes ?? {};
    const show = link && xaxis && yaxis && t !== null;
    this.upright.hidden = !show || link === "points";
    this.level.hidden = !show || link !== "xy";
    this.dot.hidden = !show || link !== "points" || t >= this.data[0].x.length;
    if (!show) return;
    if (!this.dot.hidden) setPixels(this.dot, pixels(this.axes, this.data[0].x[t], this.data[0].y[t]));
    if (link === "points") return;
    const { left, top } = pixels(this.axes, t, t);
    if (!spans(xaxis, left, 1)) this.upright.hidden = true;
    setPixels(this.upright, { left, top: size.t, height: size.h });
    if (link === "xy") setPixels(this.level, { left: xaxis._offset, width: xaxis._length, top });
  }

  /** The character at the pointer, or null. @param {MouseEvent} event */
  find(event) {
    const { xaxis, yaxis } = this.axes ?? {};
    if (!xaxis || !yaxis) return null;
    const box = this.pad.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    if (this.about.link === "points") return nearest(this.data[0], this.axes, left, top);
    return characterAt(xaxis, left, this.dashboard.length);
  }

  /** @param {MouseEvent} event */
  pick(event) {
    const { name, pick, picks } = this.about;
    if (pick === "at") this.dashboard.choose(this.find(event));
    if (pick !== "bar" || !this.axes?.yaxis) return;
    const { yaxis } = this.axes;
    const top = event.clientY - this.pad.getBoundingClientRect().top;
    const value = picks[indexAt(yaxis, top)];
    if (value !== undefined) this.dashboard.ask({ kind: "pick", panel: name, value });
  }
}

/** A point of a figure in pixels. @param {Untyped} axes @param {number} x @param {number} y */
export function pixels({ xaxis, yaxis }, x, y) {
  return { left: xaxis._offset + xaxis.l2p(x), top: yaxis._offset + yaxis.l2p(y) };
}

/** Whether an axis spans a pixel, with `room` at both ends. @param {Untyped} axis @param {number} at */
export function spans({ _offset: offset, _length: length }, at, room = 0) {
  return at >= offset - room && at <= offset + length + room;
}

/** The whole number nearest to a pixel along an axis. @param {Untyped} axis @param {number} at */
export function indexAt(axis, at) {
  return Math.round(axis.p2l(at - axis._offset));
}

/** The character at a pixel along an axis; null beside the text. @param {Untyped} axis @param {number} at @param {number} length of the text */
export function characterAt(axis, at, length) {
  const t = indexAt(axis, at);
  return spans(axis, at) && t >= 0 && t < length ? t : null;
}

/**
 * The index of a trace's point nearest to a pixel; null if none is near.
 * @param {{ x: ArrayLike<number>, y: ArrayLike<number> }} trace @param {Untyped} axes @param {number} left @param {number} top
 */
export function nearest({ x, y }, axes, left, top) {
  /** @type {[number | null, number]} */
  let [best, near] = [null, NEAR_PX];
  for (let t = 0; t < x.length; t++) {
    const point = pixels(axes, x[t], y[t]);
    const distance = Math.hypot(point.left - left, point.top - top);
    if (distance < near) [best, near] = [t, distance];
  }
  return best;
}
