// A text's costs, character by character, and what the viewer shows of them: rnnviz/scoring/breakdown.py and
// rnnviz/ui/pages/perplexity/viewer.py, held to them by golden files.

const POINTS = 2000; // of a curve, at most
const CHUNK_CHARS = 4096; // characters of a chunk, on average
const SPACES = [0x20, 0x3000, 0x3002, 0xff0c]; // where a chunk may end: Chinese has no spaces, but 。 and ，

/** @typedef {{ codes: Uint32Array, nll: Float32Array, rank: Int32Array, entropy: Float32Array }} Columns */
/** @typedef {{ start: number, stop: number, mean: number }} Passage characters start .. stop − 1, and their mean cost in nats */

/** 1, 2 or 5 times a power of ten, at most `value`, from 50 to 100,000. @param {number} value */
function roundNumber(value) {
  if (value < 100) return 50;
  const power = 10 ** Math.floor(Math.log10(value));
  const [multiple] = [5, 2, 1].filter((m) => m * power <= value);
  return Math.min(power * multiple, 100_000);
}

export class TextRecord {
  chunkChars = CHUNK_CHARS;

  /** @param {Columns} columns by character; a rank below 0 marks an unknown character */
  constructor(columns) {
    this.columns = columns;
    this.length = columns.codes.length;
    this.sums = new Float64Array(this.length + 1); // of the costs before each character
    for (let i = 0; i < this.length; i++) this.sums[i + 1] = this.sums[i] + columns.nll[i];
  }

  /** The mean cost of characters start .. stop − 1, in nats. @param {number} start @param {number} stop */
  mean(start, stop) {
    return (this.sums[stop] - this.sums[start]) / (stop - start);
  }

  /** The perplexity along the text: of all characters up to each place, and of the last `window` of them. */
  curve() {
    const { length } = this;
    const window = roundNumber(length / 100);
    const count = Math.min(length, POINTS);
    const position = Uint32Array.from({ length: count }, (_, i) =>
      count < POINTS || count === length ? i + 1 : Math.round(1 + (i * (length - 1)) / (count - 1)),
    );
    const perplexities = (/** @type {(at: number) => number} */ first) =>
      Float32Array.from(position, (at) => Math.exp(this.mean(first(at), at)));
    const running = perplexities(() => 0);
    return { window, position, running, rolling: perplexities((at) => Math.max(at - window, 0)) };
  }

  // ---- chunks of the text, for the viewer ----

  get count() {
    return Math.ceil(this.length / CHUNK_CHARS);
  }

  /** The first character of a chunk: after a line end, else a space, near index · CHUNK_CHARS. @param {number} index */
  border(index) {
    const begin = Math.min(Math.max(index, 0) * CHUNK_CHARS, this.length);
    if (index <= 0 || begin === this.length) return begin;
    const near = this.columns.codes.subarray(begin, begin + CHUNK_CHARS / 2);
    const newline = near.indexOf(10);
    const at = newline < 0 ? near.findIndex((code) => SPACES.includes(code)) : newline;
    return at < 0 ? begin : begin + at + 1;
  }

  /** The number of the chunk with a character. @param {number} position */
  chunkOf(position) {
    const index = Math.floor(Math.min(Math.max(position, 0), this.length - 1) / CHUNK_CHARS);
    return index && this.border(index) > position ? index - 1 : index;
  }

  // ---- the most surprising passages ----

