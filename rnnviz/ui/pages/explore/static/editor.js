// The text area: its text in code points, its undo history, and the colours behind it.

import { clean, commonPrefix, commonSuffix, toPoint, toUnit } from "../../../browser/static/characters.js";
import { find } from "../../../browser/static/dom.js";
import { History, HUMAN, NETWORK } from "./history.js";
import { TextBackground } from "./text_background.js";

/** @import { Step } from "./history.js" */
/** @import { Pens } from "./text_background.js" */

/** @typedef {{ change(): void, caret(): void, point(t: number | null): void, click(t: number | null): void, limit(leftOut: number): void }} Listener */

export class Editor {
  text = "";
  /** @type {string[]} */
  points = [];
  astral = false;
  composing = false;
  /** @type {string[]} the characters of the answer, which the colours belong to */
  answerPoints = [];
  /** @type {(t: number) => string} */
  colourOf = () => "";
  /** @type {(t: number) => boolean} */
  unknownOf = () => false;
  /** @type {Pens} */
  pens = { unknown: "", written: "", wash: "" };
  frame = 0; // the requested animation frame that paints the colours
  refused = 0; // characters refused by the limit, until `limit` is called
  lastCaret = 0; // the caret at the last call of `caret`
  history = new History();
  /** @type {string[]} the characters after the history's last step */
  historyPoints = [];
  writers = ""; // the writer of each of them, HUMAN or NETWORK
  kind = ""; // the kind of the next change
  from = Infinity; // an upper bound of its first character
  seeking = false; // whether to scroll the caret into view
  onMove = () => this.onCaretMove();

