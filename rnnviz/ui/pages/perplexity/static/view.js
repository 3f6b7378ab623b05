// The text viewer: it connects the text, the curve and the panel, and makes the asks.

import { BaseView } from "../../../browser/static/base.js";
import { ColouredText, rules } from "../../../browser/static/coloured.js";
import { find, make, options } from "../../../browser/static/dom.js";
import { label, makePhrase } from "../../../browser/static/messages.js";
import { Numbers } from "../../../browser/static/number_format.js";
import { appearance, dress } from "../../../browser/static/theme.js";
import { characterFacts, chunks } from "./chunks.js";
import { colours, drawLegend, scales } from "./colours.js";
import { Curve } from "./curve.js";
import { Detail } from "./detail.js";

/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { Answer, Arrays, Chunk, ExpectedLists, Fixed, Mode, PassageCost, ViewerTheme } from "./types" */

const DWELL_MS = 110; // milliseconds that a pointer rests before the view asks for a character's predictions
const MODES = /** @type {Mode[]} */ (["surprisal", "rank", "versus"]);
const SHORT_TEXT_CHARS = 400; // characters of a text that needs no tall frame
const MAX_CACHED = 400; // characters whose predictions are cached

export class View extends BaseView {
  /** @type {ColouredText<Chunk>} */
  text;
  /** @type {Curve} */
  curve;
  /** @type {Detail} */
  detail;
  /** @type {Fixed} */
  fixed;
  /** @type {Phrase} */
  phrase = (name) => name;
  /** @type {Numbers} */
  numbers;
  /** @type {ViewerTheme} */
  theme;
  /** @type {Map<number, ExpectedLists>} */
  predictions = new Map();
  /** @type {Mode} */
  mode = "surprisal";
  digest = "";
  jumped = 0;
  first = false; // whether the next answer is the text's first
  width = 0;
  /** @type {number | null} */
  hover = null;
  /** @type {number | null} */
  pinned = null;
  /** @type {[start: number, stop: number] | null} the selected passage */
  passage = null;
  /** @type {PassageCost | null} the passage's cost, once it has come */
  cost = null;
  lacking = false; // whether the chunk of the panel's character is missing
  /** @type {number | null} the character whose predictions to ask for */
  at = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  resting;
  style = make("style");

  close() {
    super.close();
    this.text?.close();
    this.style.remove();
    clearTimeout(this.resting);
  }

  /** The reader's place, for a remounted view: it gets the page's first answer again, not those over the connection. */
  memory() {
    return { digest: this.digest, place: this.text?.place() };
  }

  /** @param {boolean} isLate */
  showDelay(isLate) {
    this.root.classList.toggle("vw-late", isLate);
  }

  recolour() {
    if (this.fixed && appearance(this.root) !== this.theme.name) this.dress();
  }

  /** @param {Answer} header @param {Arrays} arrays */
  receive(header, arrays) {
    if (header.fixed) this.begin(header, header.fixed, arrays);
    else if (header.digest !== this.digest) {
      this.digest = "";
      this.viewSocket.askDue = true;
    }
    if (header.digest === this.digest) this.applyAnswer(header, arrays);
    this.viewSocket.endAsk(header);
    this.need();
  }

  /**
   * Take the fixed part: of another text, model or language, or of the same after a remount.
   * @param {Answer} header @param {Fixed} fixed @param {Arrays} arrays
   */
  begin(header, fixed, arrays) {
    const other = header.digest !== this.digest;
    this.fixed = fixed;
    this.digest = header.digest;
    this.phrase = makePhrase(fixed.words);
    this.numbers = new Numbers(fixed.language);
    if (!this.text) this.build();
    this.detail = new Detail(this.root, this.phrase, this.numbers, fixed);
    if (other) {
      this.predictions.clear();
      this.text.begin(header.length, header.count, header.chunk);
      this.hover = this.pinned = this.at = this.passage = this.cost = null;
      this.first = true;
    }
    this.root.classList.toggle("vw-short", header.length < SHORT_TEXT_CHARS);
    this.curve.set(arrays, header.length, this.numbers);
    this.labels();
    this.dress();
  }

