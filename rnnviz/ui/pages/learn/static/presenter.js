// The lecturer's window: notes, the next step, a stopwatch, and the room's answers. This page has no session: the
// stage's window sends it the notes and the answers (presenter_channel.js).

import { fill } from "../../../browser/static/messages.js";
import { KEYS, name } from "./presenter_channel.js";
import { Stopwatch } from "./stopwatch.js";

/** @import { DeskStep, RoomLive } from "./types" */

const COLOURS = ["background", "text", "muted", "model", "actual"];
const PATIENCE = 1500; // milliseconds until a stage that doesn't answer counts as lost

/** @param {string} id */
const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const key = window.location.hash.slice(1);
const channel = new BroadcastChannel(name(key));
const watch = new Stopwatch(`rnnviz-clock-${key}`, sessionStorage);
/** @type {Record<string, string>} */
let words = {};

channel.onmessage = ({ data }) => {
  if (data?.kind === "step") show(data);
  else if (data?.kind === "room") room(data.room);
  else if (data?.kind === "gone") lost(true);
};

/** @param {DeskStep} said */
function show(said) {
  lost(false);
  words = said.words;
  document.documentElement.lang = said.language;
  document.title = `${said.scene}.${said.step} · ${said.title}`;
  for (const colour of COLOURS)
    document.documentElement.style.setProperty(`--${colour}`, said.colours[colour]);
  document.documentElement.style.setProperty("--line", said.colours.grid);
  at("where").textContent = `${said.scene} ${said.opens} · ${said.step}/${said.steps}`;
  at("title").textContent = said.title;
  at("lines").replaceChildren(
    ...said.lines.map((line, i) => {
      const item = document.createElement("li");
      item.textContent = line;
      item.className = i + 1 === said.lines.length ? "asks" : "";
      return item;
    }),
  );
  at("notice").textContent = said.notice;
  const next = document.createElement("b");
  next.textContent = said.next;
  at("next").replaceChildren(
    said.next ? fill(words.pair, { name: words["desk.next"], value: "" }) : words["desk.last"],
    next,
  );
  at("appendix").replaceChildren(
    ...said.appendix.map(([name, title]) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: title });
      button.onclick = () => channel.postMessage({ kind: "go", name });
      return button;
    }),
  );
  at("appendix").hidden = said.appendix.length === 0;
  at("appendix").setAttribute("aria-label", words["desk.appendix"]);
  at("back").textContent = words["desk.back"];
  at("on").textContent = words["desk.on"];
  at("reset").textContent = words["desk.reset"];
  at("clock").setAttribute("aria-label", words["desk.clock"]);
  room(said.room);
  tick();
}

/** Show the room's answers so far; null without a room. @param {RoomLive | null} live */
function room(live) {
  const place = at("room");
  const question = live?.question;
  place.hidden = !question;
  if (!live || !question) return;
  const heading = document.createElement("p");
  const counted = fill(words["room.answered"] ?? "", { n: question.answered, phones: live.phones });
  heading.textContent = `${question.text} · ${counted}`;
  const most = Math.max(1, ...question.counts);
  place.replaceChildren(
    heading,
    ...question.options.flatMap((option, i) => {
      const [label, track, bar, count] = ["span", "span", "div", "span"].map((tag) =>
        document.createElement(tag),
      );
      label.textContent = option;
      bar.className = "bar";
      bar.style.width = `${(100 * question.counts[i]) / most}%`;
      track.append(bar);
      count.className = "count";
      count.textContent = String(question.counts[i]);
      return [label, track, count];
    }),
  );
}

/** @param {boolean} is */
function lost(is) {
  const place = at("lost");
  place.hidden = !is;
  if (is) place.textContent = words["desk.lost"] ?? "Lost: open it again from the lecture.";
}

function tick() {
  at("clock").textContent = watch.said();
  at("start").textContent = words[watch.running ? "desk.pause" : "desk.start"] ?? "";
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
at("on").onclick = () => press("PageDown");
at("back").onclick = () => press("PageUp");
at("start").onclick = () => {
  watch.toggle();
  tick();
};
at("reset").onclick = () => {
  watch.reset();
  tick();
};
setInterval(tick, 250);
setTimeout(() => {
  if (at("title").textContent === "") lost(true);
}, PATIENCE);
channel.postMessage({ kind: "hello" });
