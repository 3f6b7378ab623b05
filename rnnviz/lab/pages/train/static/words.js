// The training view's words: numbers, progress, legends and notices.

import { find, make, numberRow, options, put } from "../../../../ui/browser/static/dom.js";
import { label, makePhrase } from "../../../../ui/browser/static/messages.js";
import { Numbers } from "../../../../ui/browser/static/number_format.js";

/** @import { RunFrames } from "./frames.js" */
/** @import { Answer, Fixed, Frame } from "./types" */

const NUMBERS = ["validation", "held_out", "train", "watch_text", "speed"];
const DETAILS = ["clipped", "rate"];

export class Words {
  legend = "";

  /** @param {HTMLElement} root @param {Fixed} fixed */
  constructor(root, { words, language }) {
    this.root = root;
    const phrase = makePhrase(words);
    this.phrase = phrase;
    this.numbers = new Numbers(language);
    label(root, phrase);
    const describe = (/** @type {string} */ name) =>
      /** @type {[string, string]} */ ([phrase(`number.${name}`), phrase(`number.${name}.help`)]);
    const row = (/** @type {"dl.rt-numbers" | "dl.rt-more"} */ list, /** @type {string[]} */ names) =>
      numberRow(find(root, list), "rt", "training", names, describe);
    this.fields = { ...row("dl.rt-numbers", NUMBERS), ...row("dl.rt-more", DETAILS) };
  }

  /** @param {Answer} head @param {RunFrames} frames */
  draw(head, frames) {
    const { root, phrase, numbers, fields } = this;
    const { lines } = head;
    const { validation, held_out, train, speed, clipped, rate } = head.numbers;
    /** @type {Record<string, string>} */
    const texts = {
      validation: numbers.number(validation),
      held_out: numbers.number(held_out),
      train: numbers.number(train),
      watch_text: numbers.number(frames.newest?.perplexity),
      speed: numbers.rough(speed),
      clipped: clipped === null ? "–" : numbers.percent(clipped),
      rate: numbers.rough(rate, 2),
    };
    for (const name of [...NUMBERS, ...DETAILS]) {
      put(fields[name], texts[name]);
      // Numbers that a replay lacks are hidden; those of a run that has just begun keep their places.
      const visible = head.alive || texts[name] !== "–" || ["train", "watch_text"].includes(name);
      const group = /** @type {HTMLElement} */ (fields[name].parentElement);
      group.hidden =
        name === "validation" ? !lines.includes(name) : !visible || (name === "held_out" && !held_out);
    }
    const bar = find(root, "div.rt-bar");
    find(bar, "i.rt-done").style.transform = `scaleX(${Math.max(0, Math.min(1, head.fraction))})`;
    bar.classList.toggle("rt-over", !head.alive);
    put(find(root, "p.rt-line"), head.progressLine);
    const passed = find(root, "p.rt-passed");
    passed.hidden = !head.passed;
    put(passed, head.passed ?? "");
    const sample = find(root, "pre.rt-sample");
    put(sample, head.sample || phrase("sample.none"));
    sample.classList.toggle("rt-quiet", !head.sample);
    put(find(root, "span.rt-sample-when"), head.samplePlace);
    if (this.legend !== lines.join()) {
      this.legend = lines.join();
      const entries = lines.map((name) => make("span", `rt-key-${name}`, make("i"), phrase(`line.${name}`)));
      find(root, "span.rt-legend").replaceChildren(...entries);
    }
    put(find(root, "p.rt-curve-notice"), phrase(head.hasNgram ? "curve.ngram" : "curve.blind"));
    const n = Math.max(0, (head.shownUnits[0]?.length ?? 0) - head.rows);
    const rows =
      head.cell === "mlp" ? "heat.mlp" : head.alive || n === head.unitCount ? "heat.rows" : "heat.most";
    const units = numbers.whole(head.unitCount);
    const notice = n ? `${phrase("heat.surprise")} ${phrase(rows, { n, units })}` : "";
    put(find(root, "p.rt-heat-notice"), notice);
    put(find(root, "span.rt-key"), phrase(`key.${head.scale}`));
  }

  /** A frame's step and perplexity in words. @param {Frame | null} frame */
  when(frame) {
    if (!frame) return "";
    const { numbers } = this;
    const [step, characters] = [numbers.whole(frame.step), numbers.rough(frame.characters)];
    return this.phrase("when", { step, characters, perplexity: numbers.number(frame.perplexity) });
  }

  /** @param {boolean} is @param {Frame | null} frame @param {boolean} live */
  playing(is, frame, live) {
    put(find(this.root, "button.rt-play"), is ? `❚❚ ${this.phrase("pause")}` : `▶ ${this.phrase("play")}`);
    const now = live && frame ? ` · ${this.phrase("now")}` : "";
    put(find(this.root, "span.rt-when"), this.when(frame) + now);
  }

  /** @param {Frame | null} frame */
  empty(frame) {
    const element = find(this.root, "p.rt-empty");
    element.hidden = Boolean(frame);
    put(element, frame ? "" : this.phrase("heat.none"));
    if (!frame) find(this.root, "label.rt-layers").hidden = true;
    find(this.root, "div.rt-map").classList.toggle("rt-blank", !frame);
    find(this.root, "section.rv-next").classList.toggle("rt-hidden", !frame);
  }

  /** Show the choice of a layer, and the numbers of its units. @param {(string | number)[][]} shownUnits @param {number} layer */
  units(shownUnits, layer) {
    find(this.root, "label.rt-layers").hidden = shownUnits.length < 2;
    const layers = shownUnits.map(
      (_, n) => /** @type {[number, string]} */ ([n, this.phrase("layer.n", { n })]),
    );
    options(find(this.root, "select.rt-layer"), layers, layer);
    const list = find(this.root, "ol.rt-units");
    if (list.textContent !== shownUnits[layer].join(""))
      list.replaceChildren(...shownUnits[layer].map((unit) => make("li", "", String(unit))));
  }
}
