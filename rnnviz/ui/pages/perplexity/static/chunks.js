// The chunks of the text that the browser holds, as the server's session.py hands them out.

const KEPT = 48; // chunks: some 200,000 characters

export class Chunks {
  constructor() {
    this.held = new Map(); // number → chunk; the one used last is the last
    this.length = 0;
    this.count = 0;
  }

  clear() {
    this.held.clear();
  }

  take(header, arrays) {
    this.length = header.length;
    this.count = header.count;
    this.size = header.chunk;
    let from = 0;
    for (const [index, start, stop] of header.spans) {
      const part = (name) => arrays[name]?.subarray(from, from + stop - start);
      const rank = part("rank");
      const other = part("otherRank");
      const signed = (u) => u && new Int32Array(u.buffer, u.byteOffset, u.length);
      this.held.delete(index);
      this.held.set(index, {
        index,
        start,
        stop,
        codes: part("codes"),
        nll: part("nll"),
        rank: signed(rank),
        entropy: part("entropy"),
        versus: part("versus"),
        otherRank: signed(other),
      });
      from += stop - start;
    }
    for (const index of this.held.keys()) {
      if (this.held.size <= KEPT) break;
      this.held.delete(index);
    }
  }

  get(index) {
    const chunk = this.held.get(index);
    if (chunk) {
      this.held.delete(index);
      this.held.set(index, chunk);
    }
    return chunk;
  }

  // The chunk that a character is in, if it is held. A chunk's borders are near multiples of its size.
  around(position) {
    const index = Math.floor(position / this.size);
    for (const i of [index, index - 1]) {
      const chunk = this.held.get(i);
      if (chunk && position >= chunk.start && position < chunk.stop) return chunk;
    }
    return null;
  }

  // The chunks that may hold a character, best first.
  candidates(position) {
    const index = Math.floor(position / this.size);
    return [index, index - 1, index + 1].filter((i) => i >= 0 && i < this.count);
  }

  // Everything known of a character, or null.
  tell(position) {
    const chunk = this.around(position);
    if (!chunk) return null;
    const i = position - chunk.start;
    return {
      position,
      code: chunk.codes[i],
      nll: chunk.nll[i],
      rank: Math.abs(chunk.rank[i]),
      unknown: chunk.rank[i] < 0,
      entropy: chunk.entropy[i],
      versus: chunk.versus?.[i],
      otherRank: chunk.otherRank && Math.abs(chunk.otherRank[i]),
    };
  }
}
