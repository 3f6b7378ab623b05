// The worker that trains, so that the page stays alive: messages and answers are in types.d.ts.

import { pause } from "./reader.js";
import { FileError } from "./safetensors.js";
import { Trainer } from "./trainer.js";

/** @import { TrainingMessage, TrainingSnapshot, TrainingStart } from "./types" */

const SLICE_MS = 30; // milliseconds of training between two looks at the messages
const WEIGHTS_MS = 250; // between two pictures
const SNAPSHOT_MS = 5000;

class Run {
  paused = false;
  ended = false;
  resume = () => {}; // called when a pause ends
  lastWeights = -Infinity;
  lastSnapshot = 0;

  /** @param {number} id @param {Trainer} trainer @param {TrainingStart} started @param {(answer: object) => void} post */
  constructor(id, trainer, started, post) {
    this.trainer = trainer;
    this.started = started;
    this.post = (/** @type {object} */ answer) => post({ id, ...answer });
  }

  async train() {
    const { trainer } = this;
    while (!trainer.done && !this.ended) {
      if (this.paused)
        await new Promise((resolve) => {
          this.resume = () => resolve(undefined);
        });
      else await this.advance();
      await pause();
    }
    if (trainer.reportDue) this.report();
    this.post({ kind: "ended", ended: await trainer.end() });
  }

  /** Train for a moment, and show it. */
  async advance() {
    const { trainer } = this;
    const [begun, before] = [performance.now(), trainer.milliseconds];
    do {
      trainer.step();
      if (trainer.reportDue) this.report();
    } while (!trainer.done && trainer.milliseconds - before < SLICE_MS);
    const ahead = trainer.milliseconds - before - (performance.now() - begun); // a word's steps are slower than they could be
    if (ahead > 1) await new Promise((resolve) => setTimeout(resolve, ahead));
    if (begun - this.lastWeights > WEIGHTS_MS) {
      this.lastWeights = begun;
      this.post({ kind: "weights", tensors: trainer.network.tensors(), characters: trainer.characters });
    }
    if (trainer.milliseconds - this.lastSnapshot > SNAPSHOT_MS) this.snapshot();
  }

  report() {
    this.post({ kind: "report", report: this.trainer.report() });
  }

  snapshot() {
    this.lastSnapshot = this.trainer.milliseconds;
    this.post({ kind: "snapshot", snapshot: this.trainer.snapshot(this.started) });
  }

  /** @param {TrainingMessage["kind"]} kind */
  hear(kind) {
    if (kind === "end") this.ended = true;
    this.paused = kind === "pause" || (this.paused && kind === "snapshot");
    if (kind === "pause" || kind === "snapshot") this.snapshot();
    if (!this.paused) this.resume();
  }
}

/** @param {any} scope the worker's global object @returns {(message: TrainingMessage) => void} */
export function serveTraining(scope) {
  const post = (/** @type {object} */ answer) => scope.postMessage(answer);
  /** @type {Map<number, Run>} */
  const runs = new Map();

  /** @param {TrainingMessage} message */
  async function begin(message) {
    const { id } = message;
    try {
      const snapshot = message.kind === "resume" ? message.snapshot : null;
      const order =
        message.kind === "train" ? message.order : /** @type {TrainingSnapshot} */ (snapshot).order;
      const trainer = new Trainer(order);
      if (snapshot) trainer.restore(snapshot);
      const run = new Run(id, trainer, snapshot?.started ?? trainer.start(), post);
      run.paused = snapshot !== null;
      runs.set(id, run);
      run.post({ kind: "started", started: run.started });
      await run.train();
    } catch (error) {
      const [text, values] =
        error instanceof FileError ? [error.reason, error.values] : [String(error), undefined];
      post({ id, kind: "error", error: text, values });
    }
    runs.delete(id);
  }

  return (message) => {
    if (message.kind === "train" || message.kind === "resume") begin(message);
    else runs.get(message.id)?.hear(message.kind);
  };
}
