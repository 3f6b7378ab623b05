// The training view: one run, followed while it trains, or replayed from its snapshots.

import { BaseView } from "../../../../ui/browser/static/base.js";
import { find, setPixels, still } from "../../../../ui/browser/static/dom.js";
import { Heat } from "../../../../ui/browser/static/heat.js";
import { loadPlotly } from "../../../../ui/browser/static/plotly.js";
import { PredictionBars } from "../../../../ui/browser/static/prediction_bars.js";
import { Presenting } from "../../../../ui/browser/static/present.js";
import { dress } from "../../../../ui/browser/static/theme.js";
import { Chart } from "./chart.js";
import { Descriptions } from "./descriptions.js";
import { layerOf, RunFrames } from "./frames.js";
import { drawSentence } from "./sentence.js";
import { Words } from "./words.js";

/** @import { Answer, Curves, Fixed, Frame, TrainTheme } from "./types" */

const PACE_MS = 170; // milliseconds of each snapshot in a replay
const BRIEF_RUN_S = 10; // seconds of training; a shorter run is replayed at its end
const FONT_PX = [20, 30]; // pixels of the sentence's font, at most: usual, and for a projector

/** @type {Map<string, Fixed>} fixed parts by digest, kept for a remounted view */
const fixedParts = new Map();

let lastStart = 0; // the number of the last start shown: a remounted view doesn't scroll there again

export class View extends BaseView {
  frames = new RunFrames();
  /** @type {Answer} */
  head;
  /** @type {Curves} */
  curves;
  /** @type {Fixed} */
  fixed;
  /** @type {Words} */
  words;
  /** @type {PredictionBars} */
  bars;
  /** @type {TrainTheme} */
  theme;
  /** @type {ReturnType<typeof layerOf> | null} */
  layerShown = null;
  /** @type {string[]} the characters of the sentence to watch */
  list = [];
  /** @type {Frame | null} the frame shown, or the last one */
  frameShown = null;
  digest = "";
  drawnKey = "";
  layer = 0;
  /** @type {number | null} the slider's place; null: always the newest frame */
  place = null;
  /** @type {number | null} */
  hover = null;
  wantsPlay = false;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  again;

  close() {
    super.close();
    this.pause();
    clearTimeout(this.again);
    this.chart?.close();
    this.detailsChart?.close();
    this.presenting?.close();
    this.descriptions?.close();
  }

  recolour() {
    if (!this.fixed) return;
    this.dress();
    this.draw(true);
  }

  /** @param {Answer} header @param {Curves} arrays */
  receive(header, arrays) {
    if (header.fixed) fixedParts.set(header.digest, header.fixed);
    const fixed = fixedParts.get(header.digest);
    if (fixed) this.applyAnswer(header, arrays, fixed);
    else {
      this.viewSocket.askDue = true; // the answer lacks words and colours: ask for them
      clearTimeout(this.again);
      // An ask is lost while the page is being built, and a waiting run sends no new answer: ask once more.
      this.again = setTimeout(() => !this.fixed && this.viewSocket.sendAsk(), 2000);
    }
    this.viewSocket.endAsk(header);
  }

  /** @param {Answer} header @param {Curves} arrays @param {Fixed} fixed */
  applyAnswer(header, arrays, fixed) {
    const changed = header.run !== this.head?.run || header.created !== this.head.created;
    const ended = !changed && this.head.alive && !header.alive;
    const resumed = !changed && !this.head.alive && header.alive;
    const started = header.started && header.started !== lastStart;
    if (started) lastStart = header.started;
    this.head = header;
    this.curves = arrays;
    this.fixed = fixed;
    this.frames.apply(header, arrays);
    if (this.digest !== header.digest) this.build();
    this.digest = header.digest;
    if (changed) this.openRun();
    else {
      if (ended || resumed) this.frameShown = null; // its units are not those shown from now on
      if (resumed) this.follow();
      // A run too brief to follow is replayed at a slower pace.
      if (ended && header.seconds < BRIEF_RUN_S && !still())
        Object.assign(this, { place: 0, wantsPlay: true });
    }
    if (started) this.showStart();
    // Snapshots that an answer to our own ask lacks can't be read: asking again at once would never end.
    if (changed || started || !this.viewSocket.owns(header)) this.askForMissing();
    if (this.wantsPlay && !this.frames.missing.length) this.play();
    this.draw();
  }

