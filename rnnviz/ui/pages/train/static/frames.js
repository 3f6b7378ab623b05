// The probe's traces that the browser holds: the newest one, and the snapshots of a run by their step.

export class Frames {
  constructor() {
    this.run = "";
    this.steps = [];
    this.held = new Map();
    this.now = null;
  }

  // Take an answer in.
  apply(header, arrays) {
    const run = `${header.run} ${header.born}`;
    if (run !== this.run) {
      this.run = run;
      this.held.clear();
      this.now = null;
    }
    this.steps = header.steps;
    for (const step of [...this.held.keys()]) if (!this.steps.includes(step)) this.held.delete(step);
    for (const about of header.frames) {
      const frame = this.frame(about, arrays, header.symbols);
      if (about.kind === "now") this.now = frame;
      else this.held.set(about.step, frame);
    }
    if (!header.probe) this.now = null;
  }

  frame(about, arrays, symbols) {
    const part = (name) => arrays[`${about.key}.${name}`];
    return {
      ...about,
      states: part("states"), // (T, L, H), as indices of colours
      next: part("next"), // (T + 1, n) symbols, by number
      chances: part("chances"), // (T + 1, n)
      came: part("came"), // (T,) the symbol that stands there
      chance: part("chance"), // (T,) its probability
      entropy: part("entropy"), // (T + 1,) nats
      symbols,
    };
  }

  // Places on the slider: the snapshots, and the newest trace if it is newer than they are.
  get count() {
    const last = this.steps.at(-1) ?? -1;
    return this.steps.length + (this.now && this.now.step > last ? 1 : 0);
  }

  at(place) {
    if (place >= this.steps.length) return this.now;
    return this.held.get(this.steps[place]) ?? (this.now?.step === this.steps[place] ? this.now : null);
  }

  get missing() {
    return this.steps.filter((step) => !this.held.has(step));
  }
}

// A frame as the live view's heat map and bars expect their store.
export class Reading {
  constructor(frame, layer, rows, unknown) {
    const [T, L, H] = frame.states.shape;
    this.frame = frame;
    this.start = 0;
    this.stop = this.length = T;
    this.units = H;
    this.rows = rows;
    this.unknown = unknown;
    if (L === 1) this.states = frame.states;
    else {
      this.states = new Uint8Array(T * H);
      for (let t = 0; t < T; t++) {
        const from = (t * L + layer) * H;
        this.states.set(frame.states.subarray(from, from + H), t * H);
      }
    }
    this.listed = frame.next.shape[1];
    this.columns = { ids: { data: frame.came } };
  }

  isUnknown(t) {
    return this.frame.came[t] === 0;
  }

  holds() {
    return true;
  }

  expected(t) {
    const { next, chances } = this.frame;
    return Array.from({ length: this.listed }, (_, i) => ({
      id: next[t * this.listed + i],
      p: chances[t * this.listed + i],
    }));
  }

  symbol(id) {
    return this.frame.symbols[id] ?? "";
  }

  probability(t) {
    return this.frame.chance[t];
  }

  entropy(t) {
    return this.frame.entropy[t] / Math.LN2;
  }
}
