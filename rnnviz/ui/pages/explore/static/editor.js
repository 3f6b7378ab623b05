// The text area: its text in code points, its undo history, and the colours behind it.

import {
  clean,
  commonPrefix,
  commonSuffix,
  toCharacterIndex,
  toUtf16Index,
} from "../../../browser/static/characters.js";
import { find } from "../../../browser/static/dom.js";
import { History, HUMAN, NETWORK } from "./history.js";
import { TextBackground } from "./text_background.js";

/** @import { Step } from "./history.js" */
/** @import { TextColours } from "./text_background.js" */

/** @typedef {{ change(): void, caret(): void, hover(t: number | null): void, click(t: number | null): void, refused(leftOut: number): void }} Listener */

export class Editor {
  text = "";
  /** @type {string[]} */
  characters = [];
  hasPairs = false;
  composing = false;
  /** @type {string[]} the characters of the answer, which the colours belong to */
  answerCharacters = [];
  /** @type {(t: number) => string} */
  colourOf = () => "";
  /** @type {(t: number) => boolean} */
  unknownOf = () => false;
  /** @type {TextColours} */
  textColours = { unknown: "", written: "", writtenBackground: "" };
  frameId = 0; // the requested animation frame that paints the colours
  refusedCount = 0; // characters refused by the limit, until `refused` is called
  lastCaret = 0; // the caret at the last call of `caret`
  history = new History();
  /** @type {string[]} the characters after the history's last step */
  recordedCharacters = [];
  writers = ""; // the writer of each of them, HUMAN or NETWORK
  changeKind = ""; // the kind of the next change
  changeStart = Infinity; // an upper bound of its first character
  seeking = false; // whether to scroll the caret into view
  onMove = () => this.onCaretMove();

