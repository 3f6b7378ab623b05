// What stands around every scene: its size, its steps, the way to the others, keys, the address.

import { BaseView } from "../../../browser/static/base.js";
import { find, make } from "../../../browser/static/dom.js";
import { sayer } from "../../../browser/static/messages.js";
import { Numbers } from "../../../browser/static/number_format.js";
import { loadPlotly } from "../../../browser/static/plotly.js";
import { dress, fonts } from "../../../browser/static/theme.js";
import { Board } from "./board.js";
import { CodePanel } from "./code.js";
import { moves } from "./footer.js";
import { fonts as typefaces } from "./formula.js";
import { Header } from "./header.js";
import { key } from "./keys.js";
import { PresenterChannel } from "./presenter_channel.js";
import { draw } from "./primitives.js";
import { Room } from "./room.js";
import { glide, places } from "./transition.js";

/** @import { Answer, DeskKey } from "./types" */

const BASE = 22; // units of a line of type: a board is measured in these, whatever the screen
const WIDTH = 1240; // units that a stage has, across and down
const HEIGHT = 540;
const SMALLEST = 0.68; // pixels a unit: below, parts stand one below the other, and the picture scrolls
const FOREIGN = ["lang"]; // what the page keeps in the address, which is not ours

const decoder = new TextDecoder();

export class View extends BaseView {
  /** @type {Answer} */
  answer;
  ready = false; // whether style sheet and typefaces are here
  /** @type {[page: Uint8Array, newest: Uint8Array] | undefined} what the view that stood here before had heard */
  before = undefined;
  /** @type {Uint8Array | undefined} */
  newest;
  /** @type {string | undefined} the name of a step to go to, until it is on its way */
  named;
  /** @type {Record<number, number>} the last step known of each scene */
  seen = {};
  /** @type {object | null} what is asked of the scene and not yet on its way */
  pending = null;
  /** @type {object | null} */
  flying = null;
  scene = 1;
  present = false;
  size = "";
  drawn = ""; // the step that is on the stage
  /** @type {number | undefined} */
  began;
  paint = new MessageChannel();
  onKey = (/** @type {KeyboardEvent} */ event) => key(this, event);
  onSize = () => this.resized();

