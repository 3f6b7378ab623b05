// What stands around every scene: its size, its steps, the way to the others, keys, the address.

import { Board } from "./kit.js";

const MARKUP = `
<div class="ln-stage"><div class="ln-scene"></div></div>
<div class="ln-foot">
  <p class="ln-notice" role="status"></p>
  <div class="ln-tools">
    <div class="ln-steps"></div>
    <nav class="ln-scenes"></nav>
    <button type="button" class="ln-present"></button>
  </div>
</div>
`;

const BASE = 22; // units of a line of type: a board is measured in these, whatever the screen
const WIDTH = 1240; // units that every board has at least, across and down
const HEIGHT = 540;
const FOREIGN = ["lang"]; // what the page keeps there, which is not ours

const decoder = new TextDecoder();
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

export class Frame {
  constructor(root, base, ready, Link) {
    this.root = root;
    this.base = base;
    this.ready = ready;
    this.modules = {};
    this.locals = {}; // what each scene remembers in the browser alone
    this.seen = {}; // the last step known of each scene
    this.pending = null; // what is asked of the scene and not yet on its way
    this.flying = null;
    this.link = new Link(
      () => this.wish(),
      (late) => this.late(late),
    );
    this.onKey = (event) => this.key(event);
    this.onSize = () => this.resized();
    this.paint = new MessageChannel();
    this.paint.port1.onmessage = () => this.painted();
  }

  close() {
    this.link.close();
    this.board?.close();
    document.removeEventListener("keydown", this.onKey);
    window.removeEventListener("resize", this.onSize);
    this.observer?.disconnect();
    this.paint.port1.close();
  }

  // A new answer, or the same one in new colours.
  update(component) {
    this.link.send = (ask) => component.setTriggerValue("ask", ask);
    const { data } = component;
    if (!data) return;
    if (data === this.data) {
      if (this.dress()) this.redraw();
      return;
    }
    this.data = data;
    const answer = JSON.parse(decoder.decode(data));
    const own = answer.client === this.link.client;
    if (own && answer.seq < this.link.waiting) return;
    const moved = !this.answer || this.answer.scene !== answer.scene;
    this.answer = answer;
    this.flying = null;
    if (!this.link.wanted || !own) {
      this.scene = answer.scene;
      this.present = answer.present;
    }
    // A step asked for since then is not undone by an older answer.
    if (!this.link.wanted || this.scene !== answer.scene) this.seen[answer.scene] = answer.step;
    this.link.answered(answer);
    if (!this.board) this.build();
    this.dress();
    this.words();
    const file = `${this.base}/scene_${answer.scene}.js`;
    this.modules[answer.scene] ??= import(new URL(file, window.location.origin).href);
    Promise.all([this.modules[answer.scene], this.ready]).then(([module]) => {
      if (this.answer !== answer) return;
      this.module = module;
      if (moved) this.board.empty((this.locals[answer.scene] ??= {}));
      this.root.hidden = false;
      this.resized(true);
    });
    this.address();
  }

  build() {
    this.root.innerHTML = MARKUP; // constant, and the only one
    const find = (name) => this.root.querySelector(".ln-" + name);
    for (const name of ["notice", "steps", "scenes", "present", "stage"]) this["$" + name] = find(name);
    this.board = new Board(find("scene"), (ask) => this.ask(ask), () => this.redraw());
    this.$present.onclick = () => this.presenting(!this.present);
    // A button that was clicked lets go of the keys: Space means the next step again.
    this.root.addEventListener("pointerup", () =>
      setTimeout(() => {
        const focused = this.root.getRootNode().activeElement;
        if (focused?.matches("button, [role=button], input[type=range]")) focused.blur();
      }),
    );
    document.addEventListener("keydown", this.onKey);
    window.addEventListener("resize", this.onSize);
    this.observer = new ResizeObserver(this.onSize);
    this.observer.observe(this.root.parentElement);
  }

