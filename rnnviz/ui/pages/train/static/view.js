// The training view: one run, followed while it goes on, or played again from its snapshots.

import { Chart } from "./chart.js";
import { Frames, Reading } from "./frames.js";
import { MARKUP } from "./markup.js";
import { Words } from "./words.js";

const PACE = 170; // milliseconds a snapshot stays when played
const BRIEF = 10; // seconds of training below which a run is played again at its end
const STRIP = 18; // pixels of the characters' line
const MANY = 96; // units beyond which a row gets thinner than the eye likes
const NARROW = 5.5; // pixels below which a column's character can't be read

const fixedParts = new Map(); // by digest: a view that is made anew finds its words and colours

export class View {
  constructor(root, dressed, loadPlotly, shared) {
    this.root = root;
    this.dressed = dressed;
    this.loadPlotly = loadPlotly;
    this.shared = shared;
    this.frames = new Frames();
    this.client = Math.random().toString(36).slice(2);
    this.layer = 0;
    this.order = null;
    this.place = null; // of the slider; null: the newest, whatever comes
    this.hover = null;
    this.asking = 0;
  }

  close() {
    this.pause();
    clearTimeout(this.again);
    this.chart?.close();
    this.observer?.disconnect();
  }

  update(component) {
    this.send = (ask) => component.setTriggerValue("ask", ask);
    const { data } = component;
    if (!data) return;
    if (data === this.data) return this.redress();
    this.data = data;
    const { header, arrays } = this.shared.unpack(data);
    if (header.answer === this.client) this.asking = 0;
    if (header.static) fixedParts.set(header.digest, header.static);
    const fixed = fixedParts.get(header.digest);
    if (!fixed) return this.ask();
    const changed = header.run !== this.head?.run || header.born !== this.head.born;
    const ended = !changed && this.head.alive && !header.alive;
    this.head = header;
    this.curves = arrays;
    this.fixed = fixed;
    this.frames.apply(header, arrays);
    if (!this.built || this.digest !== header.digest) this.build();
    this.digest = header.digest;
    if (changed) this.meet();
    else {
      // What was over in a moment is shown again, at a pace that can be followed.
      if (ended && header.seconds < BRIEF && !still()) Object.assign(this, { place: 0, wantsPlay: true });
      this.fetch();
    }
    if (this.wantsPlay && !this.frames.missing.length) this.play();
    this.draw();
  }

  // A run that wasn't on the screen before: follow it, or play what it has been through.
  meet() {
    this.pause();
    this.place = this.hover = this.shown = null;
    this.layer = this.frames.now ? Math.min(this.layer, this.frames.now.states.shape[1] - 1) : 0;
    // Of many units some, large enough to be followed with the eye; of a few all, and once they have learnt
    // something, alike ones side by side.
    const many = (this.frames.now?.states.shape[2] ?? this.head.units) > MANY;
    this.order = this.head.alive || many ? "index" : "alike";
    this.zoom = many ? 48 : 0;
    this.wantsPlay = !this.head.alive && this.head.steps.length > 2 && !still();
    if (this.wantsPlay) this.place = 0;
    this.fetch();
    if (this.head.started) setTimeout(() => this.root.scrollIntoView({ block: "end", behavior: "smooth" }), 400);
  }

  // Ask for the snapshots that aren't here; `ask` alone asks for words and colours.
  fetch() {
    if (this.frames.missing.length && (this.wantsPlay || this.place !== null)) this.ask();
  }

  ask() {
    if (Date.now() - this.asking < 1500) return;
    this.asking = Date.now();
    const digest = fixedParts.has(this.digest) ? this.digest : "";
    this.send({ client: this.client, run: this.head?.run ?? "", static: digest, held: [...this.frames.held.keys()] });
    // An ask is lost while the page is still being put together, and a run that waits says nothing new by itself.
    clearTimeout(this.again);
    this.again = setTimeout(() => !this.fixed && this.ask(), 2000);
  }

  build() {
    if (!this.built) {
      this.root.innerHTML = MARKUP; // constant, and the only one
      this.built = true;
      const find = (name) => this.root.querySelector(name);
      this.heat = new this.shared.Heat(find(".rt-heat"), find(".rt-strip"));
      this.chart = new Chart(find(".rt-plot"));
      this.slider = find(".rt-range");
      this.button = find(".rt-play");
      this.slider.oninput = () => this.slide(Number(this.slider.value));
      this.button.onclick = () => (this.timer ? this.pause(true) : this.start());
      const map = find(".rt-map");
      map.onpointermove = (event) => this.point(event);
      map.onpointerleave = () => this.point(null);
      find(".rt-layer").onchange = (event) => this.choose({ layer: Number(event.target.value) });
      find(".rt-order").onchange = (event) => this.choose({ order: event.target.value });
      find(".rt-zoom").onchange = (event) => this.choose({ zoom: Number(event.target.value) });
      this.observer = new ResizeObserver(() => this.draw(true));
      this.dressed.then(() => {
        this.root.hidden = false;
        this.observer.observe(this.root);
        this.draw(true);
        // Reading the library keeps the browser busy for a second: the first picture goes before it.
        setTimeout(() => this.loadPlotly().then(() => this.draw(true)), 120);
      });
    }
    this.words = new Words(this.root, this.fixed.words, this.fixed.language);
    this.next = new this.shared.Next(this.root, this.fixed.words);
    this.root.querySelector(".rv-next-list").replaceChildren();
    this.redress(true);
  }

