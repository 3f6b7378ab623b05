// The live view's bookmark: its values in the address, and the view after an arrival by such an address.

import { address } from "../../../browser/static/address.js";
import { toUtf16Index } from "../../../browser/static/characters.js";
import { find } from "../../../browser/static/dom.js";
import { Notes } from "./notes.js";

/** @import { Fields } from "../../../browser/static/address.js" */
/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { Arrival, Example } from "./types" */
/** @import { View } from "./view.js" */

const MAX_ADDRESS_TEXT_CHARS = 2000; // characters of a text in an address, as in rnnviz/ui/shell/address.py

export class Bookmark {
  /** @type {string | undefined} the model's opening text, which the address omits */
  opening;
  /** @type {Example | null} the example in view */
  example = null;
  model = ""; // the model that reads the text next; "" for the present one
  /** @type {Phrase} */
  phrase;
  /** @type {Notes} */
  notes;
  fields = () => this.listFields();

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    address?.join("live", this.fields);
  }

  /** The view's values for the address. @returns {Fields} */
  listFields() {
    const { view, opening } = this;
    const { editor, figure, pin, why, unit, continuation } = view;
    const { first } = view.store.fixed;
    const usual = { ...first, order: "steady" };
    // A replay passes through texts that nobody has written.
    const text = editor.text + (continuation.replaying ? continuation.queue : "");
    const characters = Array.from(text);
    const number = (/** @type {number | null} */ n) => (n === null ? null : String(n));
    const other = (/** @type {"quantity" | "layer" | "order"} */ name) =>
      view[name] === usual[name] ? null : String(view[name]);
    return {
      ...(this.model && { model: this.model }),
      text: text === opening ? null : characters.slice(0, MAX_ADDRESS_TEXT_CHARS).join(""),
      of: characters.length > MAX_ADDRESS_TEXT_CHARS ? String(characters.length) : null,
      at: continuation.replaying || editor.caret === characters.length ? null : String(editor.caret),
      pin: number(pin),
      why: why ? "1" : null,
      unit:
        unit === first.unit && view.quantity === first.quantity && view.layer === first.layer
          ? null
          : (number(unit) ?? "none"),
      rows: number(figure.zoom.count || null),
      quantity: other("quantity"),
      layer: other("layer"),
      order: other("order"),
      memoryless: view.memoryless && view.store.fixed.memoryless ? "1" : null,
    };
  }

  /** Set the words, in the session's language. @param {Phrase} phrase */
  setWords(phrase) {
    this.phrase = phrase;
    this.notes = new Notes(this.view.root, this.view.onResize);
  }

  /**
   * Restore the view after a rerun of the page or a remount of this view, by the address and within the model's limits.
   * @param {boolean} moved whether the session is new: for it, this page's own address counts as an arrival
   */
  restoreView(moved) {
    const { view } = this;
    const { store } = view;
    this.opening = store.header.opening;
    this.model = "";
    if (store.header.arrival && !moved) this.applyArrival(store.header.arrival);
    const { quantities, layers } = store.fixed;
    if (!(view.quantity in quantities)) view.quantity = "hidden";
    view.layer = Math.min(view.layer, layers - 1);
    if (view.unit !== null && view.unit >= store.units) view.unit = null;
    const { quantity, layer, order, unit, start } = store.header;
    view.start = Math.max(start, store.stop - view.columns);
    const compares = view.memoryless && store.fixed.memoryless !== null;
    const choices = [view.quantity, view.layer, view.order, view.unit, compares];
    if (choices.join() !== [quantity, layer, order, unit, store.memorylessRows !== null].join() || view.why)
      view.viewSocket.askDue = true;
  }

  /** Restore the view of an address; the text is in place already. @param {Arrival} arrival */
  applyArrival({ caret, pin, why, rows, wrong, cut, ...choices }) {
    const { view } = this;
    const { editor, store } = view;
    Object.assign(view, choices);
    view.pin = pin !== null && pin < editor.characters.length ? pin : null;
    view.why = why && view.pin !== null;
    view.hover = null;
    view.follow = true;
    const { text, hasPairs, characters } = editor;
    const caretIndex = toUtf16Index(text, Math.min(caret ?? characters.length, characters.length), hasPairs);
    editor.area.setSelectionRange(caretIndex, caretIndex);
    editor.lastCaret = editor.caret;
    const rowCount = rows < store.fixed.units ? rows : 0;
    view.figure.zoomTo(rowCount, view.unit === null ? 0 : store.unitRow(view.unit));
    find(view.root, "select.rv-zoom").value = String(rowCount);
    this.notes.show("wrong", wrong);
    const [limit, n] = [MAX_ADDRESS_TEXT_CHARS, cut ?? 0].map((count) => view.numbers.whole(count));
    this.notes.show("cut", cut === null ? "" : this.phrase("address.cut", { most: limit, n }));
  }

  /** Note a change. Each keystroke calls this, so the address's values are only made at the write. */
  noteChange() {
    address?.scheduleWrite();
    const { notes, phrase } = this;
    const { editor, numbers } = this.view;
    const long = editor.characters.length > MAX_ADDRESS_TEXT_CHARS;
    notes.show("long", long ? phrase("address.long", { most: numbers.whole(MAX_ADDRESS_TEXT_CHARS) }) : "");
  }

  /**
   * Make a change that begins a new entry of the browser's history.
   * @param {string} model the model that reads the text next, "" for the same @param {() => void} change
   */
  changeInNewEntry(model, change) {
    address?.beginEntry();
    this.model = model;
    this.notes.show("wrong", "");
    this.notes.show("cut", "");
    change();
    address?.write();
  }

  close() {
    address?.leave("live", this.fields);
  }
}
