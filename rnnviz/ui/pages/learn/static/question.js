// A step's question: before its picture, and above the picture once the question is answered.

import { make } from "../../../browser/static/dom.js";

import { subscripted } from "../../../browser/static/subscripts.js";

/** @import { Board } from "./board.js" */
/** @import { KitAnswer, KitQuestion } from "./types" */

const LETTERS = "ABCDEF";
const UNANSWERED = -2; // the control `pick` before an answer, as in rnnviz/lecture/steps.py
const PICTURE_ONLY = -1; // the picture is shown without a prediction

/**
 * The room's votes for each option, in percent; undefined until they are revealed.
 * @param {Board} board @param {KitAnswer} data @returns {number[] | undefined}
 */
function votePercents({ room }, { key }) {
  const counts = room?.revealed(key)?.counts;
  const all = counts?.reduce((sum, n) => sum + n, 0);
  return all ? counts?.map((n) => Math.round((100 * n) / all)) : undefined;
}

/** The question with its options, before the picture. @param {Board} board @param {KitAnswer} data */
export function drawQuestion(board, data) {
  const { text, options } = /** @type {KitQuestion} */ (data.question);
  const share = votePercents(board, data);
  const picks = options.map((words, i) => {
    const option = make("button", "kit-option");
    option.append(make("b", "", LETTERS[i]), make("span", "", words));
    if (share) {
      option.style.setProperty("--votes", `${share[i]}%`);
      option.append(make("b", "", `${share[i]} %`));
    }
    option.dataset.key = `option.${i}`;
    option.onclick = () => board.changeControls({ pick: i });
    return option;
  });
  board.openPicture = (pick = PICTURE_ONLY) => {
    if (pick < options.length) board.changeControls({ pick });
  };
  return make("div", "kit-question", make("h2", "", ...subscripted(text)), ...picks);
}

/** The question above its picture, with the right and the predicted option. @param {Board} board @param {KitAnswer} data */
export function drawAnsweredQuestion(board, data) {
  const { text, options, again, right, predicted } = /** @type {KitQuestion} */ (data.question);
  const share = votePercents(board, data);
  const spans = options.map((words, i) => {
    const mark = i === right ? "✓ " : i === predicted ? "✗ " : "";
    const option = make(
      "span",
      i === right ? "kit-right" : i === predicted ? "kit-wrong" : "",
      `${mark}${LETTERS[i]} ${words}`,
    );
    if (share) option.append(make("small", "", ` ${share[i]} %`));
    return option;
  });
  const repeat = make("button", "ln-button", again);
  repeat.dataset.key = "again";
  repeat.onclick = () => board.changeControls({ pick: UNANSWERED });
  return [make("b", "", ...subscripted(text)), ...spans, repeat];
}