  // The page's colours: light or dark, whichever its background is.
  redress(quietly) {
    if (!this.fixed) return;
    const style = getComputedStyle(this.root);
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = style.getPropertyValue("--st-background-color").trim() || "#ffffff";
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(probe.fillStyle.slice(i, i + 2), 16));
    this.theme = this.fixed.themes[0.299 * r + 0.587 * g + 0.114 * b < 128 ? "dark" : "light"];
    this.font = style.getPropertyValue("--st-code-font").trim() || "monospace";
    for (const name of ["came", "cursor", "pinned", "bar", "muted", "grid", "model", "ngram", "uniform"])
      this.root.style.setProperty("--rv-" + name, this.theme[name]);
    this.root.dataset.theme = this.theme.name;
    if (!quietly) this.draw(true);
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

  tick() {
    const last = this.frames.count - 1;
    if (this.place === null || this.place >= last) {
      this.pause();
      this.place = this.head.alive ? null : last;
    } else this.place++;
    this.draw();
  }

  pause(redraw) {
    clearInterval(this.timer);
    this.timer = null;
    this.wantsPlay = false;
    if (redraw) this.draw();
  }

  slide(place) {
    this.pause();
    this.place = place >= this.frames.count - 1 && this.head.alive ? null : place;
    this.fetch();
    this.draw();
  }

  choose(changes) {
    Object.assign(this, changes);
    this.draw();
  }

  point(event) {
    const before = this.hover;
    this.hover = null;
    if (event && this.reading) {
      const frame = this.root.querySelector(".rt-heat").getBoundingClientRect();
      const t = Math.floor(((event.clientX - frame.left) / frame.width) * this.reading.length);
      this.hover = t >= 0 && t < this.reading.length ? t : null;
    }
    if (before !== this.hover) this.cursor();
  }

  // ---- drawing ------------------------------------------------------------------------------------

  draw(resized) {
    if (!this.built || this.root.hidden) return;
    const { frames, head } = this;
    this.words.draw(head, frames);
    const place = this.place ?? frames.count - 1;
    const wanted = frames.at(place);
    const frame = wanted ?? this.shown ?? frames.now;
    if (wanted) this.shown = wanted;
    this.slider.max = Math.max(0, frames.count - 1);
    this.slider.value = place;
    this.slider.disabled = frames.count < 2;
    this.button.disabled = frames.count < 2;
    this.words.playing(Boolean(this.timer || this.wantsPlay), frame, this.place === null && head.alive);
    this.slider.setAttribute("aria-valuetext", this.words.when(frame));
    this.picture(frame);
    const { lines } = this;
    const drawn = [head.drawn, this.digest, this.theme.name].join();
    const box = this.chart.root;
    const size = [box.clientWidth, box.clientHeight].join();
    if (window.Plotly && (drawn !== lines || resized || this.size !== size)) {
      this.lines = drawn;
      this.size = size;
      this.chart.draw(this.theme.figure, this.curves, box.clientWidth, box.clientHeight);
    }
    this.chart.point(frame && this.place !== null && place < frames.count - 1 ? frame.characters : null);
    this.root.dataset.step = frame ? frame.step : "";
    this.root.dataset.run = head.run;
    this.root.dataset.state = head.state;
    this.root.dataset.playing = Boolean(this.timer || this.wantsPlay);
    this.root.dataset.events = head.drawn;
  }

  picture(frame) {
    const map = this.root.querySelector(".rt-map");
    this.reading = null;
    this.words.empty(frame);
    if (!frame) return;
    const L = frame.states.shape[1];
    this.layer = Math.min(this.layer, L - 1);
    const orders = this.head.rows ? this.curves.rows : null;
    const rows = this.order === "alike" && orders ? orders.subarray(this.layer * frame.states.shape[2]) : null;
    this.words.choices(L, this.layer, orders ? this.order : "index", Boolean(orders), frame.states.shape[2], this.zoom);
    this.reading = new Reading(frame, this.layer, rows);
    const list = this.shared.points(this.head.probe);
    this.list = list;
    const width = map.clientWidth;
    const height = map.clientHeight - STRIP - 2;
    if (width < 20 || height < 20) return;
    const columns = this.reading.length;
    const { units } = this.reading;
    const shown = { from: 0, count: this.zoom && this.zoom < units ? this.zoom : units };
    const view = { first: 0, last: columns, columns, rows: shown, width, height, strip: STRIP };
    this.heat.draw(this.reading, view, this.theme[this.head.scale], this.theme.background);
    const room = width / columns;
    if (room >= NARROW) this.heat.letters(list, this.reading, view, this.theme, this.font);
    this.heat.strip.hidden = room < NARROW;
    this.cursor();
  }

  cursor() {
    if (!this.reading) return;
    const { reading, list } = this;
    const t = this.hover ?? reading.length;
    const mark = this.root.querySelector(".rt-cursor");
    const width = this.root.querySelector(".rt-map").clientWidth / reading.length;
    mark.hidden = this.hover === null;
    mark.style.left = t * width + "px";
    mark.style.width = width + "px";
    this.next.draw(reading, list, t, this.words.percent, this.words.number);
  }
}

// Whether the reader wants things to stay where they are.
function still() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}
