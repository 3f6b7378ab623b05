// The text alternatives of a run's pictures.

import { AltText, together } from "../../../../ui/browser/static/alt_text.js";
import { find } from "../../../../ui/browser/static/dom.js";

/** @import { Words } from "./words.js" */
/** @import { Answer, Frame, TrainTheme } from "./types" */

/** The ends of the hidden state's two scales, as in figures/live.py. */
const ENDS = { diverging: [-1, 1], sequential: [0, 4] };

export class Descriptions {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.heat = new AltText(find(root, "canvas.rt-heat"));
    this.curve = new AltText(find(root, "div.rt-curve"));
  }

  /** @param {Words} words @param {Answer} head @param {Frame | null} frame @param {TrainTheme} theme @param {number | null} baseline */
  later(words, head, frame, theme, baseline) {
    const { phrase } = words;
    const sight = () => (frame ? states(words, head, frame, theme) : phrase("heat.none"));
    this.heat.later(() => together(phrase("heat.label"), sight()));
    this.curve.later(() => together(phrase("curve.label"), ...ends(words, head, baseline)));
  }

  close() {
    this.heat.close();
    this.curve.close();
  }
}

/** The sentence on the range of a frame's states. @param {Words} words @param {Answer} head @param {Frame} frame @param {TrainTheme} theme */
function states(words, head, frame, theme) {
  const [start, end] = ENDS[head.scale];
  const last = theme[head.scale].length - 1;
  const value = (/** @type {number} */ level) => start + (level / last) * (end - start);
  let [min, max, sum] = [last, 0, 0];
  for (const level of frame.states) {
    min = Math.min(min, level);
    max = Math.max(max, level);
    sum += Math.abs(value(level));
  }
  const [low, high, mean] = [value(min), value(max), sum / frame.states.length].map((v) =>
    words.numbers.fixed(v),
  );
  return words.phrase("heat.range", { when: words.when(frame), low, high, mean });
}

/** The sentences on the newest value of each curve. @param {Words} words @param {Answer} head @param {number | null} baseline */
function ends({ phrase, numbers }, head, baseline) {
  return head.lines.flatMap((name) => {
    const p = name === "end" ? head.numbers.held_out : head.numbers[/** @type {"train"} */ (name)];
    if (p === null || p === undefined) return [];
    const compared = baseline !== null && name === "validation";
    const sentence = !compared ? "curve.ends" : p < baseline ? "curve.below" : "curve.above";
    const values = { p: numbers.number(p), ngram: phrase("ngram"), q: numbers.number(baseline) };
    return [phrase(sentence, { line: phrase(`line.${name}`), ...values })];
  });
}
