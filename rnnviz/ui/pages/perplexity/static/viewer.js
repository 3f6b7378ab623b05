// The text viewer: what its parts tell one another, and the conversation with the server.

import { Chunks } from "./chunks.js";
import { Curve } from "./curve.js";
import { Detail } from "./detail.js";
import { explain } from "./key.js";
import { MARKUP } from "./markup.js";
import { Pane } from "./pane.js";

const DWELL = 110; // milliseconds that a pointer rests before the server is asked about a character
const MODES = ["surprisal", "rank", "versus"];
const TOLD = 400; // characters told about that are remembered

export class Viewer {
  constructor(root, ready, loadPlotly, shared) {
    this.root = root;
    this.ready = ready;
    this.loadPlotly = loadPlotly;
    this.shared = shared;
    this.chunks = new Chunks();
    this.link = new shared.Link(
      () => this.wish(),
      (late) => this.root.classList.toggle("vw-late", late),
    );
    this.told = new Map();
    this.mode = "surprisal";
    this.digest = "";
    this.jumped = 0;
    this.hover = this.pinned = null;
    this.at = null; // the character that the server is asked about
  }

  close() {
    this.link.close();
    this.curve?.close();
    this.observer?.disconnect();
    clearTimeout(this.resting);
  }

  say(name, values = {}) {
    const word = this.fixed.words[name] ?? name;
    return word.replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
  }

  // A new answer, or the same one in new colours.
  update(component) {
    this.link.send = (ask) => component.setTriggerValue("ask", ask);
    const { data } = component;
    if (!data) return;
    if (data === this.data) return this.dress();
    this.data = data;
    const { header, arrays } = this.shared.unpack(data);
    const own = header.client === this.link.client;
    if (own && header.seq < this.link.waiting) return;
    if (header.static) this.begin(header, arrays);
    else if (header.digest !== this.digest) {
      this.digest = "";
      this.link.wanted = true;
    }
    if (header.digest === this.digest) this.receive(header, arrays, own);
    this.link.answered(header);
    this.need();
  }

  // The unchanging part: another text, another model or language, or the page made anew.
  begin(header, arrays) {
    const other = header.digest !== this.digest;
    this.fixed = header.static;
    this.digest = header.digest;
    if (!this.pane) this.build();
    if (other) {
      this.chunks.clear();
      this.told.clear();
      this.pane.reset();
      this.hover = this.pinned = this.at = null;
      this.chunks.length = header.length;
      this.first = true;
    }
    this.curve.set(arrays, header.length);
    this.labels();
    this.dress(true);
  }

  receive(header, arrays, own) {
    this.chunks.take(header, arrays);
    if (header.told) {
      this.told.set(header.told.at, header.told);
      if (this.told.size > TOLD) this.told.delete(this.told.keys().next().value);
      if (this.at === header.told.at) this.at = null;
      this.tell();
    }
    if (this.first) {
      this.first = false;
      this.pane.recolour(this.mode, this.fixed);
      this.jumped = header.jump && header.place !== header.jump[1] ? header.jump[0] : 0;
      this.pane.go(header.place, false, 0);
    }
    if (header.jump && header.jump[0] !== this.jumped) {
      const [serial, start, stop] = header.jump;
      this.jumped = serial;
      this.pane.marked = [start, stop];
      this.pane.go(start);
      if (!own) this.root.querySelector(".vw-frame").scrollIntoView({ block: "nearest", behavior: "smooth" });
    }
    this.pane.fill();
    this.reveal();
  }

  reveal() {
    if (!this.root.hidden) return;
    this.ready.then(() => {
      this.root.hidden = false;
      this.observer.observe(this.root);
      this.draw();
      this.pane.stay();
      this.need();
    });
  }

  // ---- asking -------------------------------------------------------------------------------------

  wish() {
    if (!this.pane) return { fresh: true };
    const wish = { chunks: this.pane.missing().slice(0, 6), place: this.pane.sight()[0], static: this.digest };
    if (this.at !== null) wish.at = this.at;
    return wish;
  }

  need() {
    if (!this.pane || this.root.hidden) return;
    if (this.pane.missing().length || this.at !== null) this.link.ask();
    else this.link.wanted = false;
  }

  // ---- what a reader does -------------------------------------------------------------------------

  point(position) {
    if (position === this.hover) return;
    this.hover = position;
    this.curve.point(position);
    this.tell();
    clearTimeout(this.resting);
    if (position !== null) this.resting = setTimeout(() => this.wonder(position), DWELL);
  }

