// What Streamlit, which may make a view anew at any time, doesn't keep: the pin, the undo history, what is shown.

/** @import { History } from "./history.js" */
/** @import { Shape } from "./types" */
/** @import { View } from "./view.js" */

/**
 * @typedef {object} Memory
 * @property {unknown} offer the text that the page had offered
 * @property {string | undefined} session the server's that knew it
 * @property {{ pin: number | null, quantity: string, layer: number, order: string, unit: number | null, shape: Shape }} looks
 * @property {{ text: string, by: string, history: History, selection: [number, number] }} written
 */

/** @param {View} view @returns {Memory} */
export function remember({ offer, session, pin, quantity, layer, order, unit, shape, editor }) {
  const { text, by, history, area } = editor;
  const looks = { pin, quantity, layer, order, unit, shape };
  return {
    offer,
    session,
    looks,
    written: { text, by, history, selection: [area.selectionStart, area.selectionEnd] },
  };
}

/** @param {View} view @param {Memory} memory of the view that stood in its place */
export function restore(view, { looks, written }) {
  const { editor } = view;
  Object.assign(view, looks);
  view.dials.draw();
  view.link.wanted = true; // what was typed last may have no answer yet
  editor.set(written.text);
  editor.area.setSelectionRange(...written.selection);
  editor.was = editor.caret;
  const { by, history } = written;
  if (by.length === editor.points.length) Object.assign(editor, { by, history });
}
