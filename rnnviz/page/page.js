// The page without a server: the app's live view, where an engine in the browser answers, and a choice of networks.
//
//   index     the document's list of files (types.d.ts)
//   opening   the first answer, which stands in the document: it is drawn before any network is here
//   network   loaded when chosen: its weights, its tables, its words in the page's language
//
// An ask of the view waits until the chosen network is here; then the newest one is answered, the others never. A file
// of the reader's is one more network.

import { address } from "../ui/browser/static/address.js";
import { find, options, put, still } from "../ui/browser/static/dom.js";
import { again, mount } from "../ui/browser/static/embedded.js";
import { makePhrase } from "../ui/browser/static/messages.js";
import { unpack } from "../ui/browser/static/payload.js";
import { View } from "../ui/pages/explore/static/view.js";
import { arrive, isBookmark } from "./arrival.js";
import { json, read, scriptAddress } from "./files.js";
import { answers } from "./model.js";
import { describe } from "./own_network.js";
import { Reader } from "./reader.js";
import { FileError, readNetwork } from "./safetensors.js";
import { TextPage } from "./text_page.js";
import { TrainingPage } from "./training_page.js";

/** @import { Fixed } from "../ui/pages/explore/static/types" */
/** @import { Ask, ChosenNetwork, Description, Index, Look, PageModel, PageNetwork, Tensors, PageAnswer } from "./types" */

const OTHER_LANGUAGE = /** @type {const} */ ({ en: "zh", zh: "en" });
const LANGUAGE_NAMES = { en: "English", zh: "中文" };
const OWN = ""; // the choice of a file, among the networks' names
/** The parts of the page, as its address has them. @typedef {"look" | "texts" | "train"} Part */

/** The live view with answers that are objects, not bytes. */
class PageView extends View {
  /** @param {any} data @returns {any} */
  decode(data) {
    return data;
  }
}

const query = () => new URLSearchParams(window.location.search);

class Page {
  name = ""; // of the chosen network
  /** @type {"en" | "zh"} */
  language = "en";
  /** @type {Promise<PageNetwork & { reader: Reader }>} the chosen network, once it is here */
  network;
  /** @type {Ask | null} the newest ask, until it is answered */
  newest = null;
  /** Whether the view shows another network, or none, so that the next answer must hold everything, the text too. */
  isNew = true;
  /** Whether the next answer shows what the address says. */
  arrives = true;
  offers = 1; // texts that the page has put into the view
  arrivals = 0;
  incomplete = false; // whether the view shows the opening
  complete = () => {}; // called with each answer that holds all of a network
  /** @type {Map<string, { description: Description, tensors: Tensors, training?: boolean }>} the reader's files and trainings, by name */
  ownFiles = new Map();
  /** The network that the view shows, with its language. @type {Pick<Page, "name" | "language" | "network"> | null} */
  displayed = null;
  touched = false; // whether the reader has done anything
  /** @type {Part} the part that is shown */
  part = "look";
  /** @type {TextPage | undefined} made when it is first shown */
  texts;
  /** @type {TrainingPage | undefined} made when it is first shown */
  training;
  /** @type {ReturnType<typeof makePhrase>} */
  phrase;

