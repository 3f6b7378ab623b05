// A text of the dashboard: its head, its colours and its marks.

import { runningMark, visible } from "../../../../ui/browser/static/characters.js";
import { ColouredText } from "../../../../ui/browser/static/coloured.js";
import { make, put } from "../../../../ui/browser/static/dom.js";

/** @import { Chunk } from "../../../../ui/browser/static/coloured.js" */
/** @import { AboutText, Arrays } from "./types" */
/** @import { View } from "./view.js" */

export class Text {
  /** @type {Uint32Array} */
  codes = new Uint32Array();
  /** @type {AboutText} */
  about;
  /** @type {ArrayLike<number>} */
  levels = [];
  /** @type {ArrayLike<number> | null} */
  values = null;
  look = "";

  /** @param {View} dashboard */
  constructor(dashboard) {
    this.dashboard = dashboard;
    this.name = make("b");
    this.bars = make("span", "dash-bars");
    this.head = make("div", "dash-head", this.name, this.bars);
    this.flow = make("div", "dash-flow");
    this.element = make("div", "dash-text", this.head, this.flow);
    const showCode = (/** @type {number} */ code) =>
      code === 10 && this.about.marked ? "⏎" : runningMark(code); // a listed passage stays on one line
    /** @type {ColouredText<Chunk>} */
    this.text = new ColouredText(this.flow, {}, showCode);
    const choose = () =>
      this.about.pick !== null && dashboard.ask({ kind: "pick", panel: "text", value: this.about.pick });
    this.flow.addEventListener("click", choose);
    this.flow.addEventListener("keydown", (event) => event.key === "Enter" && choose());
  }

  close() {
    this.text.close();
    this.element.remove();
  }

  /** @param {AboutText} about @param {Arrays} arrays */
  set(about, arrays) {
    const { dashboard, flow, text } = this;
    const other = about.codes !== this.about?.codes;
    this.about = about;
    this.codes = /** @type {Uint32Array} */ (arrays[about.codes]);
    this.levels = arrays[about.levels];
    this.values = about.values ? arrays[about.values] : null;
    put(this.name, about.label);
    this.head.hidden = !about.label;
    this.bars.replaceChildren(...about.bars.map(([symbol, p]) => this.bar(symbol, p)));
    flow.classList.toggle("dash-open", about.linked);
    flow.classList.toggle("dash-one", !!about.marked);
    flow.classList.toggle("dash-picks", about.pick !== null);
    if (about.linked || about.pick !== null) {
      flow.tabIndex = 0;
      flow.setAttribute("role", about.linked ? "region" : "button");
      flow.setAttribute("aria-label", about.linked ? dashboard.phrase("text") : about.label);
    }
    const select = (/** @type {number} */ start, /** @type {number} */ stop) => {
      getSelection()?.removeAllRanges(); // the answer marks the passage instead
      dashboard.ask({ kind: "span", value: [start, stop] });
    };
    const pick = (/** @type {number} */ t) => dashboard.choose(t);
    const point = (/** @type {number | null} */ t) => dashboard.point(t);
    text.on = !about.linked ? {} : dashboard.head.select ? { pick, point, select } : { pick, point };
    if (!other) return;
    text.begin(this.codes.length, 1);
    text.addChunks([{ index: 0, start: 0, codes: this.codes }]);
  }

  /** A symbol with its probability as a bar. @param {string} symbol @param {number} p */
  bar(symbol, p) {
    const bar = make("i");
    bar.style.width = `${Math.max(1, Math.round(60 * p))}px`;
    return make("span", "", make("code", "", visible(symbol)), bar, this.dashboard.numbers.share(p));
  }

  /** @param {number} levels @param {number} colours */
  paint(levels, colours) {
    const { palette, at, marked, linked } = this.about;
    const look = [palette, this.about.codes, this.about.levels].join();
    const step = (colours - 1) / (levels - 1);
    if (look !== this.look)
      this.text.colour({
        name: palette,
        neutral: -1,
        level: () => Uint8ClampedArray.from(this.levels, (level) => Math.round(level * step)),
      });
    this.look = look;
    if (linked) return;
    this.text.mark("pin", at === null ? [] : [[at, at + 1]]);
    this.text.mark("passage", marked ? [marked] : []);
  }

  /** @param {number | null} t @param {number | null} at */
  mark(t, at) {
    if (!this.about.linked) return;
    this.text.mark("pin", at === null ? [] : [[at, at + 1]]);
    this.text.mark("point", t === null || t === at ? [] : [[t, t + 1]]);
    this.text.mark("passage", this.dashboard.head.spans);
  }

  /** @param {number} t */
  character(t) {
    return t < this.codes.length ? `“${visible(String.fromCodePoint(this.codes[t]))}”` : "";
  }

  /** @param {number} t */
  value(t) {
    const value = this.values?.[t];
    return value === undefined || Number.isNaN(value) ? null : this.dashboard.numbers.rough(value);
  }
}