  // The page's colours: light or dark, whichever its background is. Returns whether they are new.
  dress() {
    const style = getComputedStyle(this.root);
    const background = style.getPropertyValue("--st-background-color").trim() || "#ffffff";
    if (background === this.background) return false;
    this.background = background;
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = background;
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(probe.fillStyle.slice(i, i + 2), 16));
    const theme = this.answer.themes[0.299 * r + 0.587 * g + 0.114 * b < 128 ? "dark" : "light"];
    for (const [name, colour] of Object.entries(theme))
      if (typeof colour === "string") this.root.style.setProperty("--ln-" + name, colour);
    this.root.dataset.theme = theme.name;
    this.board.theme = theme;
    this.board.font = style.getPropertyValue("--st-font").trim() || "sans-serif";
    this.board.mono = style.getPropertyValue("--st-code-font").trim() || "monospace";
    return true;
  }

  // Everything around the picture that is said in words or dots.
  words() {
    const { answer } = this;
    const { words, titles, steps } = answer;
    this.board.said = words;
    this.$notice.replaceChildren(bold(words.notice), answer.notice);
    const step = this.seen[answer.scene] ?? answer.step;
    const dots = titled("button", fill(words.step, { n: step + 1, count: steps }), "ln-dots");
    for (let i = 0; i < steps; i++) dots.append(made("i", i <= step ? "ln-done" : ""));
    dots.append(made("span", "", `${step + 1}/${steps}`));
    dots.onclick = () => this.step(this.at + 1);
    dots.title = words.next;
    const back = titled("button", words.back, "", "↑");
    back.onclick = () => this.step(this.at - 1);
    back.disabled = step === 0;
    this.$steps.replaceChildren(...(steps > 1 ? [back, dots] : []));
    this.$scenes.setAttribute("aria-label", words.scenes);
    const before = titled("button", words["scene.back"], "", "‹");
    before.disabled = answer.scene === 1;
    before.onclick = () => this.go(this.scene - 1);
    const after = titled("button", words["scene.next"], "", "›");
    after.disabled = answer.scene === titles.length;
    after.onclick = () => this.go(this.scene + 1);
    const numbers = titles.map((title, i) => {
      const button = titled("button", `${i + 1} · ${title}`, "ln-number", String(i + 1));
      if (i + 1 === answer.scene) button.setAttribute("aria-current", "step");
      button.onclick = () => this.go(i + 1);
      return button;
    });
    this.$scenes.replaceChildren(before, ...numbers, after);
    this.$present.textContent = this.present ? "✕" : words.present;
    this.$present.title = this.present ? words.leave : words["present.help"];
    this.$present.setAttribute("aria-label", this.$present.title);
    this.root.classList.toggle("ln-presenting", this.present);
  }

  // ---- asking -------------------------------------------------------------------------------------

  wish() {
    // What was under way when an answer got lost is asked again.
    this.flying = { ...this.flying, ...this.pending };
    this.pending = null;
    const wish = { scene: this.scene, present: this.present, ask: this.flying };
    if (this.scene in this.seen) wish.step = this.seen[this.scene];
    return wish;
  }

  ask(change) {
    if (this.scene !== this.answer.scene) return; // already leaving
    this.pending = { ...this.pending, ...change };
    this.start();
  }

  start() {
    this.began ??= performance.now();
    this.root.dataset.rest = "false";
    this.link.ask();
  }

  get at() {
    return this.seen[this.scene] ?? 0;
  }

  step(to) {
    const { answer } = this;
    const last = this.scene === answer.scene ? answer.steps - 1 : Infinity;
    if (to < 0 || to > last) return false;
    this.seen[this.scene] = to;
    this.start();
    return true;
  }

  go(scene) {
    if (scene < 1 || scene > this.answer.titles.length || scene === this.scene) return;
    this.scene = scene;
    this.pending = this.flying = null;
    this.start();
  }

  presenting(on) {
    this.present = on;
    this.start();
  }

  late(is) {
    this.root.classList.toggle("ln-late", is);
    if (is) this.$notice.textContent = this.answer.words.late;
  }

  // ---- keys ---------------------------------------------------------------------------------------

  key(event) {
    if (!this.answer || event.defaultPrevented || event.isComposing) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.composedPath()[0];
    const typing = target.closest?.("input, textarea, select, [contenteditable=true], [role=listbox]");
    if (event.key === "Escape") {
      if (typing) return target.blur();
      if (this.present) this.presenting(false);
      return;
    }
    if (typing) return;
    if (event.key === " " && target.closest?.("button, [role=button], a, summary")) return;
    const moves = {
      " ": () => this.step(this.at + (event.shiftKey ? -1 : 1)),
      ArrowDown: () => this.step(this.at + 1),
      ArrowUp: () => this.step(this.at - 1),
      ArrowRight: () => this.go(this.scene + 1),
      ArrowLeft: () => this.go(this.scene - 1),
      // A clicker's two keys walk through everything.
      PageDown: () => this.step(this.at + 1) || this.go(this.scene + 1),
      PageUp: () => this.step(this.at - 1) || this.go(this.scene - 1),
      p: () => this.presenting(!this.present),
      P: () => this.presenting(!this.present),
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    moves[event.key]();
  }

  // ---- the address --------------------------------------------------------------------------------

  // What brings this scene back, without a place of its own in the browser's history.
  address() {
    const now = new URLSearchParams(window.location.search);
    const next = new URLSearchParams(this.answer.query);
    for (const name of FOREIGN) if (now.has(name)) next.set(name, now.get(name));
    const query = next.toString();
    if (query !== now.toString())
      window.history.replaceState(window.history.state, "", `${window.location.pathname}?${query}`);
  }

  // ---- drawing ------------------------------------------------------------------------------------

  // All the room there is: as wide as the page, and down to the window's lower edge.
  resized(always = false) {
    if (this.root.hidden || !this.module) return;
    const top = this.root.getBoundingClientRect().top;
    const height = Math.max(300, Math.floor(window.innerHeight - top - 6));
    this.root.style.height = height + "px";
    const { clientWidth: w, clientHeight: h } = this.$stage;
    const size = `${w} ${h}`;
    if (!always && size === this.size) return;
    this.size = size;
    const scale = Math.max(0.3, Math.min(w / WIDTH, h / HEIGHT));
    this.root.style.setProperty("--type", scale * BASE + "px");
    this.board.measure(w / scale, h / scale, scale);
    this.redraw();
  }

  redraw() {
    const { answer, module } = this;
    if (!module || this.root.hidden || !this.size) return;
    if (answer.error) this.board.trouble(answer.error);
    else this.board.draw(module, answer.data, answer.step);
    requestAnimationFrame(() => this.paint.port2.postMessage(0));
  }

  // Tell whoever watches what is on the screen, and how long it took to get there.
  painted() {
    const { root, answer } = this;
    root.dataset.scene = answer.scene;
    root.dataset.step = answer.step;
    root.dataset.drawn = (Number(root.dataset.drawn) || 0) + 1;
    if (this.began !== undefined && !this.link.waiting && !this.link.wanted) {
      root.dataset.took = (performance.now() - this.began).toFixed(1);
      this.began = undefined;
    }
    root.dataset.answered = answer.seq;
    root.dataset.rest = String(!this.link.waiting && !this.link.wanted);
  }
}

function made(tag, name, text = "") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.textContent = text;
  return element;
}

function titled(tag, title, name, text = "") {
  const element = made(tag, name, text);
  element.type = "button";
  element.title = title;
  element.setAttribute("aria-label", title);
  return element;
}

function bold(text) {
  return made("b", "", text);
}