  /** @param {HTMLElement} root @param {number} maxCharacters of the text @param {Listener} on */
  constructor(root, maxCharacters, on) {
    const area = find(root, "textarea.rv-text");
    const marks = { hover: find(root, "i.rv-point"), pin: find(root, "i.rv-pin") };
    this.area = area;
    this.background = new TextBackground(
      area,
      find(root, "div.rv-mirror"),
      find(root, "canvas.rv-tint"),
      marks,
    );
    this.on = on;
    this.maxCharacters = maxCharacters;
    // An input method (Chinese, say) composes: the text area holds Latin letters until one of its proposals is chosen.
    // Meanwhile no ask is made, no step recorded and nothing cut, as a change of the value would end the composition.
    area.addEventListener("compositionstart", () => {
      this.composing = true;
    });
    area.addEventListener("compositionend", () => {
      this.composing = false;
      this.onInput();
    });
    area.addEventListener("beforeinput", (event) => this.onBeforeInput(event));
    root.addEventListener("keydown", (event) => this.undoByKey(event)); // on the root, as a button may have the focus
    area.oninput = () => this.onInput();
    area.onscroll = () => {
      this.background.scroll = area.scrollTop;
      this.draw();
    };
    area.onselect = area.onkeyup = this.onMove;
    area.onclick = (event) => {
      this.onCaretMove();
      const plainClick = event.detail === 1 && area.selectionStart === area.selectionEnd; // no drag, no double click
      if (plainClick) this.on.click(this.background.characterAt(event.clientX, event.clientY));
    };
    document.addEventListener("selectionchange", this.onMove); // Chromium's only event while a key is held
    area.onpointermove = (event) => this.on.hover(this.background.characterAt(event.clientX, event.clientY));
    area.onpointerleave = () => this.on.hover(null);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(area);
    // The characters were measured in a fallback font if the page's own came later: other widths, and lines break elsewhere.
    document.fonts?.ready.then(() => this.resized());
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frameId);
    document.removeEventListener("selectionchange", this.onMove);
  }

  /** The caret's place, in characters; in a selection, the end that moves. */
  get caret() {
    const { selectionStart, selectionEnd, selectionDirection } = this.area;
    return toCharacterIndex(
      this.text,
      selectionDirection === "backward" ? selectionStart : selectionEnd,
      this.hasPairs,
    );
  }

  /** Take back a selection in the text; returns whether there was one. */
  deselect() {
    const { area, caret, text, hasPairs } = this;
    const root = /** @type {ShadowRoot | Document} */ (area.getRootNode());
    if (root.activeElement !== area || area.selectionStart === area.selectionEnd) return false;
    const at = toUtf16Index(text, caret, hasPairs);
    area.setSelectionRange(at, at);
    return true;
  }

  onCaretMove() {
    if (this.composing || this.caret === this.lastCaret) return;
    this.lastCaret = this.caret;
    this.history.seal();
    this.on.caret();
  }

  /** Handle `beforeinput`: note the kind of change, take over undo, and keep to the limit. @param {InputEvent} event */
  onBeforeInput(event) {
    const { area } = this;
    const { inputType } = event;
    if (inputType === "historyUndo" || inputType === "historyRedo") {
      event.preventDefault(); // from a menu: the browser's history doesn't know this text
      return this.undoOrRedo(inputType === "historyUndo");
    }
    const data = inputType === "insertLineBreak" ? "\n" : event.data;
    if (/^insert(Text|LineBreak)$/.test(inputType)) this.changeKind = "type";
    else this.changeKind = /^deleteContent(Back|For)ward$/.test(inputType) ? "delete" : "";
    const { selectionStart, selectionEnd } = area;
    // Where the change begins, from before it: in "aaa" a new "a" might be any of them, but it is at the caret.
    if (!this.composing) this.changeStart = toCharacterIndex(this.text, selectionStart, this.hasPairs);
    if (this.composing || !data) return;
    const replaced = Array.from(area.value.slice(selectionStart, selectionEnd));
    const room = this.maxCharacters - this.characters.length + replaced.length;
    const list = Array.from(clean(data));
    if (list.length <= room) return;
    event.preventDefault(); // insert only as much as there is room for
    this.refusedCount = list.length - room;
    if (room > 0) return this.insert(list.slice(0, room).join(""), selectionStart, selectionEnd);
    this.on.refused(this.refusedCount);
    this.refusedCount = 0;
  }

  /** @param {KeyboardEvent} event */
  undoByKey(event) {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || (key !== "z" && key !== "y")) return;
    event.preventDefault();
    this.undoOrRedo(key === "z" && !event.shiftKey);
  }

  /** Undo the last step, or redo it. @param {boolean} back whether to undo */
  undoOrRedo(back) {
    const step = this.composing ? null : back ? this.history.undo() : this.history.redo();
    if (!step) return;
    const { text, hasPairs, area } = this;
    const [start, end] = [step.at, step.at + step.outBy.length].map((t) => toUtf16Index(text, t, hasPairs));
    this.writers = spliceWriters(this.writers, step);
    this.replaceRange(step.into, start, end);
    this.recordedCharacters = Array.from(clean(area.value));
    this.onInput();
  }

  onInput() {
    let text = clean(this.area.value);
    let list = Array.from(text);
    if (!this.composing) {
      const beyond = Math.max(0, list.length - this.maxCharacters);
      if (beyond) {
        list = list.slice(0, this.maxCharacters);
        text = list.join("");
        const caret = this.area.selectionEnd;
        this.area.value = text;
        this.area.setSelectionRange(caret, caret);
      }
      this.record(list);
      this.on.refused(beyond + this.refusedCount);
      this.refusedCount = 0;
    }
    this.setText(text, list);
    // While an input method composes, its letters are not yet the writer's text: don't ask.
    if (!this.composing) this.on.change();
  }

  /** Add the change since the last step to the history. @param {string[]} list @param {string} by its writer */
  record(list, by = HUMAN) {
    const { recordedCharacters, changeKind: kind } = this;
    const at = Math.min(this.changeStart, commonPrefix(recordedCharacters, list));
    const tail = commonSuffix(recordedCharacters, list, at);
    const [out, into] = [recordedCharacters, list].map((characters) =>
      characters.slice(at, characters.length - tail),
    );
    this.changeKind = "";
    this.changeStart = Infinity;
    this.recordedCharacters = list;
    if (!out.length && !into.length) return;
    const outBy = this.writers.slice(at, at + out.length);
    const step = { at, out: out.join(""), into: into.join(""), outBy, intoBy: by.repeat(into.length), kind };
    this.writers = spliceWriters(this.writers, step);
    this.history.add(step);
  }

  /** Take the text that the area has, and draw it. Its characters keep their colours until the answer brings new ones. @param {string} text */
  setText(text, list = Array.from(text)) {
    this.text = text;
    this.characters = list;
    this.hasPairs = list.length !== text.length;
    this.lastCaret = this.caret;
    this.draw();
  }

  /** Replace the whole text, as a step that can be undone, and ask. @param {string} text */
  replaceAll(text) {
    this.insert(text, 0, this.area.value.length);
  }

  /**
   * Write in place of characters t … end - 1, as a step, and ask; with a `kind`, which names a continuation, the network
   * is the writer.
   * @param {string} text @param {number} t @param {string} kind @param {number} end
   */
  write(text, t, kind = "", end = t) {
    const [from, to] = [t, end].map((place) => toUtf16Index(this.text, place, this.hasPairs));
    this.insert(text, from, to, kind);
  }

  /**
   * Replace UTF-16 units start … end - 1 as a step that can be undone, and ask.
   * @param {string} text @param {number} start @param {number} end @param {string} kind
   */
  insert(text, start, end, kind = "") {
    const { area } = this;
    this.changeKind = kind;
    this.changeStart = toCharacterIndex(this.text, start, this.hasPairs);
    this.replaceRange(text, start, end);
    if (kind) this.record(Array.from(clean(area.value)), NETWORK);
    this.onInput();
  }

  /** Only replace UTF-16 units start … end - 1 in the area. @param {string} text @param {number} start @param {number} end */
  replaceRange(text, start, end) {
    const { area } = this;
    const { scrollTop } = area;
    area.setRangeText(text, start, end, "end");
    area.scrollTop = scrollTop;
    this.seeking = true; // browsers scroll to the caret only after keys
  }

  /** Load a text and forget the history: no step, no ask. @param {string} text */
  load(text) {
    if (this.area.value !== text) this.area.value = text;
    this.setText(clean(text));
    this.recordedCharacters = this.characters;
    this.writers = HUMAN.repeat(this.characters.length);
    this.history.clear();
  }

  /**
   * Set the colour of each character of `list`, "" for none, and whether it is unknown to the model. Characters typed
   * since then have none.
   * @param {(t: number) => string} colourOf @param {(t: number) => boolean} unknownOf
   * @param {string[]} list @param {TextColours} textColours
   */
  paint(colourOf, unknownOf, list, textColours) {
    Object.assign(this, { colourOf, unknownOf, textColours, answerCharacters: list });
    this.draw();
  }

  /** Paint in the next frame, so that neither the ask nor the picture waits for the text's layout. */
  draw() {
    this.frameId ||= requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    this.frameId = 0;
    // The answer may be to an older text, so colours are looked up by the place that a character had in that text.
    const { background, text, characters, answerCharacters, recordedCharacters, writers } = this;
    if (background.characters !== characters)
      background.follow(text, characters, this.hasPairs, ...edges(background.characters, characters));
    if (this.seeking) background.reveal(this.caret);
    this.seeking = false;
    const answerPlace = placeMap(answerCharacters, characters);
    const writerPlace = placeMap(recordedCharacters, characters); // they differ while an input method composes
    background.draw(
      (t) => (answerPlace(t) < 0 ? "" : this.colourOf(answerPlace(t))),
      (t) => answerPlace(t) >= 0 && this.unknownOf(answerPlace(t)),
      (t) => writers[writerPlace(t)] === NETWORK,
      this.textColours,
    );
  }

  focus() {
    this.area.focus({ preventScroll: true });
  }

  resized() {
    this.background.reset();
    this.draw();
  }
}

/** The writers of a text's characters after a step. @param {string} by before it @param {Step} step */
function spliceWriters(by, { at, outBy, intoBy }) {
  return by.slice(0, at) + intoBy + by.slice(at + outBy.length);
}

/**
 * A function from a character's index in the second list to that in the first; -1 between their common edges.
 * @param {string[]} from @param {string[]} to @returns {(t: number) => number}
 */
function placeMap(from, to) {
  if (from === to) return (t) => t;
  const [start, tail] = edges(from, to);
  return (t) => (t < start ? t : t >= to.length - tail ? t + from.length - to.length : -1);
}

/**
 * The number of characters that two lists share at their start, and at their end.
 * @param {string[]} from @param {string[]} to
 * @returns {[start: number, end: number]}
 */
export function edges(from, to) {
  const start = commonPrefix(from, to);
  return [start, commonSuffix(from, to, start)];
}
