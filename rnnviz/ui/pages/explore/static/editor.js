// The text area: what is typed there, in code points, and the colours behind it.

import { clean, commonPrefix, commonSuffix, toPoint } from "../../../browser/static/characters.js";
import { find } from "../../../browser/static/dom.js";
import { Tint } from "./tint.js";

/** @typedef {{ change(): void, caret(): void, point(t: number | null): void, limit(leftOut: number): void }} Listener */

export class Editor {
  text = "";
  /** @type {string[]} */
  points = [];
  astral = false;
  composing = false;
  /** @type {string[]} the characters that the colours are about */
  answered = [];
  /** @type {[start: number, end: number]} how many of them stand at the start and the end of what is here now */
  shared = [0, 0];
  /** @type {(t: number) => string} */
  colourOf = () => "";
  /** @type {(t: number) => boolean} */
  unknownOf = () => false;
  underline = "";
  frame = 0; // the browser's, with which the colours will be painted
  refused = 0; // how many characters there was no room for
  was = 0; // the caret, when it was last spoken of
  onMove = () => this.moved();

  /** @param {HTMLElement} root @param {number} limit of its characters @param {Listener} on */
  constructor(root, limit, on) {
    const area = find(root, "textarea.rv-text");
    const marks = { point: find(root, "i.rv-point"), pin: find(root, "i.rv-pin") };
    this.area = area;
    this.tint = new Tint(area, find(root, "div.rv-mirror"), find(root, "canvas.rv-tint"), marks);
    this.on = on;
    this.limit = limit;
    area.addEventListener("compositionstart", () => {
      this.composing = true;
    });
    area.addEventListener("compositionend", () => {
      this.composing = false;
      this.typed();
    });
    area.addEventListener("beforeinput", (event) => this.admit(event));
    area.oninput = () => this.typed();
    area.onscroll = () => {
      this.tint.scroll = area.scrollTop;
      this.draw();
    };
    area.onselect = area.onkeyup = area.onclick = this.onMove;
    document.addEventListener("selectionchange", this.onMove); // as Chromium tells of a key that is held
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

  /** The caret's place, in characters: of a selection, the end that moves. */
  get caret() {
    const { selectionStart, selectionEnd, selectionDirection } = this.area;
    return toPoint(this.text, selectionDirection === "backward" ? selectionStart : selectionEnd, this.astral);
  }

  moved() {
    if (this.composing || this.caret === this.was) return;
    this.was = this.caret;
    this.on.caret();
  }

  /**
   * Let in only what there is room for. Cutting the text afterwards would take away the browser's undo.
   * @param {InputEvent} event
   */
  admit(event) {
    const { area, limit } = this;
    const data = event.inputType === "insertLineBreak" ? "\n" : event.data;
    if (this.composing || !data) return;
    const replaced = Array.from(area.value.slice(area.selectionStart, area.selectionEnd));
    const room = limit - this.points.length + replaced.length;
    const list = Array.from(clean(data));
    if (list.length <= room) return;
    event.preventDefault();
    this.refused = list.length - room;
    if (room > 0 && document.execCommand("insertText", false, list.slice(0, room).join(""))) return;
    this.on.limit(this.refused);
    this.refused = 0;
  }

  typed() {
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
      this.on.limit(beyond + this.refused);
      this.refused = 0;
    }
    this.take(text, list);
    // While an input method composes, what stands there is not yet what the writer means.
    if (!this.composing) this.on.change();
  }

  /** Know a text, each character with the colour it had: the new colours come with the answer. @param {string} text */
  take(text, list = Array.from(text)) {
    this.shared = edges(this.answered, list);
    this.text = text;
    this.points = list;
    this.astral = list.length !== text.length;
    this.was = this.caret;
    this.draw();
  }

  /** Replace the whole text, as if it had been typed: the browser's own undo brings it back. @param {string} text */
  replace(text) {
    this.insert(text, 0, this.area.value.length);
  }

  /** Write at the end. @param {string} text */
  append(text) {
    this.insert(text, this.area.value.length, this.area.value.length);
  }

  /** @param {string} text @param {number} start @param {number} end */
  insert(text, start, end) {
    const { area } = this;
    area.focus({ preventScroll: true });
    area.setSelectionRange(start, end);
    const done = text.length < 2000 && document.execCommand("insertText", false, text);
    if (!done) {
      area.setRangeText(text, start, end, "end");
      this.typed();
    }
    area.scrollTop = area.scrollHeight;
  }

  /** Put a text there that nobody typed, without asking the server about it. @param {string} text */
  set(text) {
    if (this.area.value !== text) this.area.value = text;
    this.take(clean(text));
  }

  /**
   * The colour of each character of `list`, "" for none, and whether the model doesn't know it.
   * What was typed since then has none yet.
   * @param {(t: number) => string} colourOf @param {(t: number) => boolean} unknownOf
   * @param {string[]} list @param {string} underline
   */
  paint(colourOf, unknownOf, list, underline) {
    Object.assign(this, { colourOf, unknownOf, underline, answered: list });
    this.shared = edges(list, this.points);
    this.draw();
  }

  /** Paint with the browser's next frame: neither the ask nor the rest of the picture waits for the layout. */
  draw() {
    this.frame ||= requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    this.frame = 0;
    const { tint, text, points } = this;
    if (tint.points !== points) tint.follow(text, points, this.astral, ...edges(tint.points, points));
    const [start, tail] = this.shared;
    const behind = points.length - tail;
    const ahead = this.answered.length - points.length;
    const was = (/** @type {number} */ t) => (t < start ? t : t >= behind ? t + ahead : -1);
    tint.draw(
      (t) => (was(t) < 0 ? "" : this.colourOf(was(t))),
      (t) => was(t) >= 0 && this.unknownOf(was(t)),
      this.underline,
    );
  }

  resized() {
    this.tint.reset();
    this.draw();
  }
}

/**
 * How many characters two lists share at their start and their end.
 * @param {string[]} from @param {string[]} to
 * @returns {[start: number, end: number]}
 */
export function edges(from, to) {
  const start = commonPrefix(from, to);
  return [start, commonSuffix(from, to, start)];
}
