// An n-gram model's costs, from the tables that rnnviz/networks/kneser_ney.py estimates.
//
//   keys      the nodes' keys in ascending order: (the node of all but the last symbol) · (V + 1) + the last symbol;
//             the first level has none, as a symbol is its own node
//   share     each node's first summand of P; the last entry, of the node "never seen", is 0
//   backoff   each node's factor as a context; the last entry, of "never seen", is 1

import { countLeading } from "../ui/browser/static/characters.js";

/** @import { Level } from "./types" */

/** The node of a key; without one, the last node, "never seen". @param {Level} level @param {number} key */
function find({ keys, share }, key) {
  const at = countLeading(keys.length, (i) => keys[i] < key);
  return keys[at] === key ? at : share.length - 1;
}

export class Counts {
  /** @param {number} V @param {Level[]} levels */
  constructor(V, levels) {
    this.base = V + 1;
    this.levels = levels;
  }

  /** The nodes of the n-grams that end at position t, the shortest first. @param {number[]} ids @param {number} t the last position; -1 is the start symbol */
  nodes(ids, t) {
    const { base, levels } = this;
    const path = levels.map(({ share }) => share.length - 1);
    const symbol = (/** @type {number} */ at) => (at < 0 ? base - 1 : ids[at]);
    for (let k = 0; k < levels.length && t - k >= -1; k++) {
      let node = symbol(t - k);
      for (let j = 1; j <= k; j++) node = find(levels[j], node * base + symbol(t - k + j));
      path[k] = node;
    }
    return path;
  }

  /** The costs −log P in nats of the symbols from `from` on, given all before. @param {number[]} ids @param {number} from @param {number} unknownCost */
  costs(ids, from, unknownCost) {
    const out = new Float32Array(ids.length - from);
    let previous = this.nodes(ids, from - 1);
    for (let t = from; t < ids.length; t++) {
      const current = this.nodes(ids, t);
      let [p, backoff] = [0, 1];
      this.levels.forEach(({ share, backoff: ways }, k) => {
        p = p * backoff + share[current[k]];
        backoff = ways[previous[k]];
      });
      out[t - from] = -Math.log(p) + (ids[t] === 0 ? unknownCost : 0);
      previous = current;
    }
    return out;
  }
}
