// The colours behind the text, painted on a canvas below the transparent text area.
//
// A mirror gives each character's box: an element with the same text, font and width, never painted. Only visible
// characters are measured, and unmoved ones not again. So a key costs the same in a long text as in a short one.

import { countLeading, toUtf16Index } from "../../../browser/static/characters.js";
import { setPixels } from "../../../browser/static/dom.js";
import { fit } from "../../../browser/static/heat.js";

/** @import { Store } from "./store.js" */
/** @import { Theme } from "../../../browser/static/types" */

/** @typedef {[left: number, top: number, right: number, bottom: number]} Rect a box, in the mirror's pixels */
/** @typedef {"hover" | "pin"} Mark a frame around a single character */
/** @typedef {{ left: number, top: number }} Origin the mirror's corner on the screen */
/** @typedef {{ unknown: string, written: string, writtenBackground: string }} TextColours colours of unknown characters and of the network's */

const ABOVE_PX = 60; // pixels above the visible part in which boxes are still kept
const BREAK_PX = 7; // pixels painted for a line break, which has no width

export class TextBackground {
  node = document.createTextNode("\u200b"); // a zero-width space last: a final line break is laid out only before text
  range = document.createRange();
  text = "";
  /** @type {string[]} */
  characters = [];
  hasPairs = false;
  /** @type {Rect[]} boxes of the characters from `first` on */
  boxes = [];
  first = 0;
  doubtedFrom = Infinity; // boxes from this character on may be wrong
  scroll = 0;
  width = 0;
  height = 0;
  /** @type {Record<Mark, number | null>} */
  framed = { hover: null, pin: null };

  /**
   * @param {HTMLTextAreaElement} area @param {HTMLElement} mirror @param {HTMLCanvasElement} canvas
   * @param {Record<Mark, HTMLElement>} marks
   */
  constructor(area, mirror, canvas, marks) {
    this.area = area;
    this.mirror = mirror;
    this.canvas = canvas;
    this.marks = marks;
    mirror.replaceChildren(this.node);
  }

  /**
   * Follow a change of the text; its first `start` and last `tail` characters are the same.
   * @param {string} text @param {string[]} characters @param {boolean} hasPairs @param {number} start @param {number} tail
   */
  follow(text, characters, hasPairs, start, tail) {
    const from = toUtf16Index(text, start, hasPairs);
    const tailUnits = characters
      .slice(characters.length - tail)
      .reduce((sum, character) => sum + character.length, 0);
    const to = text.length - tailUnits;
    this.node.replaceData(from, this.text.length - tailUnits - from, text.slice(from, to));
    this.text = text;
    this.characters = characters;
    this.hasPairs = hasPairs;
    this.forget(start);
  }

  /**
   * Drop the boxes from character t on. Those on its line and the line before may have moved too: `confirm` checks
   * them when boxes are next needed.
   * @param {number} t
   */
  forget(t) {
    const { boxes, first } = this;
    boxes.length = Math.max(0, Math.min(t - first, boxes.length));
    let i = boxes.length;
    for (let line = 0; line < 2 && i > 0; line++) {
      const top = boxes[i - 1][1];
      while (i > 0 && boxes[i - 1][1] >= top - 1) i--;
    }
    this.doubtedFrom = Math.min(this.doubtedFrom, first + i);
  }

  /**
   * Keep the doubted lines that have not moved. In a run from left to right, the last box decides: to measure every
   * box is slow in a long text.
   * @param {Origin} origin
   */
  confirm(origin) {
    const { boxes, first } = this;
    let end = Math.max(0, this.doubtedFrom - first);
    this.doubtedFrom = Infinity;
    while (end < boxes.length) {
      const start = end++;
      while (end < boxes.length && boxes[end][1] === boxes[start][1] && boxes[end][0] >= boxes[end - 1][0])
        end++;
      if (!this.isUnmoved(end - 1, origin)) boxes.length = start;
    }
  }

