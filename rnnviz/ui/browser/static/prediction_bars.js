// The bars of a prediction: of the next character, or of the one at the cursor, with the actual character. A touchable
// bar has a button that writes its character.

import { visible } from "./characters.js";
import { find, make, put } from "./dom.js";

/** @import { Numbers } from "./number_format.js" */
/** @import { Predictions } from "./types" */
/** @import { Phrase } from "./messages.js" */

const CONTEXT_CHARS = 8; // characters shown before the prediction's place
const DIGITS = "1234567890"; // the keys of the first bars
const [NO_SYMBOL, OTHER_SYMBOLS] = [-1, -2]; // ids of rows without a symbol
const ROUNDING_ERROR = 1e-6; // a remainder below this is a rounding error of float32

/** The elements of one row: a symbol, its bar, its probability. */
export function barRow() {
  const [symbol, bar, chance] = [make("bdi", "rv-symbol"), make("span", "rv-bar"), make("span", "rv-chance")];
  const track = make("span", "rv-track", bar);
  return { item: make("li", "", symbol, track, chance), symbol, track, bar, chance };
}

/** The number of a key's bar, from 0; -1 for other keys. @param {KeyboardEvent} event */
export function digit(event) {
  const match = /^(?:Digit|Numpad)(\d)$/.exec(event.code);
  return match ? DIGITS.indexOf(match[1]) : -1;
}

/** A character's name for a screen reader; most are their own name. @param {string} character @param {Phrase} phrase */
export function spokenName(character, phrase) {
  const key = `name.${character}`;
  const name = phrase(key);
  return name === key ? visible(character) : name;
}

/**
 * One bar: a symbol's id (0 is `<unk>`, below 0 no symbol), its character and its probability `p`. `was` is the
 * probability before reshaping, or null; `other` that of the network shown beside; `kind` has the row's classes.
 * @typedef {{ id: number, character: string, p: number | null, was: number | null, other?: number, kind: string }} Bar
 */

export class PredictionBars {
  /** @typedef {{ outline: HTMLElement, other: HTMLElement, share: HTMLElement, button: HTMLButtonElement | null, id: number }} More */
  /** @type {(ReturnType<typeof barRow> & More)[]} */
  rows = [];

  /**
   * @param {HTMLElement} root @param {Phrase} phrase @param {Numbers} numbers
   * @param {((id: number) => void) | null} pick called with the symbol of a touched bar; null: bars aren't touchable
   */
  constructor(root, phrase, numbers, pick = null) {
    this.lead = find(root, "span.rv-next-lead");
    this.head = /** @type {HTMLElement} */ (this.lead.parentElement);
    this.before = find(root, "bdi.rv-next-before");
    this.list = find(root, "ol.rv-next-list");
    this.foot = find(root, "p.rv-next-foot");
    this.phrase = phrase;
    this.numbers = numbers;
    this.pick = pick;
    this.list.replaceChildren();
    this.list.classList.toggle("rv-touchable", pick !== null);
    if (pick) this.list.onkeydown = (event) => this.key(event);
  }

  addRow() {
    const { pick } = this;
    const outline = make("i", "rv-outline");
    const [other, share] = [make("span", "rv-other"), make("span", "rv-share")];
    const row = { ...barRow(), outline, other, share, button: pick && make("button", "rv-touch"), id: -1 };
    row.track.append(outline, other);
    row.item.append(share);
    if (pick && row.button) {
      const { button } = row;
      button.tabIndex = this.rows.length ? -1 : 0; // one tab stop for all bars: arrow keys move among them
      button.onmousedown = (event) => event.preventDefault(); // keeps the focus in the text
      button.onclick = () => pick(row.id);
      for (const part of [row.symbol, row.track, row.chance, share]) part.ariaHidden = "true";
      row.item.append(button);
    }
    this.list.append(row.item);
    this.rows.push(row);
  }

  /** @param {number} i @param {Bar} bar @param {string} word shown in place of the character, "" for none */
  row(i, { id, character, p, was, other, kind }, word) {
    while (this.rows.length <= i) this.addRow();
    const row = this.rows[i];
    const chance = p === null || Number.isNaN(p) ? "" : this.numbers.percent(p);
    put(row.symbol, word || visible(character));
    put(row.chance, chance);
    row.bar.style.transform = `scaleX(${Math.min(1, p || 0)})`;
    row.outline.hidden = was === null;
    if (was !== null) row.outline.style.width = `${100 * Math.min(1, was)}%`;
    row.other.hidden = row.share.hidden = other === undefined;
    const beside = other === undefined ? "" : this.numbers.percent(other);
    put(row.share, beside);
    row.other.style.transform = `scaleX(${Math.min(1, other ?? 0)})`;
    if (row.item.className !== kind) row.item.className = kind;
    row.item.hidden = false;
    row.id = id;
    const name = word || spokenName(character, this.phrase);
    const { button } = row;
    if (button) button.hidden = id <= 0;
    const sentence = this.phrase(button && id > 0 ? "next.write" : "next.said", { c: name, p: chance });
    const label = beside ? this.phrase("next.beside", { said: sentence, p: beside }) : sentence;
    const labelled = button && id > 0 ? button : row.item;
    if (labelled.ariaLabel !== label) labelled.ariaLabel = label;
  }

