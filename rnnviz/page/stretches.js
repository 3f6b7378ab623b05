// A long text read by a network as stretches side by side: rnnviz/networks/batched_scoring.py in JavaScript, whose head says
// why seams are checked.
//
//   block       stretches that are read side by side; the next block begins in the exact state in which this one ends
//   warm-up     WARM_UP_CHARS before a stretch, from which it gets a likely first state
//   seam        a stretch whose first state isn't the one in which the stretch before ends is read again from there,
//               until it meets its first reading
//   unsettled   characters of stretches that never met it: the network magnifies rounding there
//
// Blocks come in order, so what is read when a reader stops is the beginning of the text.

/** @import { Network } from "./engine.js" */

const TEXTS = 16; // stretches of a block: 32 are no faster, and take twice as long until a block's figure stands
const CHUNK_STEPS = 64; // steps between two comparisons of states
const WARM_UP_CHARS = 256;
const STATE_TOLERANCE = 1e-5; // as in the core: absolute for entries up to 1, relative for larger ones
const STRETCH_CHARS = 2048; // at least, and at most in a full block
const MIN_TEXTS = 4; // fewer are no faster than one

/** The states of one text, (L · H,) each. @typedef {{ hidden: Float32Array, cells: Float32Array | undefined }} State */

/** A text's costs under a network. */
export class Stretches {
  done = 0; // characters at the text's beginning whose costs stand
  unsettled = 0;
  readAgain = 0; // characters read twice because of seams

  /** @param {Network} network whose `several` nobody else uses meanwhile @param {Uint32Array} ids @param {number} unknownCost nats of an unknown character beyond -log P(<unk>) */
  constructor(network, ids, unknownCost) {
    this.network = network;
    this.texts = network.several;
    this.ids = ids;
    this.unknownCost = unknownCost;
    this.nll = new Float32Array(ids.length); // nats
    this.rank = new Uint32Array(ids.length); // one plus the number of more probable symbols
    this.entropy = new Float32Array(ids.length); // nats, of the prediction before the character came
    const width = network.L * network.H;
    const zeros = () => new Float32Array(width);
    /** @type {State} the state after `done` characters, between two blocks */
    this.state = { hidden: zeros(), cells: network.hasCell ? zeros() : undefined };
  }

  /** Read the text, CHUNK_STEPS in each stretch at a time. @yields {number} characters read, before seams are checked */
  *steps() {
    while (this.done < this.ids.length) {
      const rest = this.ids.length - this.done;
      // A minGRU is read in sequence, as in the core: its units keep a value for thousands of characters, no warm-up suffices.
      const most =
        this.network.config.cell === "mingru" ? 1 : Math.min(TEXTS, Math.floor(rest / STRETCH_CHARS));
      const texts = most < MIN_TEXTS ? 1 : most - (most % 2); // the fast product takes two rows at a time
      const longest = texts === 1 || texts === TEXTS ? STRETCH_CHARS : Infinity;
      yield* this.block(texts, Math.min(longest, Math.floor(rest / texts)));
    }
  }

  /** Read stretches of T characters from `done` on. @param {number} texts @param {number} T @returns {Generator<number>} */
  *block(texts, T) {
    const start = this.done;
    const all = Array.from({ length: texts }, (_, i) => ({ start: start + i * T, row: i }));
    const firsts = [this.state, ...this.warmUp(all.slice(1))];
    for (const { row } of all) this.load(row, firsts[row]);
    /** @type {State[][]} the state of each stretch after each chunk, which a second reading is compared with */
    const ends = [];
    for (let from = 0; from < T; from += CHUNK_STEPS) {
      const to = Math.min(from + CHUNK_STEPS, T);
      this.readChunk(all, from, to);
      ends.push(all.map(({ row }) => this.copy(row)));
      this.done = start + to; // the first stretch began in the exact state
      yield start + texts * to;
    }
    yield* this.mend(all, T, firsts, ends);
    this.state = ends[ends.length - 1][texts - 1];
    this.done = start + texts * T;
  }

