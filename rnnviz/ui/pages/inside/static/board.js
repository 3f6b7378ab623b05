// The board: coloured texts and figures on one cursor, and the conversation with the server.

import { Panel } from "./panel.js";
import { Text } from "./text.js";

export class Board {
  constructor(root, ready, loadPlotly, shared) {
    this.root = root;
    this.ready = ready;
    this.loadPlotly = loadPlotly;
    this.shared = shared;
    this.link = new shared.Link(
      () => this.wish ?? {},
      (late) => this.late(late),
    );
    this.texts = [];
    this.panels = new Map();
    this.hover = null;
    this.observer = new ResizeObserver(() => {
      if (this.root.clientWidth && this.root.clientWidth !== this.width) this.resize();
    });
  }

  close() {
    this.link.close();
    this.observer.disconnect();
    for (const panel of this.panels.values()) panel.close();
  }

  say(name, values = {}) {
    return (this.head.words[name] ?? name).replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
  }

  // A new answer, or the same one in new colours.
  update(component) {
    this.link.send = (ask) => component.setTriggerValue("ask", ask);
    const { data } = component;
    if (!data) return;
    if (data === this.data) {
      if (this.theme() !== this.root.dataset.theme) this.draw();
      return;
    }
    const { header, arrays } = this.shared.unpack(data);
    if (header.client === this.link.client && header.seq < this.link.waiting) return;
    this.data = data;
    this.head = header;
    this.arrays = arrays;
    this.at = header.at;
    this.build();
    this.ready.then(() => {
      this.root.hidden = false;
      this.draw();
      this.observer.observe(this.root);
    });
    this.link.answered(header);
  }

  ask(wish) {
    this.wish = wish;
    this.link.ask();
  }

  // ---- what a reader does -------------------------------------------------------------------------

  point(t) {
    if (t === this.hover) return;
    this.hover = t;
    this.mark();
  }

  choose(t) {
    if (t === null || t < 0 || t >= this.length) return;
    this.at = t;
    this.hover = null;
    this.mark();
    this.ask({ what: "at", value: t });
  }

  select(start, stop) {
    this.ask({ what: "span", value: [start, stop] });
  }

  pick(panel, value) {
    this.ask({ what: "pick", panel, value });
  }

  // ---- looks --------------------------------------------------------------------------------------

  build() {
    if (!this.sheet) {
      const make = (tag, name) => Object.assign(document.createElement(tag), { className: name });
      this.sheet = make("div", "bd-texts");
      this.foot = make("p", "bd-foot");
      this.said = make("span", "bd-said");
      this.key = make("span", "bd-key");
      this.foot.append(this.said, this.key);
      this.grid = make("div", "bd-grid");
      this.root.replaceChildren(this.sheet, this.foot, this.grid);
    }
    const { texts, panels } = this.head;
    while (this.texts.length > texts.length) this.texts.pop().element.remove();
    while (this.texts.length < texts.length) {
      const text = new Text(this);
      this.texts.push(text);
      this.sheet.append(text.element);
    }
    this.texts.forEach((text, i) => text.set(texts[i], this.arrays));
    const linked = this.texts.find((text) => text.linked);
    this.length = linked ? linked.length : 0;
    this.sheet.hidden = !texts.length;
    this.foot.hidden = !texts.length || this.head.quiet;
    const kept = new Set(panels.map((panel) => panel.name));
    for (const [name, panel] of this.panels)
      if (!kept.has(name)) {
        panel.close();
        this.panels.delete(name);
      }
    for (const about of panels) {
      if (!this.panels.has(about.name)) this.panels.set(about.name, new Panel(this));
      const panel = this.panels.get(about.name);
      panel.set(about, this.arrays);
      this.grid.append(panel.element);
    }
    if (this.hover !== null && this.hover >= this.length) this.hover = null;
  }

  draw() {
    if (!this.head) return;
    const theme = this.theme();
    const colours = this.head.themes[theme];
    if (this.root.dataset.theme !== theme)
      for (const name in colours)
        if (typeof colours[name] === "string") this.root.style.setProperty("--bd-" + name, colours[name]);
    this.root.dataset.theme = theme;
    for (const text of this.texts) text.paint(colours.palettes, this.head.levels, theme);
    this.legend(colours.palettes);
    this.width = this.root.clientWidth;
    if (!this.width) return; // in a closed section: the observer tells when it opens
    this.loadPlotly().then(async (missing) => {
      if (missing) this.said.textContent = this.say("missing", { url: missing });
      else for (const panel of [...this.panels.values()]) await panel.draw(theme);
      this.mark();
      this.root.dataset.drawn = (this.drawn = (this.drawn ?? 0) + 1);
    });
  }

  resize() {
    this.width = this.root.clientWidth;
    clearTimeout(this.resizing);
    this.resizing = setTimeout(() => this.draw(), 60);
  }

  legend(palettes) {
    this.key.replaceChildren();
    if (!this.head.scale) return;
    const [palette, low, high] = this.head.scale;
    const band = document.createElement("i");
    band.style.background = `linear-gradient(90deg, ${palettes[palette].map((c) => c[0]).join(",")})`;
    this.key.append(low, band, high);
  }

  // Light or dark, whichever the page's background is.
  theme() {
    const background = getComputedStyle(this.root).getPropertyValue("--st-background-color").trim();
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = background || "#ffffff";
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(probe.fillStyle.slice(i, i + 2), 16));
    return 0.299 * r + 0.587 * g + 0.114 * b < 128 ? "dark" : "light";
  }

  mark() {
    const t = this.hover ?? this.at;
    for (const text of this.texts) text.mark(t, this.at);
    for (const panel of this.panels.values()) panel.mark(t);
    this.tell(t);
  }

  tell(t) {
    if (t === null || t === undefined) {
      this.said.textContent = this.say(this.head.select ? "idle.select" : "idle");
      return;
    }
    const linked = this.texts.filter((text) => text.linked);
    const parts = [this.say("at", { n: (t + 1).toLocaleString() }) + " " + (linked[0]?.character(t) ?? "")];
    for (const text of linked) {
      const value = text.value(t);
      if (value !== null) parts.push((text.said ? text.said + " " : "") + value);
    }
    this.said.textContent = parts.join(" · ");
  }

  late(is) {
    if (is) this.said.textContent = this.say("late");
  }
}
