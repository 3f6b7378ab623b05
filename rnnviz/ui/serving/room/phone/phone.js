// A phone's page: the live view of a network, and the room's question, whose answers it sends.

import { make } from "../../../browser/static/dom.js";
import { subscripted } from "../../../browser/static/subscripts.js";
import { formulaAsText } from "./formula.js";

/** The networks that the page opens with. @typedef {{ chosen: string, narrow: string, wide: string }} Shown */
/** What the lecturer shows: a step's title, its sentence and its formula. @typedef {{ title: string, says: string, formula: string }} Still */
/** @typedef {{ state: string, language?: string, number?: number, text?: string, options?: string[], letters?: boolean, mine?: number | null, right?: number | null, missed?: boolean, still?: Still, page?: Shown }} Heard */

const wordsByLanguage = JSON.parse(find("words").textContent ?? "{}");
const [question, text, options, line, still] = ["question", "text", "options", "said", "still"].map(find);
const view = /** @type {HTMLIFrameElement} */ (find("view"));
const ID_STORAGE = "rnnviz-phone"; // the storage key of this phone's id, which outlasts a reload
const SILENT_MS = 40_000; // milliseconds without a line, of which one is due every 15 s
const RETRY_MS = 3000; // milliseconds until the next try, and up to as many again
const NARROW_PX = 700; // pixels; below, the smallest network comes first
/** @type {Heard} */
let lastState = { state: "lost" };
let language = navigator.language.startsWith("zh") ? "zh" : "en";
/** @type {{ question: number | undefined, answer: number } | null} the answer that is not counted yet */
let unsent = null;
let sending = false;
/** @type {number | undefined} the question that was open when this phone's last answer came too late */
let missed;
/** @type {number | null} this phone's answer that the room has counted */
let counted = null;
let stream = new AbortController();
let opened = ""; // the network that the page was opened with last

/** @param {string} id @returns {HTMLElement} */
function find(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** @param {string} name */
function phrase(name) {
  return wordsByLanguage[language]?.[name] ?? wordsByLanguage.en[name] ?? "";
}

/** Wait some seconds, at random, so that a class doesn't return at one moment; or until there is a network. */
function pause() {
  return new Promise((done) => {
    setTimeout(done, RETRY_MS + Math.random() * RETRY_MS);
    window.addEventListener("online", done, { once: true });
  });
}

// ---- the server -------------------------------------------------------------------------------------

let phoneId = stored();

function stored() {
  try {
    return localStorage.getItem(ID_STORAGE) ?? "";
  } catch {
    return ""; // no storage: the id lasts as long as the page
  }
}

/** @param {string} name */
function keep(name) {
  phoneId = name;
  try {
    localStorage.setItem(ID_STORAGE, name);
  } catch {}
}

/** Post to the room as this phone, which joins if it is new there. @param {string} path @param {object} more @param {AbortSignal} [signal] */
async function post(path, more, signal) {
  for (let tries = 0; ; tries++) {
    if (!phoneId) keep((await (await fetch("room/join", { method: "POST", body: "{}" })).json()).phone ?? "");
    const body = JSON.stringify({ phone: phoneId, ...more });
    const response = await fetch(`room/${path}`, { method: "POST", body, signal });
    if (response.status !== 401 || tries) return response;
    keep(""); // the room was opened anew, and doesn't know the id
  }
}

/** Follow the room's state, over one connection after another. */
async function listen() {
  stream.abort();
  stream = new AbortController();
  const { signal } = stream;
  while (!signal.aborted) {
    try {
      await follow(await post("events", {}, signal), signal);
      if (lastState.state === "over" || lastState.state === "elsewhere") return;
    } catch {}
    if (signal.aborted) return;
    if (lastState.state !== "full") show({ ...lastState, state: "lost" });
    await pause();
  }
}

/** Take each line of a stream. @param {Response} response @param {AbortSignal} signal */
async function follow(response, signal) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!response.ok || !reader) return;
  for (let rest = ""; ; ) {
    const timer = setTimeout(() => reader.cancel(), SILENT_MS);
    const { value, done } = await reader.read();
    clearTimeout(timer);
    if (done || signal.aborted) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const record of lines) if (record) takeState(JSON.parse(record));
    if (unsent && !sending) deliver();
  }
}

/** Choose an answer. @param {number} answer */
function choose(answer) {
  unsent = { question: lastState.number, answer };
  show({ ...lastState, mine: answer });
  if (!sending) deliver();
}