  /** @param {Index} index @param {Look} look */
  constructor(index, look) {
    this.index = index;
    this.look = look;
    this.bar = find(document, "progress.reading");
    this.select = find(document, "select.networks");
    this.select.onchange = () =>
      this.select.value === OWN ? this.file.click() : this.choose(this.select.value);
    this.file = find(document, "input.file");
    this.file.onchange = () => this.take(this.file.files?.[0]);
    this.note = find(document, "p.note");
    this.tabs = {
      look: find(document, "button.look"),
      texts: find(document, "button.texts"),
      train: find(document, "button.train"),
    };
    for (const [part, tab] of Object.entries(this.tabs))
      tab.onclick = () => this.turnTo(/** @type {Part} */ (part));
    this.turn = find(document, "button.language");
    this.turn.onclick = () => this.choose(this.name, OTHER_LANGUAGE[this.language]);
    this.link = find(document, "a.documentation");
    this.link.href = index.documentation ?? "";
    this.link.hidden = !index.documentation;
    this.alert = find(document, "p.alert");
    find(document, "header.choices").hidden = false;
    this.main = find(document, "main.view");
    this.textRoot = find(document, "main.texts");
    this.trainingRoot = find(document, "section.training");
    this.main.replaceChildren();
    this.view = mount(this.main, PageView, look);
    this.view.viewSocket.sendToPage = (ask) =>
      void this.answer(/** @type {Ask} */ (ask)).catch((error) => this.fail(error));
    address?.join("page", () => ({
      model: this.name === index.first[this.language] || this.ownFiles.has(this.name) ? null : this.name,
      lang: this.language === preferred(index) ? null : this.language,
      show: this.part === "look" ? null : this.part,
    }));
    window.addEventListener("popstate", () => this.followAddress());
    const touch = (/** @type {Event} */ event) => {
      this.touched = true; // the typing stops, or doesn't begin
      this.view.continuation?.endReplay(event);
    };
    for (const kind of ["pointerdown", "keydown"]) window.addEventListener(kind, touch, true);
    window.addEventListener("dragover", (event) => event.preventDefault());
    window.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file?.name.endsWith(".safetensors")) this.take(file);
      else if (file) this.show(this.part === "train" ? "train" : "texts", file);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => again(this.view));
    document.fonts.ready.then(() => again(this.view)); // a column's width is that of a letter
  }

  /** Begin with what the address says; without anything, with the opening, which is typed once more. */
  async begin() {
    this.choose(...this.readAddress());
    if (this.askedPart !== "look") this.show(this.askedPart);
    const opens = !isBookmark(query()) && this.name === this.index.first[this.language];
    if (opens) {
      const { header, arrays } = unpack(await read(this.index.openings[this.language]));
      this.arrives = this.isNew = false;
      this.takeAnswer({ header: { ...header, fixed: this.coloured(header.fixed) }, arrays: { ...arrays } });
      this.incomplete = true;
    }
    const complete = new Promise((resolve) => {
      this.complete = () => resolve(undefined);
    });
    this.view.viewSocket.ask();
    await complete;
    if (opens && !this.touched && !still() && this.part === "look") this.view.continuation.replay();
    if (this.index.offline && isSecureContext) await navigator.serviceWorker?.register(this.index.offline);
  }

  /** Open a network's file. @param {File | undefined} file */
  async take(file) {
    if (!file) return;
    this.touched = true;
    this.file.value = "";
    const name = file.name.replace(/\.safetensors$/, "");
    try {
      this.ownFiles.set(name, readNetwork(new Uint8Array(await file.arrayBuffer())));
    } catch (error) {
      return this.showAlert(this.explain(error, file.name));
    }
    if (name === this.name) this.name = OWN; // another file of the same name
    this.choose(name);
  }

  /** The part of the address. @returns {Part} */
  get askedPart() {
    const part = query().get("show") ?? "";
    return part in this.tabs ? /** @type {Part} */ (part) : "look";
  }

  /** The network and the language of the address. @returns {[string, "en" | "zh"]} */
  readAddress() {
    const { networks, first, openings, successors } = this.index;
    const asked = /** @type {"en" | "zh"} */ (query().get("lang"));
    const language = asked in openings ? asked : preferred(this.index);
    const name = query().get("model") ?? "";
    const names = [name, Object.hasOwn(successors, name) ? successors[name] : ""];
    return [names.find((known) => Object.hasOwn(networks, known)) ?? first[language], language];
  }

  /** Back or Forward: show what the address says now. */
  followAddress() {
    const [name, language] = this.readAddress();
    const { name: before, language: spoken } = this;
    this.arrives = true;
    this.open(name, language);
    this.view.viewSocket.ask();
    if (this.askedPart !== this.part) this.show(this.askedPart);
    if (name !== before || language !== spoken) this.refreshTexts(spoken);
  }

  /** Show a part at the reader's wish. @param {Part} part */
  turnTo(part) {
    address?.beginEntry();
    this.show(part);
    address?.write();
  }

  /** Show a part of the page: the live view, alone or below what trains a network, or whole texts. @param {Part} part @param {File} [file] a text */
  async show(part, file) {
    this.part = part;
    this.main.hidden = part === "texts";
    this.textRoot.hidden = part !== "texts";
    this.trainingRoot.hidden = part !== "train";
    document.body.dataset.part = part;
    for (const [name, tab] of Object.entries(this.tabs))
      tab.setAttribute("aria-pressed", String(name === part));
    this.note.hidden = part !== "look"; // it is of the network's units
    if (part !== "texts") {
      again(this.view);
      this.view.resized();
      return part === "train" && this.showTraining(file);
    }
    const first = !this.texts;
    const { worker } = this.index;
    this.texts ??= new TextPage(
      this.textRoot,
      this.look.texts,
      () => scriptAddress(worker),
      (name) => this.chosen(name),
    );
    if (first) await this.beginTexts();
    if (file) await this.texts.take(file);
  }

  /** @param {File} [file] a text to train on */
  async showTraining(file) {
    const { worker, corpora } = this.index;
    const first = !this.training;
    this.training ??= new TrainingPage(this.trainingRoot, this.look, corpora, () => scriptAddress(worker), {
      show: (name, network) => this.showTrained(name, network),
      assign: (name, tensors) => this.assign(name, tensors),
      forget: () => this.forgetTrained(),
    });
    if (first) await this.beginTraining();
    if (file) await this.training.take(file);
  }

  /** Let the part that trains speak the page's language. */
  async beginTraining() {
    const { texts, training } = this.index;
    const files = [texts, training].map(async (names) => json(await read(names[this.language])));
    const [{ words }, fixed] = await Promise.all(files);
    await this.training?.begin({ ...fixed, words: { ...words, ...fixed.words } }, this.language);
  }

  /** Open a network in training, or at its end. @param {string} name @param {{ description: Description, tensors: Tensors, training: boolean }} network */
  showTrained(name, network) {
    const follows = !network.training && this.name !== name && this.ownFiles.has(name); // the reader has chosen another
    this.ownFiles.set(name, network);
    if (follows) return;
    if (name === this.name) this.name = OWN;
    this.choose(name);
  }

  /** Give a network in training its newest weights. @param {string} name @param {Tensors} tensors */
  async assign(name, tensors) {
    const own = this.ownFiles.get(name);
    if (own) own.tensors = tensors;
    if (name !== this.name) return;
    const { network } = this;
    const made = await network;
    made.tensors = made.reader.weights = tensors;
    // The first answer of a network comes whole, and a long text is read to its end.
    const waits = this.displayed?.network !== network || made.reader.busy || this.main.hidden;
    if (!waits) this.view.viewSocket.ask();
  }

  /** Close the networks that were trained here; the view goes to the page's first. */
  forgetTrained() {
    const { ownFiles, texts } = this;
    const trained = Array.from(ownFiles.keys()).filter((name) => ownFiles.get(name)?.training !== undefined);
    if (trained.includes(this.name)) this.choose(this.index.first[this.language]);
    for (const name of trained) ownFiles.delete(name);
    if (texts && trained.includes(texts.second)) texts.second = "";
    this.listNetworks(this.view.store.fixed);
  }

  /** Let another network read the text, or speak another language. @param {string} name @param {"en" | "zh"} [language] */
  choose(name, language = this.language) {
    if (this.name) address?.beginEntry();
    const spoken = this.language;
    this.open(name, language);
    if (this.view.editor) this.view.viewSocket.ask();
    this.refreshTexts(spoken);
  }

  /** Let the part for whole texts follow the chosen network, and the language. @param {string} spoken the language before */
  refreshTexts(spoken) {
    if (this.language === spoken) this.texts?.score();
    else
      for (const begin of [this.texts && this.beginTexts(), this.training && this.beginTraining()])
        begin?.catch((error) => this.fail(error));
  }

  /** Let the part for whole texts speak the page's language. */
  async beginTexts() {
    const [fixed, { model }] = [json(await read(this.index.texts[this.language])), await this.network];
    await this.texts?.begin(fixed, model.opening);
  }

  /** A network with what whole texts need of it; without a name the chosen one. @param {string} [name] @returns {Promise<ChosenNetwork>} */
  async chosen(name = this.name) {
    const { model, tensors } = await (name === this.name ? this.network : this.load(name, this.language));
    this.bar.hidden = true;
    const { titles, symbols, heldOutBits } = model.fixed;
    const usualPerplexity = heldOutBits === null ? null : 2 ** heldOutBits;
    const own = Object.fromEntries(Array.from(this.ownFiles.keys(), (file) => [file, file]));
    return {
      name,
      model,
      tensors,
      titles: { ...titles, ...own },
      title: titles[name] ?? name,
      vocabularySize: symbols.length + 1,
      usualPerplexity,
    };
  }

  /** @param {string} name @param {"en" | "zh"} language */
  open(name, language) {
    if (name === this.name && language === this.language) return;
    if (name !== this.name) this.isNew = true;
    Object.assign(this, { name, language });
    document.documentElement.lang = language;
    this.network = this.load(name, language);
    this.network.catch(() => {}); // the ask that waits for it says the error
  }

  /** @param {string} name @param {"en" | "zh"} language */
  async load(name, language) {
    this.wait();
    const own = this.ownFiles.get(name);
    const { weights, data, fixed } = this.index.networks[own ? this.index.first[language] : name];
    const readHeader = async () => {
      const header = json(await read(fixed[language]));
      this.phrase ??= makePhrase(header.fixed.words); // for an error in what follows
      return { ...header, fixed: this.coloured(header.fixed) };
    };
    const nothing = new Uint8Array();
    // All at once: a phone waits a round trip, not three.
    const [shipped, weightBytes, dataBytes] = await Promise.all([
      readHeader(),
      own ? nothing : read(weights),
      own ? nothing : read(data),
    ]);
    const { model, arrays, tensors } = own
      ? {
          ...describe(name, own.description, own.tensors, shipped, this.look, own.training),
          tensors: own.tensors,
        }
      : { model: shipped, tensors: readNetwork(weightBytes).tensors, arrays: unpack(dataBytes).arrays };
    const takeAnswer = (/** @type {PageAnswer} */ answer) => {
      if (this.name === name && this.language === language) this.takeAnswer(answer); // else another was chosen meanwhile
    };
    const progress = (/** @type {number} */ done, /** @type {number} */ length) => this.wait(done / length);
    const reader = new Reader(answers(model, tensors, arrays), takeAnswer, progress);
    return { model, tensors, reader };
  }

  /** Show that something takes its time. @param {number} [share] of it that is done */
  wait(share) {
    const { bar, view } = this;
    view.viewSocket.replaceable = true; // a newer text may replace this one
    view.viewSocket.startTimer();
    bar.hidden = false;
    if (share === undefined) bar.removeAttribute("value");
    else bar.value = share;
  }

  /** A fixed part with the colours that the script has. @param {Fixed} fixed @returns {Fixed} */
  coloured(fixed) {
    return { ...fixed, themes: this.look.colours };
  }

  /** @param {Ask} ask */
  async answer(ask) {
    this.newest = ask;
    if (ask.model) this.open(ask.model, this.language);
    const { network } = this;
    const { model, reader } = await network;
    if (this.newest !== ask || this.network !== network) return;
    // The opening has but the first rows and a part of the network's numbers: the first answer replaces it.
    const whole = this.incomplete && { base: 0, digest: "" };
    this.incomplete = false;
    await reader.ask({ ...ask, ...whole, ...(await this.afresh(model, ask)) });
  }

  /** What an ask needs beside its own values, where the view holds nothing of this network. @param {PageModel} model @param {Ask} ask */
  async afresh({ fixed }, ask) {
    const { view, isNew } = this;
    const arrival = this.arrives ? await arrive(query(), fixed) : null;
    if (!isNew && !arrival) return {};
    this.isNew = this.arrives = false;
    const unedited = !view.editor || view.editor.text === view.bookmark.opening;
    const text = arrival ? (arrival.text ?? undefined) : unedited ? undefined : ask.text;
    if (text !== ask.text) this.offers++;
    const looks = arrival?.looks ?? { ...fixed.first, order: "steady" };
    const extra = { offer: this.offers, ...(arrival && { arrival: arrival.arrival }) };
    const pin = arrival ? arrival.arrival.pin : ask.pin;
    return { ...looks, pin, fresh: true, base: 0, digest: "", text, extra };
  }

  /** Say what has gone wrong; "" takes it back. @param {string} message */
  showAlert(message) {
    put(this.alert, message);
    this.alert.hidden = !message;
  }

  /** The sentence on an error with a file: what is wrong in it, or that it could not be had. @param {unknown} error @param {string} file */
  explain(error, file) {
    const { phrase } = this;
    const message = error instanceof Error ? error.message : String(error);
    if (!phrase) return `${document.body.dataset.failed} ${message}`;
    if (!(error instanceof FileError)) return phrase("page.missing", { name: file, error: message });
    return phrase("file.refused", { file, reason: phrase(error.reason, error.values) });
  }

  /** Say an error; the network that the view shows stays. @param {unknown} error */
  fail(error) {
    const { name, displayed } = this;
    this.bar.hidden = true;
    this.showAlert(this.explain(error, name));
    Object.assign(this, displayed, { isNew: false });
    this.select.value = this.name;
  }

  /** Offer the page's networks and the reader's. @param {Fixed} fixed of the shown network */
  listNetworks({ titles, model }) {
    /** @type {[string, string][]} */
    const own = Array.from(this.ownFiles.keys(), (name) => [name, name]);
    options(this.select, [...Object.entries(titles), ...own, [OWN, this.phrase("page.own")]], model);
  }

  /** @param {PageAnswer} answer */
  takeAnswer(answer) {
    const { bar, view, turn, select, note } = this;
    view.viewSocket.replaceable = false;
    bar.hidden = true;
    if (answer.header.fixed) {
      const { words, titles, notes, model } = answer.header.fixed;
      this.phrase = makePhrase(words);
      this.listNetworks(answer.header.fixed);
      select.ariaLabel = this.phrase("page.network");
      put(note, notes[model] ?? "");
      put(this.link, this.phrase("page.documentation"));
      put(this.tabs.look, this.phrase("page.look"));
      put(this.tabs.texts, this.phrase("page.texts"));
      put(this.tabs.train, this.phrase("page.train"));
      this.trainingRoot.ariaLabel = this.phrase("page.train");
      turn.lang = OTHER_LANGUAGE[this.language];
      put(turn, LANGUAGE_NAMES[OTHER_LANGUAGE[this.language]]);
      turn.hidden = Object.keys(this.index.openings).length < 2;
      document.title = `${titles[model] ?? model} · rnnviz`;
    }
    this.showAlert("");
    view.takeAnswer(/** @type {any} */ (answer));
    if (answer.header.fixed && !this.incomplete) this.complete();
    const { name, language, network } = this;
    this.displayed = { name, language, network };
    address?.releaseWrites(Object.fromEntries(query()), ++this.arrivals);
  }
}

/** The first of the browser's languages that the page has. @param {Index} index */
function preferred({ first }) {
  const [spoken] = navigator.languages.map((tag) => tag.split("-")[0]).filter((tag) => tag in first);
  return /** @type {"en" | "zh"} */ (spoken ?? Object.keys(first)[0]);
}

/** @param {Document} page @param {Look} look */
export function start(page, look) {
  const index = JSON.parse(page.getElementById("index")?.textContent ?? "");
  const opened = new Page(index, look);
  opened.begin().catch((error) => opened.fail(error));
}
