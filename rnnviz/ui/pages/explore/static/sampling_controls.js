// The sliders of temperature, top-k and top-p. They reshape the bars, and continuations are drawn from the result.

import { find, put } from "../../../browser/static/dom.js";

/** @import { Numbers } from "../../../browser/static/number_format.js" */
/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { SamplingSettings } from "./types" */

const COUNTS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50, 100]; // values of top-k; the slider's end stands for all symbols
const SHARES = 20; // steps of top-p; the last stands for 1

/** @type {SamplingSettings} */
export const PLAIN = { temperature: 1, top_k: null, top_p: null };

export class SamplingControls {
  /**
   * @param {HTMLElement} root @param {Phrase} phrase @param {Numbers} numbers
   * @param {number} symbols the vocabulary size @param {() => SamplingSettings} shape the present values
   * @param {(changes: Partial<SamplingSettings>) => void} change
   */
  constructor(root, phrase, numbers, symbols, shape, change) {
    this.phrase = phrase;
    this.numbers = numbers;
    this.shape = shape;
    this.counts = COUNTS.filter((count) => count < symbols);
    this.dials = {
      temperature: find(root, "input.rv-temperature"),
      top_k: find(root, "input.rv-top-k"),
      top_p: find(root, "input.rv-top-p"),
    };
    const { temperature, top_k, top_p } = this.dials;
    top_k.max = String(this.counts.length);
    top_p.max = String(SHARES);
    temperature.oninput = () => change({ temperature: Number(temperature.value) / 10 });
    top_k.oninput = () => change({ top_k: this.counts[Number(top_k.value)] ?? null });
    top_p.oninput = () =>
      change({ top_p: Number(top_p.value) < SHARES ? Number(top_p.value) / SHARES : null });
    this.plain = find(root, "button.rv-plain");
    this.plain.onclick = () => change(PLAIN);
    this.draw();
  }

  /** Show the present values. */
  draw() {
    const { phrase, numbers, dials } = this;
    const { temperature, top_k, top_p } = this.shape();
    const at = top_k === null ? -1 : this.counts.indexOf(top_k);
    this.set(dials.temperature, Math.round(temperature * 10), numbers.fixed(temperature, 1));
    this.set(
      dials.top_k,
      at < 0 ? this.counts.length : at,
      top_k === null ? phrase("all") : numbers.whole(top_k),
    );
    this.set(
      dials.top_p,
      Math.round((top_p ?? 1) * SHARES),
      top_p === null ? phrase("all") : numbers.fixed(top_p, 2),
    );
    this.plain.hidden = temperature === 1 && top_k === null && top_p === null;
  }

  /** @param {HTMLInputElement} dial @param {number} value the slider's @param {string} text the value in words */
  set(dial, value, text) {
    if (dial.value !== String(value)) dial.value = String(value);
    dial.ariaValueText = text;
    put(/** @type {HTMLElement} */ (dial.nextElementSibling), text);
  }
}
