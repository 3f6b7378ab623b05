// The text alternatives of the live view's pictures.

import { AltText, together } from "../../../browser/static/alt_text.js";
import { find } from "../../../browser/static/dom.js";
import { spokenName } from "../../../browser/static/prediction_bars.js";

/** @import { Numbers } from "../../../browser/static/number_format.js" */
/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { Store } from "./store.js" */

export class Descriptions {
  /** @param {HTMLElement} root @param {Phrase} phrase @param {Numbers} numbers */
  constructor(root, phrase, numbers) {
    this.phrase = phrase;
    this.numbers = numbers;
    this.states = new AltText(find(root, "canvas.rv-heat"));
    this.lines = new AltText(find(root, "canvas.rv-lines"));
  }

  /**
   * Set both texts after a pause.
   * @param {Store} store @param {string[]} list @param {number} caret the caret's place
   * @param {() => string} pinned makes the sentence on the pin, or ""
   */
  update(store, list, caret, pinned) {
    this.states.later(() => together(this.extent(store), pinned() || this.strongest(store, caret)));
    this.lines.later(() => together(this.ending(store), this.peak(store, list)));
  }

  /** @param {Store} store */
  extent(store) {
    const { phrase, numbers } = this;
    const what = phrase(`quantity.${store.header.quantity}`);
    const [units, n] = [store.rowCount, store.length].map((count) => numbers.whole(count));
    return phrase("alt.states", { what, units, n });
  }

  /** The sentence on the unit farthest from 0 at the character before the caret. @param {Store} store @param {number} caret */
  strongest(store, caret) {
    const t = caret - 1;
    if (t < store.start || t >= store.stop) return "";
    let best = store.unitAt(0);
    for (let row = 1; row < store.rowCount; row++) {
      const unit = store.unitAt(row);
      if (Math.abs(store.value(t, unit)) > Math.abs(store.value(t, best))) best = unit;
    }
    const v = store.describeValue(t, best, (value) => this.numbers.fixed(value));
    const unit = store.rowName(best, this.phrase);
    return this.phrase("alt.strongest", { n: this.numbers.whole(t + 1), unit, v });
  }

  /** The sentences on the end of the running perplexity. @param {Store} store */
  ending(store) {
    const { phrase, numbers } = this;
    const t = store.length - 1;
    if (t < 0) return phrase("alt.empty");
    const perplexity = store.networkRunning.perplexity(t);
    const memorylessSentence = store.memorylessRows
      ? phrase("alt.memoryless", { p: numbers.number(store.memorylessRunning.perplexity(t)) })
      : "";
    if (!store.hasNgram || !store.fixed.ngram)
      return together(phrase("alt.perplexity", { p: numbers.number(perplexity) }), memorylessSentence);
    const other = store.ngramRunning.perplexity(t);
    const name = perplexity < other ? "alt.below" : "alt.above";
    const words = { p: numbers.number(perplexity), ngram: store.fixed.ngram, q: numbers.number(other) };
    return together(phrase(name, words), memorylessSentence);
  }

  /** The sentence on the character of highest surprisal. @param {Store} store @param {string[]} list */
  peak(store, list) {
    const { phrase, numbers } = this;
    if (!store.length) return "";
    let t = 0;
    for (let i = 1; i < store.length; i++) if (store.bits(i) > store.bits(t)) t = i;
    const c = spokenName(list[t] ?? "", phrase);
    return phrase("alt.peak", { n: numbers.whole(t + 1), c, bits: numbers.number(store.bits(t)) });
  }
}
