// The lecturer's window: notes, the next step, a stopwatch, and the room's answers. This page has no session: the
// stage's window sends it the notes and the answers (presenter_channel.js).

import { button, make } from "../../../browser/static/dom.js";
import { fill, label, makePhrase } from "../../../browser/static/messages.js";
import { Numbers } from "../../../browser/static/number_format.js";
import { subscripted } from "../../../browser/static/subscripts.js";
import { dress } from "../../../browser/static/theme.js";
import { Board } from "./board.js";
import { channelName, KEYS } from "./presenter_channel.js";
import { draw } from "./primitives.js";
import { Stopwatch } from "./stopwatch.js";

/** @import { PresenterStep, RoomLive } from "./types" */

const COLOURS = ["background", "text", "muted", "model", "actual"];
const ANSWER_TIMEOUT_MS = 1500; // milliseconds until a stage that doesn't answer counts as lost

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const key = window.location.hash.slice(1);
const channel = new BroadcastChannel(channelName(key));
const watch = new Stopwatch(`rnnviz-clock-${key}`, sessionStorage);
const board = new Board(
  byId("preview"),
  () => {},
  () => {},
);
/** @type {Record<string, string>} */
let words = {};
let shown = ""; // the step that the notes are of

channel.onmessage = ({ data }) => {
  if (data?.kind === "step") show(data);
  else if (data?.kind === "room") showRoom(data.room);
  else if (data?.kind === "gone") showLost(true);
};

/** @param {PresenterStep} step */
function show(step) {
  showLost(false);
  words = step.words;
  label(document, makePhrase(words));
  document.documentElement.lang = step.language;
  document.title = `${step.scene}.${step.step} · ${step.title}`;
  for (const colour of COLOURS)
    document.documentElement.style.setProperty(`--${colour}`, String(step.colours[colour]));
  document.documentElement.style.setProperty("--line", step.colours.grid);
  byId("where").textContent = `${step.scene} ${step.scene_title} · ${step.step}/${step.steps}`;
  byId("title").textContent = step.title;
  byId("lines").replaceChildren(
    ...step.lines.map((line, i) =>
      make("li", i + 1 === step.lines.length ? "asks" : "", ...subscripted(line)),
    ),
  );
  byId("notice").replaceChildren(...subscripted(step.notice));
  byId("right").replaceChildren(...subscripted(step.right));
  byId("right").hidden = !step.right;
  byId("plan").textContent = step.plan
    .map(([begins, minutes], i) => planned(45 * (i + 1), begins, minutes))
    .join(" · ");
  const name = `${step.scene}.${step.step}`;
  if (shown && shown !== name && !watch.elapsed) watch.toggle(); // the talk begins with its first step forward
  shown = name;
  showPreview(step);
  byId("next").replaceChildren(
    step.next ? fill(words.pair, { name: words["desk.next"], value: "" }) : words["desk.last"],
    make("b", "", step.next),
  );
  byId("appendix").replaceChildren(
    ...step.appendix.map(([name, title]) => button(title, () => channel.postMessage({ kind: "go", name }))),
  );
  byId("appendix").hidden = step.appendix.length === 0;
  showRoom(step.room);
  tick();
}

/** When a step should begin, in a talk of so many minutes. @param {number} all @param {number} begins @param {number} minutes */
function planned(all, begins, minutes) {
  const clock = `${Math.floor(begins)}:${String(Math.round(60 * (begins % 1))).padStart(2, "0")}`;
  return fill(words[minutes ? "desk.plan" : "desk.skip"] ?? "", { all, begins: clock, minutes });
}

/** Draw the next step small. @param {PresenterStep} step */
function showPreview({ preview, themes, language, words }) {
  byId("preview").hidden = !preview;
  if (!preview) return;
  board.theme = dress(byId("preview"), themes);
  board.inks = { dark: themes.dark.background, light: themes.light.background };
  board.numbers = new Numbers(language);
  board.words = words;
  draw(board, preview);
}

/** Show the room's answers so far; null without a room. @param {RoomLive | null} live */
function showRoom(live) {
  const place = byId("room");
  const question = live?.question;
  place.hidden = !question;
  if (!live || !question) return;
  const phones = Math.max(live.phones, question.answered); // a phone that has gone has answered all the same
  const counted = fill(words["room.answered"] ?? "", { n: question.answered, phones });
  const maxCount = Math.max(1, ...question.counts);
  place.replaceChildren(
    make("p", "", ...subscripted(`${question.text} · ${counted}`)),
    ...question.options.flatMap((option, i) => {
      const bar = make("div", "bar");
      bar.style.width = `${(100 * question.counts[i]) / maxCount}%`;
      const count = make("span", "count", String(question.counts[i]));
      return [make("span", "", ...subscripted(option)), make("span", "", bar), count];
    }),
  );
}

/** @param {boolean} isLost */
function showLost(isLost) {
  const place = byId("lost");
  place.hidden = !isLost;
  if (isLost) place.textContent = words["desk.lost"] ?? "Lost: open it again from the lecture.";
}

function tick() {
  byId("clock").textContent = watch.format();
  byId("start").textContent = words[watch.running ? "desk.pause" : "desk.start"] ?? "";
}

/** @param {string} pressed @param {boolean} [shift] */
function press(pressed, shift = false) {
  channel.postMessage({ kind: "key", key: pressed, shift });
}

document.addEventListener("keydown", (event) => {
  const { key: pressed, shiftKey, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey || !KEYS.includes(pressed)) return;
  if (pressed === " " && /** @type {Element} */ (event.target).closest("button")) return; // Space presses the button
  event.preventDefault();
  press(pressed, shiftKey);
});
// A clicked button loses the focus, so that Space is the next step again.
document.addEventListener("pointerup", () =>
  setTimeout(() => /** @type {HTMLElement | null} */ (document.activeElement)?.blur()),
);
byId("on").onclick = () => press("PageDown");
byId("back").onclick = () => press("PageUp");
byId("start").onclick = () => {
  watch.toggle();
  tick();
};
byId("reset").onclick = () => {
  watch.reset();
  tick();
};
setInterval(tick, 250);
setTimeout(() => {
  if (byId("title").textContent === "") showLost(true);
}, ANSWER_TIMEOUT_MS);
channel.postMessage({ kind: "hello" });
