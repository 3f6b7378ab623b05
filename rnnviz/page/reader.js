// The reader of a text, on the page's own thread, a piece at a time. A text that takes less than a frame is answered at
// once, so that a key is in the next frame; during a longer one, keys and frames come first.

/** @import { Answers } from "./answers.js" */
/** @import { Ask, PageAnswer, Tensors } from "./types" */

const PAUSE_AFTER_MS = 8; // milliseconds of reading between two pauses

/** Pause for waiting events: a newer text, a key, a frame. A message, because a timeout of 0 takes 4 ms. @returns {Promise<unknown>} */
export const pause = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve(undefined);
    };
    port2.postMessage(0);
  });

export class Reader {
  /** @type {Ask | null} the ask without an answer */
  pendingAsk = null;
  busy = false;
  /** @type {Tensors | null} weights with which the next text is read */
  weights = null;

  /**
   * @param {Answers} answers @param {(answer: PageAnswer) => void} onAnswer
   * @param {(done: number, length: number) => void} progress called while a long text is read
   */
  constructor(answers, onAnswer, progress) {
    this.answers = answers;
    this.onAnswer = onAnswer;
    this.progress = progress;
  }

  /** Answer an ask; it replaces an older one that is still being read. @param {Ask} ask */
  async ask(ask) {
    this.pendingAsk = ask;
    if (this.busy) return;
    this.busy = true;
    while (this.pendingAsk) await this.read(this.pendingAsk);
    this.busy = false;
  }

  /** @param {Ask} ask */
  async read(ask) {
    if (this.weights) this.answers.assign(this.weights);
    this.weights = null;
    const about = this.answers.readAsk(ask);
    let since = performance.now();
    for (const done of this.answers.reading.steps(about.ids, about.why)) {
      if (done === about.ids.length || performance.now() - since < PAUSE_AFTER_MS) continue;
      this.progress(done, about.ids.length);
      await pause();
      if (this.pendingAsk !== ask) return; // the next reading goes on from the common prefix
      since = performance.now();
    }
    this.pendingAsk = null;
    this.onAnswer(this.answers.makeAnswer(ask, about)); // last, as the view may ask again inside this call
  }
}
