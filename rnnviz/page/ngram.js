// An n-gram model's costs, from the tables that rnnviz/networks/kneser_ney.py estimates.
//
//   keys      the nodes' keys in ascending order: (the node of all but the last symbol) · (V + 1) + the last symbol;
//             the first level has none, as a symbol is its own node
//   share     each node's first summand of P; the last entry, of the node "never seen", is 0
//   backoff   each node's factor as a context; the last entry, of "never seen", is 1

import { countLeading } from "../ui/browser/static/characters.js";

/** @import { Level } from "./types" */

const PIECE_CHARS = 4096;

/** The node of a key; without one, the last node, "never seen". @param {Level} level @param {number} key */
function find({ keys, share }, key) {
  const at = countLeading(keys.length, (i) => keys[i] < key);
  return keys[at] === key ? at : share.length - 1;
}

export class Counts {
  /** @param {number} V @param {Level[]} levels @param {number} [end] the symbol behind which a text begins anew */
  constructor(V, levels, end = -1) {
    this.base = V + 1;
    this.levels = levels;
    this.end = end;
  }

  /** The nodes at a text's beginning: nothing is before the start symbol. */
  first() {
    return this.extend(
      this.levels.map(({ share }) => share.length - 1),
      this.base - 1,
    );
  }

  /** The nodes of the n-grams that end with a symbol, the shortest first, from those that end before it. @param {number[]} previous @param {number} symbol */
  extend(previous, symbol) {
    return this.levels.map((level, k) => (k ? find(level, previous[k - 1] * this.base + symbol) : symbol));
  }

  /** The nodes of the n-grams that end at position t; -1 is the start symbol. @param {ArrayLike<number>} ids @param {number} t */
  nodes(ids, t) {
    let path = this.levels.map(({ share }) => share.length - 1);
    for (let at = Math.max(-1, t - this.levels.length + 1); at <= t; at++)
      path =
        at >= 0 && ids[at] === this.end ? this.first() : this.extend(path, at < 0 ? this.base - 1 : ids[at]);
    return path;
  }

  /** The costs −log P in nats of the symbols from `from` up to `to`, given all before. @param {ArrayLike<number>} ids @param {number} from @param {number} unknownCost @param {number} [to] */
  costs(ids, from, unknownCost, to = ids.length) {
    const out = new Float32Array(to - from);
    let previous = this.nodes(ids, from - 1);
    for (let t = from; t < to; t++) {
      const current = this.extend(previous, ids[t]);
      let [p, backoff] = [0, 1];
      this.levels.forEach(({ share, backoff: ways }, k) => {
        p = p * backoff + share[current[k]];
        backoff = ways[previous[k]];
      });
      out[t - from] = -Math.log(p) + (ids[t] === 0 ? unknownCost : 0);
      previous = ids[t] === this.end ? this.first() : current;
    }
    return out;
  }
}

/** A text's costs under an n-gram model; ranks and entropies would take every symbol's probability. */
export class NgramReading {
  done = 0; // characters read
  unsettled = 0;

  /** @param {Counts} counts @param {Uint32Array} ids @param {number} unknownCost nats of an unknown character beyond -log P(<unk>) */
  constructor(counts, ids, unknownCost) {
    this.counts = counts;
    this.ids = ids;
    this.unknownCost = unknownCost;
    this.nll = new Float32Array(ids.length);
  }

  /** Read the text, PIECE_CHARS at a time. @yields {number} characters read */
  *steps() {
    while (this.done < this.ids.length) {
      const to = Math.min(this.done + PIECE_CHARS, this.ids.length);
      this.nll.set(this.counts.costs(this.ids, this.done, this.unknownCost, to), this.done);
      this.done = to;
      yield to;
    }
  }
}
