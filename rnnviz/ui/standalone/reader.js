// Who reads: the page itself, a little at a time. What takes less than a frame is answered at once, so that a key is in
// the next one; with a longer text, keys and frames come first.

/** @import { Answers } from "./answers.js" */
/** @import { Ask, Told } from "./types" */

const FEW = 8; // milliseconds of reading after which others come first

/** Let what waits come first: a newer text, a key, a frame. @returns {Promise<unknown>} */
const others = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve(undefined);
    };
    port2.postMessage(0);
  });

export class Reader {
  /** @type {Ask | null} what isn't answered yet */
  wanted = null;
  busy = false;

  /**
   * @param {Answers} answers @param {(answer: Told) => void} hear
   * @param {(done: number, length: number) => void} progress told while a long text is read
   */
  constructor(answers, hear, progress) {
    this.answers = answers;
    this.hear = hear;
    this.progress = progress;
  }

  /** A newer text takes the place of what is still being read. @param {Ask} wish */
  async ask(wish) {
    this.wanted = wish;
    if (this.busy) return;
    this.busy = true;
    while (this.wanted) await this.read(this.wanted);
    this.busy = false;
  }

  /** @param {Ask} wish */
  async read(wish) {
    const about = this.answers.text(wish);
    let since = performance.now();
    for (const done of this.answers.reading.steps(about.ids, about.why)) {
      if (done === about.ids.length || performance.now() - since < FEW) continue;
      this.progress(done, about.ids.length);
      await others();
      if (this.wanted !== wish) return; // what has been read of it stays
      since = performance.now();
    }
    this.wanted = null;
    this.hear(this.answers.tell(wish, about)); // the page may ask anew
  }
}