  pick(position) {
    this.pinned = position;
    this.hover = null;
    this.pane.pin(position);
    this.pane.go(position, true);
    this.pane.pin(position);
    this.tell();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.wonder(position), DWELL);
  }

  wonder(position) {
    if (this.told.has(position)) return;
    this.at = position;
    this.need();
  }

  tell() {
    const position = this.hover ?? this.pinned;
    const facts = position === null ? null : this.chunks.tell(position);
    this.detail.show(facts, facts && this.told.get(position), this.fixed, this.chunks.length);
  }

  // What the curve's values are at a place.
  sayCurve(position) {
    this.curve.point(position);
    if (position === null) {
      this.sayings.textContent = this.say("curve.notice");
      return;
    }
    const { at, lines } = this.curve.values(position);
    const number = (v) => (Number.isFinite(v) ? v.toPrecision(3) : "–");
    const [running, rolling] = ["running", "rolling"].map((name) => lines.map((l) => number(l[name])).join(" / "));
    this.sayings.textContent = this.say("curve.at", { at: at.toLocaleString(), running, rolling });
  }

  // ---- looks --------------------------------------------------------------------------------------

  build() {
    this.root.innerHTML = MARKUP; // constant, and the only one
    const find = (name) => this.root.querySelector(name);
    this.sayings = find(".vw-say");
    this.select = find(".vw-mode");
    this.number = find(".vw-number");
    this.pane = new Pane(this.root, this.chunks, {
      need: () => this.need(),
      scrolled: (first, last) => this.scrolled(first, last),
      point: (position) => this.point(position),
      pick: (position) => this.pick(position),
    });
    this.curve = new Curve(this.root, this.loadPlotly, {
      jump: (position) => this.pane.jump(position),
      say: (position) => this.sayCurve(position),
    });
    this.detail = new Detail(this.root, this.shared.visible, (name, values) => this.say(name, values));
    this.select.onchange = () => {
      this.mode = this.select.value;
      this.pane.recolour(this.mode, this.fixed);
      this.pane.fill();
      explain(this.root, this.mode, this.fixed, (name, values) => this.say(name, values));
    };
    this.number.onchange = () => {
      const position = parseInt(this.number.value.replace(/\D/g, ""), 10) - 1;
      if (Number.isNaN(position)) return;
      this.pick(Math.max(0, Math.min(this.chunks.length - 1, position)));
      this.pane.jump(this.pinned);
    };
    this.observer = new ResizeObserver(() => {
      if (!this.root.clientWidth || this.root.clientWidth === this.width) return;
      this.pane.stay();
      this.draw();
    });
  }

  scrolled(first, last) {
    this.curve.see(first, last);
    const values = { from: first + 1, to: Math.max(first + 1, last), n: this.chunks.length };
    for (const name in values) values[name] = values[name].toLocaleString();
    this.root.querySelector(".vw-place").textContent = this.say("place", values);
    this.root.dataset.place = first;
  }

  labels() {
    for (const element of this.root.querySelectorAll("[data-word]"))
      element.textContent = this.say(element.dataset.word);
    for (const element of this.root.querySelectorAll("[data-label]"))
      element.setAttribute("aria-label", this.say(element.dataset.label));
    const offered = MODES.filter((mode) => mode !== "versus" || this.fixed.names.length > 1);
    this.mode = offered.includes(this.mode) ? this.mode : "surprisal";
    this.select.replaceChildren(...offered.map((mode) => new Option(this.say("colour." + mode), mode)));
    this.select.value = this.mode;
    const legend = this.root.querySelector(".vw-legend");
    legend.replaceChildren();
    const { names } = this.fixed;
    const entry = (line, n, text) => {
      const made = document.createElement("span");
      made.className = `vw-line vw-${line} vw-model-${n}`;
      made.append(document.createElement("i"), text);
      legend.append(made);
    };
    const running = this.say("curve.running");
    const rolling = this.say("curve.rolling", { n: this.fixed.window.toLocaleString() });
    if (names.length === 1) {
      entry("running", 0, running);
      entry("rolling", 0, rolling);
    } else {
      names.forEach((name, n) => entry("running", n, name));
      legend.append(this.say("curve.both", { running, rolling }));
    }
    this.sayCurve(null);
    this.tell();
  }

  // The page's colours: light or dark, whichever its background is.
  dress(anew = false) {
    if (!this.fixed) return;
    const background = getComputedStyle(this.root).getPropertyValue("--st-background-color").trim();
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = background || "#ffffff";
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(probe.fillStyle.slice(i, i + 2), 16));
    const theme = this.fixed.themes[0.299 * r + 0.587 * g + 0.114 * b < 128 ? "dark" : "light"];
    if (theme === this.theme && !anew) return;
    this.theme = theme;
    for (const name of ["came", "cursor", "pinned", "bar", "muted", "grid", "model", "ngram"])
      this.root.style.setProperty("--vw-" + name, theme[name]);
    for (const mode of ["surprisal", "bands", "versus"]) {
      theme[mode].forEach((colour, n) => this.root.style.setProperty(`--vw-${mode}-${n}`, colour));
      this.root.style.setProperty("--vw-ramp-" + mode, `linear-gradient(90deg, ${theme[mode].join(",")})`);
    }
    this.root.dataset.theme = theme.name;
    explain(this.root, this.mode, this.fixed, (name, values) => this.say(name, values));
    if (!this.root.hidden) this.draw();
  }

  draw() {
    this.width = this.root.clientWidth;
    if (!this.width) return; // in a closed tab or section: the observer tells when it opens
    this.curve.draw(this.theme).then((missing) => {
      if (missing) this.sayings.textContent = this.say("missing", { address: missing });
    });
  }
}
