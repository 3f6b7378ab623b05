// The lecture's keys, wherever no other element uses them.

/** @import { View } from "./view.js" */

const FORWARD = [" ", "PageDown"]; // these keys mean what the step on the stage makes of them

/** @param {View} view @param {KeyboardEvent} event */
export function handleKey(view, event) {
  if (!view.answer || event.defaultPrevented || event.isComposing) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
  const typing = target.closest?.("input, textarea, select, [contenteditable=true], [role=listbox]");
  const blank = view.root.classList.contains("ln-blank");
  if (event.key === "Escape") {
    if (blank) view.blank();
    else if (typing) target.blur();
    else if (view.highlight.pinned) view.highlight.pin("");
    else if (view.room.hide()) return;
    else if (view.code.open) view.code.toggle(false);
    else if (view.present) view.setPresenting(false);
    return;
  }
  if (typing || (event.key === " " && target.closest?.("button, [role=button], a, summary"))) return;
  /** @type {Record<string, () => void>} */
  const actions = {
    // Whoever has pressed Space twice presses it again: at a scene's end it opens the next, as Page Down does.
    " ": () =>
      event.shiftKey
        ? view.goToStep(view.at - 1)
        : view.room.space() ||
          view.openPicture() ||
          view.goToStep(view.at + 1) ||
          view.goToScene(view.scene + 1),
    ArrowDown: () => view.goToStep(view.at + 1),
    ArrowUp: () => view.goToStep(view.at - 1),
    ArrowRight: () => view.goToScene(view.scene + 1),
    ArrowLeft: () => view.goToScene(view.scene - 1),
    // A presentation clicker has only these two keys: they walk through all steps and scenes.
    PageDown: () =>
      view.room.reveal() ||
      view.openPicture() ||
      view.goToStep(view.at + 1) ||
      view.goToScene(view.scene + 1),
    PageUp: () => view.goToStep(view.at - 1) || view.goToScene(view.scene - 1),
    Home: () => view.goToStep(0),
    End: () => view.goToStep(view.answer.steps - 1),
    ".": () => view.blank(), // a clicker's key for a black screen is this one or b
    b: () => view.blank(),
    p: () => view.setPresenting(!view.present),
    n: () => view.presenterChannel.open(),
    c: () => view.code.toggle(),
  };
  const letter = event.key.toLowerCase();
  const picksOption = view.board.openPicture && "abcdef".includes(letter); // the option that most hands were raised for
  const move = picksOption
    ? () => view.board.openPicture?.("abcdef".indexOf(letter))
    : (actions[event.key] ?? actions[letter]);
  if (!move) return;
  event.preventDefault();
  if (blank)
    view.blank(); // any key brings the picture back, and does no more
  else if (FORWARD.includes(event.key) && view.asking)
    view.held.push({ key: event.key, shift: event.shiftKey }); // what is on its way may be a question
  else move();
}
