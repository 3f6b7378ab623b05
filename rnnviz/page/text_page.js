// The perplexity of a reader's own text, in the page without a server: a file or a pasted text, read by a worker, with
// its figures, its place between 1 and a uniform guess, its most surprising passages, and the app's text viewer.

import { visible } from "../ui/browser/static/characters.js";
import { find, make, options, put } from "../ui/browser/static/dom.js";
import { mount } from "../ui/browser/static/embedded.js";
import { label, makePhrase } from "../ui/browser/static/messages.js";
import { Numbers } from "../ui/browser/static/number_format.js";
import { drawScale } from "../ui/browser/static/scale.js";
import { View } from "../ui/pages/perplexity/static/view.js";
import { FileError } from "./safetensors.js";
import { checkSize, ENCODINGS, readText } from "./text_file.js";
import { TextRecord } from "./text_record.js";
import { TextScorer } from "./text_scorer.js";
import { CONTEXT_CHARS } from "./text_worker.js";
import { ViewerAnswers } from "./viewer_answers.js";

/** @import { Phrase } from "../ui/browser/static/messages.js" */
/** @import { ChosenNetwork, Look, TextFixed } from "./types" */
/** @import { Progress, TextResult } from "./text_scorer.js" */

const PASSAGES = 20;
const PASSAGE_CHARS = 80;
const BELOW_USUAL = 0.9; // of the usual perplexity: a longer text below it may be one that the network was trained on
const JUDGED_CHARS = 500;
const MOSTLY_UNKNOWN = 0.5; // of the characters: the rest says nothing of the text

const KEPT_TEXT = "rnnviz.pasted"; // the key in sessionStorage, which lives as long as the tab
const MAX_KEPT_CHARS = 200_000;

/** A text; `kind` stands for the name of one that is no file. @typedef {{ name?: string, kind?: "pasted" | "example", bytes?: Uint8Array, text: string, encoding?: string, certainty?: string }} Source */
/** @typedef {{ network: ChosenNetwork, result: TextResult, record: TextRecord }} Reading */

/** The text viewer with answers that are objects, not bytes. */
class PageViewer extends View {
  /** @param {any} data @returns {any} */
  decode(data) {
    return data;
  }
}

/** Keep a pasted text for a reload of the tab; "", or a longer text, forgets the one before. @param {string} text */
export function keepPasted(text) {
  try {
    if (text && text.length <= MAX_KEPT_CHARS) sessionStorage.setItem(KEPT_TEXT, text);
    else sessionStorage.removeItem(KEPT_TEXT);
  } catch {} // storage is refused or full: a reload forgets the text
}

/** The pasted text that the tab has kept; "" for none. */
export function keptPasted() {
  try {
    return sessionStorage.getItem(KEPT_TEXT) ?? "";
  } catch {
    return "";
  }
}

export class TextPage {
  /** @type {Phrase} */
  phrase = (name) => name;
  numbers = new Numbers("en");
  /** @type {Source | null} */
  source = null;
  /** @type {Reading[]} the chosen network's, and a second one's */
  readings = [];
  second = ""; // the name of the network beside the chosen one
  run = 0; // a number of the newest reading: an older one's answers come too late
  busy = false; // whether the chosen network is still reading
  /** @type {ViewerAnswers | null} */
  answers = null;
  /** @type {PageViewer | null} */
  view = null;

