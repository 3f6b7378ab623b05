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
    area.oninput = () => this.typed();
    area.onscroll = () => {
      this.tint.scroll = area.scrollTop;
      this.draw();
    };
    area.onselect =
      area.onkeyup =
      area.onclick =
        () => {
          if (!this.composing) this.on.caret();
        };
    area.onpointermove = (event) => this.on.point(this.tint.under(event.clientX, event.clientY));
    area.onpointerleave = () => this.on.point(null);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(area);
    document.fonts?.ready.then(() => this.resized());
  }

  close() {
    this.observer.disconnect();
  }

  /** The caret's place, in characters. */
  get caret() {
    return toPoint(this.text, this.area.selectionEnd, this.astral);
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
      this.on.limit(beyond);
    }
    const moved = this.take(text, list);
    // While an input method composes, what stands there is not yet what the writer means.
    if (!this.composing) this.on.change();
    this.tint.follow(text, list, this.astral, ...moved);
    this.draw();
  }

  /**
   * Know a text, each character with the colour it had: the new colours come with the answer.
   * Returns how many characters stay as they are at its start and its end.
   * @param {string} text
   */
  take(text, list = Array.from(text)) {
    /** @type {[start: number, end: number]} */
    const moved = text.startsWith(this.text) ? [this.points.length, 0] : edges(this.points, list);
    this.shared = this.answered === this.points ? moved : edges(this.answered, list);
    this.text = text;
    this.points = list;
    this.astral = list.length !== text.length;
    return moved;
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
    const moved = this.take(clean(text));
    this.tint.follow(this.text, this.points, this.astral, ...moved);
    this.draw();
  }

  /**
   * The colour of each character of `list`, "" for none, and whether the model doesn't know it.
   * What was typed since then has none yet.
   * @param {(t: number) => string} colourOf @param {(t: number) => boolean} unknownOf
   * @param {string[]} list @param {string} underline
   */
  paint(colourOf, unknownOf, list, underline) {
    Object.assign(this, { colourOf, unknownOf, underline, answered: list });
    this.shared = list === this.points ? [list.length, 0] : edges(list, this.points);
    this.draw();
  }

  draw() {
    const [start, tail] = this.shared;
    const behind = this.points.length - tail;
    const ahead = this.answered.length - this.points.length;
    const was = (/** @type {number} */ t) => (t < start ? t : t >= behind ? t + ahead : -1);
    this.tint.draw(
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
