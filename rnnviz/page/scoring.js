// The perplexity of a whole text: rnnviz/scoring/perplexity.py in JavaScript, whose head defines it.
//
//   const score = new TextScore(text, new Vocabulary(symbols, normaliser), (ids) => new Stretches(network, ids, unknownCost));
//   for (const read of score.steps()) post(read / score.length, score.figures()); // stop whenever you like
//   score.figures(), score.reading.nll

import { characterAt } from "./vocabulary.js";

/** @import { ScoreFigures, TextReading } from "./types" */
/** @import { Vocabulary } from "./vocabulary.js" */

/** A text, its reading, and the sums of the characters read so far. */
export class TextScore {
  at = 0; // UTF-16 units of `text` that are counted
  characters = 0;
  unknown = 0;
  nats = 0;
  natsKnown = 0;
  bytes = 0;
  normalised = 0;
  replaced = 0;

  /**
   * @param {string} text as it stands in its file, without a byte order mark @param {Vocabulary} vocabulary
   * @param {(ids: Uint32Array) => TextReading} read Stretches of a network, or NgramReading
   */
  constructor(text, vocabulary, read) {
    this.text = text;
    this.vocabulary = vocabulary;
    this.ids = vocabulary.encode(text);
    this.length = this.ids.length;
    this.reading = read(this.ids);
  }

  /** Read the text, a little at a time. The caller may stop in between. @returns {Generator<number>} characters read */
  steps() {
    return this.reading.steps();
  }

  /**
   * The figures of the beginning that is read, by their names in the package's JSON; perplexities and bits are null for no
   * characters. `bytes` are of the text's own characters in UTF-8, which normalising doesn't change.
   * @returns {ScoreFigures}
   */
  figures() {
    const { text, ids, reading, vocabulary } = this;
    while (this.characters < reading.done) {
      const nll = reading.nll[this.characters];
      this.nats += nll;
      if (ids[this.characters++]) this.natsKnown += nll;
      else this.unknown += 1;
      const { code, end } = characterAt(text, this.at);
      if (text[this.at] === "\r") this.normalised += 1;
      else if (vocabulary.replaced.has(code)) this.replaced += 1;
      this.bytes += code < 0x80 ? end - this.at : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; // CR and LF are two
      this.at = end;
    }
    const { characters, unknown, nats, natsKnown, bytes } = this;
    const mean = (/** @type {number} */ sum, /** @type {number} */ count) => (count ? sum / count : null);
    const perplexity = (/** @type {number | null} */ cost) => (cost === null ? null : Math.exp(cost));
    return {
      characters,
      unknown,
      perplexity: perplexity(mean(nats, characters)),
      perplexity_known: perplexity(mean(natsKnown, characters - unknown)),
      bits_per_character: mean(nats / Math.LN2, characters),
      bits_per_byte: mean(nats / Math.LN2, bytes),
      normalised: this.normalised + this.replaced,
      replaced: this.replaced,
      bytes,
      unsettled: reading.unsettled,
    };
  }
}