/** Send the last answer chosen, until the room has it or the question is closed. */
async function deliver() {
  sending = true;
  while (unsent) {
    const answer = unsent;
    try {
      const response = await post("answer", answer);
      const state = await response.json();
      if (response.status === 429) throw new Error("again, more slowly");
      if (unsent === answer) unsent = null;
      if (state.missed && lastState.number === answer.question) missed = state.number;
      else if (state.missed) missed = lastState.number;
      if (response.ok) takeState(state);
      else show({ ...lastState, mine: counted });
    } catch {
      show(lastState);
      await pause();
      if (lastState.number !== answer.question && unsent === answer) {
        unsent = null; // another question is open
        missed = lastState.number;
        show(lastState);
      }
    }
  }
  sending = false;
}

/** Take and show the room's state. @param {Heard} state */
function takeState(state) {
  counted = state.mine ?? null;
  const waits = unsent && unsent.question === state.number && state.state === "open";
  show(waits ? { ...state, mine: unsent?.answer } : state);
}

// ---- the page ---------------------------------------------------------------------------------------

/** @param {Heard} state */
function show(state) {
  const again = state.number !== lastState.number || state.text !== lastState.text;
  lastState = { ...state, page: state.page ?? lastState.page };
  language = state.language ?? language;
  document.documentElement.lang = language;
  document.title = phrase("title");
  question.className = state.text === undefined ? "quiet" : "";
  text.replaceChildren(...subscripted(state.text ?? phrase("title")));
  if (again) options.replaceChildren(...(state.options ?? []).map(button));
  options.className = state.letters ? "letters" : "";
  [...options.children].forEach((child, i) => {
    const button = /** @type {HTMLButtonElement} */ (child);
    button.setAttribute("aria-pressed", String(state.mine === i));
    button.disabled = state.state !== "open" && state.state !== "lost";
    button.classList.toggle("right", state.right === i);
  });
  line.replaceChildren(...subscripted(statusLine(state)));
  showStill(state);
  if (lastState.page) openPage(lastState.page);
}

/** Show the lecturer's step, unless its question is open. @param {Heard} state */
function showStill({ state, still: step }) {
  still.hidden = !step || state === "open";
  if (step)
    still.replaceChildren(
      make("h2", "", step.title),
      make("p", "", ...formulaAsText(step.formula)),
      make("p", "", ...subscripted(step.says.replaceAll("。 ", "。"))),
    );
}

/** Open the page with the lecturer's network, or once with the one that suits the screen. @param {Shown} shown */
function openPage({ chosen, narrow, wide }) {
  const network = chosen || opened || (window.innerWidth < NARROW_PX ? narrow : wide);
  if (network === opened) return; // the reader may have gone on to another network, or typed
  opened = network;
  view.hidden = false;
  view.title = phrase("network");
  view.src = `page/?${new URLSearchParams({ model: network, lang: language })}`;
}

/** @param {Heard} state */
function statusLine(state) {
  if (state.state !== "over" && !navigator.onLine) return phrase(unsent ? "unsent" : "lost");
  if (state.state === "lost" && unsent) return phrase("unsent");
  if (state.state === "open" && unsent) return phrase("sending");
  if (state.state === "open" && typeof state.mine === "number") return phrase("given");
  if (state.state === "open") return phrase(state.number === missed ? "missed" : "open");
  const right = state.state === "closed" && typeof state.right === "number" ? state.right : -1;
  const answer = state.options?.[right];
  if (answer === undefined) return phrase(state.state);
  const answerName = answer === " " ? phrase("space") : answer;
  return phrase("right").replace(
    "{answer}",
    state.letters ? answerName : `${String.fromCharCode(65 + right)} · ${answerName}`,
  );
}

/** @param {string} option @param {number} i */
function button(option, i) {
  const element = document.createElement("button");
  element.replaceChildren(...subscripted(option === " " ? phrase("space") : option));
  element.className = option === " " ? "wide" : "";
  element.onclick = () => choose(i);
  return element;
}

line.onclick = () => lastState.state === "elsewhere" && listen();
window.addEventListener("offline", () => show(lastState));
window.addEventListener("online", () => show(lastState));
let slept = Infinity; // when the page was hidden; Infinity while it is visible
const NAP_MS = 10_000; // milliseconds hidden, after which a stream may be dead without an error
document.addEventListener("visibilitychange", () => {
  const long = Date.now() - slept > NAP_MS;
  slept = document.hidden ? Date.now() : Infinity;
  if (!document.hidden && long && lastState.state !== "over") listen();
});
listen();
