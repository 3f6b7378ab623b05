// The conversation with the server: one ask at a time, and the last wish always wins.

const PATIENCE = 10000; // milliseconds after which a lost ask is repeated

export class Link {
  // `make(seq)` says what is wanted now; `late(is)` is told when an answer takes too long.
  constructor(make, late) {
    this.make = make;
    this.late = late;
    this.client = Math.random().toString(36).slice(2) + Date.now().toString(36);
    this.seq = 0;
    this.waiting = 0; // the number of the ask in flight
    this.wanted = false;
    this.send = null;
  }

  // Something changed: ask now, or as soon as the answer in flight is here.
  ask() {
    this.wanted = true;
    if (!this.waiting) this.go();
  }

  go() {
    if (!this.send) return;
    this.wanted = false;
    this.waiting = ++this.seq;
    this.send({ client: this.client, seq: this.seq, ...this.make() });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.late(true);
      this.go();
    }, PATIENCE);
  }

  // An answer came. Whether it is one to this browser's newest ask, or a page made anew.
  answered(header) {
    const own = header.client === this.client;
    if (own && header.seq < this.waiting) return false;
    if (own) {
      clearTimeout(this.timer);
      this.late(false);
      this.waiting = 0;
    }
    if (this.wanted && !this.waiting) this.go();
    return true;
  }

  close() {
    clearTimeout(this.timer);
    this.send = null;
  }
}