  /**
   * @param {HTMLElement} root @param {Look["texts"]} look @param {() => Promise<string>} worker its script's address
   * @param {(name?: string) => Promise<ChosenNetwork>} load a network by name, the chosen one without
   */
  constructor(root, look, worker, load) {
    this.root = root;
    this.look = look;
    this.load = load;
    this.scorer = new TextScorer(worker);
    root.innerHTML = look.markup; // a constant
    const file = find(root, "input.tp-file");
    file.onchange = () => {
      if (file.files?.[0]) this.take(file.files[0]);
      file.value = "";
    };
    find(root, "button.tp-choose").onclick = () => file.click();
    const pasted = find(root, "textarea.tp-text");
    find(root, "button.tp-read").onclick = () => this.paste(pasted.value);
    pasted.onkeydown = (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.paste(pasted.value);
    };
    find(root, "button.tp-stop").onclick = () => {
      this.scorer.stop();
      find(root, "button.tp-choose").focus(); // the button goes
    };
    // Whoever pastes has seen the example's figures: theirs take the place at once. What is typed waits for the button.
    pasted.oninput = (event) => {
      if (/** @type {InputEvent} */ (event).inputType === "insertFromPaste") this.paste(pasted.value);
    };
    const encodings = find(root, "select.tp-encodings");
    encodings.onchange = () => this.decode(encodings.value);
    const networks = find(root, "select.tp-networks");
    networks.onchange = () => {
      this.second = networks.value;
      if (!this.busy && this.readings.length) this.attempt(() => this.compare(this.cancel()));
    };
  }

  /** Speak a language, and begin with an example. @param {TextFixed} fixed @param {string} example */
  begin(fixed, example) {
    this.fixed = fixed;
    this.phrase = makePhrase(fixed.words);
    this.numbers = new Numbers(fixed.language);
    label(this.root, this.phrase);
    find(this.root, "textarea.tp-text").placeholder = this.phrase("text.paste");
    if (!this.source) {
      const kept = keptPasted();
      find(this.root, "textarea.tp-text").value = kept;
      this.source = kept ? { kind: "pasted", text: kept } : { kind: "example", text: example };
    }
    return this.readings.length && !this.busy ? this.attempt(() => this.retitle()) : this.score();
  }

  /** Show the same figures in another language. */
  async retitle() {
    for (const reading of this.readings) reading.network = await this.load(reading.network.name);
    if (this.source) this.showSource(this.source);
    this.show();
  }

  /** Do something; what goes wrong is said. @param {() => Promise<void>} act @param {string} [name] of a file */
  async attempt(act, name) {
    try {
      await act();
    } catch (error) {
      this.fail(error, name);
    }
  }

  /** End what is being read: its answers come too late. */
  cancel() {
    this.scorer.stop();
    this.showAlert("");
    return ++this.run;
  }

  // ---- a text ----

  /** @param {File} file */
  take(file) {
    const run = this.cancel();
    this.source = null;
    this.showSource({ name: file.name, text: "" });
    return this.attempt(async () => {
      checkSize(file.size); // before all of it is in memory
      const bytes = new Uint8Array(await file.arrayBuffer());
      if (run === this.run) await this.open({ name: file.name, bytes, ...readText(bytes) });
    }, file.name);
  }

  /** Read the file in another encoding. @param {string} encoding */
  decode(encoding) {
    const { source } = this;
    const { bytes } = source ?? {};
    if (!source || !bytes) return;
    this.cancel();
    this.attempt(() => this.open({ ...source, ...readText(bytes, encoding) }), source.name);
  }

  /** @param {string} text */
  paste(text) {
    if (!text) return this.showAlert(this.phrase("text.nothing"));
    this.open({ kind: "pasted", text });
  }

  /** @param {Source} source */
  open(source) {
    this.source = source;
    keepPasted(source.kind === "pasted" ? source.text : "");
    if (source.kind !== "pasted") find(this.root, "textarea.tp-text").value = "";
    return this.score();
  }

  /** The text's name. */
  get name() {
    const { source } = this;
    return source?.name ?? this.phrase(`text.${source?.kind}`);
  }

  // ---- reading it ----

