// The linked picture: states, characters, running perplexity and surprisal above one another, one column
// a character. Plotly draws the figure's frame when that changes; what a keystroke changes is painted into it.

import { Heat } from "./heat.js";
import { Lines } from "./lines.js";

const LEFT = 46; // room for the axes' numbers, in pixels
const RIGHT = 8;
const TITLE = 18;
const STRIP = 18;
const NARROW = 8.6; // pixels a column needs for its letter
const WIDE = 14; // ... for a Chinese character
const STEPS = [24, 48]; // columns drawn for short texts, before as many as fit

export class Figure {
  // `on`: point(event | null), pick(event), scroll(columns), rows()
  constructor(root, plotly, on) {
    this.root = root;
    this.plotly = plotly; // resolves when the library is here, or isn't
    this.plot = root.querySelector(".rv-plot");
    this.pad = root.querySelector(".rv-pad");
    this.cursor = root.querySelector(".rv-cursor");
    this.pinned = root.querySelector(".rv-pinned");
    this.rowMark = root.querySelector(".rv-row");
    this.heat = new Heat(root.querySelector(".rv-heat"), root.querySelector(".rv-strip"));
    this.lines = new Lines(root.querySelector(".rv-lines"));
    this.scale = root.querySelector(".rv-scale");
    this.titles = ["states", "perplexity", "surprisal"].map((name) => root.querySelector(`.rv-title-${name}`));
    this.on = on;
    this.zoom = { from: 0, count: 0 }; // rows of the heat map that are shown; count 0 for all
    this.listen();
  }

  // How many columns fit.
  room(symbols) {
    const width = this.box ? this.box.inner : this.root.clientWidth - LEFT - RIGHT;
    return Math.max(12, Math.floor(width / (symbols > 1000 ? WIDE : NARROW)));
  }

  // The columns drawn for a text of this length: few for a short one, so that its letters are large.
  columns(length, symbols) {
    const most = this.room(symbols);
    return STEPS.find((few) => few < most && length <= few) ?? most;
  }

  layOut(height) {
    const width = this.root.clientWidth;
    const spare = height - 3 * TITLE - STRIP - 16;
    const heat = Math.round(spare * 0.56);
    const lines = Math.round(spare * 0.26);
    const bars = spare - heat - lines;
    const top = { states: TITLE };
    top.strip = top.states + heat + 1;
    top.perplexity = top.strip + STRIP + 3 + TITLE;
    top.surprisal = top.perplexity + lines + 4 + TITLE;
    this.box = { width, height, inner: width - LEFT - RIGHT, top, heat, lines, bars };
    this.root.style.height = height + "px";
    const place = (element, y, h) => {
      element.style.left = LEFT + "px";
      element.style.top = y + "px";
      if (h) element.style.height = h + "px";
    };
    place(this.heat.canvas, top.states);
    place(this.heat.strip, top.strip);
    place(this.lines.canvas, top.perplexity);
    const below = top.surprisal + bars;
    for (const mark of [this.cursor, this.pinned]) {
      mark.style.top = top.states + "px";
      mark.style.height = below - top.states + "px";
    }
    const heads = [0, top.perplexity - TITLE, top.surprisal - TITLE];
    this.titles.forEach((title, i) => place(title, heads[i]));
    this.shape = null;
  }

  // Everything of a view: the text's characters from `first` on, in `columns`.
  async draw(store, list, first, columns, theme, font) {
    const last = Math.min(store.stop, first + columns);
    const rows = this.rows(store);
    this.view = { first, last, columns, rows, width: this.box.inner, height: this.box.heat, strip: STRIP };
    const scale = store.fixed.quantities[store.head.quantity];
    this.heat.draw(store, this.view, theme[scale.kind], theme.background);
    this.heat.letters(list, store, this.view, theme, font);
    const shape = [columns, theme.name, store.digest, store.head.order, rows.from, rows.count].join(" ");
    const framed = this.shape !== shape;
    if (framed) {
      this.shape = shape;
      this.prepare(store, theme, columns);
    }
    this.lines.draw(store, this.view, this.box, this.traces, this.axes);
    if (framed && window.Plotly) await this.frame();
    else if (framed) this.plotly.then(() => this.frame()); // on opening, what is painted doesn't wait for it
  }

  // The figure's axes and fixed lines.
  frame() {
    return window.Plotly?.react(this.plot, this.data, this.layout, this.config);
  }

