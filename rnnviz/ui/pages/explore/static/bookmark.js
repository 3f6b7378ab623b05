// The view's place: what of it the address holds, and how it looks to somebody who arrives by one.

import { address } from "../../../browser/static/address.js";
import { toUnit } from "../../../browser/static/characters.js";
import { find } from "../../../browser/static/dom.js";

/** @import { Fields } from "../../../browser/static/address.js" */
/** @import { Arrival } from "./types" */
/** @import { View } from "./view.js" */

const LONGEST = 2000; // characters of a text that an address holds: rnnviz/ui/packed.py

export class Bookmark {
  /** @type {string | undefined} the model's own text: an address needs none for it */
  opening;
  fields = () => this.tell();

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    const { quantity, layer, order } = view;
    this.usual = { quantity, layer, order };
    address?.join("live", this.fields);
  }

  /** What belongs in the address. @returns {Fields} */
  tell() {
    const { view, opening, usual } = this;
    const { editor, figure, pin, unit } = view;
    const { points, text } = editor;
    const number = (/** @type {number | null} */ n) => (n === null ? null : String(n));
    const other = (/** @type {"quantity" | "layer" | "order"} */ name) =>
      view[name] === usual[name] ? null : String(view[name]);
    return {
      text: text === opening ? null : points.slice(0, LONGEST).join(""),
      of: points.length > LONGEST ? String(points.length) : null,
      at: editor.caret === points.length ? null : String(editor.caret),
      pin: number(pin),
      unit: number(unit),
      rows: number(figure.zoom.count || null),
      quantity: other("quantity"),
      layer: other("layer"),
      order: other("order"),
    };
  }

  /** Look as the address says; the text is there already. @param {Arrival} arrival */
  arrive({ caret, pin, rows, wrong, cut, ...looks }) {
    const { view } = this;
    const { editor, store } = view;
    Object.assign(view, looks);
    view.pin = pin !== null && pin < editor.points.length ? pin : null;
    view.hover = null;
    view.follow = true;
    const { text, astral, points } = editor;
    const unit = toUnit(text, Math.min(caret ?? points.length, points.length), astral);
    editor.area.setSelectionRange(unit, unit);
    editor.was = editor.caret;
    const shown = rows < store.fixed.units ? rows : 0;
    view.figure.zoomTo(shown, view.unit === null ? 0 : store.row(view.unit));
    find(view.root, "select.rv-zoom").value = String(shown);
    view.notes.tell("wrong", wrong);
    const [most, n] = [LONGEST, cut ?? 0].map((count) => view.numbers.whole(count));
    view.notes.tell("cut", cut === null ? "" : view.say("address.cut", { most, n }));
  }

  /** Something may have changed. On the way of every keystroke: what is said of it is made later. */
  touch() {
    address?.touch();
    const { notes, editor, numbers, say } = this.view;
    const long = editor.points.length > LONGEST;
    notes.tell("long", long ? say("address.long", { most: numbers.whole(LONGEST) }) : "");
  }

  /** What comes next has a place of its own in the browser's history. */
  turn() {
    address?.turn();
    this.view.notes.tell("wrong", "");
    this.view.notes.tell("cut", "");
  }

  close() {
    address?.leave("live", this.fields);
  }
}