  /** @param {HTMLElement} root @param {Promise<unknown>} styled */
  constructor(root, styled) {
    super(root, styled);
    this.stage = find(root, "div.ln-stage");
    this.notice = find(root, "p.ln-notice");
    this.presents = find(root, "button.ln-present");
    this.board = new Board(
      find(root, "div.ln-scene"),
      (change) => this.ask(change),
      () => this.redraw(),
    );
    this.board.visit = (name, ask) => this.visit(name, ask);
    this.head = new Header(root, this.board);
    this.lights = this.head.lights;
    const [start, redraw] = [() => this.start(), () => this.redraw()];
    this.room = this.board.room = new Room(root, start, redraw, (live) => this.desk.hear(live));
    this.code = new CodePanel(root, start);
    const press = (/** @type {DeskKey} */ { key, shift }) =>
      document.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey: shift, cancelable: true }));
    this.desk = new PresenterChannel(this.link.client, press, (name) => this.visit(name));
    root.style.setProperty("--lowest", `${HEIGHT * SMALLEST}px`);
    this.desks = find(root, "button.ln-desk");
    this.desks.onclick = () => this.desk.open();
    this.presents.onclick = () => this.presenting(!this.present);
    // A button that was clicked lets go of the keys: Space means the next step again.
    root.addEventListener("pointerup", () =>
      setTimeout(() => {
        const focused = /** @type {HTMLElement | null} */ (this.board.focused);
        if (focused?.matches("button, [role=button], [role=slider], input[type=range]")) focused.blur();
      }),
    );
    document.addEventListener("keydown", this.onKey);
    window.addEventListener("resize", this.onSize);
    this.observer = new ResizeObserver(this.onSize);
    this.observer.observe(/** @type {Element} */ (root.parentElement ?? root));
    this.observer.observe(this.stage); // the room's line may be lower than what to notice
    this.paint.port1.onmessage = () => this.painted();
  }

  close() {
    super.close();
    this.board.close();
    this.room.close();
    this.desk.close();
    document.removeEventListener("keydown", this.onKey);
    window.removeEventListener("resize", this.onSize);
    this.paint.port1.close();
  }

  recolour() {
    this.dress();
    this.desk.wear(this.board.theme);
    this.redraw();
  }

  memory() {
    return [this.data, this.newest];
  }

  /** Made anew, it is handed the page's answer again: newer ones came over its own connection. @param {Uint8Array} data */
  hear(data) {
    const [page, newest] = this.before ?? [];
    this.before = undefined;
    this.newest = newest && data === page ? newest : data;
    super.hear(this.newest);
  }

  /** @param {Uint8Array} data */
  decode(data) {
    return { header: JSON.parse(decoder.decode(data)), arrays: {} };
  }

  /** @param {Answer} answer */
  receive(answer) {
    const moved = this.answer?.scene !== answer.scene;
    if (moved || this.answer.step !== answer.step) this.lights.forget();
    this.answer = answer;
    this.flying = null;
    if (this.named) {
      this.named = undefined;
      [this.scene, this.seen[answer.scene]] = [answer.scene, answer.step];
    }
    if (!this.link.wanted || !this.link.owns(answer)) {
      this.scene = answer.scene;
      this.present = answer.present;
      this.code.wanted = answer.query.code === "1";
    }
    // A step asked for since then is not undone by an older answer.
    if (!this.link.wanted || this.scene !== answer.scene) this.seen[answer.scene] = answer.step;
    this.link.answered(answer);
    this.dress();
    this.label();
    this.room.take(answer.room, answer.words);
    this.desk.show(answer, this.board.theme, this.room.door ? this.room.live : null);
    Promise.all([this.styled, typefaces()]).then(() => {
      if (this.answer !== answer) return;
      this.ready = true;
      this.root.hidden = false;
      this.resized(true);
    });
    this.address();
  }

  dress() {
    if (!this.answer) return;
    const { dark, light } = this.answer.themes;
    this.board.theme = dress(this.root, this.answer.themes);
    this.board.inks = { dark: dark.background, light: light.background };
    this.board.fonts = fonts(this.root);
    this.board.numbers = new Numbers(this.answer.language);
    this.board.said = this.answer.words;
  }

  /** Everything around the picture that is said in words or dots. */
  label() {
    const { words, titles, scene, notice } = this.answer;
    const say = sayer(words);
    this.head.show(this.answer, say);
    const whole = notice.replaceAll(" %", "\u00a0%"); // no line begins with the sign
    this.notice.replaceChildren(make("b", "", say("notice")), whole);
    this.board.picture.setAttribute("aria-label", `${titles[scene - 1]}. ${notice}`);
    moves(this, say);
    this.code.show(this.answer.code, say);
    this.desks.textContent = say("desk");
    this.desks.title = say("desk.help");
    this.presents.textContent = this.present ? "✕" : say("present");
    this.presents.title = say(this.present ? "leave" : "present.help");
    this.presents.setAttribute("aria-label", this.presents.title);
    this.root.classList.toggle("ln-presenting", this.present);
  }

  // ---- asking -------------------------------------------------------------------------------------

  wish() {
    // What was under way when an answer got lost is asked again.
    this.flying = { ...this.flying, ...this.pending };
    this.pending = null;
    const { scene, present, flying } = this;
    const [room, code] = [this.room.wish(), this.code.wanted];
    const step = scene in this.seen && { step: this.seen[scene] };
    return { scene, present, code, ask: flying, room, go: this.named, ...step };
  }

  /** @param {object} change */
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

  /** @param {number} to whether there is such a step */
  step(to) {
    const last = this.scene === this.answer.scene ? this.answer.steps - 1 : Infinity;
    if (to < 0 || (to > last && to > this.at)) return false; // behind the stops are those of the appendix
    this.seen[this.scene] = to;
    this.start();
    return true;
  }

  /** Show what the step's question stands before. Returns whether there was one. */
  opens() {
    const { open } = this.board;
    open?.();
    return open !== null;
  }

  /** @param {number} scene */
  go(scene) {
    if (scene < 1 || scene > this.answer.titles.length || scene === this.scene) return;
    this.scene = scene;
    this.pending = this.flying = null;
    this.start();
  }

  /** A step by its name, and what is asked of it there. @param {string} name @param {object | null} [ask] */
  visit(name, ask = null) {
    this.named = name;
    this.flying = null;
    this.pending = ask;
    this.start();
  }

  /** @param {boolean} on */
  presenting(on) {
    this.present = on;
    this.start();
  }

  /** @param {boolean} is */
  late(is) {
    this.root.classList.toggle("ln-late", is);
    if (is) this.notice.textContent = this.answer.words.late;
  }

  // ---- the address --------------------------------------------------------------------------------

  /** What brings this scene back, without a place of its own in the browser's history. */
  address() {
    const now = new URLSearchParams(window.location.search);
    const next = new URLSearchParams(this.answer.query);
    for (const name of FOREIGN) if (now.has(name)) next.set(name, String(now.get(name)));
    const query = next.toString();
    if (query !== now.toString())
      window.history.replaceState(window.history.state, "", `${window.location.pathname}?${query}`);
  }

  // ---- drawing ------------------------------------------------------------------------------------

  /** All the room there is: as wide as the page, and down to the window's lower edge. What is higher scrolls. */
  resized(always = false) {
    if (this.root.hidden || !this.ready) return;
    const top = this.root.getBoundingClientRect().top;
    this.head.fit();
    this.root.style.height = `${Math.floor(window.innerHeight - top - 6)}px`;
    const size = `${this.stage.offsetWidth} ${this.stage.offsetHeight}`;
    if (!always && size === this.size) return;
    this.measure();
    // A line of type decides how high the foot is, and that how much is left for the picture.
    if (this.stage.offsetHeight < Number(this.size.split(" ")[1])) this.measure();
    this.redraw();
  }

  /** The size of a line of type: a stage is WIDTH of its units across and HEIGHT down, or a phone's, and scrolls. */
  measure() {
    const { offsetWidth: w, offsetHeight: h } = this.stage;
    this.size = `${w} ${h}`;
    const scale = Math.max(SMALLEST, Math.min(w / WIDTH, h / HEIGHT));
    this.root.style.setProperty("--type", `${scale * BASE}px`);
  }

  redraw() {
    const { answer, board } = this;
    if (this.root.hidden || !this.size) return;
    const drawn = `${answer.scene}.${answer.step}`;
    const before = drawn === this.drawn ? new Map() : places(board.picture);
    this.drawn = drawn;
    if (answer.error) board.trouble(answer.error);
    else if (answer.data) draw(board, answer.data);
    this.lights.show();
    this.room.words.show();
    this.code.placed();
    glide(board.picture, before);
    requestAnimationFrame(() => this.paint.port2.postMessage(0));
  }

  /** Tell whoever watches what is on the screen, and how long it took to get there. */
  painted() {
    const { dataset } = this.root;
    const { scene, step, seq } = this.answer;
    const rest = !this.link.waiting && !this.link.wanted;
    const drawn = (Number(dataset.drawn) || 0) + 1;
    if (drawn === 1) (window.requestIdleCallback ?? setTimeout)(loadPlotly); // so that the first plot doesn't wait for it
    for (const [name, value] of Object.entries({ scene, step, drawn, answered: seq, rest }))
      dataset[name] = String(value);
    if (this.began === undefined || !rest) return;
    dataset.took = (performance.now() - this.began).toFixed(1);
    this.began = undefined;
  }
}