  /** Whether box i is unmoved. @param {number} i @param {Origin} origin */
  isUnmoved(i, origin) {
    const t = this.first + i;
    const measured = this.box(t, toUtf16Index(this.text, t, this.hasPairs), origin);
    return measured.every((side, k) => Math.abs(side - this.boxes[i][k]) < 0.01);
  }

  /** Drop all boxes, after a change of width or font. */
  reset() {
    this.boxes.length = 0;
    this.scroll = this.area.scrollTop;
    this.width = this.area.clientWidth;
    this.height = this.area.clientHeight;
  }

  /** @param {number} t @param {number} index its first UTF-16 unit @param {Origin} origin @returns {Rect} */
  box(t, index, origin) {
    this.range.setStart(this.node, index);
    this.range.setEnd(this.node, index + this.characters[t].length);
    const rect = this.range.getBoundingClientRect();
    const left = rect.left - origin.left;
    const right = this.characters[t] === "\n" ? left + BREAK_PX : rect.right - origin.left;
    return [left, rect.top - origin.top, right, rect.bottom - origin.top];
  }

  /** The corner of the mirror's text on the screen. @returns {Origin} */
  get origin() {
    const frame = this.mirror.getBoundingClientRect();
    return { left: frame.left + this.mirror.clientLeft, top: frame.top + this.mirror.clientTop };
  }

  /** Scroll the place before character t into view. @param {number} t */
  reveal(t) {
    const { area, characters } = this;
    const { scrollTop: viewTop, clientHeight: height } = area;
    if (t >= characters.length) area.scrollTop = area.scrollHeight;
    else {
      const [, top, , bottom] = this.box(t, toUtf16Index(this.text, t, this.hasPairs), this.origin);
      if (top < viewTop || bottom > viewTop + height) area.scrollTop = top - height / 2;
    }
    this.scroll = area.scrollTop;
  }

  /** Measure the boxes of all visible characters. */
  measure() {
    const { characters, scroll: top, origin } = this;
    const bottom = top + this.height;
    this.confirm(origin);
    if (this.boxes[0]?.[3] < top - ABOVE_PX) {
      const from = this.boxes.findIndex((box) => box[3] >= top);
      this.boxes = from < 0 ? [] : this.boxes.slice(from);
      this.first += Math.max(0, from);
    }
    if (!this.boxes.length || (this.first > 0 && this.boxes[0][1] > top)) {
      this.boxes = [];
      this.first = this.firstVisible(top, origin);
    }
    let t = this.first + this.boxes.length;
    let index = toUtf16Index(this.text, t, this.hasPairs);
    for (; t < characters.length; t++) {
      const last = this.boxes.at(-1);
      if (last && last[1] > bottom) break;
      this.boxes.push(this.box(t, index, origin));
      index += characters[t].length;
    }
  }

  /** The first character whose line reaches below `top`, by binary search. @param {number} top @param {Origin} origin */
  firstVisible(top, origin) {
    const bottom = (/** @type {number} */ t) =>
      this.box(t, toUtf16Index(this.text, t, this.hasPairs), origin)[3];
    return countLeading(top < 4 ? 0 : this.characters.length, (t) => bottom(t) < top - ABOVE_PX / 2);
  }

  /**
   * Paint each character's background, a CSS colour or "". Unknown characters are underlined with dots, the network's
   * with a line, and also with `writtenBackground` behind them if there is one.
   * @param {(t: number) => string} colourOf @param {(t: number) => boolean} unknownOf
   * @param {(t: number) => boolean} writtenOf @param {TextColours} textColours
   */
  draw(colourOf, unknownOf, writtenOf, textColours) {
    if (!this.height) this.reset();
    this.measure();
    const pen = fit(this.canvas, this.width, this.height);
    pen.clearRect(0, 0, this.width, this.height);
    const { first, scroll } = this;
    this.boxes.forEach(([left, top, right, bottom], i) => {
      const t = first + i;
      const written = writtenOf(t);
      const colour = (written && textColours.writtenBackground) || colourOf(t);
      if (colour) {
        pen.fillStyle = colour;
        pen.fillRect(left, top - scroll, right - left, bottom - top);
      }
      if (unknownOf(t)) {
        pen.fillStyle = textColours.unknown;
        for (let x = left + 1; x < right - 1; x += 4) pen.fillRect(x, bottom - scroll - 3, 2, 2);
      } else if (written) {
        pen.fillStyle = textColours.written;
        pen.fillRect(left, bottom - scroll - 3, right - left, 3);
      }
    });
    this.placeMarks();
  }

