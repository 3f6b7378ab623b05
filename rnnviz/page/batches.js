// Batches: contiguous streams of a text, cut where the gradient stops, and fresh starts at random paragraphs. The sequential
// partition of rnnviz/lab/fit/batches.py, whose head says why, in JavaScript.

import { RandomNumbers } from "./random_numbers.js";

/** @import { Recipe } from "./types" */

const SHORTEST_SPLIT = 200; // characters, as in rnnviz/text/corpora.py

export const PADDING = -1; // the label of a step behind a text's end, which costs nothing

/** Half to even, as Python rounds. @param {number} value */
function round(value) {
  const rounded = Math.round(value);
  return value % 1 === 0.5 && rounded % 2 ? rounded - 1 : rounded;
}

export class Streams {
  begin = 0; // the next step's place in the streams; 0 begins an epoch
  offset = 0; // the epoch's first place in the text

  /** @param {Uint32Array} ids @param {number} start the start symbol @param {number[]} beginnings of paragraphs @param {Recipe} recipe */
  constructor(ids, start, beginnings, { batch, steps, fresh_rows }) {
    this.ids = ids;
    this.start = start;
    this.steps = steps;
    // A short text is read in fewer rows, of two pieces or more, where it has that many characters.
    this.rows = Math.max(1, Math.min(batch, Math.floor(ids.length / (2 * steps))));
    // A share above 0 makes at least one fresh row, and leaves at least one stream.
    this.freshRows = fresh_rows && Math.min(Math.max(round(fresh_rows * this.rows), 1), this.rows - 1);
    this.streams = this.rows - this.freshRows;
    this.slack = ids.length >= SHORTEST_SPLIT ? Math.min(steps, ids.length >> 3) : 0;
    this.length = Math.floor((ids.length - this.slack) / this.streams);
    const last = Math.max(0, ids.length - ((3 * steps) >> 1)); // the longest piece must have room
    this.beginnings = [0, ...beginnings.filter((at) => at > 0 && at <= last)];
    this.inputs = new Int32Array(this.rows * steps);
    this.labels = new Int32Array(this.rows * steps);
  }

  /**
   * The next piece: `inputs` and `labels` (T, rows), labels one character ahead.
   * @param {(n: number) => number} below a random whole number below n
   * @returns {{ T: number, isFirst: boolean, characters: number }} `isFirst`: of an epoch, which begins at the zero state
   */
  next(below) {
    const { ids, start, streams, length, steps, begin } = this;
    const isFirst = begin === 0;
    if (isFirst) this.offset = below(this.slack + 1);
    const T = Math.min(steps, length - begin);
    for (let row = 0; row < streams; row++) {
      const at = this.offset + row * length + begin;
      this.fill(row, at, T, isFirst ? start : ids[at - 1]);
    }
    for (let row = streams; row < this.rows; row++)
      this.fill(row, this.beginnings[below(this.beginnings.length)], T, start);
    this.begin = begin + T < length ? begin + T : 0;
    return { T, isFirst, characters: T * this.rows };
  }

  /** @param {number} row @param {number} at the first label's place in the text @param {number} T @param {number} first the first input */
  fill(row, at, T, first) {
    const { ids, rows, inputs, labels } = this;
    for (let t = 0; t < T; t++) {
      inputs[t * rows + row] = t ? ids[at + t - 1] : first;
      labels[t * rows + row] = ids[at + t];
    }
  }
}

/** Texts that end, as `Texts` in rnnviz/lab/fit/batches.py: each is a row, padded to the longest of its batch. */
export class Texts {
  begin = 0; // the number of the next piece; 0 begins an epoch
  offset = 0; // the seed of the epoch's order
  freshRows = 0;

  /** @param {Uint32Array} ids @param {number} start the start symbol @param {number} end @param {Recipe} recipe */
  constructor(ids, start, end, { batch, steps }) {
    this.ids = ids;
    this.start = start;
    this.steps = steps;
    /** @type {{ first: number, length: number }[]} */
    const texts = [];
    for (let first = 0, at = 0; at < ids.length; at++) {
      if (ids[at] !== end && at < ids.length - 1) continue;
      texts.push({ first, length: at + 1 - first });
      first = at + 1;
    }
    texts.sort((a, b) => a.length - b.length);
    this.rows = this.streams = Math.min(batch, texts.length);
    this.batches = Array.from({ length: Math.ceil(texts.length / this.rows) }, (_, i) =>
      texts.slice(i * this.rows, (i + 1) * this.rows),
    );
    this.inputs = new Int32Array(this.rows * steps);
    this.labels = new Int32Array(this.rows * steps);
  }

  /**
   * The next piece, as `Streams.next`; labels behind a text's end are PADDING.
   * @param {(n: number) => number} below @returns {{ T: number, isFirst: boolean, characters: number }}
   */
  next(below) {
    const { ids, start, rows, steps, inputs, labels } = this;
    if (!this.begin) this.offset = below(2 ** 31);
    const random = new RandomNumbers(this.offset);
    const order = this.batches.map((texts) => ({ texts, at: random.uniform() })).sort((a, b) => a.at - b.at);
    const pieces = order.flatMap(({ texts }) =>
      Array.from({ length: Math.ceil(texts[texts.length - 1].length / steps) }, (_, n) => ({
        texts,
        from: n * steps,
      })),
    );
    const { texts, from } = pieces[this.begin];
    this.begin = (this.begin + 1) % pieces.length;
    const T = Math.min(steps, texts[texts.length - 1].length - from);
    let characters = 0;
    for (let row = 0; row < rows; row++) {
      const { first, length } = texts[row] ?? { first: 0, length: 0 }; // the last batch may have fewer
      for (let t = 0; t < T; t++) {
        const [at, inside] = [from + t, from + t < length];
        inputs[t * rows + row] = at && inside ? ids[first + at - 1] : start;
        labels[t * rows + row] = inside ? ids[first + at] : PADDING;
        characters += Number(inside);
      }
    }
    return { T, isFirst: !from, characters };
  }
}

/** The places where paragraphs begin; without paragraphs, where lines begin. @param {string[]} characters */
export function beginnings(characters) {
  const after = (/** @type {number} */ breaks) =>
    Array.from(characters.keys()).filter(
      (at) =>
        at >= breaks &&
        /\S/u.test(characters[at]) &&
        characters.slice(at - breaks, at).every((character) => character === "\n"),
    );
  const paragraphs = after(2);
  return paragraphs.length ? paragraphs : after(1);
}