  /** Begin with another run: follow it, or replay an ended one. */
  openRun() {
    const { head } = this;
    this.follow();
    this.hover = this.frameShown = null;
    this.wantsPlay = !head.alive && head.steps.length > 2 && !still();
    if (this.wantsPlay) this.place = 0;
  }

  /** Scroll a run that has just been started into view; replay an ended one from its start. */
  showStart() {
    const reveal = () => this.root.scrollIntoView({ block: "end", behavior: "smooth" });
    setTimeout(reveal, 400);
    if (this.head.alive) return;
    this.pause();
    Object.assign(this, { place: 0, wantsPlay: true });
  }

  /** Ask for missing snapshots, if the replay needs them. */
  askForMissing() {
    if (this.frames.missing.length && (this.wantsPlay || this.place !== null)) this.viewSocket.ask();
  }

  makeAsk() {
    const digest = fixedParts.has(this.digest) ? this.digest : "";
    return { run: this.head?.run ?? "", digest, held: [...this.frames.snapshots.keys()] };
  }

  build() {
    const { root } = this;
    if (!this.words) {
      this.heat = new Heat(find(root, "canvas.rt-heat"));
      this.chart = new Chart(find(root, "div.rt-curve"));
      this.detailsChart = new Chart(find(root, "div.rt-details-chart"));
      this.descriptions = new Descriptions(root);
      this.slider = find(root, "input.rt-range");
      this.button = find(root, "button.rt-play");
      this.presenting = new Presenting(root, () => this.draw(true));
      this.map = find(root, "div.rt-map");
      const { slider, map } = this;
      slider.oninput = () => this.slide(Number(slider.value));
      this.button.onclick = () => (this.timer ? this.pause(true) : this.replay());
      map.onpointermove = (event) => this.point(event);
      map.onpointerleave = () => this.point(null);
      const layers = find(root, "select.rt-layer");
      layers.onchange = () => {
        this.layer = Number(layers.value);
        this.draw();
      };
      find(root, "details.rt-details").ontoggle = () => this.draw(true);
      this.observer = new ResizeObserver(() => this.draw(true));
      queueMicrotask(() => {
        root.hidden = false;
        this.observer?.observe(root);
        this.draw(true);
        // Parsing the library blocks the browser for a second, so it waits for the first picture.
        setTimeout(() => loadPlotly().then(() => this.draw(true)), 120);
      });
    }
    this.words = new Words(root, this.fixed);
    this.presenting?.setWords(this.words.phrase);
    this.bars = new PredictionBars(root, this.words.phrase, this.words.numbers);
    this.dress();
  }

  dress() {
    this.theme = dress(this.root, this.fixed.themes);
  }

  // ---- replay -------------------------------------------------------------------------------------

  replay() {
    if (this.place === null || this.place >= this.frames.count - 1) this.place = 0;
    this.wantsPlay = true;
    if (this.frames.missing.length) this.askForMissing();
    else this.play();
    this.draw();
  }

  play() {
    this.wantsPlay = false;
    clearInterval(this.timer);
    this.timer = setInterval(() => this.tick(), PACE_MS);
  }

  /** Show the newest frame from now on. */
  follow() {
    this.pause();
    this.place = null;
  }

  tick() {
    const last = this.frames.count - 1;
    if (this.place === null || this.place >= last) {
      this.pause();
      this.place = this.head.alive ? null : last;
    } else this.place++;
    this.draw();
  }

  pause(redraw = false) {
    clearInterval(this.timer);
    this.timer = undefined;
    this.wantsPlay = false;
    if (redraw) this.draw();
  }

  /** @param {number} place */
  slide(place) {
    this.pause();
    this.place = place >= this.frames.count - 1 && this.head.alive ? null : place;
    this.askForMissing();
    this.draw();
  }

