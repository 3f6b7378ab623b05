// The row of numbers on the text, and the sentence on the character and unit under the pointer.

import { visible } from "../../../browser/static/characters.js";
import { find, numberRow, put } from "../../../browser/static/dom.js";
import { spokenName } from "../../../browser/static/prediction_bars.js";
import { Descriptions } from "./descriptions.js";

/** @import { Numbers } from "../../../browser/static/number_format.js" */
/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { Store } from "./store.js" */
/** @import { Fixed } from "./types" */

export class Readout {
  /** @param {HTMLElement} root @param {Phrase} phrase @param {Fixed} fixed @param {Numbers} numbers */
  constructor(root, phrase, fixed, numbers) {
    this.phrase = phrase;
    this.numbers = numbers;
    this.line = find(root, "span.rv-readout");
    this.status = find(root, "p.rv-said");
    const texts = (/** @type {string} */ name) =>
      /** @type {[string, string]} */ ([phrase(name), fixed.words[`${name}.help`] ?? ""]);
    this.findings = new Descriptions(root, phrase, numbers);
    const names = (/** @type {boolean} */ folded) =>
      fixed.numbers.filter((number) => number.folded === folded).map(({ name }) => name);
    this.fields = {
      ...numberRow(find(root, "dl.rv-numbers"), "rv", "rnnviz", names(false), texts),
      ...numberRow(find(root, "dl.rv-others"), "rv", "rnnviz", names(true), texts),
    };
  }

  /** @param {Store} store */
  draw(store) {
    const { numbers } = store.header;
    for (const { name, count } of store.fixed.numbers) {
      if (!(name in numbers)) continue; // the entropy, which follows the caret: see `showEntropy`
      put(
        this.fields[name],
        count ? this.numbers.fixed(numbers[name], 0) : this.numbers.number(numbers[name]),
      );
    }
    this.fields.unknown.parentElement?.classList.toggle("rv-some", Number(numbers.unknown) > 0);
  }

  /**
   * Show the entropy of the prediction after t characters; after a pause, set the pictures' text alternatives.
   * @param {Store} store @param {string[]} list @param {number} t @param {number | null} pin
   * @param {number | null} unit
   */
  showEntropy(store, list, t, pin, unit) {
    put(this.fields.entropy, this.numbers.number(store.entropy(t)));
    this.findings.update(store, list, t, () => this.pinSentence(store, list, pin, unit));
  }

  /** The sentence on the pin, or "". @param {Store} store @param {string[]} list @param {number | null} pin @param {number | null} unit */
  pinSentence(store, list, pin, unit) {
    if (pin === null || pin < store.start || pin >= store.stop) return "";
    return `${this.sentence(store, list, pin, unit, true, (c) => spokenName(c, this.phrase))}.`;
  }

  /**
   * Show the sentence on character t, under the pointer; null for none.
   * @param {Store} store @param {string[]} list @param {number | null} t @param {number | null} unit
   * @param {boolean} pinned
   */
  showSentence(store, list, t, unit, pinned) {
    put(this.line, t === null ? "" : this.sentence(store, list, t, unit, pinned));
    const notice = /** @type {HTMLElement} */ (this.line.previousElementSibling);
    notice.hidden = t !== null;
  }

  // The live region below changes only after a key, so that a screen reader announces nothing unasked.

  /** @param {string} character */
  announceWritten(character) {
    put(this.status, this.phrase("said.wrote", { c: spokenName(character, this.phrase) }));
  }

  /** @param {Store} store @param {string[]} list @param {number} t @param {number | null} unit @param {boolean} pinned */
  announce(store, list, t, unit, pinned) {
    const name = (/** @type {string} */ character) => spokenName(character, this.phrase);
    put(this.status, this.sentence(store, list, t, unit, pinned, name));
  }

  /**
   * @param {Store} store @param {string[]} list @param {number} t @param {number | null} unit @param {boolean} pinned
   * @param {(character: string) => string} name
   */
  sentence(store, list, t, unit, pinned, name = (character) => `“${visible(character)}”`) {
    const { phrase, numbers } = this;
    const parts = [phrase("readout.at", { n: numbers.whole(t + 1) })];
    const c = name(list[t] ?? "");
    const more = store.occlusionBits(t);
    if (more !== undefined) {
      const pinnedName = name(list[store.header.occlusionAt ?? 0] ?? "");
      return [...parts, phrase("readout.without", { c, of: pinnedName, bits: numbers.fixed(more) })].join(
        " · ",
      );
    }
    const v = unit === null || t >= store.stop ? "" : store.describeValue(t, unit, (v) => numbers.fixed(v));
    if (v && unit !== null) parts.push(phrase("readout.unit", { unit: store.rowName(unit, phrase), v }));
    parts.push(phrase("readout.actual", { c, bits: numbers.number(store.bits(t)) }));
    if (pinned) parts.push(phrase("readout.pinned"));
    return parts.join(" · ");
  }
}
