// Training in the page without a server: the dials, the curves, and what they say. The live view below shows the network
// as it learns; see page.js. The dials are the package's settings, from training_words.py.

import { find, make, options, put } from "../ui/browser/static/dom.js";
import { label, makePhrase } from "../ui/browser/static/messages.js";
import { Numbers } from "../ui/browser/static/number_format.js";
import { dress } from "../ui/browser/static/theme.js";
import { read } from "./files.js";
import { KeptTraining } from "./kept_training.js";
import { FileError, writeNetwork } from "./safetensors.js";
import { checkSize, readText } from "./text_file.js";
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
 */

export class TrainingPage {
  /** @type {Phrase} */
  phrase = (name) => name;
  numbers = new Numbers("en");
  /** @type {TrainingFixed} */
  fixed;
  /** @type {Recipe & { seconds: number }} */
  values;
  kind = ""; // of the recipe: for a text, or for a word
  /** @type {{ name: string, text: string } | null} the reader's file */
  file = null;
  /** @type {Partial<Record<keyof Recipe, HTMLSelectElement | HTMLInputElement>>} */
  fields = {};
  /** @type {Awaited<ReturnType<KeptTraining["read"]>>} a training of a former visit, while it is offered */
  found = null;

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
    this.run = new TrainingRun(worker, this.kept, {
      change: () => this.draw(),
      weights: (first) => this.showNetwork(first),
      fail: (error) => this.fail(error),
    });
    root.innerHTML = look.training; // a constant
    const { run } = this;
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
      this.values.seconds = Number(/** @type {HTMLSelectElement} */ (target).value);
      this.showForm();
    };
    const file = find(root, "input.tr-file");
    file.onchange = () => {
      if (file.files?.[0]) this.take(file.files[0]);
      file.value = "";
    };
    find(root, "a.tr-save").onclick = () => this.save();
    document.addEventListener("visibilitychange", () => {
      if (document.hidden)
        run.pause(true); // a phone gives no event when it closes the page
      else this.draw();
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
    field.onchange = () => {
      const value = choices.find(([choice]) => String(choice) === field.value)?.[0];
      Object.assign(this.values, { [name]: value ?? Number(field.value.replace(",", ".")) });
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
    return { name, own: name === OWN ? (this.file?.text ?? pasted) : name === WORD ? WORD : null };
  }

  /** Let the recipe follow the text: a word has another one. */
  chooseText() {
    const { phrase, fixed, source } = this;
    const short = source.own !== null && source.own.length > 0 && source.own.length < fixed.shortestSplit;
    const kind = short ? "word" : "text";
    if (kind !== this.kind) this.values = { ...fixed.recipes[kind] };
    this.kind = kind;
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
    if (!(values.initialisation in works)) values.initialisation = "torch"; // the identity is for an RNN
    for (const { name, choices, off } of fixed.dials) {
      const field = /** @type {HTMLSelectElement} */ (fields[name]);
      const offered = name === "initialisation" ? choices.filter(([choice]) => choice in works) : choices;
      const value = values[name] ?? off ?? 0;
      if (offered.length) options(field, offered, value);
      else if (!Number.isNaN(value)) field.value = String(value); // what is no number stays, to be mended
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
    if (name === OWN) return this.file?.name ?? this.phrase("training.own.text");
    return name === WORD ? `“${WORD}”` : this.phrase(`training.${name}`);
  }

  /** The recipe as it is sent. Throws a FileError for a number out of its limits. @returns {Recipe} */
  readRecipe() {
    const { fixed, values } = this;
    const { seconds: _, ...recipe } = { ...values };
    const applying = fixed.applying[recipe.cell][recipe.initialisation];
    for (const { name, label: words, choices, low, high, whole, off } of fixed.dials) {
      const value = recipe[name];
      if (!applying.includes(name)) Object.assign(recipe, { [name]: fixed.recipes.text[name] });
      else if (off !== null && value === off) Object.assign(recipe, { [name]: null });
      else if (!choices.length && value !== null) {
        const fits = Number(value) >= low && Number(value) <= high && (!whole || Number.isInteger(value));
        const received = this.fields[name]?.value ?? "";
        if (!fits)
          throw new FileError(`training.${whole ? "whole" : "number"}`, {
            label: words,
            low: String(low),
            high: String(high),
            value: received,
          });
      }
    }
    return recipe;
  }

  /** @param {File} file */
  take(file) {
    return this.attempt(async () => {
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
    const title = this.titleOf(source.name);
    const shipped = this.corpora[source.name];
    const text = shipped ? new TextDecoder().decode(await read(shipped.file)) : (source.own ?? "");
    if (!text) throw new FileError("text.nothing");
    const name = source.name === OWN ? (this.file?.name ?? "text") : source.name;
    const { licence = "", language = "" } = shipped ?? {};
    const corpus = { name, title: shipped?.title ?? title, licence, language };
    // A text too short to be split is read twice in a row: so the network learns what follows its end, and writes on.
    const whole = 2 * text.length < fixed.shortestSplit ? text + text : text;
    const order = { text: whole, corpus, recipe, seconds: values.seconds, version: fixed.version };
    this.found = null;
    const named = { cell: recipe.cell.toUpperCase(), units: recipe.hidden_size, text: title };
    await this.run.start(order, phrase("training.named", named));
    this.draw();
    find(this.root, "button.tr-pause").focus(); // Start is gone
  }

  // ---- the network ----

  /** The sentence that is read as it learns. @param {TrainingOrder} order */
  watched({ text, corpus }) {
    const shipped = this.corpora[corpus.name]?.watched;
    if (shipped) return shipped;
    const { shortestSplit } = this.fixed;
    if (text.length < shortestSplit) return text.slice(0, WATCHED_CHARS);
    const part = text.slice(Math.floor(0.85 * text.length)).replace(/^\S*\s+/, ""); // of the validation text, from a word on
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
    this.found = null;
    if (found) await this.run.restore(found.run, found.order);
  }

  beginAnew() {
    this.run.clear();
    this.draw();
    find(this.root, "button.tr-start").focus();
  }

  async forget() {
    this.found = null;
    await this.run.forget();
    this.showAlert(this.phrase("training.forgotten"));
    this.beginAnew();
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
    const { state, order, ended } = run;
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
    find(root, "a.tr-save").hidden = !ended || state !== "ended";
    this.offerKept(idle ? found : null);
    put(find(root, "p.tr-unkept"), run.unkept && phrase(run.unkept));
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
  titleIn({ corpus }) {
    return corpus.name in this.corpora || corpus.name === WORD ? this.titleOf(corpus.name) : corpus.title;
  }

  /** @param {TrainingPage["found"]} found */
  offerKept(found) {
    const { root, phrase, numbers } = this;
    find(root, "div.tr-kept").hidden = !found;
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
    this.draw();
  }
}
