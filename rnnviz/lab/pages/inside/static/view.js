// The dashboard: coloured texts and figures that share one cursor, and its asks.

import { address } from "../../../../ui/browser/static/address.js";
import { BaseView } from "../../../../ui/browser/static/base.js";
import { rules } from "../../../../ui/browser/static/coloured.js";
import { find, make, put } from "../../../../ui/browser/static/dom.js";
import { label, makePhrase } from "../../../../ui/browser/static/messages.js";
import { Numbers } from "../../../../ui/browser/static/number_format.js";
import { loadPlotly } from "../../../../ui/browser/static/plotly.js";
import { appearance, dress } from "../../../../ui/browser/static/theme.js";
import { Panel } from "./panel.js";
import { Text } from "./text.js";

/** @import { Fields } from "../../../../ui/browser/static/address.js" */
/** @import { Phrase } from "../../../../ui/browser/static/messages.js" */
/** @import { Answer, Arrays, DashboardTheme } from "./types" */

/** Resolves after the next paint; at once in a hidden tab, which has none. */
function waitForPaint() {
  if (document.hidden) return Promise.resolve();
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

export class View extends BaseView {
  /** @type {Answer} */
  head;
  /** @type {Arrays} */
  arrays = {};
  /** @type {Text[]} */
  texts = [];
  /** @type {Map<string, Panel>} */
  panels = new Map();
  /** @type {Phrase} */
  phrase = (name) => name;
  /** @type {Numbers} */
  numbers;
  length = 0; // of the linked text
  width = 0;
  drawings = 0;
  turn = 0; // the number of the newest drawing; an older one stops
  /** @type {number | null} the chosen character */
  at = null;
  /** @type {number | null} */
  hover = null;
  /** @type {Fields} the page's values for the address: a rerun of a fragment alone sends them with the dashboard only */
  address = {};
  fields = () => this.address;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  resizing;
  style = make("style");

  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.before(this.style);
    this.sheet = find(root, "div.dash-texts");
    this.foot = find(root, "p.dash-foot");
    this.status = find(root, "span.dash-said");
    this.key = find(root, "span.dash-key");
    this.grid = find(root, "div.dash-grid");
    this.observer = new ResizeObserver(() => {
      if (!root.clientWidth || root.clientWidth === this.width) return;
      this.width = root.clientWidth;
      clearTimeout(this.resizing);
      this.resizing = setTimeout(() => this.draw(), 60);
    });
  }

  close() {
    super.close();
    address?.leave("dashboard", this.fields);
    this.turn++; // ends the drawing in progress
    clearTimeout(this.resizing);
    for (const part of [...this.texts, ...this.panels.values()]) part.close();
    this.style.remove();
  }

  /** @param {boolean} isLate */
  showDelay(isLate) {
    if (isLate) this.status.textContent = this.phrase("late");
  }

  recolour() {
    if (appearance(this.root) !== this.root.dataset.theme) this.draw();
  }

  /** @param {Answer} header @param {Arrays} arrays */
  receive(header, arrays) {
    this.head = header;
    this.arrays = arrays;
    if (!this.viewSocket.askDue) this.at = header.at; // else the reader has chosen another one meanwhile
    this.phrase = makePhrase(header.words);
    this.numbers = new Numbers(header.language);
    label(this.root, this.phrase);
    this.build();
    queueMicrotask(() => {
      this.root.hidden = false;
      this.draw();
      this.observer?.observe(this.root);
    });
    this.viewSocket.endAsk(header);
    this.address = header.address;
    address?.join("dashboard", this.fields);
    address?.scheduleWrite();
  }

  /** @param {object} change */
  ask(change) {
    this.viewSocket.askPage(change);
  }

  // ---- the reader's actions -----------------------------------------------------------------------

  /** @param {number | null} t */
  point(t) {
    if (t === this.hover) return;
    this.hover = t;
    this.mark();
  }

  /** @param {number | null} t */
  choose(t) {
    if (t === null || t < 0 || t >= this.length) return;
    this.at = t;
    this.hover = null;
    this.mark();
    this.ask({ kind: "at", value: t });
  }

  // ---- looks --------------------------------------------------------------------------------------

  build() {
    const { texts, panels, quiet, scale } = this.head;
    while (this.texts.length > texts.length) this.texts.pop()?.close();
    while (this.texts.length < texts.length) {
      const text = new Text(this);
      this.texts.push(text);
      this.sheet.append(text.element);
    }
    this.texts.forEach((text, i) => {
      text.set(texts[i], this.arrays);
    });
    this.length = this.texts.find((text) => text.about.linked)?.codes.length ?? 0;
    this.sheet.hidden = !texts.length;
    this.foot.hidden = !texts.length || (quiet && !scale);
    this.foot.classList.toggle("dash-above", quiet);
    this.status.hidden = quiet;
    const names = new Set(panels.map((panel) => panel.name));
    for (const [name, panel] of this.panels)
      if (!names.has(name)) {
        panel.close();
        this.panels.delete(name);
      }
    panels.forEach((about, i) => {
      const panel = this.panels.get(about.name) ?? new Panel(this);
      this.panels.set(about.name, panel);
      panel.set(about, this.arrays);
      const sibling = this.grid.children[i] ?? null; // an insertion, even at the same place, costs a layout and a paint
      if (sibling !== panel.element) this.grid.insertBefore(panel.element, sibling);
    });
    if (this.hover !== null && this.hover >= this.length) this.hover = null;
  }

  draw() {
    if (!this.head) return;
    const theme = dress(this.root, this.head.themes);
    const { name } = theme;
    put(this.style, rules(theme.palettes, theme)); // `put` skips equal rules, which would restyle and repaint everything
    for (const text of this.texts) text.paint(this.head.levels, theme.palettes[text.about.palette].length);
    this.legend(theme);
    this.width = this.root.clientWidth;
    if (!this.width) return; // in a closed section; the observer draws once it opens
    const turn = ++this.turn;
    loadPlotly().then(async (url) => {
      if (url) this.status.textContent = this.phrase("missing", { url });
      else await this.figures(name, turn);
      if (turn !== this.turn) return;
      this.mark();
      this.root.dataset.drawn = String(++this.drawings);
    });
  }

  /** Draw the figures in the browser's window; after their paint, the others. @param {"light" | "dark"} theme @param {number} turn */
  async figures(theme, turn) {
    const all = [...this.panels.values()].map((panel) => ({ panel, ...panel.measure() }));
    for (const { panel, width, seen } of all) if (seen) await panel.draw(theme, width);
    if (turn !== this.turn) return;
    this.mark();
    this.root.dataset.shown = String(turn);
    for (const { panel, width, seen } of all) {
      if (seen) continue;
      await waitForPaint();
      if (turn !== this.turn) return;
      await panel.draw(theme, width);
    }
  }

  /** @param {DashboardTheme} theme */
  legend({ palettes }) {
    this.key.replaceChildren();
    if (!this.head.scale) return;
    const [palette, low, high] = this.head.scale;
    const band = make("i");
    band.style.background = `linear-gradient(90deg, ${palettes[palette].map((c) => c[0]).join(",")})`;
    this.key.append(low, band, high);
  }

  /** Mark the cursor's character in all texts and figures. */
  mark() {
    const t = this.hover ?? this.at;
    for (const text of this.texts) text.mark(t, this.at);
    for (const panel of this.panels.values()) panel.mark(t);
    const { texts, numbers, phrase } = this;
    put(
      this.status,
      t === null ? phrase(this.head.select ? "idle.select" : "idle") : line(t, texts, numbers, phrase),
    );
  }
}

/**
 * The line on a character: its place and its value in each linked text.
 * @param {number} t @param {Pick<Text, "about" | "character" | "value">[]} texts @param {Numbers} numbers @param {Phrase} phrase
 */
export function line(t, texts, numbers, phrase) {
  const linked = texts.filter((text) => text.about.linked);
  const parts = [`${phrase("at", { n: numbers.whole(t + 1) })} ${linked[0]?.character(t) ?? ""}`];
  for (const text of linked) {
    const value = text.value(t);
    if (value !== null) parts.push((text.about.name ? `${text.about.name} ` : "") + value);
  }
  return parts.join(" · ");
}