  /** Read the text with the chosen network, and with the second one. */
  score() {
    return this.attempt(async () => {
      const { source, phrase, root } = this;
      const run = this.cancel();
      if (!source) return;
      this.busy = true;
      root.classList.add("tp-stale");
      find(root, "div.tp-under-way").hidden = false;
      put(find(root, "span.tp-progress"), "");
      find(root, "progress.tp-done").removeAttribute("value");
      this.showSource(source);
      const network = await this.load();
      if (run !== this.run) return;
      put(find(root, "h1.tp-about"), phrase("text.about", { model: network.title }));
      const reading = await this.read(run, network, source.text);
      if (!reading) return;
      this.busy = false;
      this.readings = [reading];
      this.show();
      await this.compare(run);
    });
  }

  /** Read the same characters with the second network. @param {number} run */
  async compare(run) {
    const [{ network: first, result }] = this.readings;
    this.readings.length = 1;
    if (this.second && this.second !== first.name && this.source) {
      const text = this.source.text.slice(0, result.units);
      const reading = await this.read(run, await this.load(this.second), text);
      if (run !== this.run) return;
      // Stopped before its end it would be compared with a longer text.
      if (reading?.record.length === this.readings[0].record.length) this.readings.push(reading);
      else this.second = "";
    }
    this.show();
  }

  /** @param {number} run @param {ChosenNetwork} network @param {string} text @returns {Promise<Reading | null>} */
  async read(run, network, text) {
    const begun = performance.now();
    const progress = (/** @type {Progress} */ made) => {
      if (run === this.run) this.showProgress(made, (performance.now() - begun) / 1000);
    };
    const result = await this.scorer.read(network.name, network, text, progress);
    if (run !== this.run) return null;
    find(this.root, "div.tp-under-way").hidden = true;
    if (!result.figures.characters) throw new FileError("text.empty");
    return { network, result, record: new TextRecord(result.columns) };
  }

  // ---- what is seen ----

  /** @param {Source} source */
  showSource({ name, kind, bytes, encoding, certainty }) {
    const { root, phrase } = this;
    put(
      find(root, "span.tp-named"),
      kind === "example" ? phrase("text.is-example") : (name ?? phrase("text.pasted")),
    );
    find(root, "label.tp-encoding").hidden = !bytes;
    if (!bytes) return;
    find(root, "label.tp-encoding").title = phrase(`text.certainty.${certainty}`);
    options(find(root, "select.tp-encodings"), Object.entries(ENCODINGS), encoding ?? "");
  }

  /** @param {Progress} progress @param {number} seconds since the reading began */
  showProgress({ done, length, figures }, seconds) {
    const { root, phrase, numbers } = this;
    find(root, "div.tp-under-way").hidden = false;
    find(root, "progress.tp-done").value = done / length;
    const left = Math.ceil(((length - done) / done) * seconds);
    const time =
      left < 90 ? phrase("text.seconds", { n: left }) : phrase("text.minutes", { n: Math.ceil(left / 60) });
    const { characters, perplexity } = figures;
    const values = { share: numbers.share(done / length), time, n: numbers.whole(characters) };
    const standing = characters
      ? phrase("text.so-far", { ...values, perplexity: numbers.number(perplexity) })
      : "";
    put(find(root, "span.tp-progress"), `${phrase("text.progress", values)} ${standing}`);
  }

  show() {
    const { root, phrase, numbers, readings, fixed } = this;
    const [{ network, result, record }, other] = readings;
    const { figures } = result;
    root.classList.remove("tp-stale");
    find(root, "section.tp-answer").hidden = false;
    put(find(root, "h1.tp-about"), phrase("text.about", { model: network.title }));
    put(find(root, "span.tp-of"), phrase("text.perplexity", { name: this.name }));
    put(find(root, "b.tp-perplexity"), numbers.number(figures.perplexity));
    const second = other && {
      perplexity: numbers.number(other.result.figures.perplexity),
      model: other.network.title,
    };
    put(find(root, "span.tp-second"), second ? phrase("text.second", second) : "");
    put(
      find(root, "p.tp-sentences"),
      this.sentences(network, result).join(fixed?.language === "zh" ? "" : " "),
    );
    this.showScale();
    this.showFacts(figures);
    const networks = Object.entries(network.titles).filter(([name]) => name !== network.name);
    options(
      find(root, "select.tp-networks"),
      [["", "–"], ...networks],
      network.name === this.second ? "" : this.second,
    );
    find(root, "label.tp-compare").hidden = !networks.length;
    this.offerTable(record);
    this.showPassages(record);
    this.showViewer();
  }

