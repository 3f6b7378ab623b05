// The highlight of a symbol in the formula and of its elements in the picture, with a tip that describes it.
//
// Highlighted is the symbol under the pointer, else the one with the focus, else the one pinned by a click or a tap.

import { find, make, makeSvg } from "../../../browser/static/dom.js";

/** @import { Board } from "./board.js" */
/** @import { Formula } from "./formula.js" */
/** @import { Symbols, Standing } from "./types" */

const EDGE_PX = 4; // pixels between an element and its frame
const [MAX_ROWS, MAX_COLUMNS] = [4, 7]; // the largest matrix that the tip shows whole

/** The symbols of an event's element in the picture. @param {Event} event */
function symbolNames(event) {
  const element = /** @type {Element} */ (event.target).closest("[data-stands]");
  return element?.getAttribute("data-stands")?.split(" ") ?? [];
}

/** The number of decimals, three at most, with which all values are exact. @param {number[]} values */
function digits(values) {
  return [0, 1, 2].find((n) => values.every((v) => Math.abs(v - Number(v.toFixed(n))) < 5e-5)) ?? 3;
}

export class SymbolHighlight {
  /** @type {Formula} */
  formula;
  /** @type {Board} */
  board;
  /** @type {Symbols} descriptions, by symbol */
  symbols = {};
  /** @type {Record<string, string>} */
  words = {};
  pointed = "";
  focused = "";
  pinned = "";
  lit = "";
  /** @type {Element | null} the element of the picture under the pointer */
  target = null;

  /** @param {HTMLElement} root the view's */
  constructor(root) {
    this.root = root;
    this.tip = find(root, "div.ln-tip");
  }

  /** @param {Formula} formula @param {Board} board */
  join(formula, board) {
    [this.formula, this.board] = [formula, board];
    const scene = board.root;
    // An element may stand for several symbols: take one that the formula has.
    const from = (/** @type {Event} */ event) => {
      const names = symbolNames(event);
      return names.find((name) => formula.symbols(name).length) ?? names[0] ?? "";
    };
    scene.addEventListener("pointermove", (event) => this.point(from(event), event.target));
    scene.addEventListener("pointerleave", () => this.point(""));
    scene.addEventListener("focusin", (event) => this.focus(from(event), event.target));
    scene.addEventListener("focusout", () => this.focus(""));
    scene.addEventListener("click", (event) => {
      const { pointerType } = /** @type {PointerEvent} */ (event);
      if (pointerType === "touch" || pointerType === "pen") this.pin(from(event), event.target);
    });
  }

  /** @param {string} name @param {EventTarget | null} [target] the element under the pointer, in the picture */
  point(name, target = null) {
    if (name !== this.pointed) this.change({ pointed: name }, target);
  }

  /** @param {string} name @param {EventTarget | null} [target] */
  focus(name, target = null) {
    if (name !== this.focused) this.change({ focused: name }, target);
  }

  /** Highlight a symbol until it or another one is clicked. @param {string} name @param {EventTarget | null} [target] */
  pin(name, target = null) {
    this.change({ pinned: name === this.pinned ? "" : name }, target);
  }

  /** @param {{ pointed?: string, focused?: string, pinned?: string }} to @param {EventTarget | null} target */
  change(to, target) {
    Object.assign(this, to);
    this.target = /** @type {Element | null} */ (target)?.closest("[data-stands]") ?? null;
    this.show();
  }

  /** Unpin; called at another step. */
  unpin() {
    this.pinned = this.pointed = "";
  }

  /** Draw the highlight in the present picture. */
  show() {
    const { board, formula } = this;
    const name = [this.pointed, this.focused, this.pinned].find((symbol) => symbol in this.symbols) ?? "";
    if (!name && !this.lit) return;
    this.lit = name;
    this.root.dataset.lit = name;
    formula.highlight(name);
    this.tip.hidden = !name;
    const lit = name ? board.kit.querySelectorAll(`[data-stands~="${CSS.escape(name)}"]`) : [];
    board.highlightLayer.replaceChildren(...Array.from(lit, (element) => this.frame(element)));
    if (name) this.explain(name);
  }

