// The lecture's stopwatch: start, pause, reset; its state outlasts a reload of the window.

export class Stopwatch {
  /** Milliseconds counted before the last start. */
  before = 0;
  /** @type {number | null} the time of the last start; null while it is paused */
  since = null;

  /** @param {string} key the storage key @param {Pick<Storage, "getItem" | "setItem">} storage @param {() => number} clock */
  constructor(key, storage, clock = Date.now) {
    this.key = key;
    this.storage = storage;
    this.clock = clock;
    const [before, since] = JSON.parse(storage.getItem(key) ?? "[0,null]");
    this.before = before;
    this.since = since;
  }

  get running() {
    return this.since !== null;
  }

  /** Milliseconds so far. */
  get elapsed() {
    return this.before + (this.since === null ? 0 : Math.max(0, this.clock() - this.since));
  }

  /** The time in words: 7:05, 1:02:09. */
  format() {
    const seconds = Math.floor(this.elapsed / 1000);
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
    const pad = (/** @type {number} */ n) => String(n).padStart(2, "0");
    return hours ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}` : `${minutes}:${pad(seconds % 60)}`;
  }

  toggle() {
    [this.before, this.since] = [this.elapsed, this.running ? null : this.clock()];
    this.keep();
  }

  reset() {
    [this.before, this.since] = [0, this.running ? this.clock() : null];
    this.keep();
  }

  keep() {
    this.storage.setItem(this.key, JSON.stringify([this.before, this.since]));
  }
}
