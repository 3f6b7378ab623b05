// A text to train on: its parts, its characters as symbols, and how well simpler models predict it.

import { beginnings } from "./batches.js";
import { countNgrams } from "./counting.js";
import { Counts, NgramReading } from "./ngram.js";
import { FileError } from "./safetensors.js";
import { TextScore } from "./scoring.js";
import { costOfUnknown, END, Vocabulary } from "./vocabulary.js";

/** @import { ScoreFigures, TextReading, TrainingStart } from "./types" */

const MAX_CHARS = 5_000_000; // of the text
const SHORTEST_SPLIT = 200; // characters: a held-out part of a few would measure nothing
const LONG_TEXT_CHARS = 10_000; // from which a character that occurs once is read as unknown
const COUNTED_CHARS = 1_000_000; // of the training part, at most, by the n-gram model: on a phone that takes seconds
const NGRAM_ORDER = 6;
const VALIDATION_CHARS = 5000; // read at each report, at most
const HELD_OUT_CHARS = 200_000; // read once, at most

export class TrainingText {
  /** @param {string} text @param {number} minCount characters rarer in the training part are unknown; 0: as long a text says @param {boolean} [ends] whether each line is a text that ends */
  constructor(text, minCount, ends = false) {
    const characters = Array.from(text.replace(/\r\n?/g, "\n").replace(/\p{Surrogate}/gu, "\ufffd"));
    const { length } = characters;
    if (length < 2) throw new FileError("train.short", { n: length });
    if (length > MAX_CHARS) throw new FileError("train.long", { n: length, most: MAX_CHARS });
    this.isSplit = length >= SHORTEST_SPLIT;
    const border = (/** @type {number} */ share) =>
      ends
        ? characters.indexOf("\n", Math.floor(length * share) - 1) + 1 || length
        : Math.floor(length * share);
    const [first, second] = this.isSplit ? [border(0.85), border(0.9)] : [length, length];
    this.characters = characters;
    this.train = characters.slice(0, first).join("");
    this.validation = characters.slice(first, Math.min(second, first + VALIDATION_CHARS)).join("");
    this.heldOut = characters.slice(second, second + HELD_OUT_CHARS).join("");
    const counts = new Map();
    for (const character of characters.slice(0, first)) {
      const symbol = ends && character === "\n" ? END : character;
      counts.set(symbol, (counts.get(symbol) ?? 0) + 1);
    }
    const least = minCount || (first >= LONG_TEXT_CHARS ? 2 : 1);
    const known = Array.from(counts.keys()).filter((character) => counts.get(character) >= least);
    /** The symbols in the order of their code points. */
    this.symbols = (known.length ? known : Array.from(counts.keys())).sort(
      (a, b) => Number(a.codePointAt(0)) - Number(b.codePointAt(0)),
    );
    this.dropped = counts.size - this.symbols.length;
    /** @type {number | undefined} */
    this.end = ends ? this.symbols.indexOf(END) + 1 : undefined;
    this.vocabulary = new Vocabulary(this.symbols, {}, this.end);
    this.ids = this.vocabulary.encode(this.train);
    this.beginnings = beginnings(characters.slice(0, first));
    this.unknownCost = costOfUnknown(this.symbols, this.end);
  }

  /** The figures of a text. @param {string} text @param {(ids: Uint32Array) => TextReading} read @returns {ScoreFigures} */
  score(text, read) {
    const score = new TextScore(text, this.vocabulary, read);
    for (const _ of score.steps());
    return score.figures();
  }

  /** The perplexities of simpler models on the validation text. @returns {Pick<TrainingStart, "uniform" | "letters" | "ngram" | "ngram_order">} */
  baselines() {
    const V = this.symbols.length + 1;
    const perplexity = (/** @type {number} */ order) => {
      if (!this.validation) return null;
      const levels = countNgrams(this.ids.subarray(0, COUNTED_CHARS), V, order, this.end);
      const counts = new Counts(V, levels, this.end);
      const read = (/** @type {Uint32Array} */ ids) => new NgramReading(counts, ids, this.unknownCost);
      return this.score(this.validation, read).perplexity;
    };
    return { uniform: V, letters: perplexity(1), ngram: perplexity(NGRAM_ORDER), ngram_order: NGRAM_ORDER };
  }
}
