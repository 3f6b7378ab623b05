// Keys outside the text: those of the figure, and those that choose a bar wherever the focus is.

import { digit } from "../../../browser/static/prediction_bars.js";

/** @import { View } from "./view.js" */

/** With Alt and a digit, write that bar's character. @param {View} view @param {KeyboardEvent} event */
export function handleShortcut(view, event) {
  const n = event.altKey && !event.ctrlKey && !event.metaKey ? digit(event) : -1;
  if (n < 0 || !view.editor || view.editor.composing) return;
  event.preventDefault();
  view.bars.choose(n);
}

/** The figure's keys: arrows move along characters and units, Enter pins one. @param {View} view @param {KeyboardEvent} event */
export function handleFigureKey(view, event) {
  const { store, figure } = view;
  if (!store.length || event.ctrlKey || event.metaKey || event.altKey) return;
  const pace = event.shiftKey ? 10 : 1;
  const t = view.hover?.t ?? view.pin ?? view.caretPlace;
  const columns = { ArrowLeft: t - pace, ArrowRight: t + pace, Home: 0, End: store.length - 1 };
  const along = /** @type {Record<string, number>} */ (columns)[event.key];
  const down = /** @type {Record<string, number>} */ ({ ArrowUp: -pace, ArrowDown: pace })[event.key];
  if (along !== undefined) {
    const to = Math.max(0, Math.min(store.length - 1, along));
    view.hover = { t: to, unit: null };
    if (to < view.start) view.scroll(to);
    else if (to >= view.start + view.columns) view.scroll(to - view.columns + 1);
  } else if (down !== undefined) {
    const row = view.unit === null ? 0 : store.unitRow(view.unit) + down;
    const to = Math.max(0, Math.min(store.rowCount - 1, row));
    const { from, count } = figure.shownRows(store);
    if (to < from || to >= from + count) figure.zoomTo(figure.zoom.count, to);
    view.choose({ unit: store.unitAt(to) });
  } else if (event.key === "Enter" || event.key === " ") {
    if (t < store.length) view.pickPlace({ t, unit: view.unit });
  } else return;
  event.preventDefault();
  view.drawCursor();
  const { readout, unit, pin, characters, barsPlace } = view;
  if (barsPlace < store.length) readout.announce(store, characters, barsPlace, unit, barsPlace === pin);
}