  // A figure of its own from the server's skeleton, laid out in pixels.
  prepare(store, theme, columns) {
    const { data, layout } = structuredClone(theme.figure);
    const { width, height, top, heat, lines, bars } = this.box;
    const part = (y, h) => [1 - (y + h) / height, 1 - y / height];
    this.data = data;
    this.traces = Object.fromEntries(data.map((trace) => [trace.name, trace]));
    this.traces.uniform.x = [-0.5, columns - 0.5];
    Object.assign(layout, { width, height, margin: { l: LEFT, r: RIGHT, t: 0, b: 0, pad: 0 } });
    layout.xaxis.range = [-0.5, columns - 0.5];
    this.numberUnits(store);
    layout.yaxis.domain = part(top.states, heat);
    layout.yaxis2.domain = part(top.perplexity, lines);
    layout.yaxis3.domain = part(top.surprisal, bars);
    this.layout = layout;
    this.axes = { decades: layout.yaxis2.range[1], bits: layout.yaxis3.range[1] };
    this.config = { staticPlot: true, displayModeBar: false };
  }

  // The units' numbers beside the heat map; none where they are out of their order.
  numberUnits(store) {
    const { from, count } = this.view.rows;
    const step = [1, 2, 4, 8, 16, 32, 64, 128, 256].find((s) => count / s <= 6) ?? 512;
    const marks = [];
    for (let unit = Math.ceil(from / step) * step; unit < from + count; unit += step) {
      if (store.head.order !== "index") break;
      const mark = document.createElement("span");
      mark.textContent = unit;
      mark.style.top = this.box.top.states + ((unit - from + 0.5) * this.box.heat) / count + "px";
      marks.push(mark);
    }
    this.scale.replaceChildren(...marks);
  }

  // Where a mark stands: kind "cursor" or "pinned", at character t or nowhere.
  mark(kind, t) {
    const element = this[kind];
    const { first, last, columns } = this.view ?? {};
    element.hidden = t == null || !this.view || t < first || t >= last;
    if (element.hidden) return;
    const room = this.box.inner / columns;
    element.style.left = LEFT + (t - first) * room + "px";
    element.style.width = Math.max(2, room) + "px";
  }

  // The rows of the heat map that are shown: the first, and how many.
  rows(store) {
    const count = this.zoom.count || store.units;
    const from = Math.max(0, Math.min(store.units - count, this.zoom.from));
    return { from, count: Math.min(count, store.units) };
  }

  // Show `count` rows (0 for all) with a row in their middle.
  zoomTo(count, row) {
    this.zoom = { from: count ? Math.round(row - count / 2) : 0, count };
  }

  markUnit(store, unit) {
    const { from, count } = this.view.rows;
    const row = unit == null ? -1 : store.row(unit) - from;
    this.rowMark.hidden = row < 0 || row >= count;
    if (this.rowMark.hidden) return;
    this.rowMark.dataset.unit = unit;
    const height = this.box.heat / count;
    const y = this.box.top.states + (row + 0.5) * height;
    this.rowMark.style.left = LEFT + "px";
    this.rowMark.style.width = this.box.inner + "px";
    this.rowMark.style.top = y - Math.max(4, height) / 2 + "px";
    this.rowMark.style.height = Math.max(4, height) + "px";
  }

  // What is under a point of the screen: a character, and a unit if it is in the heat map.
  under(event, store) {
    if (!this.view) return null;
    const frame = this.pad.getBoundingClientRect();
    const x = event.clientX - frame.left - LEFT;
    const y = event.clientY - frame.top - this.box.top.states;
    const { first, last, columns } = this.view;
    const t = first + Math.floor((x / this.box.inner) * columns);
    if (x < 0 || x >= this.box.inner || y < 0 || t >= last) return null;
    const { from, count } = this.view.rows;
    const row = from + Math.floor((y / this.box.heat) * count);
    return { t, unit: y < this.box.heat ? store.unitAt(row) : null };
  }

  listen() {
    this.pad.onpointermove = (event) => this.on.point(event);
    this.pad.onpointerleave = () => this.on.point(null);
    this.pad.onclick = (event) => this.on.pick(event);
    this.pad.onwheel = (event) => {
      const along = event.deltaX || (event.shiftKey ? event.deltaY : 0);
      if (along && this.on.scroll(Math.sign(along) * 4)) event.preventDefault();
      else if (!along && this.zoom.count) {
        this.zoom.from += Math.sign(event.deltaY) * Math.max(1, Math.round(this.zoom.count / 12));
        this.zoom.from = Math.max(0, this.zoom.from);
        this.on.rows();
        event.preventDefault();
      }
    };
  }

  close() {
    window.Plotly?.purge(this.plot);
  }
}
