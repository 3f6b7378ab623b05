// The text alternatives of the live view's pictures.

import { AltText, together } from "../../../browser/static/alt_text.js";
import { find } from "../../../browser/static/dom.js";
import { spoken } from "../../../browser/static/prediction_bars.js";

/** @import { Numbers } from "../../../browser/static/number_format.js" */
/** @import { Say } from "../../../browser/static/messages.js" */
/** @import { Store } from "./store.js" */

export class Descriptions {
  /** @param {HTMLElement} root @param {Say} say @param {Numbers} numbers */
  constructor(root, say, numbers) {
    this.say = say;
    this.numbers = numbers;
    this.states = new AltText(find(root, "canvas.rv-heat"));
    this.lines = new AltText(find(root, "canvas.rv-lines"));
  }

  /**
   * Set both texts after a pause.
   * @param {Store} store @param {string[]} list @param {number} here the caret's place
   * @param {() => string} pinned makes the sentence on the pin, or ""
   */
  later(store, list, here, pinned) {
    this.states.later(() => together(this.extent(store), pinned() || this.strongest(store, here)));
    this.lines.later(() => together(this.ending(store), this.peak(store, list)));
  }

  /** @param {Store} store */
  extent(store) {
    const { say, numbers } = this;
    const what = say(`quantity.${store.head.quantity}`);
    return say("alt.states", { what, units: numbers.whole(store.shown), n: numbers.whole(store.length) });
  }

  /** The sentence on the unit farthest from 0 at the character before the caret. @param {Store} store @param {number} here */
  strongest(store, here) {
    const t = here - 1;
    if (t < store.start || t >= store.stop) return "";
    let best = store.unitAt(0);
    for (let row = 1; row < store.shown; row++) {
      const unit = store.unitAt(row);
      if (Math.abs(store.value(t, unit)) > Math.abs(store.value(t, best))) best = unit;
    }
    const v = store.told(t, best, (value) => this.numbers.fixed(value));
    return this.say("alt.strongest", { n: this.numbers.whole(t + 1), unit: best, v });
  }

  /** The sentences on the end of the running perplexity. @param {Store} store */
  ending(store) {
    const { say, numbers } = this;
    const t = store.length - 1;
    if (t < 0) return say("alt.empty");
    const own = store.predicted.perplexity(t);
    const forgetful = store.others
      ? say("alt.memoryless", { p: numbers.number(store.forgetful.perplexity(t)) })
      : "";
    if (!store.hasCounts || !store.fixed.ngram)
      return together(say("alt.perplexity", { p: numbers.number(own) }), forgetful);
    const other = store.counted.perplexity(t);
    const name = own < other ? "alt.below" : "alt.above";
    const words = { p: numbers.number(own), ngram: store.fixed.ngram, q: numbers.number(other) };
    return together(say(name, words), forgetful);
  }

  /** The sentence on the character of highest surprisal. @param {Store} store @param {string[]} list */
  peak(store, list) {
    const { say, numbers } = this;
    if (!store.length) return "";
    let t = 0;
    for (let i = 1; i < store.length; i++) if (store.bits(i) > store.bits(t)) t = i;
    const c = spoken(list[t] ?? "", say);
    return say("alt.peak", { n: numbers.whole(t + 1), c, bits: numbers.number(store.bits(t)) });
  }
}