  /** Frame a character; null for none. @param {Mark} kind @param {number | null} t */
  frameCharacter(kind, t) {
    if (this.framed[kind] === t) return;
    this.framed[kind] = t;
    this.placeMarks();
  }

  placeMarks() {
    for (const kind of /** @type {Mark[]} */ (["hover", "pin"])) {
      const [mark, t] = [this.marks[kind], this.framed[kind]];
      const box = t === null ? undefined : this.boxes[t - this.first];
      const y = box ? box[1] - this.scroll : -1;
      mark.hidden = !box || y < -2 || y > this.height - 8;
      if (!box || mark.hidden) continue;
      mark.style.transform = `translate(${box[0]}px, ${y}px)`;
      setPixels(mark, { width: Math.max(3, box[2] - box[0]), height: box[3] - box[1] });
    }
  }

  /** The character at a point of the screen, or null. @param {number} x @param {number} y */
  characterAt(x, y) {
    const origin = this.canvas.getBoundingClientRect();
    const [left, top] = [x - origin.left, y - origin.top + this.scroll];
    const i = this.boxes.findIndex((b) => left >= b[0] && left < b[2] && top >= b[1] && top < b[3]);
    return i < 0 ? null : this.first + i;
  }
}

/** How much of a heat map's colour is behind a character: its ends have 3:1 against the page, and the text 4.5:1 on them. */
const BACKGROUND_OPACITY = {
  light: { diverging: "b3", sequential: "80" },
  dark: { diverging: "84", sequential: "5a" },
};

/** The colours behind the text, by scale. @param {Theme} theme @returns {Record<string, string[]>} */
export function makePalettes({ name, diverging, sequential, surprisal, reason }) {
  const soft = (/** @type {string[]} */ colours, /** @type {string} */ share) =>
    colours.map((colour) => colour + share);
  const shares = BACKGROUND_OPACITY[name];
  return {
    diverging: soft(diverging, shares.diverging),
    sequential: soft(sequential, shares.sequential),
    surprisal,
    reason,
  };
}

/**
 * A function that gives each character's colour: by its worth to the pinned one, by the chosen unit's value, or by its
 * surprisal.
 * @param {Store} store @param {Record<string, string[]>} palettes @param {"why" | "unit" | "surprisal"} by
 * @returns {(t: number) => string}
 */
export function makeColourOf(store, palettes, by) {
  const { unit, quantity } = store.header;
  const [nll, levels] = [store.nll.data, store.unitLevels.data];
  const { kind, low } = store.fixed.quantities[quantity];
  const last = store.lastLevel;
  const middle = low < 0 ? last / 2 : 0;
  const step = last / (store.fixed.surprisalFull * Math.LN2);
  const { surprisal, [kind]: palette } = palettes;
  if (by === "why") {
    const half = last / 2;
    const level = (/** @type {number} */ bits) => Math.round(half * (1 + bits / store.fixed.reasonFull));
    return (t) => palettes.reason[Math.max(0, Math.min(last, level(store.occlusionBits(t) ?? NaN)))] ?? "";
  }
  // A scale has the page's background at 0. Within 4 levels of it, of 127, a colour could not be seen: none is painted.
  if (by === "unit" && unit !== null)
    return (t) => (Math.abs(levels[t] - middle) < 4 ? "" : palette[levels[t]]);
  return (t) => surprisal[Math.min(last, Math.round(nll[t] * step))];
}
