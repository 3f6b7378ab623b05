// One text of the board: a span for each character, coloured by number; no text is ever parsed.

import { running, visible } from "../../../browser/static/characters.js";
import { make } from "../../../browser/static/dom.js";

/** @import { AboutText, Arrays, BoardTheme } from "./types" */
/** @import { View } from "./view.js" */

export class Text {
  /** @type {HTMLElement[]} */
  spans = [];
  /** @type {ArrayLike<number>} */
  points = [];
  /** @type {AboutText} */
  about;
  /** @type {ArrayLike<number>} */
  levels = [];
  /** @type {ArrayLike<number> | null} */
  values = null;
  codes = "";
  look = "";
  /** @type {HTMLElement[]} the spans that bear a mark */
  marked = [];
  /** @type {number | null} where the pointer went down */
  down = null;

  /** @param {View} board */
  constructor(board) {
    this.board = board;
    this.name = make("b");
    this.flow = make("div", "bd-flow");
    this.flow.dir = "auto";
    this.element = make("div", "bd-text", this.name, this.flow);
    this.listen();
  }

  get length() {
    return this.points.length;
  }

  get linked() {
    return this.about.linked;
  }

  get said() {
    return this.about.said;
  }

  /** @param {AboutText} about @param {Arrays} arrays */
  set(about, arrays) {
    this.about = about;
    this.levels = arrays[about.levels];
    this.values = about.values ? arrays[about.values] : null;
    this.name.textContent = about.label;
    this.name.hidden = !about.label;
    this.flow.classList.toggle("bd-open", about.linked);
    if (about.linked) {
      this.flow.tabIndex = 0;
      this.flow.setAttribute("role", "region");
      this.flow.setAttribute("aria-label", this.board.say("text"));
    }
    if (about.codes === this.codes) return;
    this.codes = about.codes;
    this.points = arrays[about.codes];
    this.spans = Array.from(this.points, (code, t) => {
      const span = make("span", code === 10 ? "bd-break" : "", running(code));
      span.dataset.t = String(t);
      return span;
    });
    this.flow.replaceChildren(...this.spans);
  }

  /** @param {BoardTheme["palettes"]} palettes @param {number} levels @param {string} theme */
  paint(palettes, levels, theme) {
    const { palette, at } = this.about;
    const look = [theme, palette, this.codes, this.about.levels].join();
    if (look !== this.look) {
      const colours = palettes[palette];
      const step = (colours.length - 1) / (levels - 1);
      this.spans.forEach((span, t) => {
        [span.style.background, span.style.color] = colours[Math.round(this.levels[t] * step)];
      });
    }
    this.look = look;
    if (!this.linked) this.put([["bd-at", at === null ? [] : [this.spans[at]]]]);
  }

  /** @param {number | null} t @param {number | null} at */
  mark(t, at) {
    if (!this.linked) return;
    const one = (/** @type {number | null} */ i) => (i === null ? [] : this.spans.slice(i, i + 1));
    const selected = this.board.head.spans.flatMap(([start, stop]) => this.spans.slice(start, stop));
    this.put([
      ["bd-here", one(t)],
      ["bd-at", one(at)],
      ["bd-in", selected],
    ]);
  }

  /** Give spans their marks, which all others lose. @param {[name: string, spans: HTMLElement[]][]} marks */
  put(marks) {
    for (const span of this.marked) span.classList.remove(...marks.map(([name]) => name));
    for (const [name, spans] of marks) for (const span of spans) span.classList.add(name);
    this.marked = marks.flatMap(([, spans]) => spans);
  }

  /** @param {number} t */
  character(t) {
    return t < this.length ? `“${visible(String.fromCodePoint(this.points[t]))}”` : "";
  }

  /** @param {number} t */
  value(t) {
    const value = this.values?.[t];
    return value === undefined || Number.isNaN(value) ? null : this.board.numbers.rough(value);
  }

  listen() {
    const { flow, board } = this;
    const place = (/** @type {Event} */ event) => {
      const { t } = /** @type {HTMLElement} */ (event.target).dataset;
      return t === undefined || !this.linked ? null : Number(t);
    };
    flow.addEventListener("pointermove", (event) => board.point(place(event)));
    flow.addEventListener("pointerleave", () => board.point(null));
    flow.addEventListener("pointerdown", (event) => {
      this.down = place(event);
    });
    flow.addEventListener("pointerup", (event) => {
      const [from, up] = [this.down, place(event)];
      this.down = null;
      if (up === null || from === null) return;
      if (!board.head.select || up === from) return board.choose(up);
      board.ask({ what: "span", value: [Math.min(from, up), Math.max(from, up) + 1] });
      const root = /** @type {Document} */ (flow.getRootNode()); // a shadow root tells of its own selection in some browsers
      root.getSelection?.()?.removeAllRanges();
      getSelection()?.removeAllRanges();
    });
    flow.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || !this.linked) return;
      event.preventDefault();
      const from = board.at ?? (step > 0 ? -1 : this.length);
      board.choose(Math.max(0, Math.min(this.length - 1, from + step)));
    });
  }
}
