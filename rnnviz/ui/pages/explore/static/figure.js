// The figure: states, characters, running perplexity and surprisal above one another, a column a character. Canvases
// have all that changes with a keystroke; the numbers beside them change with the frame.

import { find, make, setPixels } from "../../../browser/static/dom.js";
import { columnAt, Heat, rowAt } from "../../../browser/static/heat.js";
import { axisDecades, drawLines } from "./lines.js";

/** @import { Theme, Window2D } from "../../../browser/static/types" */
/** @import { Store } from "./store.js" */
/** @import { Box, Place } from "./types" */

const MAX_COLUMNS = 400; // columns, at most, as in live_session.py
// In pixels. `left` is the room for the axes' numbers, `names` that for units' names. `title` and `strip` are heights,
// of a title and of the letters. A column with a letter is `narrow` or, with a Chinese one, `wide`. A row with a number
// is at least `legible` high, and `number` is the number's font size.
const USUAL = { left: 46, names: 108, title: 18, strip: 18, narrow: 8.6, wide: 14, legible: 9, number: 12 };
const LARGE = { left: 74, names: 180, title: 30, strip: 30, narrow: 13.4, wide: 24, legible: 19, number: 20 };
const TITLE_GAP_PX = 9; // pixels between the parts of a title
const LEGEND_SLACK_PX = 30; // pixels by which the legend's numbers may grow
const RIGHT_PX = 8; // pixels to the right of the axes
// Numbers of columns for short texts; longer ones get all that fit. Only some, as the letters must not change their size
// at every key.
const COLUMN_COUNTS = [24, 32, 48, 64, 80, 96, 112, 128];
const MIN_COLUMNS = 12; // columns, at least, also while the view has no width: the server refuses 0
const GAP_PX = 16; // pixels of gaps: 1 and 3 between the parts, and 12 below for half of the axis's lowest number
const PERPLEXITY_SHARE = 0.3; // the perplexity's share of the height; the rest is the heat map's

/**
 * @typedef {object} Listener
 * @property {(event: PointerEvent | null) => void} hover
 * @property {(place: { clientX: number, clientY: number }) => void} pick
 * @property {(columns: number) => boolean} scroll returns whether the window has moved
 * @property {() => void} rows the rows shown have changed
 */

export class Figure {
  /** @type {Box | undefined} */
  box;
  /** @type {Window2D | undefined} */
  view;
  frameKey = "";
  size = USUAL;
  folded = false; // whether the perplexity below the heat map is hidden
  zoom = { from: 0, count: 0 }; // rows of the heat map that are shown; count 0 for all
  /** @type {{ clientX: number, clientY: number } | null} the pointer's place, as click events have whole pixels only */
  pointer = null;

  /** @param {HTMLElement} root @param {Listener} on */
  constructor(root, on) {
    this.root = root;
    this.pad = find(root, "div.rv-pad");
    this.marks = { cursor: find(root, "div.rv-cursor"), pinned: find(root, "div.rv-pinned") };
    this.rowMark = find(root, "div.rv-row");
    this.heat = new Heat(find(root, "canvas.rv-heat"), find(root, "canvas.rv-strip"));
    this.lines = find(root, "canvas.rv-lines");
    this.scale = find(root, "div.rv-scale");
    this.titles = /** @type {const} */ (["states", "perplexity"]).map((name) =>
      find(root, `div.rv-title-${name}`),
    );
    this.on = on;
    this.listen();
  }

