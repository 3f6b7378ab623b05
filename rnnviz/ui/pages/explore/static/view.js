// The live view: what the parts tell one another.

import { points } from "./characters.js";
import { Controls } from "./controls.js";
import { Editor } from "./editor.js";
import { Figure } from "./figure.js";
import { Link } from "./link.js";
import { MARKUP } from "./markup.js";
import { Next } from "./next.js";
import { Numbers } from "./numbers.js";
import { Store } from "./store.js";
import { unpack } from "./wire.js";

const SHORTEST = 330; // pixels of the picture's height
const TALLEST = 680;
const BELOW = 34; // room for what stands under it

export class View {
  constructor(root, ready, loadPlotly) {
    this.root = root;
    this.ready = ready; // resolves when the view can be shown
    const shown = new Promise((resolve) => (this.shown = resolve));
    // Resolves to "" or to the address where Plotly was not found. Reading the library keeps the browser
    // busy for a second: the first picture goes before it.
    this.plotly = shown.then(loadPlotly);
    this.store = new Store();
    this.link = new Link(
      () => this.wish(),
      (late) => this.controls?.late(late),
    );
    this.drawn = []; // the characters of the text that the store speaks of
    this.asked = [];
    this.follow = true;
    this.start = 0;
    this.quantity = "hidden";
    this.layer = 0;
    this.order = "alike";
    this.unit = null; // the unit that colours the text; null for surprisal
    this.hover = null; // {t, unit}
    this.pin = null;
    this.paintChannel = new MessageChannel();
    this.paintChannel.port1.onmessage = ({ data }) => {
      this.root.dataset.painted = data;
      setTimeout(() => requestIdleCallback(this.shown, { timeout: 1000 }), 250);
    };
  }

  close() {
    this.link.close();
    this.editor?.close();
    this.figure?.close();
    this.observer?.disconnect();
    window.removeEventListener("resize", this.onResize);
    this.paintChannel.port1.close();
  }

  // A new answer, or the same one in new colours.
  update(component) {
    this.link.send = (ask) => component.setTriggerValue("ask", ask);
    const { data } = component;
    if (!data) return;
    if (data === this.data) {
      this.dress();
      this.redraw();
      return;
    }
    this.data = data;
    const { header, arrays } = unpack(data);
    const own = header.client === this.link.client;
    if (own && header.seq < this.link.waiting) return;
    const tells = header.text !== undefined; // of a text that may not be the one written here
    // Not whole: it continues an answer that never arrived here, or was one to a view that is no more.
    const whole = this.store.apply(header, arrays) && (own || tells);
    if (whole) this.drawn = tells ? points(header.text) : this.asked;
    if (whole && header.static) this.build();
    if (!whole) {
      this.store.revision = 0;
      this.store.digest = "";
      this.link.wanted = true;
    } else if (tells) this.meet(header);
    this.link.answered(header);
    if (header.continuation !== undefined) this.controls.write(header.continuation);
    if (whole) this.redraw();
  }

  // The page was run anew, or this view was made anew.
  meet(header) {
    if (header.offer !== this.offer) {
      this.offer = header.offer;
      this.pin = null;
      this.editor.set(header.text);
      this.drawn = this.editor.points;
    } else if (this.editor.text !== header.text) this.link.wanted = true;
    const { quantities, layers, units } = this.store.fixed;
    if (!(this.quantity in quantities)) this.quantity = "hidden";
    this.layer = Math.min(this.layer, layers - 1);
    if (this.unit !== null && this.unit >= units) this.unit = null;
    const kept = [this.quantity, this.layer, this.order, this.unit];
    const { quantity, layer, order, unit, length, start } = this.store.head;
    const columns = this.figure.columns(length, this.store.fixed.symbols.length);
    this.start = Math.max(start, this.store.stop - columns);
    if (kept.join() !== [quantity, layer, order, unit].join()) this.link.wanted = true;
  }

