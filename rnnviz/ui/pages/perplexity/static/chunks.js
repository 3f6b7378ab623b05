// The chunks of the text that the browser holds, as the server's viewer.py hands them out.

/** @import { Answer, Arrays, Chunk } from "./types" */

const KEPT = 48; // chunks: some 200,000 characters

export class Chunks {
  /** @type {Map<number, Chunk>} by number; the one used last is the last */
  held = new Map();
  length = 0; // of the text
  count = 0; // of its chunks
  size = 1; // of one, about

  clear() {
    this.held.clear();
  }

  /** @param {Answer} header @param {Arrays} arrays */
  take(header, arrays) {
    this.length = header.length;
    this.count = header.count;
    this.size = header.chunk;
    let from = 0;
    for (const [index, start, stop] of header.spans) {
      const to = from + stop - start;
      const floats = (/** @type {string} */ name) =>
        /** @type {Float32Array} */ (arrays[name]?.subarray(from, to));
      const signed = (/** @type {string} */ name) => {
        const u = arrays[name]?.subarray(from, to);
        return u && new Int32Array(u.buffer, u.byteOffset, u.length);
      };
      const codes = /** @type {Uint32Array} */ (arrays.codes.subarray(from, to));
      const [nll, entropy, versus] = [floats("nll"), floats("entropy"), floats("versus")];
      const chunk = {
        index,
        start,
        stop,
        codes,
        nll,
        entropy,
        versus,
        rank: signed("rank"),
        otherRank: signed("otherRank"),
      };
      this.held.delete(index);
      this.held.set(index, chunk);
      from = to;
    }
    for (const index of this.held.keys()) {
      if (this.held.size <= KEPT) break;
      this.held.delete(index);
    }
  }

  /** @param {number} index */
  get(index) {
    const chunk = this.held.get(index);
    if (chunk) {
      this.held.delete(index);
      this.held.set(index, chunk);
    }
    return chunk;
  }

  /** The chunk that a character is in, if it is held. Borders are near multiples of the size. @param {number} position */
  around(position) {
    const index = Math.floor(position / this.size);
    const near = [this.held.get(index), this.held.get(index - 1)];
    return near.find((chunk) => chunk && position >= chunk.start && position < chunk.stop) ?? null;
  }

  /** The chunks that may hold a character, best first. @param {number} position */
  candidates(position) {
    const index = Math.floor(position / this.size);
    return [index, index - 1, index + 1].filter((i) => i >= 0 && i < this.count);
  }

  /** Everything known of a character, or null. @param {number} position */
  tell(position) {
    const chunk = this.around(position);
    if (!chunk) return null;
    const i = position - chunk.start;
    const { codes, nll, rank, entropy, versus, otherRank } = chunk;
    const other = otherRank && Math.abs(otherRank[i]);
    const own = {
      code: codes[i],
      nll: nll[i],
      rank: Math.abs(rank[i]),
      unknown: rank[i] < 0,
      entropy: entropy[i],
    };
    return { position, ...own, versus: versus?.[i], otherRank: other };
  }
}
