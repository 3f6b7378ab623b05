// N-grams counted in a text, and their interpolated modified Kneser–Ney probabilities: rnnviz/networks/kneser_ney.py in
// JavaScript, whose head has the formulas and what a level's keys are.

import { countLeading } from "../ui/browser/static/characters.js";

/** @import { Level } from "./types" */

const FALLBACK = [0.5, 1, 1.5]; // discounts of a text too small to estimate them from

/** The different values in ascending order. @param {Float64Array} values */
function unique(values) {
  return values.toSorted().filter((value, i, sorted) => !i || value !== sorted[i - 1]);
}

/** @param {Float64Array} keys ascending @param {number} key */
const place = (keys, key) => countLeading(keys.length, (i) => keys[i] < key);

/** How often each number below n stands in `values`, each weighing `weights`. @param {Float64Array} values @param {number} n @param {Float64Array} [weights] */
function totals(values, n, weights) {
  const out = new Float64Array(n);
  for (let i = 0; i < values.length; i++) out[values[i]] += weights ? weights[i] : 1;
  return out;
}

/** D_1, D_2 and D_3+ of one order. @param {Float64Array} counts of all its n-grams */
function discounts(counts) {
  const t = [0, 0, 0, 0, 0];
  for (const count of counts) if (count < 5) t[count]++;
  return FALLBACK.map((usual, i) => {
    const j = i + 1;
    if (!t[1] || !t[2] || !t[j] || !t[j + 1]) return usual;
    const estimate = j - ((((j + 1) * t[1]) / (t[1] + 2 * t[2])) * t[j + 1]) / t[j];
    return estimate > 0 && estimate <= j ? estimate : usual;
  });
}

/**
 * The levels of the n-gram model of a text, for ngram.js.
 * @param {Uint32Array} ids symbols below V @param {number} V @param {number} order @param {number} [end] the symbol of a text's end @returns {Level[]}
 */
export function countNgrams(ids, V, order, end) {
  const base = V + 1;
  // After one start symbol; of texts that end, each after its own.
  const sequence = [V, ...ids].flatMap((id, i, all) => (id === end && i < all.length - 1 ? [id, V] : id));
  /** @type {Float64Array[]} the keys of levels 2 … order */
  const keys = [];
  /** @type {Float64Array[]} how often texts begin with each n-gram of these levels */
  const begun = [];
  let begins = Array.from(sequence.keys()); // where an n-gram begins, and its node
  let nodes = Float64Array.from(order === 1 ? ids : sequence);
  for (let level = 2; level <= order; level++) {
    const found = begins.map((at, i) => {
      const next = sequence[at + level - 1] ?? V; // none goes on from one text to the next
      return next === V ? -1 : nodes[i] * base + next;
    });
    begins = begins.filter((_, i) => found[i] >= 0);
    const kept = Float64Array.from(found.filter((key) => key >= 0));
    keys.push(unique(kept));
    nodes = kept.map((key) => place(keys[level - 2], key));
    begun.push(
      totals(
        nodes.filter((_, i) => sequence[begins[i]] === V),
        keys[level - 2].length,
      ),
    );
  }
  const leaves = totals(nodes, order === 1 ? base : keys[order - 2].length);
  const adjusted = [...precedingCounts(keys, base, begun), leaves];
  /** @type {Float64Array[]} */
  const shares = [];
  /** @type {Float64Array[]} */
  const backoffs = [];
  for (const [level, counts] of adjusted.entries()) {
    const parents = level ? keys[level - 1].map((key) => Math.floor(key / base)) : new Float64Array(base);
    const contexts = level ? adjusted[level - 1].length : 1; // level 1 has a single one, the empty context
    const taken = [0, ...discounts(counts)];
    const discount = counts.map((count) => taken[Math.min(count, 3)]);
    const total = totals(parents, contexts, counts);
    // What the discounts take from a context's n-grams goes to the shorter context: no probability is lost.
    const backoff = totals(parents, contexts, discount).map((sum, i) => (total[i] ? sum / total[i] : 1));
    const share = counts.map((count, i) => (count - discount[i]) / total[parents[i]]);
    if (level) backoffs.push(longer(backoff, 1));
    else
      share.forEach((value, i) => {
        share[i] = value + backoff[0] / V;
      });
    shares.push(longer(share, 0));
  }
  backoffs.push(new Float64Array(leaves.length + 1).fill(1));
  const none = new Float64Array();
  return shares.map((share, level) => ({
    keys: level ? keys[level - 1] : none,
    share,
    backoff: backoffs[level],
  }));
}

/** An array with one value more, of the n-gram that was never seen. @param {Float64Array} values @param {number} last */
function longer(values, last) {
  const out = new Float64Array(values.length + 1).fill(last);
  out.set(values);
  return out;
}

/** For each n-gram of a lower order, how many different symbols precede it; of a text's beginning, how often it stands there. @param {Float64Array[]} keys @param {number} base @param {Float64Array[]} begun */
function precedingCounts(keys, base, begun) {
  /** @type {Float64Array[]} */
  const counts = [];
  /** @type {Float64Array} */
  let above = Float64Array.from({ length: base }, (_, i) => i);
  let suffixes = new Float64Array(base); // the nodes of n-grams without their first symbol
  let initial = above.map((symbol) => Number(symbol === base - 1)); // whether that is the start symbol
  for (const [k, level] of keys.entries()) {
    const ends = level.map((key) => suffixes[Math.floor(key / base)] * base + (key % base));
    suffixes = ends.map((key) => place(above, key));
    const preceding = totals(suffixes, above.length);
    counts.push(k ? preceding.map((count, i) => (initial[i] ? begun[k - 1][i] : count)) : preceding);
    initial = level.map((key) => initial[Math.floor(key / base)]);
    above = level;
  }
  return counts;
}