  // Make the elements when the first answer is here; give them other words when the language changes.
  build() {
    const { fixed } = this.store;
    const { words } = fixed;
    if (!this.editor) {
      this.root.innerHTML = MARKUP; // constant, and the only one
      this.editor = new Editor(this.root, fixed.limit, {
        change: () => this.typed(),
        caret: () => this.moved(),
        point: (t) => this.point(t === null ? null : { t, unit: null }),
        limit: (beyond) => this.controls.beyond(beyond),
      });
      this.figure = new Figure(this.root.querySelector(".rv-figure"), this.plotly, {
        point: (event) => this.point(event && this.figure.under(event, this.store)),
        pick: (event) => this.pick(this.figure.under(event, this.store)),
        scroll: (columns) => this.scroll(this.start + columns),
        rows: () => this.redraw(),
      });
      this.root.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && !this.editor.composing) this.release();
      });
      this.figure.pad.addEventListener("keydown", (event) => this.key(event));
      this.onResize = () => this.resized();
      window.addEventListener("resize", this.onResize);
      this.observer = new ResizeObserver(this.onResize);
    }
    this.numbers = new Numbers(this.root, words, fixed.language);
    this.next = new Next(this.root, words);
    this.root.querySelector(".rv-next-list").replaceChildren();
    this.controls = new Controls(this, words);
    this.dress();
    if (this.root.hidden)
      this.ready.then(() => {
        this.root.hidden = false;
        this.plotly.then((missing) => missing && this.controls.missing(missing));
        this.observer.observe(this.root);
        this.resized();
      });
  }

  // The page's colours: light or dark, whichever its background is.
  dress() {
    if (!this.store.fixed) return;
    const style = getComputedStyle(this.root);
    const background = style.getPropertyValue("--st-background-color").trim();
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = background || "#ffffff";
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(probe.fillStyle.slice(i, i + 2), 16));
    this.theme = this.store.fixed.themes[0.299 * r + 0.587 * g + 0.114 * b < 128 ? "dark" : "light"];
    this.font = style.getPropertyValue("--st-code-font").trim() || "monospace";
    for (const name of ["came", "cursor", "pinned", "bar", "muted", "grid", "model", "ngram", "uniform"])
      this.root.style.setProperty("--rv-" + name, this.theme[name]);
    this.root.dataset.theme = this.theme.name;
    const { diverging, sequential } = this.theme;
    const soft = (colours) => colours.map((colour) => colour + "66");
    this.behind = { diverging: soft(diverging), sequential: soft(sequential), surprisal: this.theme.surprisal };
  }

  // ---- asking -------------------------------------------------------------------------------------

  wish() {
    if (!this.editor) return { fresh: true };
    this.asked = this.editor.points;
    const { store } = this;
    const wish = {
      text: this.editor.text,
      columns: this.figure.columns(this.asked.length, store.fixed.symbols.length),
      quantity: this.quantity,
      layer: this.layer,
      order: this.order,
      unit: this.unit,
      base: store.revision,
      static: store.digest,
      write: this.writes === true,
    };
    this.start = wish.start = this.place(this.asked.length, wish.columns);
    this.writes = false;
    return wish;
  }

  // The window's first character: with the caret in sight, or where the reader moved it.
  place(length, columns) {
    const last = Math.max(0, length - columns);
    if (!this.follow) return Math.min(this.start, last);
    const { caret } = this.editor;
    if (caret >= length - 1) return last;
    const inSight = caret >= this.start + 2 && caret <= this.start + columns - 2;
    return Math.max(0, Math.min(last, inSight ? this.start : caret - Math.floor(columns * 0.7)));
  }

  typed() {
    this.follow = true;
    if (this.pin !== null && this.pin >= this.editor.points.length) this.pin = null;
    if (!this.controls.appending) this.controls.stop();
    this.link.ask();
  }

  // The caret went elsewhere: so does the window, if it follows.
  moved() {
    if (!this.follow || !this.store.head || this.editor.points !== this.drawn) return;
    if (this.place(this.store.length, this.columns) !== this.start) this.link.ask();
  }

  // Move the window to begin at a character. Whether it moved.
  scroll(start) {
    const last = Math.max(0, this.store.length - this.columns);
    const to = Math.max(0, Math.min(last, start));
    if (to === this.start && !this.follow) return last > 0;
    this.follow = false;
    this.start = to;
    this.link.ask();
    return last > 0;
  }

  followCaret() {
    this.follow = true;
    this.link.ask();
  }

  // Show fewer rows of the heat map, larger, around the chosen unit's.
  zoom(count) {
    this.figure.zoomTo(count, this.unit === null ? 0 : this.store.row(this.unit));
    this.redraw();
  }

  choose(changes) {
    Object.assign(this, changes);
    this.link.ask();
  }

  // ---- the cursor ---------------------------------------------------------------------------------

  point(place) {
    if (place?.t === this.hover?.t && place?.unit === this.hover?.unit) return;
    this.hover = place;
    this.cursor();
  }

  pick(place) {
    if (!place) return;
    this.pin = this.pin === place.t && (place.unit === null || place.unit === this.unit) ? null : place.t;
    if (place.unit !== null && place.unit !== this.unit) this.choose({ unit: place.unit });
    this.cursor();
  }

  // Escape lets go of the kept column first, then of the unit.
  release() {
    if (this.pin !== null) this.pin = null;
    else if (this.unit !== null) this.choose({ unit: null });
    this.cursor();
  }

  key(event) {
    const { store } = this;
    if (!store.length || event.ctrlKey || event.metaKey || event.altKey) return;
    const pace = event.shiftKey ? 10 : 1;
    const t = this.hover?.t ?? this.pin ?? store.stop;
    const along = { ArrowLeft: t - pace, ArrowRight: t + pace, Home: 0, End: store.length - 1 }[event.key];
    const down = { ArrowUp: -pace, ArrowDown: pace }[event.key];
    if (along !== undefined) {
      const to = Math.max(0, Math.min(store.length - 1, along));
      this.hover = { t: to, unit: null };
      if (to < this.start) this.scroll(to);
      else if (to >= this.start + this.columns) this.scroll(to - this.columns + 1);
    } else if (down !== undefined) {
      const row = this.unit === null ? 0 : store.row(this.unit) + down;
      const to = Math.max(0, Math.min(store.units - 1, row));
      const { from, count } = this.figure.rows(store);
      if (to < from || to >= from + count) this.figure.zoomTo(this.figure.zoom.count, to);
      this.choose({ unit: store.unitAt(to) });
    } else if (event.key === "Enter" || event.key === " ") {
      this.pin = this.pin === t || t >= store.length ? null : t;
    } else return;
    event.preventDefault();
    this.cursor();
  }

  // Show everywhere what the cursor is on.
  cursor() {
    const { store, drawn } = this;
    if (!store.head || !this.figure.view) return;
    const place = this.hover ?? (this.pin === null ? null : { t: this.pin, unit: null });
    const t = place && store.holds(place.t) && place.t < store.length ? place.t : null;
    this.figure.mark("cursor", this.hover && t);
    this.figure.mark("pinned", this.pin);
    this.figure.markUnit(store, this.unit);
    this.editor.light("point", this.hover && t);
    this.editor.light("pin", this.pin);
    const end = store.holds(store.length) ? store.length : store.stop;
    this.next.draw(store, drawn, t ?? end, this.numbers.percent, this.numbers.number);
    this.numbers.readout(store, drawn, t, place?.unit ?? this.unit, this.pin !== null && t === this.pin);
  }

  // ---- drawing ------------------------------------------------------------------------------------

  get columns() {
    return this.figure.columns(this.store.length, this.store.fixed.symbols.length);
  }

  redraw() {
    if (!this.store.head || this.root.hidden || !this.figure.box) return;
    const { store, drawn } = this;
    const first = Math.max(store.start, Math.min(this.start, store.stop - this.columns));
    this.figure.draw(store, drawn, first, this.columns, this.theme, this.font).then(() => this.painted());
    this.colour();
    this.numbers.draw(store);
    this.controls.draw(store, first);
    this.cursor();
  }

  // Tell whoever watches what is on the screen: once the browser has painted the frame.
  painted() {
    const { length } = this.store;
    requestAnimationFrame(() => {
      this.paintChannel.port2.postMessage(String(length));
      this.controls.keepWriting();
    });
  }

  // The colours behind the text: by one unit's activation, or by surprisal.
  colour() {
    const { store } = this;
    const { unit, quantity } = store.head;
    const nll = store.columns.nll.data;
    const levels = store.columns.unit.data;
    const { kind, low } = store.fixed.quantities[quantity];
    const middle = low < 0 ? 127 : 0;
    const step = 254 / (store.fixed.surprisalFull * Math.LN2);
    const { surprisal, [kind]: palette } = this.behind;
    const byUnit = (t) => (Math.abs(levels[t] - middle) < 4 ? "" : palette[levels[t]]);
    const bySurprisal = (t) => surprisal[Math.min(254, Math.round(nll[t] * step))];
    const colourOf = unit !== null && this.unit !== null ? byUnit : bySurprisal;
    this.editor.paint(colourOf, (t) => store.isUnknown(t), this.drawn, this.theme.came);
  }

  // As high as the window allows, so that nothing has to be scrolled.
  resized() {
    if (this.root.hidden || !this.store.head) return;
    const stage = this.root.querySelector(".rv-stage");
    const scroller = this.root.getRootNode().host?.closest("[data-testid='stMain']");
    const top = stage.getBoundingClientRect().top + (scroller?.scrollTop ?? window.scrollY);
    const height = Math.round(Math.max(SHORTEST, Math.min(TALLEST, window.innerHeight - top - BELOW)));
    const { clientWidth } = this.figure.root;
    if (this.figure.box?.height === height && this.figure.box.width === clientWidth) return;
    stage.style.height = height + "px";
    this.figure.layOut(height);
    this.redraw();
    if (this.store.stop - this.store.start < Math.min(this.columns, this.store.length)) this.link.ask();
  }
}