  /** @param {PointerEvent | null} event */
  point(event) {
    const before = this.hover;
    this.hover = null;
    if (event && this.layerShown) {
      const frame = find(this.root, "canvas.rt-heat").getBoundingClientRect();
      this.hover = characterAt((event.clientX - frame.left) / frame.width, this.layerShown.length);
    }
    if (before !== this.hover) this.cursor();
  }

  // ---- drawing ------------------------------------------------------------------------------------

  draw(resized = false) {
    const { root, frames, head, words, chart, detailsChart, slider, button } = this;
    if (!chart || !detailsChart || !slider || !button || root.hidden) return;
    words.draw(head, frames);
    const place = this.place ?? frames.count - 1;
    const frameAtPlace = frames.at(place);
    const frame = frameAtPlace ?? this.frameShown ?? frames.newest;
    if (frameAtPlace) this.frameShown = frameAtPlace;
    slider.max = String(Math.max(0, frames.count - 1));
    slider.value = String(place);
    slider.disabled = button.disabled = frames.count < 2;
    const playing = Boolean(this.timer || this.wantsPlay);
    words.playing(playing, frame, this.place === null && head.alive);
    slider.setAttribute("aria-valuetext", words.when(frame));
    this.picture(frame);
    const details = find(root, "details.rt-details");
    details.hidden = !this.curves.norm.some(Number.isFinite); // replays have no gradient norms
    const key = [head.logPosition, this.digest, this.theme.name].join();
    if (window.Plotly && (key !== this.drawnKey || resized)) {
      this.drawnKey = key;
      chart.draw(this.theme.curve, this.curves, this.presenting?.on);
      if (details.open) detailsChart.draw(this.theme.details, this.curves);
    }
    this.descriptions?.later(words, head, frame, this.theme, this.fixed.baseline);
    const past = this.place !== null && place < frames.count - 1;
    for (const plot of [chart, detailsChart]) plot.point(frame && past ? frame.characters : null);
    const step = frame ? frame.step : "";
    const { run, state } = head;
    for (const [name, value] of Object.entries({ step, run, state, playing }))
      root.dataset[name] = String(value);
  }

  /** @param {Frame | null} frame */
  picture(frame) {
    const { heat, head, root } = this;
    this.layerShown = null;
    this.words.empty(frame);
    if (!frame || !heat) return;
    this.layer = Math.min(this.layer, head.shownUnits.length - 1);
    this.words.units(head.shownUnits, this.layer);
    const layerData = layerOf(frame, this.layer);
    this.list = Array.from(head.watchText);
    const type = FONT_PX[Number(this.presenting?.on)];
    const sentence = find(root, "div.rt-sentence");
    const { [head.scale]: rowColours, surprisal } = this.theme;
    const last = surprisal.length - 1;
    const bySurprise = (/** @type {number} */ t) =>
      surprisal[Math.min(last, Math.round((frame.nll[t] / Math.LN2 / this.fixed.surprisalFull) * last))];
    const byRow = (/** @type {number} */ t) => rowColours[layerData.states[t * layerData.units]];
    drawSentence(sentence, this.list, frame, head.rows ? byRow : bySurprise, type);
    const { clientWidth: width, clientHeight: height } = find(root, "div.rt-rows");
    if (width < 20 || height < 20) return;
    this.layerShown = layerData;
    const columns = layerData.length;
    const rows = { from: 0, count: layerData.units };
    const view = { first: 0, last: columns, columns, rows, width, height, strip: 0 };
    heat.draw(layerData, view, this.theme[head.scale], this.theme.background);
    this.cursor();
  }

  cursor() {
    const { layerShown, list, hover, root } = this;
    if (!layerShown) return;
    const t = hover ?? layerShown.length;
    const mark = find(root, "div.rt-cursor");
    const width = find(root, "div.rt-rows").clientWidth / layerShown.length;
    mark.hidden = hover === null;
    setPixels(mark, { left: t * width, width });
    this.bars.draw(layerShown, list, t);
  }
}

/** The character of the sentence at a share of the heat map's width; null beside it. @param {number} share @param {number} length */
export function characterAt(share, length) {
  const t = Math.floor(share * length);
  return t >= 0 && t < length ? t : null;
}
