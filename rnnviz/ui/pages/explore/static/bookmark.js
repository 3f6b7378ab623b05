// The view's place: what of it the address holds, and how it looks to somebody who arrives by one.

import { address } from "../../../browser/static/address.js";
import { toUnit } from "../../../browser/static/characters.js";
import { find } from "../../../browser/static/dom.js";
import { Notes } from "./notes.js";

/** @import { Fields } from "../../../browser/static/address.js" */
/** @import { Say } from "../../../browser/static/messages.js" */
/** @import { Arrival, Example } from "./types" */
/** @import { View } from "./view.js" */

const LONGEST = 2000; // characters of a text that an address holds: rnnviz/ui/compressed_text.py

export class Bookmark {
  /** @type {string | undefined} the model's own text: an address needs none for it */
  opening;
  /** @type {Example | null} the one that is in view */
  example = null;
  model = ""; // the one that will read the text next
  /** @type {Say} */
  say;
  /** @type {Notes} */
  notes;
  fields = () => this.tell();

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    address?.join("live", this.fields);
  }

  /** What belongs in the address. @returns {Fields} */
  tell() {
    const { view, opening } = this;
    const { editor, figure, pin, why, unit } = view;
    const { first } = view.store.fixed;
    const usual = { ...first, order: "steady" };
    const { points, text } = editor;
    const number = (/** @type {number | null} */ n) => (n === null ? null : String(n));
    const other = (/** @type {"quantity" | "layer" | "order"} */ name) =>
      view[name] === usual[name] ? null : String(view[name]);
    return {
      ...(this.model && { model: this.model }),
      text: text === opening ? null : points.slice(0, LONGEST).join(""),
      of: points.length > LONGEST ? String(points.length) : null,
      at: editor.caret === points.length ? null : String(editor.caret),
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

  /** Take over the page's words. @param {Say} say */
  speak(say) {
    this.say = say;
    this.notes = new Notes(this.view.root, this.view.onResize);
  }

  /**
   * The page was run anew, or this view was made anew: look as the address says, and as this model can.
   * @param {boolean} moved whether the session is a new one, to which this place's address is an arrival
   */
  meet(moved) {
    const { view } = this;
    const { store } = view;
    this.opening = store.head.opening;
    this.model = "";
    if (store.head.arrival && !moved) this.arrive(store.head.arrival);
    const { quantities, layers, units } = store.fixed;
    if (!(view.quantity in quantities)) view.quantity = "hidden";
    view.layer = Math.min(view.layer, layers - 1);
    if (view.unit !== null && view.unit >= units) view.unit = null;
    const { quantity, layer, order, unit, start } = store.head;
    view.start = Math.max(start, store.stop - view.columns);
    const compares = view.memoryless && store.fixed.memoryless !== null;
    const kept = [view.quantity, view.layer, view.order, view.unit, compares];
    if (kept.join() !== [quantity, layer, order, unit, store.others !== null].join() || view.why)
      view.link.wanted = true;
  }

  /** Look as the address says; the text is there already. @param {Arrival} arrival */
  arrive({ caret, pin, why, rows, wrong, cut, ...looks }) {
    const { view } = this;
    const { editor, store } = view;
    Object.assign(view, looks);
    view.pin = pin !== null && pin < editor.points.length ? pin : null;
    view.why = why && view.pin !== null;
    view.hover = null;
    view.follow = true;
    const { text, astral, points } = editor;
    const unit = toUnit(text, Math.min(caret ?? points.length, points.length), astral);
    editor.area.setSelectionRange(unit, unit);
    editor.was = editor.caret;
    const shown = rows < store.fixed.units ? rows : 0;
    view.figure.zoomTo(shown, view.unit === null ? 0 : store.row(view.unit));
    find(view.root, "select.rv-zoom").value = String(shown);
    this.notes.tell("wrong", wrong);
    const [most, n] = [LONGEST, cut ?? 0].map((count) => view.numbers.whole(count));
    this.notes.tell("cut", cut === null ? "" : this.say("address.cut", { most, n }));
  }

  /** Something may have changed. On the way of every keystroke: what is said of it is made later. */
  touch() {
    address?.touch();
    const { notes, say } = this;
    const { editor, numbers } = this.view;
    const long = editor.points.length > LONGEST;
    notes.tell("long", long ? say("address.long", { most: numbers.whole(LONGEST) }) : "");
  }

  /**
   * Change what is in view, as a new entry of the browser's history.
   * @param {string} model the one that will read it, "" for the same @param {() => void} change
   */
  turn(model, change) {
    address?.turn();
    this.model = model;
    this.notes.tell("wrong", "");
    this.notes.tell("cut", "");
    change();
    address?.write();
  }

  close() {
    address?.leave("live", this.fields);
  }
}
