// The training view: one run, followed while it goes on, or played again from its snapshots.

import { BaseView } from "../../../browser/static/base.js";
import { find, place, still } from "../../../browser/static/dom.js";
import { Heat } from "../../../browser/static/heat.js";
import { Next } from "../../../browser/static/next.js";
import { loadPlotly } from "../../../browser/static/plotly.js";
import { Presenting } from "../../../browser/static/present.js";
import { dress, fonts } from "../../../browser/static/theme.js";
import { Chart } from "./chart.js";
import { Findings } from "./finding.js";
import { Frames, layerOf } from "./frames.js";
import { Words } from "./words.js";

/** @import { Answer, Curves, Fixed, Frame, TrainTheme } from "./types" */

const PACE = 170; // milliseconds a snapshot stays when played
const BRIEF = 10; // seconds of training below which a run is played again at its end
const STRIP = [18, 30]; // pixels of the characters' line, and for a projector
const MANY = 96; // units beyond which a row gets thinner than the eye likes
const NARROW = 5.5; // pixels below which a column's character can't be read

/** @type {Map<string, Fixed>} by digest: a view that is made anew finds its words and colours */
const fixedParts = new Map();

export class View extends BaseView {
  frames = new Frames();
  /** @type {Answer} */
  head;
  /** @type {Curves} */
  curves;
  /** @type {Fixed} */
  fixed;
  /** @type {Words} */
  words;
  /** @type {Next} */
  next;
  /** @type {TrainTheme} */
  theme;
  /** @type {ReturnType<typeof layerOf> | null} */
  layerShown = null;
  /** @type {string[]} the probe's characters */
  list = [];
  /** @type {Frame | null} the frame that is shown, or the last that was */
  shown = null;
  digest = "";
  font = "";
  drawn = "";
  layer = 0;
  order = "index";
  zoom = 0;
  /** @type {number | null} of the slider; null: the newest, whatever comes */
  place = null;
  /** @type {number | null} */
  hover = null;
  wantsPlay = false;
  asking = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  again;

  close() {
    super.close();
    this.pause();
    clearTimeout(this.again);
    this.chart?.close();
    this.presenting?.close();
    this.findings?.close();
  }

  recolour() {
    if (!this.fixed) return;
    this.dress();
    this.draw(true);
  }

  /** @param {Answer} header @param {Curves} arrays */
  receive(header, arrays) {
    if (header.answer === this.link.client) this.asking = 0;
    if (header.static) fixedParts.set(header.digest, header.static);
    const fixed = fixedParts.get(header.digest);
    if (!fixed) return this.ask();
    const changed = header.run !== this.head?.run || header.born !== this.head.born;
    const ended = !changed && this.head.alive && !header.alive;
    const resumed = !changed && !this.head.alive && header.alive;
    this.head = header;
    this.curves = arrays;
    this.fixed = fixed;
    this.frames.apply(header, arrays);
    if (this.digest !== header.digest) this.build();
    this.digest = header.digest;
    if (changed) this.meet();
    else {
      if (resumed) this.follow();
      // What was over in a moment is shown again, at a pace that can be followed.
      if (ended && header.seconds < BRIEF && !still()) Object.assign(this, { place: 0, wantsPlay: true });
      this.fetch();
    }
    if (this.wantsPlay && !this.frames.missing.length) this.play();
    this.draw();
  }

  /** A run that wasn't on the screen before: follow it, or play what it has been through. */
  meet() {
    const { head, frames } = this;
    this.follow();
    this.hover = this.shown = null;
    this.layer = frames.now ? Math.min(this.layer, frames.now.states.shape[1] - 1) : 0;
    // Of many units some, large enough to be followed with the eye; of a few all, and once they have learnt
    // something, alike ones side by side.
    const many = (frames.now?.states.shape[2] ?? head.units) > MANY;
    this.order = head.alive || many ? "index" : "alike";
    this.zoom = many ? 48 : 0;
    this.wantsPlay = !head.alive && head.steps.length > 2 && !still();
    if (this.wantsPlay) this.place = 0;
    this.fetch();
    if (head.started) setTimeout(() => this.root.scrollIntoView({ block: "end", behavior: "smooth" }), 400);
  }

  /** Ask for the snapshots that aren't here; `ask` alone asks for words and colours. */
  fetch() {
    if (this.frames.missing.length && (this.wantsPlay || this.place !== null)) this.ask();
  }

  ask() {
    if (Date.now() - this.asking < 1500) return;
    this.asking = Date.now();
    const digest = fixedParts.has(this.digest) ? this.digest : "";
    const held = [...this.frames.held.keys()];
    this.link.send?.({ client: this.link.client, run: this.head?.run ?? "", static: digest, held });
    // An ask is lost while the page is still being put together, and a run that waits says nothing new by itself.
    clearTimeout(this.again);
    this.again = setTimeout(() => !this.fixed && this.ask(), 2000);
  }

