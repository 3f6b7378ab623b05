// The answers to the text viewer's asks, as rnnviz/ui/pages/perplexity/viewer.py makes them in the app.

/** @import { Answer, ExpectedLists, Fixed } from "../ui/pages/perplexity/static/types" */
/** @import { TextRecord } from "./text_record.js" */

const MAX_CHUNKS = 8; // in one answer; the view asks again for what it still lacks

/** @typedef {{ client?: string, seq?: number, chunks?: number[], at?: number, passage?: [number, number], place?: number, digest?: string, fresh?: boolean }} ViewerAsk */

export class ViewerAnswers {
  place = 0; // the first character in view
  /** @type {[serial: number, start: number, stop: number] | null} */
  jump = null;

  /**
   * @param {Omit<Fixed, "names" | "window">} fixed @param {string} digest of the text and its readers
   * @param {{ name: string, record: TextRecord }[]} readings of one text, under one network or two
   * @param {(position: number) => Promise<ExpectedLists["lists"]>} expect the networks' predictions of a character
   */
  constructor(fixed, digest, readings, expect) {
    this.digest = digest;
    this.records = readings.map(({ record }) => record);
    this.curves = this.records.map((record) => record.curve());
    const names = readings.map(({ name }) => name);
    this.fixed = { ...fixed, names, window: this.curves[0].window };
    this.expect = expect;
  }

  /** Let the view, with the next answer, go to a passage and mark it. @param {number} start @param {number} stop */
  go(start, stop) {
    this.jump = [(this.jump?.[0] ?? 0) + 1, start, stop];
    this.place = start;
  }

  /** @param {ViewerAsk} ask @returns {Promise<{ header: Answer, arrays: Record<string, any> }>} */
  async answer({ client, seq, chunks = [], at, passage, place = 0, digest, fresh }) {
    const [record] = this.records;
    if (!fresh) this.place = place;
    const middle = record.chunkOf(this.place);
    const wanted = fresh ? [middle - 1, middle, middle + 1] : chunks.slice(0, MAX_CHUNKS);
    const numbers = wanted.filter((index) => index >= 0 && index < record.count).sort((a, b) => a - b);
    const spans = numbers.map(
      (index) =>
        /** @type {[number, number, number]} */ ([index, record.border(index), record.border(index + 1)]),
    );
    const header = {
      ...{ client, seq, digest: this.digest, length: record.length, count: record.count },
      ...{ chunk: record.chunkChars, place: this.place, spans, jump: this.jump ?? undefined },
      fixed: digest === this.digest ? undefined : this.fixed,
      expected: at === undefined ? undefined : { at, lists: await this.expect(at) },
      passage: passage && { at: passage, nats: this.records.map((record) => record.mean(...passage)) },
    };
    const arrays = { ...this.columns(spans), ...(header.fixed && this.lines()) };
    return { header: /** @type {any} */ (header), arrays };
  }

  /** The columns of the spans' characters, joined. @param {[number, number, number][]} spans */
  columns(spans) {
    const [{ columns }, other] = this.records;
    const joined = (/** @type {Uint32Array | Float32Array | Int32Array} */ column) => {
      const Kind = /** @type {any} */ (column.constructor);
      const parts = spans.map(([, start, stop]) => column.subarray(start, stop));
      const whole = new Kind(parts.reduce((sum, { length }) => sum + length, 0));
      let from = 0;
      for (const values of parts) {
        whole.set(values, from);
        from += values.length;
      }
      return whole;
    };
    const { codes, nll, rank, entropy } = columns;
    const arrays = { codes: joined(codes), nll: joined(nll), rank: joined(rank), entropy: joined(entropy) };
    if (!other) return arrays;
    const theirs = joined(other.columns.nll);
    const versus = arrays.nll.map((/** @type {number} */ cost, /** @type {number} */ i) => theirs[i] - cost);
    return { ...arrays, versus, otherRank: joined(other.columns.rank) };
  }

  /** The curves' points. */
  lines() {
    const lines = this.curves.flatMap(({ rolling, running }, n) => [
      [`curveRolling${n}`, rolling],
      [`curveRunning${n}`, running],
    ]);
    return { curveAt: this.curves[0].position, ...Object.fromEntries(lines) };
  }
}