  /** Likely first states of stretches. @param {{ start: number }[]} stretches */
  warmUp(stretches) {
    if (!stretches.length) return [];
    for (const row of stretches.keys()) this.load(row, this.state); // a better guess of long memories than zeros
    for (let t = -WARM_UP_CHARS; t < 0; t++)
      this.texts.step(stretches.map(({ start }) => this.input(start + t)));
    return stretches.map((_, row) => this.copy(row));
  }

  /**
   * Read stretches again that didn't begin in the state in which the stretch before ends: at first all of them together, as
   * most soon meet their first reading; once that has cost as much as the block, in order, each for good.
   * @param {{ start: number, row: number }[]} all @param {number} T @param {State[]} firsts @param {State[][]} ends
   * @returns {Generator<number>}
   */
  *mend(all, T, firsts, ends) {
    const last = ends[ends.length - 1];
    let budget = all.length * T;
    const neverMet = new Set();
    for (;;) {
      let again = all.filter(({ row }) => row && differ(last[row - 1], firsts[row]));
      if (!again.length) break;
      again = again.slice(0, Math.max(1, Math.floor(budget / T)));
      for (const { row } of again) firsts[row] = last[row - 1];
      again.forEach(({ row }, i) => this.load(i, firsts[row]));
      for (let from = 0, chunk = 0; from < T && again.length; from += CHUNK_STEPS, chunk++) {
        const to = Math.min(from + CHUNK_STEPS, T);
        this.readChunk(again, from, to);
        this.readAgain += again.length * (to - from);
        budget -= again.length * (to - from);
        const states = again.map((_, i) => this.copy(i));
        const apart = again.map(({ row }, i) => differ(states[i], ends[chunk][row]));
        for (const [i, { row }] of again.entries()) ends[chunk][row] = states[i];
        again = again.filter((_, i) => apart[i]);
        states.filter((_, i) => apart[i]).forEach((state, i) => this.load(i, state));
        yield all[0].start + all.length * T;
      }
      for (const { row } of again) neverMet.add(row);
    }
    this.unsettled += neverMet.size * T;
  }

  /** Read steps of stretches, the i-th in row i. @param {{ start: number }[]} stretches @param {number} from @param {number} to */
  readChunk(stretches, from, to) {
    const { ids, texts } = this;
    for (let t = from; t < to; t++) {
      texts.step(stretches.map(({ start }) => this.input(start + t)));
      texts.predict(stretches.length);
      for (const [i, { start }] of stretches.entries()) {
        const { logits, logSum, entropy } = texts.summarise(i);
        const id = ids[start + t];
        let rank = 1;
        for (let j = 0; j < logits.length; j++) if (logits[j] > logits[id]) rank++;
        this.nll[start + t] = logSum - logits[id] + (id === 0 ? this.unknownCost : 0);
        this.rank[start + t] = rank;
        this.entropy[start + t] = entropy;
      }
    }
  }

  /** The symbol that is read before character t is predicted. @param {number} t */
  input(t) {
    return t ? this.ids[t - 1] : this.network.V;
  }

  /** @param {number} row @param {State} state */
  load(row, { hidden, cells }) {
    this.texts.load(row, hidden, cells);
  }

  /** @param {number} row @returns {State} */
  copy(row) {
    const { hidden, cells } = this.state;
    const state = {
      hidden: new Float32Array(hidden.length),
      cells: cells && new Float32Array(hidden.length),
    };
    this.texts.store(row, state.hidden, state.cells);
    return state;
  }
}

/** Whether two states are further apart than rounding. @param {State} a @param {State} b */
function differ(a, b) {
  const far = (/** @type {Float32Array} */ one, /** @type {Float32Array} */ other) =>
    one.some((value, i) => Math.abs(value - other[i]) > STATE_TOLERANCE * Math.max(1, Math.abs(other[i])));
  return far(a.hidden, b.hidden) || (!!a.cells && !!b.cells && far(a.cells, b.cells));
}
