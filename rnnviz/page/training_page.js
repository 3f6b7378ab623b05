// Training in the page without a server: the dials, the curves, and what they say. The live view below shows the network
// as it learns; see page.js. The dials are the package's settings, from training_words.py.

import { find, make, options, put } from "../ui/browser/static/dom.js";
import { label, makePhrase } from "../ui/browser/static/messages.js";
import { Numbers } from "../ui/browser/static/number_format.js";
import { dress } from "../ui/browser/static/theme.js";
import { read } from "./files.js";
import { KeptTraining } from "./kept_training.js";
import { FileError, writeNetwork } from "./safetensors.js";
import { checkSize, mixLines, readText } from "./text_file.js";
import { sentenceOf } from "./text_page.js";
import { drawPlots } from "./training_plots.js";
import { TrainingRun } from "./training_run.js";
import { captionOf, sentencesOf, timeLeft } from "./training_sentences.js";

/** @import { Phrase } from "../ui/browser/static/messages.js" */
/** @import { Description, Dial, Index, Look, Recipe, Tensors, TrainingFixed, TrainingOrder } from "./types" */

const OWN = "own"; // the choice of a text of the reader's, among the names of the page's
const WORD = "hello"; // a text to learn by heart
const WATCHED_CHARS = 60; // of a text of the reader's, as the sentence to watch

/**
 * What the page around it does with the network in training.
 * @typedef {object} Host
 * @property {(name: string, network: { description: Description, tensors: Tensors, training: boolean }) => void} show opens it
 * @property {(name: string, tensors: Tensors) => void} assign gives it other weights
 * @property {() => void} forget closes what has been trained
 */

export class TrainingPage {
  /** @type {Phrase} */
  phrase = (name) => name;
  numbers = new Numbers("en");
  /** @type {TrainingFixed} */
  fixed;
  /** @type {"text" | "word"} the recipe that stands where the reader has set nothing */
  kind = "text";
  /** @type {Partial<Record<keyof Recipe | "seconds", string | number>>} what the reader has set; a number as typed */
  chosen = {};
  /** @type {{ name: string, text: string } | null} the reader's file */
  file = null;
  /** @type {Partial<Record<keyof Recipe, HTMLSelectElement | HTMLInputElement>>} */
  fields = {};
  /** @type {Awaited<ReturnType<KeptTraining["read"]>>} the training that is kept, to be offered */
  found = null;
  /** @type {TrainingRun["state"]} the one that is drawn */
  drawn = "none";

  /**
   * @param {HTMLElement} root @param {Look} look @param {Index["corpora"]} corpora @param {() => Promise<string>} worker its script's address
   * @param {Host} host
   */
  constructor(root, look, corpora, worker, host) {
    this.root = root;
    this.look = look;
    this.corpora = corpora;
    this.host = host;
    this.kept = new KeptTraining();
    const change = () => {
      if (document.hidden) run.pause(true); // a phone gives no event when it closes the page
      this.draw();
    };
    const run = new TrainingRun(worker, this.kept, {
      change,
      weights: (first) => this.showNetwork(first),
      fail: (error) => this.findKept().then(() => this.fail(error)),
    });
    this.run = run;
    root.innerHTML = look.training; // a constant
    /** @type {Record<string, () => unknown>} */
    const acts = {
      pause: () => run.pause(),
      continue: () => run.goOn(),
      stop: () => run.stop(),
      another: () => this.beginAnew(),
      delete: () => this.forget(),
      forget: () => this.forget(),
      look: () => this.restore(),
      resume: () => this.restore().then(() => run.goOn()),
      choose: () => find(root, "input.tr-file").click(),
    };
    for (const [name, act] of Object.entries(acts))
      find(root, `button.tr-${name}`).onclick = () => this.attempt(act);
    find(root, "form.tr-form").onsubmit = (event) => {
      event.preventDefault();
      this.attempt(() => this.start());
    };
    find(root, "select.tr-texts").onchange = () => this.chooseText();
    find(root, "textarea.tr-pasted").oninput = () => {
      this.file = null;
      this.chooseText();
    };
    find(root, "select.tr-times").onchange = ({ target }) => {
      this.chosen.seconds = Number(/** @type {HTMLSelectElement} */ (target).value);
      this.showForm();
    };
    const file = find(root, "input.tr-file");
    file.onchange = () => {
      if (file.files?.[0]) this.take(file.files[0]);
      file.value = "";
    };
    find(root, "a.tr-save").onclick = () => this.save();
    document.addEventListener("visibilitychange", () => {
      change();
      if (!document.hidden) this.showNetwork(false); // what came meanwhile
    });
    new ResizeObserver(() => this.drawPlots()).observe(find(root, "div.tr-pictures"));
  }

