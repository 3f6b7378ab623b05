// What Streamlit, which may make a view anew at any time, doesn't keep: the pin, the undo history, what is shown.
// And whose text counts when the page was run anew: the server's, or what is here.

/** @import { History } from "./history.js" */
/** @import { Answer } from "./types" */
/** @import { View } from "./view.js" */

/**
 * @typedef {object} Memory
 * @property {unknown} offer the text that the page had offered
 * @property {string | undefined} session the server's that knew it
 * @property {View["looks"]} looks
 * @property {{ text: string, by: string, history: History, selection: [number, number] }} written
 */

/** @param {View} view @returns {Memory} */
export function remember(view) {
  const { offer, session, looks, editor } = view;
  const { text, by, history, area } = editor;
  return {
    offer,
    session,
    looks,
    written: { text, by, history, selection: [area.selectionStart, area.selectionEnd] },
  };
}

/** @param {View} view @param {Memory} memory of the view that stood in its place */
function restore(view, { looks, written }) {
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

/**
 * The page was run anew, or this view was made anew.
 * @param {View} view @param {string} text the server's @param {Answer} header
 */
export function meet(view, text, { offer, session }) {
  const { before, editor, link } = view;
  const known = view.session ?? before?.session;
  // A new session, as in a process that has taken over, knows the address at most: what is here counts.
  const moved = known !== undefined && session !== known;
  view.session = session;
  if (moved && view.offer !== undefined) {
    view.offer = offer;
    link.lost();
  } else if (offer !== view.offer) {
    view.offer = offer;
    view.unpin();
    editor.set(text);
    view.drawn = editor.points;
    if (before && (moved || before.offer === offer)) restore(view, before);
    view.before = undefined;
  } else if (editor.text !== text) link.wanted = true;
  view.bookmark.meet(moved);
}