  /** @param {Answer} header @param {Arrays} arrays */
  applyAnswer(header, arrays) {
    const { expected: prediction, jump, place } = header;
    this.text.addChunks(chunks(header, arrays));
    if (this.lacking) this.showDetail();
    if (prediction) {
      this.predictions.set(prediction.at, prediction);
      if (this.predictions.size > MAX_CACHED) this.predictions.delete([...this.predictions.keys()][0]);
      if (this.at === prediction.at) this.at = null;
      this.showDetail();
    }
    if (header.passage && String(header.passage.at) === String(this.passage)) {
      this.cost = header.passage;
      this.showPassage();
    }
    if (this.first) {
      this.first = false;
      this.text.colour(scales(this.fixed)[this.mode]);
      const start = this.remembered?.digest === this.digest ? this.remembered.place : place;
      this.remembered = undefined;
      this.jumped = jump && start !== jump[1] ? jump[0] : 0;
      this.text.go(start, false, 0);
    }
    if (jump && jump[0] !== this.jumped) {
      const [serial, start, stop] = jump;
      this.jumped = serial;
      this.text.mark("passage", [[start, stop]]);
      this.text.go(start);
      if (!this.viewSocket.owns(header))
        this.text.pane.scrollIntoView({ block: "nearest", behavior: "smooth" });
    }
    if (this.root.hidden)
      queueMicrotask(() => {
        this.root.hidden = false;
        this.observer?.observe(this.root);
        this.draw();
        this.text.settle();
      });
  }

  // ---- asking -------------------------------------------------------------------------------------

  makeAsk() {
    if (!this.text) return { fresh: true };
    const ask = { chunks: this.text.missing().slice(0, 6), place: this.text.place(), digest: this.digest };
    const passage = this.passage && !this.cost ? { passage: this.passage } : {};
    // Ask for a character only once its chunk has come: until then `place` would not be the reader's final place.
    return this.at === null || this.lacking ? { ...ask, ...passage } : { ...ask, ...passage, at: this.at };
  }

  need() {
    if (!this.text || this.root.hidden) return;
    if (this.text.missing().length || (this.at !== null && !this.lacking) || (this.passage && !this.cost))
      this.viewSocket.ask();
    else this.viewSocket.askDue = false;
  }

  // ---- the reader's actions -----------------------------------------------------------------------

  /** @param {number | null} position */
  point(position) {
    if (position === this.hover) return;
    this.hover = position;
    this.curve.point(position);
    this.showDetail();
    this.askPredictions(position);
  }

  /** @param {number} position */
  pick(position) {
    this.pinned = position;
    this.hover = null;
    this.text.mark("pin", [[position, position + 1]]);
    this.text.go(position, true);
    this.showDetail();
    this.askPredictions(position);
  }

  /** @param {number} start @param {number} stop */
  select(start, stop) {
    this.passage = [start, stop];
    this.cost = null;
    this.text.mark("passage", [this.passage]);
    this.showPassage();
    this.need();
  }

  /** Ask for a character's predictions, once the pointer has rested there. @param {number | null} position */
  askPredictions(position) {
    clearTimeout(this.resting);
    if (position === null) return;
    this.resting = setTimeout(() => {
      if (this.predictions.has(position)) return;
      this.at = position;
      this.need();
    }, DWELL_MS);
  }

  showDetail() {
    const position = this.hover ?? this.pinned;
    const chunk = position === null ? null : this.text.chunk(position);
    const facts = position === null || !chunk ? null : characterFacts(chunk, position);
    this.lacking = position !== null && !chunk;
    this.detail.show(facts, facts && this.predictions.get(facts.position), this.text.length);
  }

  showPassage() {
    const { numbers, cost } = this;
    const element = find(this.root, "p.vw-passage");
    element.classList.toggle("vw-quiet", !cost);
    if (!cost) {
      element.textContent = this.phrase("passage.hint");
      return;
    }
    element.textContent = this.phrase("passage", passageWords(cost, numbers));
  }

  /** Show the curve's values at a place; null: the curve's notice. @param {number | null} position */
  showCurveValues(position) {
    this.curve.point(position);
    const values = atPoint(this.curve.values(position ?? 0), this.numbers);
    const notice = this.twoLines ? this.phrase("curve.notice") : "";
    find(this.root, "p.vw-say").textContent = position === null ? notice : this.phrase("curve.at", values);
  }

  /** Whether the rolling mean leaves the running one: up to a whole window they are one line. */
  get twoLines() {
    return this.curve.length > this.fixed.window;
  }