  /** Speak a language, and offer what a former visit has left. @param {TrainingFixed} fixed @param {string} language */
  async begin(fixed, language) {
    const first = !this.fixed;
    this.fixed = fixed;
    this.phrase = makePhrase(fixed.words);
    this.numbers = new Numbers(language);
    label(this.root, this.phrase);
    find(this.root, "textarea.tr-pasted").placeholder = this.phrase("text.paste");
    this.makeDials();
    this.chooseText();
    if (first) await this.attempt(this.findKept.bind(this));
    this.draw();
  }

  async findKept() {
    try {
      this.found = await this.kept.read();
    } catch (error) {
      this.run.unkept = /** @type {FileError} */ (error).reason;
    }
  }

  /** Do something; what goes wrong is said. @param {() => unknown} act @param {string} [name] of a file */
  async attempt(act, name) {
    try {
      this.showAlert("");
      put(find(this.root, "p.tr-forgotten"), "");
      await act();
    } catch (error) {
      this.fail(error, name);
    }
  }

  // ---- the form ----

  makeDials() {
    const { root, fixed } = this;
    const dials = (/** @type {boolean} */ more) =>
      fixed.dials.filter((dial) => dial.more === more).map((dial) => this.makeDial(dial));
    for (const old of root.querySelectorAll("div.tr-dial")) old.remove();
    find(root, "label.tr-text").after(...dials(false));
    find(root, "div.tr-others").replaceChildren(...dials(true));
  }

  /** @param {Dial} dial */
  makeDial({ name, label: words, help, more, choices }) {
    const field = choices.length ? make("select") : make("input");
    if (field instanceof HTMLInputElement) field.inputMode = "decimal";
    field.oninput = () => {
      const value = choices.find(([choice]) => String(choice) === field.value)?.[0];
      this.chosen[name] = value ?? field.value;
      field.removeAttribute("aria-invalid");
      this.showForm();
    };
    this.fields[name] = field;
    const dial = make("div", "tr-dial", make("label", "", make("span", "", words), field));
    dial.title = help;
    if (!more) return dial;
    const about = make("small", "tr-quiet", help);
    about.id = `tr-about-${name}`;
    field.setAttribute("aria-describedby", about.id);
    dial.append(about);
    return dial;
  }

  /** The chosen text's name, and for one of the reader's its text. */
  get source() {
    const name = find(this.root, "select.tr-texts").value || Object.keys(this.corpora)[0];
    const pasted = find(this.root, "textarea.tr-pasted").value;
    const own = name === OWN ? (this.file?.text ?? pasted) : name === WORD ? WORD : null;
    return { name, own, lines: name === OWN && find(this.root, "input.tr-lines").checked };
  }

  /** The values of the dials: the reader's, and the recipe's. @returns {Recipe & { seconds: number }} */
  get values() {
    const { fixed, kind, chosen } = this;
    const values = /** @type {Recipe & { seconds: number }} */ ({ ...fixed.recipes[kind], ...chosen });
    if (!(values.initialisation in fixed.applying[values.cell])) values.initialisation = "torch"; // the identity is for an RNN
    return values;
  }

  /** The characters of a text, counted up to the length of one that is split. @param {string} text */
  shortLength(text) {
    return Array.from(text.slice(0, 2 * this.fixed.shortestSplit)).length; // one may take two places
  }