  /**
   * The number of columns for a text of this length: few for a short one, so that its letters are large.
   * @param {number} length @param {number} symbols
   */
  columns(length, symbols) {
    const { left, narrow, wide } = this.size;
    const width = this.box ? this.box.inner : this.root.clientWidth - left - RIGHT_PX;
    const room = Math.floor(width / (symbols > 1000 ? wide : narrow));
    const maxColumns = Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, room));
    return COLUMN_COUNTS.find((columns) => columns < maxColumns && length <= columns) ?? maxColumns;
  }

  /** Place all parts for a height. @param {number} height in pixels @param {boolean} large for a projector @param {boolean} named whether units have names */
  layOut(height, large = false, named = false) {
    const size = large ? LARGE : USUAL;
    const width = this.root.clientWidth;
    this.size = { ...size, left: named ? size.names : size.left };
    const { left, title, strip: line } = this.size;
    const below = title * this.titleLines(width);
    const spare = height - title - below - line - GAP_PX;
    const lines = this.folded ? 0 : Math.round(spare * PERPLEXITY_SHARE);
    const heat = spare - lines;
    const strip = title + heat + 1;
    const top = { states: title, strip, perplexity: strip + line + 3 + below };
    this.box = { width, height, inner: width - left - RIGHT_PX, top, heat, lines };
    this.root.style.height = `${height}px`;
    setPixels(this.heat.canvas, { left, top: top.states });
    setPixels(this.heat.strip, { left, top: top.strip });
    setPixels(this.lines, { left, top: top.perplexity });
    this.lines.hidden = this.folded;
    for (const mark of Object.values(this.marks))
      setPixels(mark, { top: title, height: top.perplexity + lines - title });
    const heads = [0, top.perplexity - below];
    this.titles.forEach((head, i) => {
      setPixels(head, { top: heads[i] });
    });
    this.frameKey = "";
  }

  /** The lines of the perplexity's title: more than one where its legend would cut it. @param {number} width */
  titleLines(width) {
    const head = this.titles[1];
    head.classList.remove("rv-wrapped");
    const parts = [...head.children].reduce((sum, part) => sum + part.scrollWidth + TITLE_GAP_PX, 0);
    if (parts + LEGEND_SLACK_PX <= width - RIGHT_PX) return 1;
    head.classList.add("rv-wrapped");
    return Math.max(1, Math.round(head.offsetHeight / this.size.title)); // 0 in a page that isn't shown
  }

  /**
   * Draw the figure: the text's characters from `first` on, in `columns`.
   * @param {Store} store @param {string[]} list @param {number} first @param {number} columns
   * @param {Theme} theme @param {string} font
   */
  draw(store, list, first, columns, theme, font) {
    const { box } = this;
    if (!box) return;
    const last = Math.min(store.stop, first + columns);
    const rows = this.shownRows(store);
    const view = { first, last, columns, rows, width: box.inner, height: box.heat, strip: this.size.strip };
    this.view = view;
    const scale = store.fixed.quantities[store.header.quantity];
    this.heat.draw(store, view, theme[scale.kind], theme.background);
    this.heat.drawLetters(list, store, view, theme, font);
    const { order, quantity, layer } = store.header;
    const frameKey = [store.digest, order, quantity, layer, rows.from, rows.count].join(" ");
    if (this.frameKey !== frameKey) {
      this.frameKey = frameKey;
      this.scale.replaceChildren(...this.numberUnits(store, rows, box), ...this.numberAxis(store, box));
    }
    drawLines(this.lines, store, view, box, theme);
  }

  /** A number or a name to the left of the axes. @param {string} kind its class @param {string} text @param {number} middle its place, in pixels @param {number} size of the font */
  scaleMark(kind, text, middle, size) {
    const mark = make("span", kind, text);
    setPixels(mark, { width: this.size.left - 6, top: middle, "font-size": size });
    return mark;
  }

  /** The powers of ten beside the perplexity. @param {Store} store @param {Box} box */
  numberAxis(store, { top, lines }) {
    const decades = axisDecades(store);
    return Array.from({ length: this.folded ? 0 : Math.ceil(decades) }, (_, k) =>
      this.scaleMark(
        "rv-power",
        (10 ** k).toLocaleString("en"),
        top.perplexity + lines * (1 - k / decades),
        this.size.number,
      ),
    );
  }

  /**
   * Units' numbers or names beside the heat map: of all rows if there is room, else, in the order by number, of some.
   * @param {Store} store @param {{ from: number, count: number }} rows @param {Box} box
   */
  numberUnits(store, { from, count }, box) {
    const rowHeight = box.heat / count;
    const everyRow = rowHeight >= this.size.legible;
    const step = everyRow ? 1 : ([2, 4, 8, 16, 32, 64, 128, 256].find((s) => count / s <= 6) ?? 512);
    const marks = [];
    const names = new Map(store.named.map(({ unit, name }) => [unit, name]));
    const end = everyRow || store.header.order === "index" ? from + count : 0;
    for (let row = Math.ceil(from / step) * step; row < end; row += step) {
      const unit = store.unitAt(row);
      const name = this.size.left === this.size.names && names.get(unit);
      const middle = box.top.states + (row - from + 0.5) * rowHeight;
      const size = Math.min(this.size.number, rowHeight);
      marks.push(
        this.scaleMark(
          name ? "rv-name" : "rv-number",
          name || (store.weighted(unit)?.name ?? String(unit)),
          middle,
          size,
        ),
      );
    }
    return marks;
  }

  /** Place a mark at character t; null hides it. @param {"cursor" | "pinned"} kind @param {number | null} t */
  mark(kind, t) {
    const element = this.marks[kind];
    const { view, box } = this;
    element.hidden = t === null || !view || t < view.first || t >= view.last;
    if (element.hidden || t === null || !view || !box) return;
    const columnWidth = box.inner / view.columns;
    setPixels(element, {
      left: this.size.left + (t - view.first) * columnWidth,
      width: Math.max(2, columnWidth),
    });
  }

  /** The rows of the heat map that are shown. @param {Store} store */
  shownRows(store) {
    const count = Math.min(this.zoom.count || store.rowCount, store.rowCount);
    return { from: Math.max(0, Math.min(store.rowCount - count, this.zoom.from)), count };
  }

  /** Show `count` rows (0 for all) around a row. @param {number} count @param {number} row */
  zoomTo(count, row) {
    this.zoom = { from: count ? Math.round(row - count / 2) : 0, count };
  }

  /** @param {Store} store @param {number | null} unit */
  markUnit(store, unit) {
    const { view, box } = this;
    if (!view || !box) return;
    const { from, count } = view.rows;
    const row = unit === null ? -1 : store.unitRow(unit) - from;
    this.rowMark.hidden = row < 0 || row >= count;
    if (this.rowMark.hidden) return;
    this.rowMark.dataset.unit = store.named.some((entry) => entry.unit === unit) ? "" : String(unit);
    const height = Math.max(4, box.heat / count);
    const top = box.top.states + ((row + 0.5) * box.heat) / count - height / 2;
    setPixels(this.rowMark, { left: this.size.left, width: box.inner, top, height });
  }

  /**
   * The character and unit painted at a point of the screen; null beside the figure.
   * @param {{ clientX: number, clientY: number }} event @param {Store} store @returns {Place | null}
   */
  placeAt(event, store) {
    const { view, box } = this;
    if (!view || !box) return null;
    const frame = this.pad.getBoundingClientRect();
    const x = event.clientX - frame.left - this.size.left;
    const y = event.clientY - frame.top - box.top.states;
    const { width, height } = this.heat.canvas;
    const t = view.first + columnAt(Math.floor((x * width) / box.inner), width, view.columns);
    if (x < 0 || x >= box.inner || event.clientY < frame.top || t >= view.last) return null;
    const row = rowAt(Math.floor((y * height) / box.heat), height, view.rows);
    return { t, unit: y >= 0 && y < box.heat ? store.unitAt(row) : null };
  }

  listen() {
    const { pad, on } = this;
    pad.onpointermove = pad.onpointerdown = (event) => {
      this.pointer = event;
      on.hover(event);
    };
    pad.onpointerleave = () => {
      this.pointer = null;
      on.hover(null);
    };
    pad.onclick = (event) => on.pick(this.pointer ?? event);
    pad.onwheel = (event) => {
      const along = event.deltaX || (event.shiftKey ? event.deltaY : 0);
      if (along && on.scroll(Math.sign(along) * 4)) event.preventDefault();
      else if (!along && this.zoom.count) {
        const from = this.zoom.from + Math.sign(event.deltaY) * Math.max(1, Math.round(this.zoom.count / 12));
        this.zoom.from = Math.max(0, from);
        on.rows();
        event.preventDefault();
      }
    };
  }
}