  // ---- looks --------------------------------------------------------------------------------------

  build() {
    const { root } = this;
    root.before(this.style);
    this.text = new ColouredText(find(root, "div.vw-pane"), {
      need: () => this.need(),
      scrolled: (first, last) => this.scrolled(first, last),
      point: (position) => this.point(position),
      pick: (position) => this.pick(position),
      select: (start, stop) => this.select(start, stop),
    });
    this.curve = new Curve(root, {
      jump: (position) => this.text.go(position),
      say: (position) => this.showCurveValues(position),
    });
    const select = find(root, "select.vw-mode");
    select.onchange = () => {
      this.mode = /** @type {Mode} */ (select.value);
      this.text.colour(scales(this.fixed)[this.mode]);
      drawLegend(root, this.mode, this.fixed, this.theme, this.phrase);
    };
    const number = find(root, "input.vw-number");
    number.onchange = () => {
      const position = enteredPosition(number.value, this.text.length);
      if (position === null) return;
      this.pick(position);
      this.text.go(position);
    };
    this.observer = new ResizeObserver(() => {
      if (!root.clientWidth || root.clientWidth === this.width) return;
      this.draw();
    });
  }

  /** @param {number} first @param {number} last */
  scrolled(first, last) {
    this.curve.markSight(first, last);
    find(this.root, "span.vw-sight-key").hidden = this.curve.sightMark.hidden;
    const places = this.numbers.window(first, last, this.text.length);
    find(this.root, "span.vw-place").textContent = this.phrase("place", places);
    this.root.dataset.place = String(first);
  }

  labels() {
    const { phrase, root, fixed } = this;
    label(root, phrase);
    const offered = MODES.filter((mode) => mode !== "versus" || fixed.names.length > 1);
    this.mode = offered.includes(this.mode) ? this.mode : "surprisal";
    options(
      find(root, "select.vw-mode"),
      offered.map((mode) => [mode, phrase(`colour.${mode}`)]),
      this.mode,
    );
    const entry = (/** @type {string} */ line, /** @type {number} */ n, /** @type {string} */ text) =>
      make("span", `vw-line vw-${line} vw-model-${n}`, make("i"), text);
    const running = phrase("curve.running");
    const rolling = phrase("curve.rolling", { n: this.numbers.whole(fixed.window) });
    const entries =
      fixed.names.length === 1
        ? [entry("running", 0, running), entry("rolling", 0, rolling)]
        : [
            ...fixed.names.map((name, n) => entry("running", n, name)),
            phrase("curve.both", { running, rolling }),
          ];
    const legend = this.twoLines ? entries : entries.slice(0, fixed.names.length);
    find(root, "span.vw-legend").replaceChildren(...legend);
    this.showCurveValues(null);
    this.curve.describe(phrase, fixed.names, fixed.window);
    this.showDetail();
    this.showPassage();
  }

  dress() {
    this.theme = dress(this.root, this.fixed.themes);
    this.style.textContent = rules(colours(this.theme), this.theme);
    drawLegend(this.root, this.mode, this.fixed, this.theme, this.phrase);
    if (!this.root.hidden) this.draw();
  }

  draw() {
    this.width = this.root.clientWidth;
    if (this.width) this.curve.draw(this.fixed.window, this.theme.name); // else in a closed tab or section; the observer draws once it opens
  }
}

/** The index of a character by the number that a reader typed; null without one. @param {string} typed @param {number} length of the text */
export function enteredPosition(typed, length) {
  const position = parseInt(typed.replace(/\D/g, ""), 10) - 1;
  return Number.isNaN(position) ? null : Math.max(0, Math.min(length - 1, position));
}

/** The words on a passage's cost. @param {PassageCost} cost @param {Numbers} numbers */
export function passageWords({ at: [start, stop], nats }, numbers) {
  const perplexity = nats.map((cost) => numbers.number(Math.exp(cost))).join(" / ");
  return { n: numbers.whole(stop - start), before: numbers.whole(start), perplexity };
}

/** The words on a point of the curve. @param {ReturnType<Curve["values"]>} values @param {Numbers} numbers */
export function atPoint({ at, lines }, numbers) {
  const values = (/** @type {"running" | "rolling"} */ name) =>
    lines.map((line) => numbers.number(line[name])).join(" / ");
  return { at: numbers.whole(at), running: values("running"), rolling: values("rolling") };
}
