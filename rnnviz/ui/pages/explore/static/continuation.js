// Automatic writing: the network's continuation from the caret, letter by letter; three continuations to choose from;
// and the replay of the reader's text.

import { button, find, make, put, still } from "../../../browser/static/dom.js";
import { digit } from "../../../browser/static/prediction_bars.js";

/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { View } from "./view.js" */

const CHOICES = 3;
const PACE_MS = 60; // milliseconds from one character of a replay to the next

export class Continuation {
  queue = ""; // the text still to be written
  appending = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  askedCount = 0; // continuations asked for
  at = 0; // the character where they begin
  runs = 0; // continuations written so far, which number the undo steps
  keyed = false; // whether a key asked for them, not a pointer
  replaying = false;
  replayed = ""; // the text of the replay

  /** @param {View} view @param {Phrase} phrase */
  constructor(view, phrase) {
    this.view = view;
    this.phrase = phrase;
    const { root } = view;
    this.button = find(root, "button.rv-write");
    this.branch = find(root, "button.rv-branch");
    this.panel = find(root, "section.rv-ways");
    this.list = find(root, "ol.rv-ways-list");
    for (const button of [this.button, this.branch]) button.onmousedown = (event) => event.preventDefault();
    this.button.onclick = (event) => (this.busy ? this.stop() : this.begin(1, event));
    this.branch.onclick = (event) => (this.panel.hidden ? this.begin(CHOICES, event) : this.stop());
    this.again = find(root, "button.rv-replay");
    this.again.onclick = () => (this.replaying ? this.stop() : this.replay());
    find(root, "button.rv-ways-close").onclick = () => this.stop();
    this.panel.onkeydown = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || digit(event) < 0) return;
      event.preventDefault();
      this.choose(digit(event));
    };
    this.stop();
  }

  /** Write a symbol at the place of the prediction bars. @param {number} id */
  writeSymbol(id) {
    const { view } = this;
    const { editor, characters, store, barsPlace, readout } = view;
    view.pin = null;
    const symbol = store.symbol(id);
    // Where each line is a text, a line end ends one.
    const typed = symbol === "\u0003" && !store.fixed.symbols.includes("\n") ? "\n" : symbol;
    editor.write(typed, editor.characters === characters ? barsPlace : editor.caret);
    readout.announceWritten(symbol);
  }

  get busy() {
    return this.queue !== "" || this.askedCount === 1;
  }

  /** @param {number} count @param {MouseEvent} event */
  begin(count, event) {
    this.stop();
    this.keyed = event.detail === 0;
    // After a mouse click, typing goes on in the text; on a touch screen the focus would open the keyboard.
    if (!this.keyed && /** @type {PointerEvent} */ (event).pointerType === "mouse") this.view.editor.focus();
    this.at = this.view.editor.caret;
    this.askedCount = count;
    if (count === 1) put(this.button, this.phrase("writing"));
    this.view.viewSocket.ask();
  }

  /** Take the continuations of an answer, empty where the network ends the text. @param {string[]} answered */
  takeTexts(answered) {
    const { askedCount: count } = this;
    const texts = answered.filter(Boolean);
    this.askedCount = 0;
    if (!count) return; // the reader has typed meanwhile
    if (!texts.length) this.stop();
    else if (count > 1) this.offer(texts);
    else this.beginWriting(texts[0]);
  }

  /** @param {string} text */
  beginWriting(text) {
    this.runs++;
    this.queue = text;
    if (!still()) return this.writeNext();
    this.insert(text);
    this.stop();
  }

  /** Replay the reader's text from its beginning. */
  replay() {
    this.stop();
    const { editor } = this.view;
    const { text } = editor;
    if (!text) return;
    this.appending = true;
    editor.replaceAll("");
    this.appending = false;
    this.at = 0;
    this.replaying = true;
    this.queue = this.replayed = text;
    put(this.again, this.phrase("writing"));
    this.view.pin = null;
  }

  /** Write the next character, once the answer to the one before is on the screen. */
  writeNext() {
    if (!this.queue || this.view.viewSocket.seqInFlight) return;
    if (!this.replaying) return this.writeCharacter();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.replaying && this.writeCharacter(), PACE_MS);
  }

  writeCharacter() {
    const [next] = this.queue;
    this.queue = this.queue.slice(next.length);
    this.insert(next);
    if (!this.queue) this.stop();
  }

  /** @param {string} text */
  insert(text) {
    this.appending = true;
    this.view.editor.write(text, this.at, this.replaying ? "" : `run ${this.runs}`);
    this.appending = false;
    this.at += Array.from(text).length;
  }

  /** @param {string[]} texts */
  offer(texts) {
    this.list.replaceChildren(
      ...texts.map((text, i) => {
        const way = button("", () => this.pick(text), "rv-way");
        way.append(make("kbd", "", String(i + 1)), make("bdi", "", text));
        way.ariaLabel = `${i + 1}: ${text}`;
        way.onmousedown = (event) => event.preventDefault();
        return make("li", "", way);
      }),
    );
    this.panel.hidden = false;
    this.branch.ariaExpanded = "true";
    if (this.keyed) this.list.querySelector("button")?.focus();
  }

  /** Choose a continuation; returns whether any are offered. @param {number} n from 0 */
  choose(n) {
    if (this.panel.hidden) return false;
    this.list.querySelectorAll("button")[n]?.click();
    return true;
  }

  /** @param {string} text */
  pick(text) {
    const inside = this.panel.matches(":focus-within");
    this.runs++;
    this.insert(text);
    this.stop();
    if (inside) this.view.editor.focus();
  }

  /** End a replay before the reader's key or click is done; its own button's click does so itself. @param {Event} event */
  endReplay(event) {
    if (this.replaying && !event.composedPath().includes(this.again)) this.stop();
  }

  /** End the writing and close the panel. */
  stop() {
    if (this.panel.matches(":focus-within")) this.branch.focus();
    const { queue, replaying } = this;
    this.queue = "";
    // A stopped replay restores the whole text, unless another text has come in its place.
    if (replaying && queue && this.view.editor.text + queue === this.replayed) this.insert(queue);
    this.replaying = false;
    put(this.again, this.phrase("replay"));
    this.askedCount = 0;
    this.panel.hidden = true;
    this.branch.ariaExpanded = "false";
    put(this.button, this.phrase("write"));
  }
}
