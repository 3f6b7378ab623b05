// The frames of a run that the browser holds, traces of the sentence to watch: the newest, and snapshots by step.

/** @import { Predictions, States, Untyped } from "../../../../ui/browser/static/types" */
/** @import { About, Answer, Frame } from "./types" */

export class RunFrames {
  run = "";
  /** @type {number[]} */
  steps = [];
  /** @type {Map<number, Frame>} */
  snapshots = new Map();
  /** @type {Frame | null} */
  newest = null;

  /** Take an answer. @param {Answer} header @param {Untyped} arrays */
  apply(header, arrays) {
    // An ended run shows other units than a running one, so `alive` is part of the key.
    const run = `${header.run} ${header.created} ${header.alive}`;
    if (run !== this.run) {
      this.run = run;
      this.snapshots.clear();
      this.newest = null;
    }
    this.steps = header.steps;
    for (const step of [...this.snapshots.keys()])
      if (!this.steps.includes(step)) this.snapshots.delete(step);
    for (const about of header.frames) {
      const frame = frameOf(about, arrays, header.symbols);
      if (about.key === "now") this.newest = frame;
      else this.snapshots.set(about.step, frame);
    }
    if (!header.watchText) this.newest = null;
  }

  /** The number of places on the slider: the snapshots, and the newest frame if it is newer. */
  get count() {
    const last = this.steps.at(-1) ?? -1;
    return this.steps.length + (this.newest && this.newest.step > last ? 1 : 0);
  }

  /** The frame at a place on the slider, or null. @param {number} place */
  at(place) {
    if (place >= this.steps.length) return this.newest;
    const { [place]: step } = this.steps;
    return this.snapshots.get(step) ?? (this.newest?.step === step ? this.newest : null);
  }

  get missing() {
    return this.steps.filter((step) => !this.snapshots.has(step));
  }
}

/** @param {About} about @param {Untyped} arrays @param {string[]} symbols @returns {Frame} */
function frameOf(about, arrays, symbols) {
  const names = ["states", "next", "chances", "actual", "chance", "nll", "entropy"];
  const parts = names.map((name) => [name, arrays[`${about.key}.${name}`]]);
  return { ...about, symbols, ...Object.fromEntries(parts) };
}

/**
 * One layer of a frame, as data of the heat map and the bars.
 * @param {Frame} frame @param {number} layer
 * @returns {States & Predictions & { length: number }}
 */
export function layerOf(frame, layer) {
  const [T, L, H] = frame.states.shape;
  const states = new Uint8Array(T * H);
  for (let t = 0; t < T; t++) {
    const from = (t * L + layer) * H;
    states.set(frame.states.subarray(from, from + H), t * H);
  }
  const n = frame.next.shape[1];
  return {
    start: 0,
    length: T,
    units: H,
    unitOfRow: null,
    states,
    ids: frame.actual,
    isUnknown: (t) => frame.actual[t] === 0,
    holds: () => true,
    expected: (t) =>
      Array.from({ length: n }, (_, i) => ({ id: frame.next[t * n + i], p: frame.chances[t * n + i] })),
    reshapedAt: () => undefined, // a run reshapes nothing, and has no network beside it
    memorylessAt: () => undefined,
    symbol: (id) => frame.symbols[id] ?? "",
    probability: (t) => frame.chance[t],
    entropy: (t) => frame.entropy[t] / Math.LN2,
  };
}
