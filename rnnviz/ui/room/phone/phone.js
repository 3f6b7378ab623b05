// A phone's page: it shows its room's question, and sends answers.

/** @typedef {{ state: string, language?: string, number?: number, text?: string, options?: string[], letters?: boolean, mine?: number | null, right?: number | null, missed?: boolean }} Heard */

const said = JSON.parse(find("words").textContent ?? "{}");
const [text, options, line] = [find("text"), find("options"), find("said")];
const room = location.pathname.replace(/\/$/, "");
/** @type {Heard} */
let heard = { state: "lost" };
let language = navigator.language.startsWith("zh") ? "zh" : "en";
let trouble = "";
/** @type {number | undefined} the question that was open when this phone's last answer came too late */
let missed;
/** @type {number | null} this phone's answer that the room has counted */
let counted = null;
let sent = Promise.resolve();
let slept = Infinity; // when the page was hidden; Infinity while it is visible
const NAP = 10_000; // milliseconds hidden, after which a stream may be dead without an error event
/** @type {EventSource | undefined} */
let stream;

/** @param {string} id @returns {HTMLElement} */
function find(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** @param {string} name */
function say(name) {
  return said[language]?.[name] ?? said.en[name] ?? "";
}

/** Open a new stream of the room's state. */
function listen() {
  stream?.close();
  if (!navigator.cookieEnabled) return show({ state: "stranger" });
  const own = new EventSource(`${room}/events`);
  stream = own;
  own.onmessage = (event) => {
    trouble = "";
    take(JSON.parse(event.data));
    if (heard.state === "over" || heard.state === "elsewhere") own.close();
  };
  own.onerror = () => {
    if (own !== stream) return;
    if (heard.state !== "full") show({ ...heard, state: "lost" });
    // The browser reconnects by itself, except after an HTTP error, as from a restarted server: load the page again.
    if (own.readyState === EventSource.CLOSED)
      setTimeout(() => location.reload(), 4000 + Math.random() * 4000);
  };
}

/** Choose an answer. Answers are sent one after another, so that the last one counts. @param {number} answer */
function choose(answer) {
  const { number } = heard;
  show({ ...heard, mine: answer });
  sent = sent.then(() => send(number, answer));
}

/** @param {number | undefined} question @param {number} answer */
async function send(question, answer) {
  try {
    const got = await fetch(`${room}/answer`, { method: "POST", body: JSON.stringify({ question, answer }) });
    const found = await got.json();
    settle(question, got.ok ? "" : found.why, got.ok ? found : heard);
  } catch {
    settle(question, "late", heard);
  }
}

/** Show an answer's outcome. @param {number | undefined} question @param {string} why the reason of a failure, or "" @param {Heard} now */
function settle(question, why, now) {
  const same = heard.number === question; // else the stream has brought another question meanwhile
  if (same) trouble = why;
  if (now.missed) missed = same ? now.number : heard.number;
  if (!same) show(heard);
  else if (why) show({ ...heard, mine: counted });
  else take(now);
}

/** Take and show the room's state. @param {Heard} said */
function take(said) {
  counted = said.mine ?? null;
  show(said);
}

/** @param {Heard} now */
function show(now) {
  const again = now.number !== heard.number || now.text !== heard.text;
  heard = now;
  language = now.language ?? language;
  document.documentElement.lang = language;
  document.title = say("title");
  text.textContent = now.text ?? say("title");
  if (again) options.replaceChildren(...(now.options ?? []).map(button));
  options.className = now.letters ? "letters" : "";
  [...options.children].forEach((child, i) => {
    const one = /** @type {HTMLButtonElement} */ (child);
    one.setAttribute("aria-pressed", String(now.mine === i));
    one.disabled = now.state !== "open";
    one.classList.toggle("right", now.right === i);
  });
  line.textContent = below(now);
}

/** @param {Heard} now */
function below(now) {
  if (now.state === "open" && trouble) return say(trouble) || say("late");
  if (now.state === "open" && typeof now.mine === "number") return say("given");
  if (now.state === "open") return say(now.number === missed ? "missed" : "open");
  const right =
    now.state === "closed" && typeof now.right === "number" ? now.options?.[now.right] : undefined;
  if (right === undefined) return say(now.state);
  return say("right").replace("{answer}", right === " " ? say("space") : right);
}

/** @param {string} option @param {number} i */
function button(option, i) {
  const made = document.createElement("button");
  made.textContent = option === " " ? say("space") : option;
  made.className = option === " " ? "wide" : "";
  made.onclick = () => choose(i);
  return made;
}

line.onclick = () => heard.state === "elsewhere" && listen();
document.addEventListener("visibilitychange", () => {
  const long = Date.now() - slept > NAP;
  slept = document.hidden ? Date.now() : Infinity;
  if (document.hidden || heard.state === "over") return;
  if (long || stream?.readyState !== EventSource.OPEN) listen();
});
listen();

export {};
