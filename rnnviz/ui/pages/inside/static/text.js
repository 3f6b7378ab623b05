// One text of the board: a span for each character, coloured by number; no text is ever parsed.

import { running, visible } from "../../../browser/static/characters.js";
import { make, put } from "../../../browser/static/dom.js";

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
  /** @type {number | null} the last character that it was over */
  over = null;

  /** @param {View} board */
  constructor(board) {
    this.board = board;
    this.name = make("b");
    this.bars = make("span", "bd-bars");
    this.head = make("div", "bd-head", this.name, this.bars);
    this.flow = make("div", "bd-flow");
    this.flow.dir = "auto";
    this.element = make("div", "bd-text", this.head, this.flow);
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
    put(this.name, about.label);
    this.head.hidden = !about.label;
    if (about.bars.length || this.bars.firstChild)
      this.bars.replaceChildren(...about.bars.map(([symbol, p]) => this.bar(symbol, p)));
    this.flow.classList.toggle("bd-open", about.linked);
    this.flow.classList.toggle("bd-one", !!about.marked);
    this.picks(about.pick !== null);
    if (about.linked) {
      this.flow.tabIndex = 0;
      this.flow.setAttribute("role", "region");
      this.flow.setAttribute("aria-label", this.board.say("text"));
    }
    if (about.codes === this.codes) return;
    this.codes = about.codes;
    this.points = arrays[about.codes];
    this.spans = Array.from(this.points, (code, t) => {
      const shown = code === 10 && about.marked ? "⏎" : running(code); // a place of many is one line
      const span = make("span", code === 10 ? "bd-break" : "", shown);
      span.dataset.t = String(t);
      return span;
    });
    this.flow.replaceChildren(...this.spans);
  }

  /** A symbol that is expected next, with its probability. @param {string} symbol @param {number} p */
  bar(symbol, p) {
    const bar = make("i");
    bar.style.width = `${Math.max(1, Math.round(60 * p))}px`;
    return make("span", "", make("code", "", visible(symbol)), bar, this.board.numbers.share(p));
  }

  /** Whether a click, or Enter, picks this text. @param {boolean} can */
  picks(can) {
    this.flow.classList.toggle("bd-picks", can);
    if (!can) return;
    this.flow.tabIndex = 0;
    this.flow.setAttribute("role", "button");
    this.flow.setAttribute("aria-label", this.about.label);
  }

  /** @param {BoardTheme} theme @param {number} levels */
  paint(theme, levels) {
    const { palette, at, marked } = this.about;
    const look = [theme.name, palette, this.codes, this.about.levels].join();
    if (look !== this.look) {
      const colours = theme.palettes[palette];
      const step = (colours.length - 1) / (levels - 1);
      this.spans.forEach((span, t) => {
        [span.style.background, span.style.color] = colours[Math.round(this.levels[t] * step)];
      });
    }
    this.look = look;
    if (this.linked) return;
    this.put([
      ["bd-at", at === null ? [] : [this.spans[at]]],
      ["bd-in", marked ? this.spans.slice(...marked) : []],
    ]);
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
    flow.addEventListener("pointermove", (event) => {
      this.over = place(event) ?? this.over;
      board.point(place(event));
    });
    flow.addEventListener("pointerleave", () => board.point(null));
    flow.addEventListener("pointerdown", (event) => {
      this.down = this.over = place(event);
    });
    flow.addEventListener("pointerup", (event) => {
      const [from, up] = [this.down, place(event) ?? this.over]; // or where a line ended
      this.down = null;
      if (up === null || from === null) return;
      if (!board.head.select || up === from) return board.choose(up);
      board.ask({ what: "span", value: [Math.min(from, up), Math.max(from, up) + 1] });
      const root = /** @type {Document} */ (flow.getRootNode()); // a shadow root tells of its own selection in some browsers
      root.getSelection?.()?.removeAllRanges();
      getSelection()?.removeAllRanges();
    });
    const choose = () => board.ask({ what: "pick", panel: "text", value: this.about.pick });
    flow.addEventListener("click", () => this.about.pick !== null && choose());
    flow.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.about.pick !== null) return choose();
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || !this.linked) return;
      event.preventDefault();
      const from = board.at ?? (step > 0 ? -1 : this.length);
      board.choose(Math.max(0, Math.min(this.length - 1, from + step)));
    });
  }
}
