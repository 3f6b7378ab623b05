// The page's side of the worker that trains (training_worker.js): one training at a time, its reports, and what is kept
// of it in the browser. It knows no element of the page.

import { FileError } from "./safetensors.js";

/** @import { KeptTraining } from "./kept_training.js" */
/** @import { KeptRun, Tensors, TrainingAnswer, TrainingEnd, TrainingMessage, TrainingOrder, TrainingReport, TrainingStart } from "./types" */

/** @typedef {"none" | "begins" | "runs" | "paused" | "measures" | "ended"} State */

export class TrainingRun {
  /** @type {State} */
  state = "none";
  /** @type {TrainingOrder} */
  order;
  name = ""; // of the network, in the page's list
  /** @type {TrainingStart | null} */
  started = null;
  /** @type {TrainingReport[]} */
  reports = [];
  /** @type {Tensors | null} the newest weights */
  tensors = null;
  /** @type {TrainingEnd | null} */
  ended = null;
  hidden = false; // whether the last pause is because the page was hidden
  unkept = ""; // the reason why the browser keeps nothing: a key of the page's words
  id = 0;
  /** @type {Promise<Worker> | undefined} */
  worker;

  /**
   * @param {() => Promise<string>} address of the worker's script @param {KeptTraining} kept
   * @param {object} heard
   * @param {() => void} heard.change called when anything but the weights has changed
   * @param {(first: boolean) => void} heard.weights called with new weights, and with the first
   * @param {(error: Error) => void} heard.fail
   */
  constructor(address, kept, heard) {
    this.address = address;
    this.kept = kept;
    this.heard = heard;
  }

  /** @param {TrainingOrder} order @param {string} name of the network */
  start(order, name) {
    this.clear();
    Object.assign(this, { order, name, state: "begins" });
    return this.send({ kind: "train", id: this.id, order });
  }

  /** Show a training that was kept; it can go on. @param {KeptRun} run @param {TrainingOrder} order */
  async restore({ name, started, reports, tensors, state, ended }, order) {
    this.clear();
    const restored = { name, started, reports, tensors, ended: ended ?? null };
    Object.assign(this, { order, ...restored, state: ended ? "ended" : "paused" });
    this.heard.weights(true);
    this.heard.change();
    if (state && !ended)
      await this.send({ kind: "resume", id: this.id, snapshot: { order, started, reports, tensors, state } });
  }

  /** End whatever there is, without a word of it. */
  clear() {
    this.release();
    this.id++;
    Object.assign(this, { state: "none", started: null, reports: [], tensors: null, ended: null });
  }

  /** End the worker. */
  release() {
    this.worker?.then((worker) => worker.terminate());
    this.worker = undefined;
  }

  /** @param {boolean} [hidden] whether the page is hidden */
  pause(hidden = false) {
    if (this.state === "runs") this.hidden = hidden;
    this.turn(["runs"], "paused", "pause");
  }

  goOn() {
    this.turn(["paused"], "runs", "continue");
  }

  /** End the training with what it has learnt. */
  stop() {
    this.turn(["runs", "paused"], "measures", "end");
  }

  /** @param {State[]} from @param {State} to @param {"pause" | "continue" | "end"} kind */
  turn(from, to, kind) {
    if (!from.includes(this.state)) return;
    this.state = to;
    this.send({ kind, id: this.id });
    this.heard.change();
  }

  /** @param {TrainingMessage} message */
  async send(message) {
    this.worker ??= this.begin();
    (await this.worker).postMessage(message);
  }

  async begin() {
    const worker = new Worker(await this.address());
    worker.onmessage = ({ data }) => data.id === this.id && this.take(data);
    worker.onerror = (event) => {
      this.clear();
      this.heard.fail(new Error(event.message || "no worker"));
    };
    return worker;
  }

  /** @param {TrainingAnswer} answer */
  take(answer) {
    if (answer.kind === "weights") return this.takeWeights(answer.tensors);
    if (answer.kind === "started") {
      this.started = answer.started;
      if (this.state === "begins") this.state = "runs"; // one that was kept stays paused
    } else if (answer.kind === "report") this.reports.push(answer.report);
    else if (answer.kind === "snapshot") {
      const { started, reports, tensors, state } = answer.snapshot;
      this.keep({ name: this.name, started, reports, tensors, state });
    } else if (answer.kind === "ended") this.end(answer.ended);
    else {
      this.clear();
      this.heard.fail(new FileError(answer.error, answer.values));
    }
    this.heard.change();
  }

  /** @param {Tensors} tensors */
  takeWeights(tensors) {
    const first = !this.tensors;
    this.tensors = tensors;
    this.heard.weights(first);
  }

  /** @param {TrainingEnd} ended */
  end(ended) {
    const { name, started, reports } = this;
    this.release();
    Object.assign(this, { ended, tensors: ended.tensors, state: "ended" });
    if (started) this.keep({ name, started, reports, tensors: ended.tensors, ended });
    this.heard.weights(true);
  }

  /** @param {KeptRun} run */
  async keep(run) {
    const { id } = this;
    try {
      await this.kept.keep(run, this.order);
      this.unkept = "";
    } catch (error) {
      this.unkept = error instanceof FileError ? error.reason : String(error);
    }
    if (id === this.id) this.heard.change();
  }

  /** Delete what the browser keeps, and end the training. */
  async forget() {
    this.clear();
    await this.kept.forget();
  }

  /** Whether it learns no more: its steps are so large that it predicts worse than a uniform guess. */
  get diverges() {
    const { reports, uniform, ended } = this;
    const perplexity = reports.at(-1)?.train_perplexity ?? 0;
    return ended?.reason === "diverged" || (reports.length > 1 && !(perplexity < 1.2 * uniform));
  }

  /** The perplexity of a uniform guess. */
  get uniform() {
    const { started } = this;
    return started?.uniform ?? started?.config.vocabulary_size ?? Infinity;
  }

  /** The gradient's norms, with the characters read. @returns {[characters: number, norm: number][]} */
  get norms() {
    return this.reports.flatMap(({ step, characters, gradient_norms: norms }) =>
      norms.map(([at, norm]) => /** @type {[number, number]} */ ([(at / step) * characters, norm])),
    );
  }

  /** The newest report; at the end the best one, whose weights stay. */
  get measured() {
    return this.reports.findLast(({ best }) => best || !this.ended);
  }
}
