// The live view's state across remounts, which Streamlit may do at any time: the pin, the undo history, the choices.
// And the decision, after a rerun of the page, between the server's text and the browser's.

/** @import { History } from "./history.js" */
/** @import { Answer } from "./types" */
/** @import { View } from "./view.js" */

/**
 * @typedef {object} Memory
 * @property {unknown} offer the number of the text that the page offered last
 * @property {string | undefined} session the token of its session
 * @property {View["choices"]} choices
 * @property {boolean} tree whether the tree of continuations is open
 * @property {{ text: string, writers: string, history: History, selection: [number, number] }} written
 */

/** @param {View} view @returns {Memory} */
export function remember(view) {
  const { offer, session, choices, editor, tree } = view;
  const { text, writers, history, area } = editor;
  return {
    offer,
    session,
    choices,
    tree: tree.open,
    written: { text, writers, history, selection: [area.selectionStart, area.selectionEnd] },
  };
}

/** @param {View} view @param {Memory} memory of the view that this one replaces */
function restore(view, { choices, tree, written }) {
  const { editor } = view;
  Object.assign(view, choices);
  view.samplingControls.draw();
  view.viewSocket.askDue = true; // the last keys may have no answer yet
  editor.load(written.text);
  editor.area.setSelectionRange(...written.selection);
  editor.lastCaret = editor.caret;
  view.tree.show(tree);
  const { writers, history } = written;
  if (writers.length === editor.characters.length) Object.assign(editor, { writers, history });
}

/** Take over the text and the choices of the first picture. @param {View} view @param {View} first */
export function takeOver(view, first) {
  restore(view, remember(first));
  view.viewSocket.pageChanges = first.viewSocket.pageChanges; // another network, which only the page can choose
  view.viewSocket.ask();
}

/**
 * Restore the view after a rerun of the page, or a remount of this view.
 * @param {View} view @param {string} text the server's @param {Answer} header
 */
export function meetServerText(view, text, { offer, session }) {
  const { remembered, editor, viewSocket } = view;
  const previous = view.session ?? remembered?.session;
  // A new session, as after the server's restart, knows the address at most: the browser's text counts.
  const moved = previous !== undefined && session !== previous;
  view.session = session;
  if (moved && view.offer !== undefined) {
    view.offer = offer;
    viewSocket.forgetAsk();
  } else if (offer !== view.offer) {
    view.offer = offer;
    view.unpin();
    editor.load(text);
    view.characters = editor.characters;
    if (remembered && (moved || remembered.offer === offer)) restore(view, remembered);
    view.remembered = undefined;
  } else if (editor.text !== text) viewSocket.askDue = true;
  view.bookmark.restoreView(moved);
}