  /**
   * The passages of about `size` characters with the highest mean costs, the most surprising first. They don't overlap,
   * and end between words where an eighth of the size allows that.
   * @param {number} count @param {number} size @returns {Passage[]}
   */
  passages(count, size) {
    const { length, sums } = this;
    if (size >= length) return length ? [this.passage(0, length)] : [];
    const reach = size >> 3;
    const cost = (/** @type {number} */ at) => sums[at + size] - sums[at];
    // A chosen passage excludes a bounded number of windows: so many are enough, and a long text needs no long list.
    const enough = count * 2 * (size + reach);
    /** @type {number[]} */
    let order = [];
    for (let at = 0; at <= length - size; at++) {
      if (order.length < 2 * enough || cost(at) > cost(order[enough - 1])) order.push(at);
      if (order.length > 4 * enough || at === length - size)
        order = order.sort((a, b) => cost(b) - cost(a) || a - b).slice(0, enough);
    }
    /** @type {[start: number, stop: number][]} */
    const chosen = [];
    for (const start of order) {
      const stop = start + size;
      if (chosen.some(([a, b]) => start < b && a < stop)) continue;
      const low = Math.max(start - reach, ...chosen.map(([, b]) => (b <= start ? b : 0)));
      const high = Math.min(stop + reach, ...chosen.map(([a]) => (a >= stop ? a : length)), length);
      chosen.push(this.snap(start, stop, Math.max(low, 0), high));
      if (chosen.length === count) break;
    }
    const found = chosen.map(([start, stop]) => this.passage(start, stop));
    return found.sort((a, b) => b.mean - a.mean || a.start - b.start);
  }

  /** @param {number} start @param {number} stop @returns {Passage} */
  passage(start, stop) {
    return { start, stop, mean: this.mean(start, stop) };
  }

  /**
   * The passage near start .. stop, within low .. high, whose ends lie between words, with the highest mean.
   * @param {number} start @param {number} stop @param {number} low @param {number} high @returns {[number, number]}
   */
  snap(start, stop, low, high) {
    const reach = (stop - start) >> 3;
    const near = (/** @type {number} */ end, /** @type {(at: number) => boolean} */ isBorder) => {
      const from = Math.max(low, end - reach);
      const places = Array.from({ length: Math.min(high, end + reach) - from + 1 }, (_, i) => from + i);
      const borders = places.filter(isBorder);
      return reach && borders.length ? borders : [end];
    };
    const begins = near(start, (at) => !this.isWord(at - 1) && !this.isSpace(at));
    const ends = near(stop, (at) => !this.isSpace(at - 1) && !this.isWord(at));
    /** @type {[number, number]} */
    let best = [start, stop];
    let highest = -Infinity;
    for (const a of begins)
      for (const b of ends)
        if (a < b && this.mean(a, b) > highest) {
          highest = this.mean(a, b);
          best = [a, b];
        }
    return best;
  }

  /** A character; beyond the ends there are spaces. @param {number} at */
  character(at) {
    return String.fromCodePoint(this.columns.codes[at] ?? 32);
  }

  /** @param {number} at */
  isWord(at) {
    return /[\p{L}\p{N}]/u.test(this.character(at));
  }

  /** @param {number} at */
  isSpace(at) {
    const code = this.columns.codes[at] ?? 32;
    return /\s/u.test(String.fromCodePoint(code)) || (code >= 0x1c && code <= 0x1f) || code === 0x85;
  }

  /** @param {number} start @param {number} stop */
  text(start, stop) {
    return Array.from(this.columns.codes.subarray(start, stop), (code) => String.fromCodePoint(code)).join(
      "",
    );
  }

  /** The kinds of unknown characters with their numbers, the most frequent first. @returns {[string, number][]} */
  unknown() {
    /** @type {Map<string, number>} */
    const counts = new Map();
    this.columns.rank.forEach((rank, i) => {
      if (rank < 0) counts.set(this.character(i), (counts.get(this.character(i)) ?? 0) + 1);
    });
    return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  }

  /** The table of characters as rnnviz/figures/export.py writes it, in parts of CSV. */
  csv() {
    const { codes, nll, rank, entropy } = this.columns;
    const parts = ["position,character,code_point,nll,rank,entropy,known,index\n"];
    for (let i = 0; i < this.length; i++) {
      const character = this.character(i);
      const cell = /[",\r\n]/.test(character) ? `"${character.replace('"', '""')}"` : character;
      const known = rank[i] > 0 ? "True" : "False";
      const numbers = [shortest(nll[i]), Math.abs(rank[i]), shortest(entropy[i]), known, i];
      parts.push(`${i + 1},${cell},${codes[i]},${numbers.join()}\n`);
    }
    return parts;
  }
}

/** The fewest digits that restore a float32. @param {number} value */
function shortest(value) {
  for (let digits = 6; digits < 9; digits++)
    if (Math.fround(Number(value.toPrecision(digits))) === value) return Number(value.toPrecision(digits));
  return Number(value.toPrecision(9));
}