  /** Let the recipe follow the text: a word has another one. */
  chooseText() {
    const { phrase, fixed, source } = this;
    const n = this.shortLength(source.own ?? "");
    this.kind = n > 0 && n < fixed.shortestSplit ? "word" : "text";
    const texts = Object.keys(this.corpora).map((name) => [name, phrase(`training.${name}`)]);
    options(
      find(this.root, "select.tr-texts"),
      /** @type {[string, string][]} */ ([
        ...texts,
        [WORD, phrase("training.word", { word: WORD })],
        [OWN, phrase("training.own")],
      ]),
      source.name,
    );
    find(this.root, "div.tr-own").hidden = source.name !== OWN;
    this.showForm();
  }

  /** Show the values of the recipe, and what Start will do. */
  showForm() {
    const { root, phrase, fixed, values, fields, source } = this;
    const works = fixed.applying[values.cell];
    for (const { name, choices, off } of fixed.dials) {
      const field = /** @type {HTMLSelectElement} */ (fields[name]);
      const offered = name === "initialisation" ? choices.filter(([choice]) => choice in works) : choices;
      const value = values[name] ?? off ?? 0;
      if (offered.length) options(field, offered, value);
      else if (field.value !== String(value)) field.value = String(value);
      const dial = /** @type {HTMLElement} */ (field.closest("div.tr-dial"));
      dial.hidden = !works[values.initialisation].includes(name);
    }
    options(find(root, "select.tr-times"), fixed.times, values.seconds);
    put(find(root, "span.tr-file-name"), this.file?.name ?? "");
    put(
      find(root, "h1.tr-about"),
      phrase("training.about", this.described(values, values.seconds, this.titleOf(source.name))),
    );
  }

  /** The values of sentences on a training. @param {Recipe} recipe @param {number} seconds @param {string} text its title */
  described({ cell, hidden_size: units }, seconds, text) {
    const { phrase, fixed } = this;
    const [, time] = fixed.times.find(([choice]) => choice === seconds) ?? [0, ""];
    const named = { cell: cell.toUpperCase(), units };
    return { ...named, network: phrase("training.network", named), text, time };
  }

  /** @param {string} name of a text */
  titleOf(name) {
    if (name === OWN) return this.file ? `“${this.file.name}”` : this.phrase("training.own.text");
    return name === WORD ? `“${WORD}”` : this.phrase(`training.${name}`);
  }

  /** The recipe as it is sent. Throws a FileError for a number out of its limits. @returns {Recipe} */
  readRecipe() {
    const { fixed, values } = this;
    const { seconds: _, ...recipe } = values;
    const applying = fixed.applying[recipe.cell][recipe.initialisation];
    for (const dial of fixed.dials) {
      const { name } = dial;
      if (!applying.includes(name)) Object.assign(recipe, { [name]: fixed.recipes.text[name] });
      else if (!dial.choices.length) Object.assign(recipe, { [name]: this.readNumber(dial) });
    }
    return recipe;
  }

  /** A dial's number, null for off. Throws a FileError for anything but a decimal number within its limits. @param {Dial} dial */
  readNumber({ name, label: words, low, high, whole, off }) {
    const field = /** @type {HTMLInputElement} */ (this.fields[name]);
    const { value: received } = field;
    const isNumber = (whole ? /^\d+$/ : /^\d*[.,]?\d+$/).test(received.trim());
    const value = isNumber ? Number(received.replace(",", ".")) : Number.NaN;
    if (value === off) return null;
    if (value >= low && value <= high) return value;
    field.setAttribute("aria-invalid", "true");
    find(this.root, "details.tr-more").open = true;
    field.focus({ preventScroll: true }); // the alert is to be seen
    const limits = { low: String(low), high: String(high) };
    throw new FileError(`training.${whole ? "whole" : "number"}`, {
      label: words,
      ...limits,
      value: received,
    });
  }

  /** @param {File} file */
  take(file) {
    return this.attempt(async () => {
      this.file = null;
      this.chooseText();
      checkSize(file.size);
      this.file = { name: file.name, text: readText(new Uint8Array(await file.arrayBuffer())).text };
      find(this.root, "textarea.tr-pasted").value = "";
      find(this.root, "select.tr-texts").value = OWN;
      this.chooseText();
    }, file.name);
  }

