// The bars: what the network expects next, or expected at the cursor, and what came.

import { visible } from "./characters.js";
import { find, make, put } from "./dom.js";

/** @import { Numbers } from "./numbers.js" */
/** @import { Predictions } from "./types" */
/** @import { Say } from "./words.js" */

const CONTEXT = 8; // characters that are shown before the place in question

/** The markup of one row: a symbol, its bar, its probability. */
export function barRow() {
  const [symbol, bar, chance] = [make("bdi", "rv-symbol"), make("span", "rv-bar"), make("span", "rv-chance")];
  return { item: make("li", "", symbol, make("span", "rv-track", bar), chance), symbol, bar, chance };
}

export class Next {
  /** @type {ReturnType<typeof barRow>[]} */
  rows = [];

  /** @param {HTMLElement} root @param {Say} say @param {Numbers} numbers */
  constructor(root, say, numbers) {
    this.lead = find(root, "span.rv-next-lead");
    this.before = find(root, "bdi.rv-next-before");
    this.list = find(root, "ol.rv-next-list");
    this.foot = find(root, "p.rv-next-foot");
    this.say = say;
    this.numbers = numbers;
    this.list.replaceChildren();
  }

  /** @param {number} i @param {string} symbol @param {number | null} p @param {string} kind the row's classes */
  row(i, symbol, p, kind) {
    while (this.rows.length <= i) {
      const made = barRow();
      this.list.append(made.item);
      this.rows.push(made);
    }
    const { item, bar, ...row } = this.rows[i];
    put(row.symbol, symbol);
    put(row.chance, p === null ? "" : this.numbers.percent(p));
    bar.style.transform = `scaleX(${Math.min(1, p ?? 0)})`;
    if (item.className !== kind) item.className = kind;
    item.hidden = false;
  }

  /** The prediction after t characters of `list`. @param {Predictions} store @param {string[]} list @param {number} t */
  draw(store, list, t) {
    if (!store.holds(t)) return;
    const expected = store.expected(t);
    const came = t < list.length ? store.ids[t] : -1;
    expected.forEach(({ id, p }, i) => {
      const name = id === 0 ? this.say("unk") : visible(store.symbol(id));
      this.row(i, name, p, `${id === came ? "rv-came" : ""}${id === 0 ? " rv-word" : ""}`);
    });
    let i = expected.length;
    const others = expected.reduce((left, { p }) => left - p, 1);
    this.row(i++, this.say("next.other"), Math.max(0, others), "rv-rest rv-word");
    // What came stands below if it isn't among the first; its row is always there, so nothing jumps.
    if (came >= 0 && !expected.some(({ id }) => id === came))
      this.row(i++, visible(list[t]), store.probability(t), "rv-came");
    else this.row(i++, "", null, "rv-none");
    for (; i < this.rows.length; i++) this.rows[i].item.hidden = true;
    const before = list
      .slice(Math.max(0, t - CONTEXT), t)
      .map(visible)
      .join("");
    put(this.lead, this.say(t === list.length ? "next" : t ? "next.at" : "next.start"));
    put(this.before, (t > CONTEXT ? "…" : "") + before);
    put(this.foot, this.say("next.entropy", { bits: this.numbers.number(store.entropy(t)) }));
  }
}
