// The chunks of the text in an answer of viewer.py.

/** @import { Answer, Arrays, Chunk } from "./types" */

/** The chunks in an answer. @param {Answer} header @param {Arrays} arrays @returns {Chunk[]} */
export function chunks({ spans }, arrays) {
  let from = 0;
  return spans.map(([index, start, stop]) => {
    const part = (/** @type {string} */ name) => arrays[name]?.subarray(from, from + stop - start);
    const signed = (/** @type {string} */ name) => {
      const u = part(name);
      return u && new Int32Array(u.buffer, u.byteOffset, u.length);
    };
    const rank = /** @type {Int32Array} */ (signed("rank")); // negative for an unknown character
    const chunk = {
      index,
      start,
      codes: part("codes"),
      nll: part("nll"),
      entropy: part("entropy"),
      versus: part("versus"),
      rank: rank.map(Math.abs),
      unknown: rank.map((r) => Number(r < 0)),
      otherRank: signed("otherRank")?.map(Math.abs),
    };
    from += stop - start;
    return /** @type {Chunk} */ (chunk);
  });
}

/** The values of a chunk's character. @param {Chunk} chunk @param {number} position */
export function characterFacts(chunk, position) {
  const i = position - chunk.start;
  const { codes, nll, rank, unknown, entropy, versus, otherRank } = chunk;
  return {
    position,
    code: codes[i],
    nll: nll[i],
    rank: rank[i],
    unknown: Boolean(unknown[i]),
    entropy: entropy[i],
    versus: versus?.[i],
    otherRank: otherRank?.[i],
  };
}