  /** @param {ChosenNetwork} network @param {TextResult} result */
  sentences({ vocabularySize, usualPerplexity }, { figures, length }) {
    const { phrase, numbers } = this;
    const { perplexity, perplexity_known: known, characters, unknown, unsettled } = figures;
    const share = numbers.percent(unknown / characters);
    const sentences = [];
    if (perplexity === null) return [];
    if (characters < length)
      sentences.push(phrase("text.stopped", { n: numbers.whole(characters), of: numbers.whole(length) }));
    if (known === null || unknown > MOSTLY_UNKNOWN * characters)
      sentences.push(phrase("text.all-unknown", { share }));
    else if (perplexity > 1.1 * known)
      sentences.push(phrase("text.some-unknown", { share, known: numbers.number(known) }));
    else if (perplexity <= vocabularySize)
      sentences.push(
        phrase("text.hesitated", { choices: numbers.fixed(perplexity, perplexity < 3 ? 1 : 0) }),
      );
    // Where unknown characters alone cost so much, the sentence on them says it.
    if ((known ?? perplexity) > vocabularySize) sentences.push(phrase("text.worse-than-guessing"));
    if (usualPerplexity !== null && perplexity < BELOW_USUAL * usualPerplexity && characters >= JUDGED_CHARS)
      sentences.push(phrase("text.below-usual"));
    if (unsettled)
      sentences.push(
        phrase("text.rounding", {
          unsettled: numbers.whole(unsettled),
          characters: numbers.whole(characters),
        }),
      );
    return sentences;
  }

  showScale() {
    const { root, phrase, numbers, readings } = this;
    const [{ network }] = readings;
    const [here, second] = readings.map(({ result }) => result.figures.perplexity ?? Infinity);
    const guess = network.vocabularySize;
    const marks = [{ at: guess, label: phrase("scale.guess", { n: numbers.whole(guess) }), kind: "guess" }];
    const usual = network.usualPerplexity;
    if (usual !== null)
      marks.unshift({
        at: usual,
        label: phrase("scale.usual", { n: numbers.number(usual) }),
        kind: "typical",
      });
    if (second)
      marks.unshift({
        at: second,
        label: phrase("text.second", {
          perplexity: numbers.number(second),
          model: readings[1].network.title,
        }),
        kind: "second",
      });
    const about = phrase("scale.label", { n: numbers.number(here), guess: numbers.whole(guess) });
    drawScale(
      find(root, "div.scale"),
      about,
      phrase("scale.first"),
      { at: here, label: phrase("scale.here") },
      marks,
    );
  }

  /** @param {TextResult["figures"]} figures */
  showFacts(figures) {
    const { root, phrase, numbers } = this;
    const { bits_per_character, bits_per_byte, characters, unknown, perplexity_known } = figures;
    /** @type {[name: string, value: string][]} */
    const facts = [
      ["bits", numbers.fixed(bits_per_character, 3)],
      ["bytes", numbers.fixed(bits_per_byte, 3)],
      ["characters", numbers.whole(characters)],
      ["unknown", numbers.whole(unknown)],
      ["known", unknown ? numbers.number(perplexity_known) : phrase("text.same")],
    ];
    const entries = facts.map(([name, value]) => {
      const entry = make("div", "", make("dt", "", phrase(`text.fact.${name}`)), make("dd", "", value));
      entry.title = phrase(`text.fact.${name}.help`);
      return entry;
    });
    find(root, "dl.tp-facts").replaceChildren(...entries);
  }