  async start() {
    const { phrase, source, values, fixed } = this;
    const recipe = this.readRecipe();
    const file = source.name === OWN ? this.file : null;
    const title = this.titleOf(source.name);
    const shipped = this.corpora[source.name];
    const own = source.lines ? mixLines(source.own ?? "") : (source.own ?? "");
    const text = shipped ? new TextDecoder().decode(await read(shipped.file)) : own;
    if (!text) throw new FileError("text.nothing");
    const n = this.shortLength(text);
    if (n < 2) throw new FileError("train.short", { n });
    const name = source.name === OWN ? `own-${file?.name ?? "text"}` : source.name;
    const { licence = "", language = "" } = shipped ?? {};
    const ends = shipped?.ends ?? source.lines;
    const order = {
      id: `${Date.now()}-${Math.random()}`,
      source: source.name,
      ends,
      // A text too short to be split is read twice in a row: so the network learns what follows its end, and writes on.
      text: 2 * n < fixed.shortestSplit && !ends ? text + text : text,
      corpus: { name, title: shipped?.title ?? file?.name ?? title, licence, language },
      recipe,
      seconds: values.seconds,
      version: fixed.version,
    };
    const network = { cell: recipe.cell.toUpperCase(), units: recipe.hidden_size, text: title };
    await this.run.start(order, phrase("training.named", network));
    this.draw();
  }

  // ---- the network ----

  /** The sentence that is read as it learns. @param {TrainingOrder} order */
  watched({ text, source, ends }) {
    const shipped = this.corpora[source]?.watched;
    if (shipped) return shipped;
    const { shortestSplit } = this.fixed;
    const validation = text.slice(Math.floor(0.85 * text.length));
    if (ends) return (validation.split("\n")[1] || text.split("\n")[0]).slice(0, WATCHED_CHARS); // a whole text
    if (text.length < shortestSplit) return text.slice(0, WATCHED_CHARS);
    const part = validation.replace(/^\S*\s+/, ""); // from a word on
    return part.slice(0, WATCHED_CHARS);
  }

  /** @param {boolean} first whether the view shows another network */
  showNetwork(first) {
    const { run, host } = this;
    const { name, order, started, tensors, ended } = run;
    if (!tensors || !started) return;
    if (!first) return host.assign(name, tensors);
    const { config, symbols, normaliser } = started;
    const description = ended?.description ?? { config, symbols, normaliser, card: {} };
    const card = { ...description.card, example: this.watched(order) };
    host.show(name, { description: { ...description, card }, tensors, training: !ended });
  }

  async restore() {
    const { found } = this;
    if (found) await this.run.restore(found.run, found.order);
  }

  async beginAnew() {
    this.run.clear();
    await this.findKept();
    this.draw();
  }

  async forget() {
    this.run.clear();
    this.host.forget();
    this.found = null;
    await this.kept.forget();
    this.draw();
    put(find(this.root, "p.tr-forgotten"), this.phrase("training.forgotten"));
  }