  /**
   * Draw the prediction after t characters of `list`; `entropyShown`: whether its entropy is shown elsewhere.
   * @param {Predictions} store @param {string[]} list @param {number} t
   */
  draw(store, list, t, entropyShown = false) {
    if (!store.holds(t)) return;
    const { phrase } = this;
    const newBars = bars(store, list, t);
    const words = { 0: phrase("unk"), [OTHER_SYMBOLS]: phrase("next.other") };
    newBars.forEach((bar, i) => {
      this.row(i, bar, bar.character ? "" : (words[bar.id] ?? ""));
    });
    for (let i = newBars.length; i < this.rows.length; i++) this.rows[i].item.hidden = true;
    const last = list.slice(Math.max(0, t - CONTEXT_CHARS), t);
    put(this.lead, phrase(t === list.length ? "next" : t ? "next.at" : "next.start"));
    put(this.before, (t > CONTEXT_CHARS ? "…" : "") + last.map(visible).join(""));
    this.head.ariaLabel = `${this.lead.textContent} ${last.join("")}`;
    const left = store.reshapedAt(t)?.left;
    const bits = this.numbers.number(store.entropy(t));
    const n = left === undefined ? "" : this.numbers.whole(left);
    put(this.foot, n || !entropyShown ? phrase(n ? "next.left" : "next.entropy", { bits, n }) : "");
  }

  /** Click the bar of this number, from 0. @param {number} n */
  choose(n) {
    const { button } = this.rows[n] ?? {};
    if (button && !button.hidden) button.click();
  }

  /** Move among the bars by arrow keys, or click one by its digit. @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const buttons = this.rows.flatMap(({ item, button }) =>
      button && !button.hidden && !item.hidden ? button : [],
    );
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    const places = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: buttons.length - 1 };
    const to = /** @type {Record<string, number>} */ (places)[event.key];
    if (digit(event) >= 0) this.choose(digit(event));
    else if (to === undefined) return;
    else {
      buttons[at].tabIndex = -1;
      const next = buttons[Math.max(0, Math.min(buttons.length - 1, to))];
      next.tabIndex = 0;
      next.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/**
 * The rows' bars, from the top.
 * @param {Predictions} store @param {string[]} list @param {number} t
 * @returns {Bar[]}
 */
function bars(store, list, t) {
  const expected = store.expected(t);
  const reshaped = store.reshapedAt(t);
  const memoryless = store.memorylessAt(t);
  const actual = t < list.length ? store.ids[t] : -1;
  /** @type {Bar[]} */
  const newBars = expected.map(({ id, p }, i) => {
    const kinds = [id === actual && "rv-actual", id === 0 && "rv-word", reshaped?.p[i] === 0 && "rv-out"];
    const kind = kinds.filter(Boolean).join(" ");
    return {
      id,
      character: store.symbol(id),
      p: reshaped ? reshaped.p[i] : p,
      was: reshaped ? p : null,
      other: memoryless?.p[i],
      kind,
    };
  });
  const remainder = (/** @type {Iterable<number>} */ listed) => {
    const rest = [...listed].reduce((left, p) => left - p, 1);
    return rest < ROUNDING_ERROR ? 0 : rest;
  };
  const rest = remainder(expected.map(({ p }) => p));
  const share = {
    p: reshaped ? remainder(reshaped.p) : rest,
    was: reshaped ? rest : null,
    other: memoryless && remainder(memoryless.p),
  };
  newBars.push({ id: OTHER_SYMBOLS, character: "", ...share, kind: "rv-rest rv-word" });
  // The actual character has a row below if it isn't among the first. The row is always there, so nothing jumps.
  if (actual >= 0 && !expected.some(({ id }) => id === actual)) {
    const p = store.probability(t);
    const values = { p: reshaped?.actual ?? p, was: reshaped ? p : null, other: memoryless?.actual };
    newBars.push({ id: actual, character: list[t], ...values, kind: "rv-actual" });
  } else newBars.push({ id: NO_SYMBOL, character: "", p: null, was: null, kind: "rv-none" });
  return newBars;
}