  /** @param {HTMLElement} root @param {number} limit of its characters @param {Listener} on */
  constructor(root, limit, on) {
    const area = find(root, "textarea.rv-text");
    const marks = { point: find(root, "i.rv-point"), pin: find(root, "i.rv-pin") };
    this.area = area;
    this.tint = new TextBackground(area, find(root, "div.rv-mirror"), find(root, "canvas.rv-tint"), marks);
    this.on = on;
    this.limit = limit;
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
      this.tint.scroll = area.scrollTop;
      this.draw();
    };
    area.onselect = area.onkeyup = this.onMove;
    area.onclick = (event) => {
      this.onCaretMove();
      const plainClick = event.detail === 1 && area.selectionStart === area.selectionEnd; // no drag, no double click
      if (plainClick) this.on.click(this.tint.under(event.clientX, event.clientY));
    };
    document.addEventListener("selectionchange", this.onMove); // Chromium's only event while a key is held
    area.onpointermove = (event) => this.on.point(this.tint.under(event.clientX, event.clientY));
    area.onpointerleave = () => this.on.point(null);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(area);
    document.fonts?.ready.then(() => this.resized());
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    document.removeEventListener("selectionchange", this.onMove);
  }

  /** The caret's place, in characters; in a selection, the end that moves. */
  get caret() {
    const { selectionStart, selectionEnd, selectionDirection } = this.area;
    return toPoint(this.text, selectionDirection === "backward" ? selectionStart : selectionEnd, this.astral);
  }

  /** Take back a selection in the text; returns whether there was one. */
  deselect() {
    const { area, caret, text, astral } = this;
    const root = /** @type {ShadowRoot | Document} */ (area.getRootNode());
    if (root.activeElement !== area || area.selectionStart === area.selectionEnd) return false;
    const at = toUnit(text, caret, astral);
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
      return this.step(inputType === "historyUndo");
    }
    const data = inputType === "insertLineBreak" ? "\n" : event.data;
    if (/^insert(Text|LineBreak)$/.test(inputType)) this.kind = "type";
    else this.kind = /^deleteContent(Back|For)ward$/.test(inputType) ? "delete" : "";
    const { selectionStart, selectionEnd } = area;
    // Where the change begins, from before it: in "aaa" a new "a" might be any of them, but it is at the caret.
    if (!this.composing) this.from = toPoint(this.text, selectionStart, this.astral);
    if (this.composing || !data) return;
    const replaced = Array.from(area.value.slice(selectionStart, selectionEnd));
    const room = this.limit - this.points.length + replaced.length;
    const list = Array.from(clean(data));
    if (list.length <= room) return;
    event.preventDefault(); // insert only as much as there is room for
    this.refused = list.length - room;
    if (room > 0) return this.insert(list.slice(0, room).join(""), selectionStart, selectionEnd);
    this.on.limit(this.refused);
    this.refused = 0;
  }

  /** @param {KeyboardEvent} event */
  undoByKey(event) {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || (key !== "z" && key !== "y")) return;
    event.preventDefault();
    this.step(key === "z" && !event.shiftKey);
  }

  /** Undo the last step, or redo it. @param {boolean} back whether to undo */
  step(back) {
    const step = this.composing ? null : back ? this.history.undo() : this.history.redo();
    if (!step) return;
    const { text, astral, area } = this;
    const [start, end] = [step.at, step.at + step.outBy.length].map((t) => toUnit(text, t, astral));
    this.writers = spliced(this.writers, step);
    this.put(step.into, start, end);
    this.historyPoints = Array.from(clean(area.value));
    this.onInput();
  }

  onInput() {
    let text = clean(this.area.value);
    let list = Array.from(text);
    if (!this.composing) {
      const beyond = Math.max(0, list.length - this.limit);
      if (beyond) {
        list = list.slice(0, this.limit);
        text = list.join("");
        const caret = this.area.selectionEnd;
        this.area.value = text;
        this.area.setSelectionRange(caret, caret);
      }
      this.record(list);
      this.on.limit(beyond + this.refused);
      this.refused = 0;
    }
    this.setText(text, list);
    // While an input method composes, its letters are not yet the writer's text: don't ask.
    if (!this.composing) this.on.change();
  }

  /** Add the change since the last step to the history. @param {string[]} list @param {string} by its writer */
  record(list, by = HUMAN) {
    const { historyPoints, kind } = this;
    const at = Math.min(this.from, commonPrefix(historyPoints, list));
    const tail = commonSuffix(historyPoints, list, at);
    const [out, into] = [historyPoints, list].map((points) => points.slice(at, points.length - tail));
    this.kind = "";
    this.from = Infinity;
    this.historyPoints = list;
    if (!out.length && !into.length) return;
    const outBy = this.writers.slice(at, at + out.length);
    const step = { at, out: out.join(""), into: into.join(""), outBy, intoBy: by.repeat(into.length), kind };
    this.writers = spliced(this.writers, step);
    this.history.add(step);
  }

  /** Take a text. Its characters keep their colours until the answer brings new ones. @param {string} text */
  setText(text, list = Array.from(text)) {
    this.text = text;
    this.points = list;
    this.astral = list.length !== text.length;
    this.lastCaret = this.caret;
    this.draw();
  }

  /** Replace the whole text as a step that can be undone. @param {string} text */
  replace(text) {
    this.insert(text, 0, this.area.value.length);
  }

  /**
   * Write before character t; with a `kind`, which names a continuation, the network is the writer.
   * @param {string} text @param {number} t @param {string} kind
   */
  write(text, t, kind = "") {
    const unit = toUnit(this.text, t, this.astral);
    this.insert(text, unit, unit, kind);
  }

  /** @param {string} text @param {number} start @param {number} end @param {string} kind */
  insert(text, start, end, kind = "") {
    const { area } = this;
    this.kind = kind;
    this.from = toPoint(this.text, start, this.astral);
    this.put(text, start, end);
    if (kind) this.record(Array.from(clean(area.value)), NETWORK);
    this.onInput();
  }

  /** @param {string} text @param {number} start @param {number} end */
  put(text, start, end) {
    const { area } = this;
    const { scrollTop } = area;
    area.setRangeText(text, start, end, "end");
    area.scrollTop = scrollTop;
    this.seeking = true; // browsers scroll to the caret only after keys
  }

  /** Set the text without a step and without an ask. @param {string} text */
  set(text) {
    if (this.area.value !== text) this.area.value = text;
    this.setText(clean(text));
    this.historyPoints = this.points;
    this.writers = HUMAN.repeat(this.points.length);
    this.history.clear();
  }

  /**
   * Set the colour of each character of `list`, "" for none, and whether it is unknown to the model. Characters typed
   * since then have none.
   * @param {(t: number) => string} colourOf @param {(t: number) => boolean} unknownOf
   * @param {string[]} list @param {Pens} pens
   */
  paint(colourOf, unknownOf, list, pens) {
    Object.assign(this, { colourOf, unknownOf, pens, answerPoints: list });
    this.draw();
  }

  /** Paint in the next frame, so that neither the ask nor the picture waits for the text's layout. */
  draw() {
    this.frame ||= requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    this.frame = 0;
    // The answer may be to an older text, so colours are looked up by the place that a character had in that text.
    const { tint, text, points, answerPoints, historyPoints, writers } = this;
    if (tint.points !== points) tint.follow(text, points, this.astral, ...edges(tint.points, points));
    if (this.seeking) tint.reveal(this.caret);
    this.seeking = false;
    const answerPlace = places(answerPoints, points);
    const writerPlace = places(historyPoints, points); // they differ while an input method composes
    tint.draw(
      (t) => (answerPlace(t) < 0 ? "" : this.colourOf(answerPlace(t))),
      (t) => answerPlace(t) >= 0 && this.unknownOf(answerPlace(t)),
      (t) => writers[writerPlace(t)] === NETWORK,
      this.pens,
    );
  }

  focus() {
    this.area.focus({ preventScroll: true });
  }

  resized() {
    this.tint.reset();
    this.draw();
  }
}

/** The writers of a text's characters after a step. @param {string} by before it @param {Step} step */
function spliced(by, { at, outBy, intoBy }) {
  return by.slice(0, at) + intoBy + by.slice(at + outBy.length);
}

/**
 * A function from a character's index in the second list to that in the first; -1 between their common edges.
 * @param {string[]} from @param {string[]} to @returns {(t: number) => number}
 */
function places(from, to) {
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
