// The page's side of the worker that reads texts (worker.js, text_worker.js).

/** @import { Columns } from "./text_record.js" */
/** @import { PageNetwork, ScoreFigures } from "./types" */

/** @typedef {{ done: number, length: number, figures: ScoreFigures }} Progress characters read so far, with their figures */
/** @typedef {{ figures: ScoreFigures, columns: Columns, length: number, units: number }} TextResult of the characters that were read, of `length`; in UTF-16 they are `units` */
/** @typedef {{ top: [string, number][], approximate: boolean }} Prediction */

export class TextScorer {
  /** @type {Promise<Worker> | undefined} */
  worker;
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void, progress?: (progress: Progress) => void }>} */
  waiting = new Map();
  /** @type {Map<string, PageNetwork>} networks that the worker has */
  networks = new Map();
  last = 0;
  reading = 0; // the number of the reading under way

  /** @param {() => Promise<string>} address of the worker's script */
  constructor(address) {
    this.address = address;
  }

  async start() {
    const worker = new Worker(await this.address());
    worker.onmessage = ({ data: { id, progress, error, ...result } }) => {
      const request = this.waiting.get(id);
      if (progress) return request?.progress?.(progress);
      this.waiting.delete(id);
      if (error) request?.reject(new Error(error));
      else request?.resolve(result);
    };
    worker.onerror = (event) => {
      for (const { reject } of this.waiting.values()) reject(new Error(event.message || "no worker"));
      this.waiting.clear();
      this.worker = undefined;
      this.networks.clear();
    };
    return worker;
  }

  /**
   * Send a message; resolves to its answer. A network travels once.
   * @param {string} key @param {PageNetwork} network @param {object} message @param {(progress: Progress) => void} [progress]
   */
  async send(key, network, message, progress) {
    this.worker ??= this.start();
    const worker = await this.worker;
    const id = ++this.last;
    if (this.networks.get(key) !== network) {
      this.networks.set(key, network);
      const { config, unknownCost, normaliser, fixed } = network.model;
      const { symbols } = fixed;
      const description = { key, config, unknownCost, normaliser, symbols, tensors: network.tensors };
      worker.postMessage({ kind: "network", id, ...description });
    }
    worker.postMessage({ id, key, ...message });
    if (progress) this.reading = id;
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, progress }));
  }

  /**
   * The costs of a text, or of its beginning that was read until `stop`.
   * @param {string} key @param {PageNetwork} network @param {string} text @param {(progress: Progress) => void} progress
   * @returns {Promise<TextResult>}
   */
  read(key, network, text, progress) {
    return this.send(key, network, { kind: "read", text }, progress);
  }

  /** End the readings under way with what was read. */
  async stop() {
    (await this.worker)?.postMessage({ kind: "stop", id: this.reading });
  }

  /** The likeliest characters at a place of the text that a network has read. @param {string} key @param {PageNetwork} network @param {number} position @returns {Promise<Prediction>} */
  async expect(key, network, position) {
    return (await this.send(key, network, { kind: "expect", position })).prediction;
  }
}
