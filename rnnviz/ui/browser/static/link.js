// The conversation with the server: one ask at a time, and the last wish always wins.

/** @import { Header } from "./types" */

const PATIENCE = 10000; // milliseconds after which a lost ask is repeated

export class Link {
  client = Math.random().toString(36).slice(2) + Date.now().toString(36);
  seq = 0;
  waiting = 0; // the number of the ask in flight
  wanted = false;
  /** Whether the ask in flight will take long, and a newer one may take its place. */
  long = false;
  /** @type {((ask: object) => void) | null} */
  send = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;

  /**
   * @param {() => object} make says what is wanted now: the whole wish
   * @param {(is: boolean) => void} late is told when an answer takes too long
   */
  constructor(make, late) {
    this.make = make;
    this.late = late;
  }

  /** Something changed: ask now, or as soon as the answer in flight is here. */
  ask() {
    this.wanted = true;
    if (!this.waiting || this.long) this.go();
  }

  go() {
    if (!this.send) return;
    this.wanted = false;
    this.waiting = ++this.seq;
    this.wait();
    this.send({ client: this.client, seq: this.seq, ...this.make() }); // the answer may come at once
  }

  /** Give whoever answers its time, from now on. */
  wait() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.late(true);
      this.go();
    }, PATIENCE);
  }

  /** The page was run anew, by a session that knows of no ask: whatever was asked has to be asked again. */
  lost() {
    clearTimeout(this.timer);
    this.late(false);
    this.waiting = 0;
    this.wanted = true;
  }

  /** Whether an answer is one to this browser. @param {Header} header */
  owns(header) {
    return header.client === this.client;
  }

  /** Whether an answer is one to the newest ask. @param {Header} header */
  newest(header) {
    return this.owns(header) && header.seq === this.seq;
  }

  /** Whether a newer ask than the one it answers is on its way. @param {Header} header */
  outdated(header) {
    return this.owns(header) && (header.seq ?? 0) < this.waiting;
  }

  /** An answer came: to the newest ask, or of a page made anew. @param {Header} header */
  answered(header) {
    if (this.outdated(header)) return;
    if (this.owns(header)) {
      clearTimeout(this.timer);
      this.late(false);
      this.waiting = 0;
    }
    if (this.wanted && !this.waiting) this.go();
  }

  close() {
    clearTimeout(this.timer);
    this.send = null;
  }
}