  /** A frame around an element, within the picture. @param {Element} element */
  frame(element) {
    const [area, box] = [this.board.kit.getBoundingClientRect(), element.getBoundingClientRect()];
    const clip = (/** @type {number} */ v, /** @type {number} */ size) => Math.max(2, Math.min(size - 2, v));
    const [x, right] = [box.left - EDGE_PX, box.right + EDGE_PX].map((v) => clip(v - area.left, area.width));
    const [y, bottom] = [box.top - EDGE_PX, box.bottom + EDGE_PX].map((v) => clip(v - area.top, area.height));
    return makeSvg("rect", { x, y, width: right - x, height: bottom - y, rx: 8 });
  }

  /** Fill the tip with a symbol's description, shape and value. @param {string} name */
  explain(name) {
    const { is, shape } = this.symbols[name];
    /** @type {Standing} */
    const symbolValue = this.board.symbolValues.get(name) ?? {};
    const parts = [make("b", "", is)];
    const letters = shape.split(" × ").map((letter) => this.words[`shape.${letter}`] ?? letter);
    const shapeText = [symbolValue.shape, shape, shape && letters.join(" × ")].filter(Boolean).join("  ·  ");
    if (shapeText) parts.push(make("span", "ln-shape", shapeText));
    if (symbolValue.value !== undefined) parts.push(this.value(symbolValue));
    this.tip.replaceChildren(...parts);
    this.place(name);
  }

  /** @param {Standing} here */
  value({ value, shape = "" }) {
    if (!Array.isArray(value)) {
      const text = typeof value === "number" ? this.formatNumber(value, digits([value])) : String(value);
      return make("span", "ln-value", `= ${text}`);
    }
    const [high, wide] = shape.split(" × ").map(Number);
    const rows = value
      .slice(0, high > MAX_ROWS ? MAX_ROWS - 1 : MAX_ROWS)
      .map((row) => row.slice(0, wide > MAX_COLUMNS ? MAX_COLUMNS - 2 : MAX_COLUMNS));
    const table = make("table", "ln-value");
    const decimals = digits(rows.flat());
    for (const row of rows) {
      const line = table.insertRow();
      for (const number of row) line.insertCell().textContent = this.formatNumber(number, decimals);
      if (wide > row.length) line.insertCell().textContent = "…";
    }
    if (high > rows.length) table.insertRow().insertCell().textContent = "⋮";
    return table;
  }

  /** @param {number} value @param {number} decimals */
  formatNumber(value, decimals) {
    const plain = value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e6);
    return plain ? this.board.number(value, decimals) : this.board.numbers.power(value, 1);
  }

  /** Place the tip below the symbol, so that it doesn't cover the element under the pointer. @param {string} name */
  place(name) {
    const { tip, root } = this;
    const all = root.getBoundingClientRect();
    const math = this.formula.math.getBoundingClientRect();
    const symbol = this.formula.symbols(name)[0]?.getBoundingClientRect() ?? math;
    const { offsetWidth: width, offsetHeight: height } = tip;
    const top = math.bottom + 6;
    const within = (/** @type {number} */ left) =>
      Math.max(all.left + 4, Math.min(left, all.right - width - 4));
    const target = this.target?.isConnected ? this.target.getBoundingClientRect() : undefined;
    const covers = (/** @type {number} */ left) =>
      target && left < target.right + 8 && left + width > target.left - 8 && top + height > target.top;
    const middle = within(symbol.left + symbol.width / 2 - width / 2);
    const beside = target ? [target.left - width - 12, target.right + 12] : [];
    const left = [middle, ...beside].find((x) => within(x) === x && !covers(x)) ?? middle;
    tip.style.left = `${left - all.left}px`;
    tip.style.top = `${top - all.top}px`;
  }
}
