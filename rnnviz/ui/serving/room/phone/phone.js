// A phone's page: the live view of a network, and the room's question, whose answers it sends.

/** @typedef {{ href: string, title: string, bytes: number }} Network */
/** @typedef {{ state: string, language?: string, number?: number, text?: string, options?: string[], letters?: boolean, mine?: number | null, right?: number | null, missed?: boolean, pages?: Network[], chosen?: number }} Heard */

const said = JSON.parse(find("words").textContent ?? "{}");
const [question, text, options, line, networks] = ["question", "text", "options", "said", "networks"].map(
  find,
);
const view = /** @type {HTMLIFrameElement} */ (find("view"));
const KEPT = "rnnviz-phone"; // the storage key of this phone's id, which outlasts a reload
const SILENT = 40_000; // milliseconds without a line, of which one is due every 15 s
const PAUSE = 3000; // milliseconds until the next try, and up to as many again
const NARROW = 700; // pixels; below, a network's small page comes first
/** @type {Heard} */
let heard = { state: "lost" };
let language = navigator.language.startsWith("zh") ? "zh" : "en";
/** @type {{ question: number | undefined, answer: number } | null} the answer that is not counted yet */
let unsent = null;
let sending = false;
/** @type {number | undefined} the question that was open when this phone's last answer came too late */
let missed;
/** @type {number | null} this phone's answer that the room has counted */
let counted = null;
let stream = new AbortController();
let shown = ""; // the address of the network in view
let picked = ""; // its title, if the reader has picked it
let put = -1; // the index of the network that the lecturer put on the phones last

/** @param {string} id @returns {HTMLElement} */
function find(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** @param {string} name */
function say(name) {
  return said[language]?.[name] ?? said.en[name] ?? "";
}

/** Wait some seconds, at random, so that a class doesn't return at one moment; or until there is a network. */
function pause() {
  return new Promise((done) => {
    setTimeout(done, PAUSE + Math.random() * PAUSE);
    window.addEventListener("online", done, { once: true });
  });
}

// ---- the server -------------------------------------------------------------------------------------

let own = stored();

function stored() {
  try {
    return localStorage.getItem(KEPT) ?? "";
  } catch {
    return ""; // no storage: the id lasts as long as the page
  }
}

/** @param {string} name */
function keep(name) {
  own = name;
  try {
    localStorage.setItem(KEPT, name);
  } catch {}
}

/** Post to the room as this phone, which joins if it is new there. @param {string} path @param {object} more @param {AbortSignal} [signal] */
async function post(path, more, signal) {
  for (let tries = 0; ; tries++) {
    if (!own) keep((await (await fetch("room/join", { method: "POST", body: "{}" })).json()).phone ?? "");
    const body = JSON.stringify({ phone: own, ...more });
    const got = await fetch(`room/${path}`, { method: "POST", body, signal });
    if (got.status !== 401 || tries) return got;
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
      if (heard.state === "over" || heard.state === "elsewhere") return;
    } catch {}
    if (signal.aborted) return;
    if (heard.state !== "full") show({ ...heard, state: "lost" });
    await pause();
  }
}

/** Take each line of a stream. @param {Response} got @param {AbortSignal} signal */
async function follow(got, signal) {
  const reader = got.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!got.ok || !reader) return;
  for (let rest = ""; ; ) {
    const timer = setTimeout(() => reader.cancel(), SILENT);
    const { value, done } = await reader.read();
    clearTimeout(timer);
    if (done || signal.aborted) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const one of lines) if (one) take(JSON.parse(one));
    if (unsent && !sending) deliver();
  }
}

/** Choose an answer. @param {number} answer */
function choose(answer) {
  unsent = { question: heard.number, answer };
  show({ ...heard, mine: answer });
  if (!sending) deliver();
}

