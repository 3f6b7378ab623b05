// Who reads: the page itself what takes less than a frame, so that a key is in the next one; a worker what is longer.

import { Reading } from "./engine.js";
import { answers, buffers, serve } from "./worker.js";

/** @import { Ask, Heard, Parts, Told, Wanted } from "./types" */

const WORKER = "ui/standalone/worker.js";
const FEW = 8; // milliseconds that the page reads itself

export class Thread {
  /** @type {Ask | null} what isn't answered yet */
  wanted = null;
  busy = false; // telling an answer
  away = false; // what has been read is with the worker
  /** @type {((message: Wanted, transfer: ArrayBufferLike[]) => void) | undefined} */
  post;

  /**
   * @param {Parts} parts @param {(answer: Told) => void} hear
   * @param {(done: number, length: number) => void} progress told while a long text is read
   */
  constructor(parts, hear, progress) {
    this.parts = parts;
    this.hear = hear;
    this.progress = progress;
    this.answers = answers(parts.made, parts.arrays);
  }

  /** @param {Ask} wish */
  ask(wish) {
    this.wanted = wish;
    if (this.away) {
      const { ids, why } = this.answers.text(wish);
      this.post?.({ ids, why }, []);
    } else if (!this.busy) this.work();
  }

  /** Answer; hearing of it, the page may ask anew. */
  work() {
    this.busy = true;
    while (this.wanted && !this.away) this.read(this.wanted);
    this.busy = false;
  }

  /** @param {Ask} wish */
  read(wish) {
    const about = this.answers.text(wish);
    const { ids, why } = about;
    const { reading } = this.answers;
    const begun = performance.now();
    for (const done of reading.steps(ids, why)) {
      if (done === ids.length || performance.now() - begun < FEW) continue;
      this.away = true;
      this.post ??= this.worker();
      const state = reading.give();
      this.post({ ids, why, state }, buffers(state));
      return this.progress(done, ids.length);
    }
    this.wanted = null;
    this.hear(this.answers.tell(wish, about));
  }

  /** @param {Heard} message */
  heard({ state, done = 0, length = 1 }) {
    if (!state) return this.progress(done, length);
    this.answers.reading.take(state);
    this.away = false;
    this.work();
  }

  /** A worker, and how it is told; where none can be had the page itself, a little at a time. */
  worker() {
    const { sources, made, arrays, begin, say } = this.parts;
    const here = () => {
      const read = serve(made, arrays, (message) => this.heard(message));
      return (/** @type {Wanted} */ message) => void read(message).catch(say);
    };
    try {
      const worker = new Worker(URL.createObjectURL(new Blob([begin], { type: "text/javascript" })));
      worker.onmessage = ({ data }) => this.heard(data);
      worker.onerror = (event) => {
        event.preventDefault();
        worker.terminate();
        this.post = here();
        const { network, unknownCost } = this.answers.reading;
        this.heard({ state: new Reading(network, unknownCost).give() }); // from the beginning
      };
      worker.postMessage({ sources, made, arrays, entry: WORKER });
      return worker.postMessage.bind(worker);
    } catch {
      return here();
    }
  }
}