  /** @param {TextRecord} record */
  offerTable(record) {
    const link = find(this.root, "a.tp-csv");
    link.onclick = () => {
      // Made at the click: a megabyte of text is a table of sixty.
      const address = URL.createObjectURL(new Blob(record.csv(), { type: "text/csv" }));
      link.href = address;
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
    };
    link.href = "#";
  }

  /** @param {TextRecord} record */
  showPassages(record) {
    const { root, phrase, numbers } = this;
    const third = Math.ceil(record.length / PASSAGE_CHARS / 3); // most of a short text is no choice
    const passages = record.passages(Math.min(PASSAGES, third), PASSAGE_CHARS);
    find(root, "details.tp-most").hidden = passages.length < 2; // a short text is one passage
    put(find(root, "p.tp-hint"), phrase("text.passages", { n: passages.length, length: PASSAGE_CHARS }));
    const rows = passages.map(({ start, stop, mean }) => {
      const text = Array.from(record.text(start, stop), (c) => (c === " " ? c : visible(c))).join("");
      const jump = make("button", "", text);
      jump.onclick = () => {
        this.answers?.go(start, stop);
        this.view?.viewSocket.ask();
        find(root, "div.tp-viewer").scrollIntoView({ block: "nearest", behavior: "smooth" });
      };
      const cells = [numbers.number(Math.exp(mean)), numbers.whole(start + 1), jump];
      return make("tr", "", ...cells.map((cell) => make("td", "", cell)));
    });
    find(root, "tbody.tp-passages").replaceChildren(...rows);
  }

  showViewer() {
    const { look, fixed, readings } = this;
    if (!fixed) return;
    const lengths = new Set(readings.map(({ record }) => record.length));
    const drawn = lengths.size === 1 ? readings : readings.slice(0, 1);
    const named = drawn.map(({ network, record }) => ({ name: network.title, record }));
    const expect = async (/** @type {number} */ position) =>
      Promise.all(
        drawn.map(async ({ network }) => ({
          model: network.title,
          ...(await this.scorer.expect(network.name, network, position)),
        })),
      );
    const digest = `${this.run} ${drawn.map(({ network }) => network.name)} ${fixed.language}`;
    this.answers = new ViewerAnswers({ ...fixed, context: CONTEXT_CHARS }, digest, named, expect);
    const host = find(this.root, "div.tp-viewer");
    this.view ??= mount(host, PageViewer, { ...look.viewer, name: "rnnviz-viewer" });
    const { view, answers } = this;
    view.viewSocket.sendToPage = async (ask) =>
      view.takeAnswer(/** @type {any} */ (await answers.answer(ask)));
    view.viewSocket.ask();
  }

  // ---- what goes wrong ----

  /** Say what has gone wrong; "" takes it back. @param {string} message */
  showAlert(message) {
    const alert = find(this.root, "p.alert");
    put(alert, message);
    alert.hidden = !message;
  }

  /** @param {unknown} error @param {string} [name] of the file */
  fail(error, name = this.name) {
    const { root, phrase, numbers } = this;
    this.run++;
    this.busy = false;
    this.readings = [];
    find(root, "div.tp-under-way").hidden = true;
    find(root, "section.tp-answer").hidden = find(root, "details.tp-most").hidden = true;
    if (this.view) this.view.root.hidden = true;
    this.showAlert(sentenceOf(error, phrase, numbers, name));
  }
}

/** The sentence on an error. @param {unknown} error @param {Phrase} phrase @param {Numbers} numbers @param {string} name of the file */
export function sentenceOf(error, phrase, numbers, name) {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof FileError)) return phrase("text.failed", { name, error: message });
  const written = Object.entries(error.values).map(([key, value]) => [
    key,
    typeof value === "number" ? numbers.whole(value) : value,
  ]);
  return phrase(error.reason, { name, file: name, ...Object.fromEntries(written) });
}
