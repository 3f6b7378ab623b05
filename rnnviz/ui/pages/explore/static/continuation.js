// Automatic writing: the network's continuation from the caret, letter by letter; and the replay of the reader's text.

import { find, put, still } from "../../../browser/static/dom.js";

/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { View } from "./view.js" */

const PACE_MS = 60; // milliseconds from one character of a replay to the next

export class Continuation {
  queue = ""; // the text still to be written
  appending = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  asked = false; // whether a continuation is asked for
  at = 0; // the character where it begins
  runs = 0; // continuations written so far, which number the undo steps
  replaying = false;
  replayed = ""; // the text of the replay

  /** @param {View} view @param {Phrase} phrase */
  constructor(view, phrase) {
    this.view = view;
    this.phrase = phrase;
    const { root } = view;
    this.button = find(root, "button.rv-write");
    this.button.onmousedown = (event) => event.preventDefault();
    this.button.onclick = (event) => (this.busy ? this.stop() : this.begin(event));
    this.again = find(root, "button.rv-replay");
    this.again.onclick = () => (this.replaying ? this.stop() : this.replay());
    this.stop();
  }

  /** Write a symbol at the place of the prediction bars. @param {number} id */
  writeSymbol(id) {
    const { view } = this;
    const { editor, characters, store, barsPlace, readout } = view;
    view.pin = null;
    const symbol = store.symbol(id);
    editor.write(store.typed(symbol), editor.characters === characters ? barsPlace : editor.caret);
    readout.announceWritten(symbol);
  }

  get busy() {
    return this.queue !== "" || this.asked;
  }

  /** @param {MouseEvent} event */
  begin(event) {
    this.stop();
    // After a mouse click, typing goes on in the text; on a touch screen the focus would open the keyboard.
    if (event.detail > 0 && /** @type {PointerEvent} */ (event).pointerType === "mouse")
      this.view.editor.focus();
    this.at = this.view.editor.caret;
    this.asked = true;
    put(this.button, this.phrase("writing"));
    this.view.viewSocket.ask();
  }

  /** Take the continuation of an answer. @param {string} text */
  takeText(text) {
    if (!this.asked) return; // the reader has typed meanwhile
    this.asked = false;
    if (text) return this.beginWriting(text);
    this.stop();
    const { store, editor, controls } = this.view;
    if (store.ends && editor.characters.length < store.fixed.limit) controls.showEnd();
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

  /** End a replay before the reader's key or click is done; its own button's click does so itself. @param {Event} event */
  endReplay(event) {
    if (this.replaying && !event.composedPath().includes(this.again)) this.stop();
  }

  /** End the writing. */
  stop() {
    const { queue, replaying } = this;
    this.queue = "";
    // A stopped replay restores the whole text, unless another text has come in its place.
    if (replaying && queue && this.view.editor.text + queue === this.replayed) this.insert(queue);
    this.replaying = false;
    put(this.again, this.phrase("replay"));
    this.asked = false;
    put(this.button, this.phrase("write"));
  }
}