  build() {
    const { root } = this;
    if (!this.words) {
      this.heat = new Heat(find(root, "canvas.rt-heat"), find(root, "canvas.rt-strip"));
      this.chart = new Chart(find(root, "div.rt-plot"));
      this.findings = new Findings(root);
      this.slider = find(root, "input.rt-range");
      this.button = find(root, "button.rt-play");
      this.presenting = new Presenting(root, () => this.draw(true));
      this.map = find(root, "div.rt-map");
      const { slider, map } = this;
      slider.oninput = () => this.slide(Number(slider.value));
      this.button.onclick = () => (this.timer ? this.pause(true) : this.start());
      map.onpointermove = (event) => this.point(event);
      map.onpointerleave = () => this.point(null);
      const chosen = (
        /** @type {string} */ name,
        /** @type {(value: string) => Partial<View>} */ changes,
      ) => {
        const select = find(root, `select.rt-${name}`);
        select.onchange = () => this.choose(changes(select.value));
      };
      chosen("layer", (layer) => ({ layer: Number(layer) }));
      chosen("order", (order) => ({ order }));
      chosen("zoom", (zoom) => ({ zoom: Number(zoom) }));
      this.observer = new ResizeObserver(() => this.draw(true));
      this.styled.then(() => {
        root.hidden = false;
        this.observer?.observe(root);
        this.draw(true);
        // Reading the library keeps the browser busy for a second: the first picture goes before it.
        setTimeout(() => loadPlotly().then(() => this.draw(true)), 120);
      });
    }
    this.words = new Words(root, this.fixed);
    this.presenting?.name(this.words.say);
    this.next = new Next(root, this.words.say, this.words.numbers);
    this.dress();
  }

  dress() {
    this.theme = dress(this.root, this.fixed.themes);
    this.font = fonts(this.root).code;
  }

  // ---- replay -------------------------------------------------------------------------------------

  start() {
    if (this.place === null || this.place >= this.frames.count - 1) this.place = 0;
    this.wantsPlay = true;
    if (this.frames.missing.length) this.fetch();
    else this.play();
    this.draw();
  }

  play() {
    this.wantsPlay = false;
    clearInterval(this.timer);
    this.timer = setInterval(() => this.tick(), PACE);
  }

  /** Show the newest, whatever comes. */
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
    this.fetch();
    this.draw();
  }

  /** @param {Partial<View>} changes */
  choose(changes) {
    Object.assign(this, changes);
    this.draw();
  }

  /** @param {PointerEvent | null} event */
  point(event) {
    const before = this.hover;
    this.hover = null;
    if (event && this.layerShown) {
      const frame = find(this.root, "canvas.rt-heat").getBoundingClientRect();
      const { length } = this.layerShown;
      const t = Math.floor(((event.clientX - frame.left) / frame.width) * length);
      this.hover = t >= 0 && t < length ? t : null;
    }
    if (before !== this.hover) this.cursor();
  }

  // ---- drawing ------------------------------------------------------------------------------------

  draw(resized = false) {
    const { root, frames, head, words, chart, slider, button } = this;
    if (!chart || !slider || !button || root.hidden) return;
    words.draw(head, frames);
    const place = this.place ?? frames.count - 1;
    const wanted = frames.at(place);
    const frame = wanted ?? this.shown ?? frames.now;
    if (wanted) this.shown = wanted;
    slider.max = String(Math.max(0, frames.count - 1));
    slider.value = String(place);
    slider.disabled = button.disabled = frames.count < 2;
    const playing = Boolean(this.timer || this.wantsPlay);
    words.playing(playing, frame, this.place === null && head.alive);
    slider.setAttribute("aria-valuetext", words.when(frame));
    this.picture(frame);
    const { clientWidth, clientHeight } = chart.root;
    const drawn = [head.drawn, this.digest, this.theme.name, clientWidth, clientHeight].join();
    if (window.Plotly && (drawn !== this.drawn || resized)) {
      this.drawn = drawn;
      chart.draw(this.theme.figure, this.curves, clientWidth, clientHeight, this.presenting?.on);
    }
    this.findings?.later(words, head, frame, this.theme, this.fixed.baseline);
    chart.point(frame && this.place !== null && place < frames.count - 1 ? frame.characters : null);
    const step = frame ? frame.step : "";
    const { run, state, drawn: events } = head;
    for (const [name, value] of Object.entries({ step, run, state, playing, events }))
      root.dataset[name] = String(value);
  }

  /** @param {Frame | null} frame */
  picture(frame) {
    const { heat, map, head } = this;
    this.layerShown = null;
    this.words.empty(frame);
    if (!frame || !heat || !map) return;
    const [, L, H] = frame.states.shape;
    this.layer = Math.min(this.layer, L - 1);
    const orders = (head.rows && this.curves.rows) || null;
    const rows = this.order === "alike" && orders ? orders.subarray(this.layer * H) : null;
    this.words.choices(L, this.layer, orders ? this.order : "index", Boolean(orders), H, this.zoom);
    const shown = layerOf(frame, this.layer, rows);
    this.layerShown = shown;
    this.list = Array.from(head.probe);
    const width = map.clientWidth;
    const strip = STRIP[Number(this.presenting?.on)];
    const height = map.clientHeight - strip - 2;
    if (width < 20 || height < 20) return;
    const columns = shown.length;
    const count = this.zoom && this.zoom < H ? this.zoom : H;
    const view = { first: 0, last: columns, columns, rows: { from: 0, count }, width, height, strip };
    heat.draw(shown, view, this.theme[head.scale], this.theme.background);
    const wide = width / columns >= NARROW;
    if (wide) heat.letters(this.list, shown, view, this.theme, this.font);
    heat.strip.hidden = !wide;
    this.cursor();
  }

  cursor() {
    const { layerShown, list, hover, map } = this;
    if (!layerShown || !map) return;
    const t = hover ?? layerShown.length;
    const mark = find(this.root, "div.rt-cursor");
    const width = map.clientWidth / layerShown.length;
    mark.hidden = hover === null;
    place(mark, { left: t * width, width });
    this.next.draw(layerShown, list, t);
  }
}
