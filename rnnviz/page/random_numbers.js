// Pseudo-random numbers whose state can be kept, so that a training goes on as if nobody had closed the page.

export class RandomNumbers {
  /** @param {number} state a seed, or the `state` of another one */
  constructor(state) {
    this.state = state >>> 0;
  }

  /** A number from 0 up to 1: of a counter by a golden step, its bits mixed as in splitmix. */
  uniform() {
    this.state = (this.state + 0x9e3779b9) >>> 0;
    let bits = this.state;
    bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
    return ((bits ^ (bits >>> 15)) >>> 0) / 2 ** 32;
  }

  /** A whole number below n. @param {number} n */
  below(n) {
    return Math.floor(this.uniform() * n);
  }

  /** A standard normal number, by Box and Muller. */
  normal() {
    return Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
  }
}