/** Send the last answer chosen, until the room has it or the question is closed. */
async function deliver() {
  sending = true;
  while (unsent) {
    const now = unsent;
    try {
      const got = await post("answer", now);
      const found = await got.json();
      if (got.status === 429) throw new Error("again, more slowly");
      if (unsent === now) unsent = null;
      if (found.missed && heard.number === now.question) missed = found.number;
      else if (found.missed) missed = heard.number;
      if (got.ok) take(found);
      else show({ ...heard, mine: counted });
    } catch {
      show(heard);
      await pause();
      if (heard.number !== now.question && unsent === now) {
        unsent = null; // another question is open
        missed = heard.number;
        show(heard);
      }
    }
  }
  sending = false;
}

/** Take and show the room's state. @param {Heard} now */
function take(now) {
  counted = now.mine ?? null;
  const waits = unsent && unsent.question === now.number && now.state === "open";
  show(waits ? { ...now, mine: unsent?.answer } : now);
}

// ---- the page ---------------------------------------------------------------------------------------

/** @param {Heard} now */
function show(now) {
  const again = now.number !== heard.number || now.text !== heard.text;
  heard = { ...now, pages: now.pages ?? heard.pages, chosen: now.chosen ?? heard.chosen };
  language = now.language ?? language;
  document.documentElement.lang = language;
  document.title = say("title");
  question.className = now.text === undefined ? "quiet" : "";
  text.textContent = now.text ?? say("title");
  if (again) options.replaceChildren(...(now.options ?? []).map(button));
  options.className = now.letters ? "letters" : "";
  [...options.children].forEach((child, i) => {
    const one = /** @type {HTMLButtonElement} */ (child);
    one.setAttribute("aria-pressed", String(now.mine === i));
    one.disabled = now.state !== "open" && now.state !== "lost";
    one.classList.toggle("right", now.right === i);
  });
  line.textContent = below(now);
  frame(heard.pages ?? [], heard.chosen ?? -1);
}

/** Show a network: the one picked here, else the lecturer's, else the one that suits the screen. @param {Network[]} pages @param {number} chosen */
function frame(pages, chosen) {
  if (chosen !== put && chosen >= 0) picked = "";
  put = chosen;
  const small = [...pages].sort((a, b) => a.bytes - b.bytes)[0];
  const usual = pages[chosen] ?? (window.innerWidth < NARROW ? small : pages[0]);
  const page = pages.find((one) => one.title === picked) ?? usual;
  networks.hidden = pages.length < 2;
  networks.setAttribute("aria-label", say("network"));
  networks.replaceChildren(...(networks.hidden ? [] : pages.map((one) => choice(one, one === page))));
  view.hidden = !page;
  if (page && shown !== page.href) {
    shown = page.href;
    view.title = page.title;
    view.src = page.href;
  }
}

/** @param {Network} network @param {boolean} on */
function choice(network, on) {
  const made = document.createElement("button");
  made.textContent = network.title;
  made.setAttribute("aria-pressed", String(on));
  made.onclick = () => {
    picked = network.title;
    show(heard);
  };
  return made;
}

/** @param {Heard} now */
function below(now) {
  if (now.state !== "over" && !navigator.onLine) return say(unsent ? "unsent" : "lost");
  if (now.state === "lost" && unsent) return say("unsent");
  if (now.state === "open" && unsent) return say("sending");
  if (now.state === "open" && typeof now.mine === "number") return say("given");
  if (now.state === "open") return say(now.number === missed ? "missed" : "open");
  const right = now.state === "closed" && typeof now.right === "number" ? now.right : -1;
  const answer = now.options?.[right];
  if (answer === undefined) return say(now.state);
  const named = answer === " " ? say("space") : answer;
  return say("right").replace(
    "{answer}",
    now.letters ? named : `${String.fromCharCode(65 + right)} · ${named}`,
  );
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
window.addEventListener("offline", () => show(heard));
window.addEventListener("online", () => show(heard));
let slept = Infinity; // when the page was hidden; Infinity while it is visible
const NAP = 10_000; // milliseconds hidden, after which a stream may be dead without an error
document.addEventListener("visibilitychange", () => {
  const long = Date.now() - slept > NAP;
  slept = document.hidden ? Date.now() : Infinity;
  if (!document.hidden && long && heard.state !== "over") listen();
});
listen();

export {};
