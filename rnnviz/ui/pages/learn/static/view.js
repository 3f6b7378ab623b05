// The Learn page's view around each step: size, words, asks, keys, and the address.

import { BaseView } from "../../../browser/static/base.js";
import { find, make } from "../../../browser/static/dom.js";
import { label, makePhrase } from "../../../browser/static/messages.js";
import { Numbers } from "../../../browser/static/number_format.js";
import { subscripted } from "../../../browser/static/subscripts.js";
import { dress, fonts } from "../../../browser/static/theme.js";
import { Board } from "./board.js";
import { CodePanel } from "./code.js";
import { showFooter } from "./footer.js";
import { fonts as typefaces } from "./formula.js";
import { Header } from "./header.js";
import { handleKey } from "./keys.js";
import { PresenterChannel } from "./presenter_channel.js";
import { draw } from "./primitives.js";
import { Room } from "./room.js";
import { Transition } from "./transition.js";

/** @import { Component } from "../../../browser/static/types" */
/** @import { Answer, PresenterKey, RoomWish } from "./types" */

// A stage is a slide: it has at least so many units on any screen, so that a picture which fits on one fits on all. That
// each step's picture fits, tests/browser/test_learn.py checks at 1280 × 720 and at 1440 × 900 pixels.
const BASE_FONT = 22; // units of the font size
const WIDTH = 1240; // units of a stage's width, at least
const HEIGHT = 540; // units of a stage's height, at least
const MIN_UNIT_PX = 0.68; // pixels of a unit, at least; a smaller screen stacks the parts, and the picture scrolls
const FOREIGN = ["lang"]; // values of the address that belong to the page, not to this view

const decoder = new TextDecoder();