  /** Give the link a file of the network. */
  save() {
    const { ended, order, name } = this.run;
    if (!ended) return;
    const { cell, hidden_size: units } = order.recipe;
    const stem = `${order.corpus.name.replace(/\.\w+$/, "")}-${cell}-${units}`
      .replace(/[^A-Za-z0-9_-]+/g, "-")
      .replace(/^-+/, "")
      .slice(-100);
    const card = { ...ended.description.card, example: this.watched(order), name: stem };
    const file = writeNetwork({ ...ended.description, card }, ended.tensors);
    const link = find(this.root, "a.tr-save");
    link.href = URL.createObjectURL(new Blob([file]));
    link.download = `${stem}.safetensors`;
    link.title = name;
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  // ---- what is seen ----

  draw() {
    const { root, run, phrase, numbers, fixed, found } = this;
    if (!fixed) return;
    const { state, order } = run;
    const idle = state === "none";
    find(root, "form.tr-form").hidden = find(root, "h1.tr-about").hidden = !idle;
    find(root, "section.tr-run").hidden = idle;
    const shown = {
      pause: state === "runs",
      continue: state === "paused",
      stop: state === "runs" || state === "paused",
    };
    const later = { another: state === "ended", delete: state === "ended" || state === "paused" };
    for (const [name, isShown] of Object.entries({ ...shown, ...later }))
      find(root, `button.tr-${name}`).hidden = !isShown;
    find(root, "a.tr-save").hidden = state !== "ended" || !run.sound;
    this.offerKept(idle ? found : null);
    put(find(root, "p.tr-unkept"), run.unkept && phrase(run.unkept));
    this.keepFocus();
    if (idle) return;
    put(
      find(root, "h1.tr-order"),
      phrase("training.under-way", this.described(order.recipe, order.seconds, this.titleIn(order))),
    );
    const standing = state === "paused" && run.hidden ? "hidden" : state;
    put(find(root, "span.tr-standing"), phrase(`training.is.${standing}`));
    put(find(root, "span.tr-left"), state === "runs" ? timeLeft(run, phrase, numbers) : "");
    const sentences = sentencesOf(run, phrase, numbers);
    put(find(root, "p.tr-said"), sentences.join(numbers.language === "zh" ? "" : " "));
    root.classList.toggle("tr-diverging", run.diverges);
    root.classList.toggle("tr-begins", !run.reports.length);
    put(find(root, "p.tr-written"), run.reports.at(-1)?.sample ?? "");
    const { clip } = order.recipe;
    put(find(root, "figcaption.tr-falls"), captionOf(run, phrase));
    put(
      find(root, "figcaption.tr-clipped"),
      clip === null ? phrase("training.norm.free") : phrase("training.norm", { clip: numbers.rough(clip) }),
    );
    this.drawPlots();
  }

  /** The title of an order's text. @param {TrainingOrder} order */
  titleIn({ source, corpus }) {
    return source === OWN ? corpus.title : this.titleOf(source);
  }

  /** Focus the state's first button, where the focused one has gone, or the page has no focus as the state changes. */
  keepFocus() {
    const { root, run, drawn } = this;
    const { activeElement: active, body } = document;
    this.drawn = run.state;
    if (root.contains(active) ? !active?.closest("[hidden]") : active !== body || run.state === drawn) return;
    /** @type {HTMLElement[]} */
    const buttons = Array.from(root.querySelectorAll(".tr-start, .tr-run > .tr-row > *"));
    buttons.find((button) => !button.closest("[hidden]"))?.focus({ preventScroll: true });
  }

  /** @param {TrainingPage["found"]} found */
  offerKept(found) {
    const { root, phrase, numbers } = this;
    find(root, "div.tr-kept").hidden = !found;
    put(find(root, "p.tr-replaces"), found ? phrase("training.replaces", { name: found.run.name }) : "");
    if (!found) return;
    const { name, reports, ended } = found.run;
    const { characters = 0, share = 0 } = reports.at(-1) ?? {};
    const values = { name, n: numbers.whole(characters), share: numbers.share(share) };
    put(find(root, "p.tr-of"), phrase(ended ? "training.kept.done" : "training.kept", values));
    find(root, "button.tr-resume").hidden = Boolean(ended);
  }

  drawPlots() {
    const { root, run, phrase, numbers, look } = this;
    if (!root.clientWidth) return;
    dress(root, look.colours);
    drawPlots(root, run, phrase, numbers, find(root, "p.tr-said").textContent ?? "");
  }

  /** @param {string} message */
  showAlert(message) {
    const alert = find(this.root, "p.alert");
    put(alert, message);
    alert.hidden = !message;
  }

  /** @param {unknown} error @param {string} [name] of a file */
  fail(error, name = "") {
    this.showAlert(sentenceOf(error, this.phrase, this.numbers, name));
    find(this.root, "p.alert").scrollIntoView({ block: "nearest" });
    this.draw();
  }
}