export class View extends BaseView {
  /** @type {Answer} */
  answer;
  ready = false; // whether the style sheets and fonts are loaded
  /** @type {[page: Uint8Array, newest: Uint8Array] | undefined} the answers of the view that this one replaces */
  remembered = undefined;
  /** @type {Uint8Array | undefined} */
  newestAnswer;
  /** @type {string | undefined} the name of a step to go to, until the answer comes */
  namedStep;
  /** @type {Record<number, number>} the last known step, by scene */
  stepByScene = {};
  /** @type {object | null} changes of controls for the next ask */
  pendingChanges = null;
  /** @type {object | null} changes of controls in the ask in flight */
  changesInFlight = null;
  scene = 1;
  present = false;
  size = "";
  /** @type {Answer | undefined} the answer on the stage */
  drawn;
  transition = new Transition();
  /** @type {PresenterKey[]} keys pressed while an answer was on its way */
  held = [];
  /** @type {number | undefined} */
  askedAt;
  paint = new MessageChannel();
  onKey = (/** @type {KeyboardEvent} */ event) => handleKey(this, event);
  press = (/** @type {PresenterKey} */ { key, shift }) =>
    document.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey: shift, cancelable: true }));
  onSize = () => this.resized();
  onBack = () => this.jump(new URLSearchParams(window.location.search).get("step") ?? "");

  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.stage = find(root, "div.ln-stage");
    this.notice = find(root, "p.ln-notice");
    this.presentButton = find(root, "button.ln-present");
    this.board = new Board(
      find(root, "div.ln-scene"),
      (change) => this.changeControls(change),
      () => this.redraw(),
    );
    this.board.visit = (name, changes) => this.visit(name, changes);
    this.head = new Header(root, this.board);
    this.highlight = this.head.highlight;
    const [start, redraw] = [() => this.start(), () => this.redraw()];
    const askRoom = (/** @type {RoomWish} */ wish) => {
      const { viewSocket } = this;
      viewSocket.pageChanges = { room: { ...viewSocket.pageChanges?.room, ...wish } }; // only the page opens a listener
      this.start();
    };
    this.room = this.board.room = new Room(root, askRoom, redraw, (live) =>
      this.presenterChannel.sendRoom(live),
    );
    this.code = new CodePanel(root, start);
    this.presenterChannel = new PresenterChannel(
      this.viewSocket.client,
      this.press,
      (name) => this.visit(name),
      start,
    );
    root.style.setProperty("--lowest", `${HEIGHT * MIN_UNIT_PX}px`);
    find(root, "button.ln-desk").onclick = () => this.presenterChannel.open();
    this.presentButton.onclick = () => this.setPresenting(!this.present);
    // A clicked button loses the focus, so that Space is the next step again.
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
    this.observer.observe(this.stage); // its height changes when the room's line replaces the notice
    this.paint.port1.onmessage = () => this.recordPaint();
  }

  /**
   * Take Streamlit's call. From now on the lecturer's window and the browser's Back mean this view: they don't mean one
   * in the first picture, which is here for a moment.
   * @param {Component} component
   */
  update(component) {
    if (!this.presenterChannel.channel) {
      window.addEventListener("popstate", this.onBack);
      this.presenterChannel.begin();
    }
    super.update(component);
  }

  /** Take the first picture's answer. Resolves once it is drawn. @param {Uint8Array} data */
  takeFirstAnswer(data) {
    super.takeFirstAnswer(data);
    return typefaces();
  }

  /** Go where keys and clicks in the first picture have led. @param {View} first */
  takeOver(first) {
    const { asking, held, scene, present, stepByScene, namedStep, changesInFlight, pendingChanges, code } =
      first;
    if (!asking) return;
    Object.assign(this, { held, scene, present, stepByScene, namedStep });
    this.pendingChanges = { ...changesInFlight, ...pendingChanges };
    this.code.enabled = code.enabled;
    if (first.room.opening) this.room.press();
    else this.start();
  }

  close() {
    super.close();
    this.board.close();
    this.room.close();
    this.presenterChannel.close();
    document.removeEventListener("keydown", this.onKey);
    window.removeEventListener("resize", this.onSize);
    window.removeEventListener("popstate", this.onBack);
    this.paint.port1.close();
  }

  recolour() {
    this.dress();
    this.presenterChannel.setTheme(this.board.theme);
    this.redraw();
  }

  memory() {
    return [this.data, this.newestAnswer];
  }

  /**
   * Take an answer. A view that is mounted again gets the page's last answer again; if a newer one came over the socket,
   * that one is shown.
   * @param {Uint8Array} data
   */
  takeAnswer(data) {
    const [page, newest] = this.remembered ?? [];
    this.remembered = undefined;
    this.newestAnswer = newest && data === page ? newest : data;
    super.takeAnswer(this.newestAnswer);
  }

  /** @param {Uint8Array} data */
  decode(data) {
    return { header: JSON.parse(decoder.decode(data)), arrays: {} };
  }

  /** @param {Answer} answer */
  receive(answer) {
    const moved = this.answer?.scene !== answer.scene;
    if (moved || this.answer.step !== answer.step) this.highlight.unpin();
    this.answer = answer;
    this.changesInFlight = null;
    if (this.namedStep && this.viewSocket.isNewest(answer)) {
      this.namedStep = undefined;
      [this.scene, this.stepByScene[answer.scene]] = [answer.scene, answer.step];
    }
    if (!this.viewSocket.askDue || !this.viewSocket.owns(answer)) {
      this.scene = answer.scene;
      this.present = answer.present;
      this.code.enabled = answer.query.code === "1";
    }
    // An older answer doesn't undo a step that was asked for since.
    if (!this.viewSocket.askDue || this.scene !== answer.scene) this.stepByScene[answer.scene] = answer.step;
    this.viewSocket.endAsk(answer);
    this.dress();
    this.label();
    this.room.takeAnswer(answer.room, answer.words);
    this.presenterChannel.show(answer, this.board.theme, this.room.door ? this.room.live : null);
    typefaces().then(() => {
      if (this.answer !== answer) return;
      this.ready = true;
      this.root.hidden = false;
      this.resized(true);
    });
    if (this.component) this.address();
  }

  dress() {
    if (!this.answer) return;
    const { dark, light } = this.answer.themes;
    this.board.theme = dress(this.root, this.answer.themes);
    this.board.inks = { dark: dark.background, light: light.background };
    this.board.fonts = fonts(this.root);
    this.board.numbers = new Numbers(this.answer.language);
    this.board.words = this.answer.words;
  }

  /** Set all words around the picture. */
  label() {
    const { words, titles, scene, notice } = this.answer;
    const phrase = makePhrase(words);
    label(this.root, phrase);
    this.head.show(this.answer, phrase);
    this.notice.replaceChildren(make("b", "", phrase("notice")), ...subscripted(unbroken(notice)));
    this.board.picture.setAttribute("aria-label", `${titles[scene - 1]}. ${notice}`);
    showFooter(this, phrase);
    this.code.show(this.answer.code, phrase);
    this.presentButton.textContent = this.present ? "✕" : phrase("present");
    this.presentButton.title = phrase(this.present ? "leave" : "present.help");
    this.presentButton.ariaLabel = this.present ? this.presentButton.title : null; // "Present" is a name already
    this.root.classList.toggle("ln-presenting", this.present);
  }

  // ---- asking -------------------------------------------------------------------------------------

  makeAsk() {
    // Changes in an ask whose answer was lost are asked for again.
    this.changesInFlight = { ...this.changesInFlight, ...this.pendingChanges };
    this.pendingChanges = null;
    const { scene, present, changesInFlight } = this;
    const notes = this.presenterChannel.notesOpen;
    const step = scene in this.stepByScene && { step: this.stepByScene[scene] };
    return {
      scene,
      present,
      code: this.code.enabled,
      changes: changesInFlight,
      go: this.namedStep,
      notes,
      ...step,
    };
  }

  /** Ask for other values of controls. @param {object} change */
  changeControls(change) {
    if (this.scene !== this.answer.scene) return; // another scene has been asked for already
    this.pendingChanges = { ...this.pendingChanges, ...change };
    this.start();
  }

  start() {
    this.askedAt ??= performance.now();
    this.root.dataset.rest = "false";
    this.viewSocket.ask();
  }

  get at() {
    return this.stepByScene[this.scene] ?? 0;
  }

  /** Go to a step of the scene; returns whether there is one. @param {number} to */
  goToStep(to) {
    const last = this.scene === this.answer.scene ? this.answer.steps - 1 : Infinity;
    if (to < 0 || (to > last && to > this.at)) return false; // steps after the last stop are the appendix, reached by name
    this.stepByScene[this.scene] = to;
    this.start();
    return true;
  }

  /** Show the picture behind the step's question; returns whether there is a question. */
  openPicture() {
    const { openPicture: open } = this.board;
    open?.();
    return open !== null;
  }

  /** @param {number} scene */
  goToScene(scene) {
    if (scene < 1 || scene > this.answer.titles.length || scene === this.scene) return;
    this.held = [];
    this.scene = scene;
    this.pendingChanges = this.changesInFlight = null;
    this.start();
  }

  /** Go to a step by its name, with changes of its controls. @param {string} name @param {object | null} [changes] */
  visit(name, changes = null) {
    window.history.pushState(window.history.state, ""); // so that the browser's Back leads back from a jump
    this.jump(name, changes);
  }

  /** @param {string} name @param {object | null} [changes] */
  jump(name, changes = null) {
    this.namedStep = name;
    this.changesInFlight = null;
    this.pendingChanges = changes;
    this.start();
  }

  /** Show nothing, or the step again. */
  blank() {
    this.root.classList.toggle("ln-blank");
  }

  /** Whether an answer is on its way. */
  get asking() {
    return Boolean(this.viewSocket.seqInFlight || this.viewSocket.askDue);
  }

  /** @param {boolean} on */
  setPresenting(on) {
    this.present = on;
    this.start();
  }

  /** @param {boolean} isLate */
  showDelay(isLate) {
    this.root.classList.toggle("ln-late", isLate);
    if (isLate) this.notice.textContent = this.answer.words.late;
  }

  // ---- the address --------------------------------------------------------------------------------

  /** Write the step's values into the address, without a new entry of the browser's history. */
  address() {
    const current = new URLSearchParams(window.location.search);
    const next = new URLSearchParams(this.answer.query);
    for (const name of FOREIGN) if (current.has(name)) next.set(name, String(current.get(name)));
    const query = next.toString();
    if (query !== current.toString())
      window.history.replaceState(window.history.state, "", `${window.location.pathname}?${query}`);
  }

  // ---- drawing ------------------------------------------------------------------------------------

  /** Fill the page's width and the browser's window down to its lower edge; draw again if the stage's size has changed. */
  resized(always = false) {
    if (this.root.hidden || !this.ready) return;
    const top = this.root.getBoundingClientRect().top;
    this.head.fit();
    this.root.style.height = `${Math.floor(window.innerHeight - top - 6)}px`;
    const size = `${this.stage.offsetWidth} ${this.stage.offsetHeight}`;
    if (!always && size === this.size) return;
    this.measure();
    // The font size sets the footer's height, and so the stage's: if the stage has shrunk, measure once more.
    if (this.stage.offsetHeight < Number(this.size.split(" ")[1])) this.measure();
    this.redraw();
  }

  measure() {
    const { offsetWidth: w, offsetHeight: h } = this.stage;
    this.size = `${w} ${h}`;
    this.root.style.setProperty("--type", `${typeSize(w, h)}px`);
  }

  redraw() {
    const { answer, board } = this;
    if (this.root.hidden || !this.size) return;
    const { drawn, transition } = this;
    // The same answer is drawn again for another size, theme or font: nothing moves that isn't moving already.
    const moves = drawn && (drawn !== answer || board.picture.getAnimations({ subtree: true }).length > 0);
    if (moves) transition.leave(board.picture, drawn.scene === answer.scene && drawn.step === answer.step);
    this.drawn = answer;
    if (answer.error) board.showError(answer.error);
    else if (answer.data) draw(board, answer.data);
    this.highlight.show();
    this.room.panel.show();
    this.code.scrollToEnd();
    if (moves) transition.arrive(board.picture);
    requestAnimationFrame(() => this.paint.port2.postMessage(0));
  }

  /** Record the painted step, and the time that it took, in the element's dataset, for tests. */
  recordPaint() {
    const { dataset } = this.root;
    const { scene, step, seq } = this.answer;
    const rest = !this.asking;
    const pressed = rest && this.held.shift();
    if (pressed) this.press(pressed);
    const drawings = (Number(dataset.drawn) || 0) + 1;
    for (const [name, value] of Object.entries({ scene, step, drawn: drawings, answered: seq, rest }))
      dataset[name] = String(value);
    if (this.askedAt === undefined || !rest) return;
    dataset.took = (performance.now() - this.askedAt).toFixed(1);
    this.askedAt = undefined;
  }
}

/** The font size, in pixels, with which a stage is at least WIDTH × HEIGHT units, each of MIN_UNIT_PX at least. @param {number} width @param {number} height */
export function typeSize(width, height) {
  return Math.max(MIN_UNIT_PX, Math.min(width / WIDTH, height / HEIGHT)) * BASE_FONT;
}

/**
 * A sentence with no-break spaces, so that no line begins with % or ends within a number or an equation; and without a
 * space behind a Chinese full stop. @param {string} sentence
 */
export function unbroken(sentence) {
  return sentence.replaceAll("。 ", "。").replace(/ (?=[%=×])|(?<=[=×]) /g, "\u00a0");
}
