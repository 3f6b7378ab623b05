// A training in the browser: the recipe of rnnviz/lab/fit/trainer.py, with one layer and one-hot inputs, in float32, without
// dropout, by the clock: warm-up and cosine follow the share of its time that has passed.

import { LearningNetwork } from "./backpropagation.js";
import { Streams, Texts } from "./batches.js";
import { Network, Reading, write } from "./engine.js";
import { gradientNorm, Optimiser, rate } from "./optimiser.js";
import { RandomNumbers } from "./random_numbers.js";
import { Stretches } from "./stretches.js";
import { TrainingText } from "./training_text.js";

/** @import { Config, Tensors, TrainingEnd, TrainingOrder, TrainingReport, TrainingSnapshot, TrainingStart } from "./types" */

const REPORTS = 40; // of a run, about
const REPORT_MS = [250, 10_000]; // milliseconds between two reports, at least and at most
const FIRST_REPORT_MS = 100; // after the first step's; then twice as long each time
const MAX_LOSS_NATS = 600; // whose perplexity is still a finite number
const SAMPLE_CHARS = 160;
const WORD_STEP_MS = 16; // milliseconds of a word's step: at full speed it is learnt before anybody has looked
const REPORTED_NORMS = 20; // of the steps since a report, at most
const [TEXT_TEMPERATURE, WORD_TEMPERATURE] = [0.8, 0.5]; // a word has one continuation
const EXAMPLE_CHARS = 90;

export class Trainer {
  /** @type {TrainingReport[]} */
  reports = [];
  steps = 0;
  characters = 0;
  milliseconds = 0; // of training, with its reports, without pauses
  stepMilliseconds = 1; // of the last step
  nextReport = 0; // in `milliseconds`
  sums = emptySums(); // since the last report
  /** @type {{ criterion: number, tensors: Tensors } | null} */
  best = null;
  diverged = false;

  /** @param {TrainingOrder} order @param {boolean} [plain] without WebAssembly */
  constructor(order, plain = false) {
    const { recipe, text } = order;
    this.order = order;
    this.text = new TrainingText(text, recipe.min_count, order.ends);
    this.random = new RandomNumbers(recipe.seed);
    const V = this.text.symbols.length + 1;
    /** @type {Config} */
    this.config = {
      cell: recipe.cell,
      vocabulary_size: V,
      hidden_size: recipe.hidden_size,
      layers: 1,
      embedding_size: 0,
      activation: recipe.cell === "rnn" ? recipe.activation : "tanh",
      tied: false,
      ...(this.text.end && { end: this.text.end }),
    };
    this.streams = this.text.end
      ? new Texts(this.text.ids, V, this.text.end, recipe)
      : new Streams(this.text.ids, V, this.text.beginnings, recipe);
    this.network = new LearningNetwork(this.config, this.streams.rows, recipe.steps, plain);
    this.initialise();
    this.optimiser = new Optimiser(this.network.parameters, recipe);
    /** The same weights, for reading: its answers are those of the page. */
    this.reader = new Network(this.config, this.network.tensors(), plain);
    this.below = (/** @type {number} */ n) => this.random.below(n);
  }

  /** The first weights: see `TrainConfig` in rnnviz/networks/config.py. */
  initialise() {
    const { network, random } = this;
    const { initialisation, sigma, hidden_size: H } = this.order.recipe;
    const bound = 1 / Math.sqrt(H);
    for (const { name, values, decays } of network.parameters) {
      const size = network.size(name);
      for (let i = 0; i < size; i++) {
        if (initialisation === "torch") values[i] = bound * (2 * random.uniform() - 1);
        else if (initialisation === "identity" && name.includes("weight_hh"))
          values[i] = Number(i % H === Math.floor(i / H));
        else values[i] = decays ? sigma * random.normal() : 0;
      }
    }
  }

  /** What doesn't change while it trains. @returns {TrainingStart} */
  start() {
    const { text, config, network } = this;
    return {
      config,
      symbols: text.symbols,
      normaliser: "newlines",
      parameters: network.parameters.reduce((sum, { name }) => sum + network.size(name), 0),
      characters: {
        train: text.ids.length,
        validation: Array.from(text.validation).length,
        held_out: Array.from(text.heldOut).length,
      },
      dropped: text.dropped,
      ...text.baselines(),
    };
  }

  /** The share of the run that has passed. */
  get share() {
    return Math.min(1, this.milliseconds / (1000 * this.order.seconds));
  }

  get done() {
    return this.diverged || this.share >= 1;
  }

  get learningRate() {
    const { recipe, seconds } = this.order;
    if (recipe.optimiser !== "adamw") return recipe.learning_rate;
    return rate(recipe.learning_rate, this.milliseconds, this.stepMilliseconds, 1000 * seconds);
  }

  /** Make one step, and count its time. */
  step() {
    const begun = performance.now();
    const { loss, norm, characters } = this.update(this.learningRate);
    this.diverged = !Number.isFinite(loss) || !Number.isFinite(norm);
    const least = this.text.isSplit ? 0 : WORD_STEP_MS; // the worker waits for the rest
    this.stepMilliseconds = Math.max(least, performance.now() - begun);
    this.milliseconds += this.stepMilliseconds;
    const { sums } = this;
    sums.milliseconds += this.stepMilliseconds;
    if (this.diverged) return;
    sums.loss += loss * characters;
    sums.characters += characters;
    sums.norms.push([this.steps, norm]);
  }

  /** Read a piece and change the weights; where a number is missing, they stay as they were. @param {number} learningRate */
  update(learningRate) {
    const { streams, network, optimiser } = this;
    const { T, isFirst, characters } = streams.next(this.below);
    if (isFirst) network.forget();
    else if (streams.freshRows) network.forget(streams.streams);
    const loss = network.differentiate(streams.inputs, streams.labels, T);
    const norm = gradientNorm(network.parameters);
    if (Number.isFinite(loss) && Number.isFinite(norm)) optimiser.update(learningRate, norm);
    this.steps++;
    this.characters += characters;
    return { loss, norm, characters };
  }

  get reportDue() {
    return this.sums.characters > 0 && (this.milliseconds >= this.nextReport || this.done);
  }

  /** How it goes; counts its own time as the training's. @returns {TrainingReport} */
  report() {
    const begun = performance.now();
    const { text, sums, reader, network, order } = this;
    const tensors = network.tensors();
    reader.load(tensors);
    const mean = Math.min(sums.loss / sums.characters, MAX_LOSS_NATS);
    const validation = text.validation ? this.perplexity(text.validation) : null;
    // Without validation text every report is the best so far.
    const criterion = validation ?? -this.steps;
    const best = criterion < (this.best?.criterion ?? Infinity);
    if (best) this.best = { criterion, tensors };
    const report = {
      step: this.steps,
      characters: this.characters,
      seconds: this.milliseconds / 1000,
      share: this.share,
      train_perplexity: Math.exp(mean),
      validation_perplexity: validation,
      gradient_norms: largest(sums.norms),
      learning_rate: this.learningRate,
      characters_per_second: (1000 * sums.characters) / Math.max(sums.milliseconds, 1e-3),
      best,
      sample: this.sample(),
    };
    this.sums = emptySums();
    this.reports.push(report);
    const usual = Math.min(Math.max((1000 * order.seconds) / REPORTS, REPORT_MS[0]), REPORT_MS[1]);
    this.milliseconds += performance.now() - begun;
    this.nextReport = this.milliseconds + Math.min(usual, Math.max(FIRST_REPORT_MS, this.milliseconds));
    return report;
  }

  /** Infinity where the states are no numbers any more. @param {string} text */
  perplexity(text) {
    return this.score(text).perplexity || Infinity;
  }

  /** The figures of a text, by `reader`. @param {string} text */
  score(text) {
    const { unknownCost } = this.text;
    return this.text.score(text, (ids) => new Stretches(this.reader, ids, unknownCost));
  }

  /** A text that the network writes, the same random numbers each time. */
  sample() {
    const random = new RandomNumbers(this.order.recipe.seed);
    const temperature = this.text.isSplit ? TEXT_TEMPERATURE : WORD_TEMPERATURE;
    const reading = new Reading(this.reader, this.text.unknownCost);
    const shape = { temperature, top_k: null, top_p: null };
    const next = () => {
      const ids = write(reading, 0, SAMPLE_CHARS, shape, () => random.uniform());
      return ids.map((id) => this.text.symbols[id - 1]).join("");
    };
    let text = next();
    while (this.text.end && text.length < SAMPLE_CHARS) text += `\n${next()}`;
    return text.slice(0, SAMPLE_CHARS);
  }

  /** The result: the best weights, scored on the text that nothing was chosen by, with a card. @returns {Promise<TrainingEnd>} */
  async end() {
    const { text, config, order, reader, best, network } = this;
    const tensors = best?.tensors ?? network.tensors();
    reader.load(tensors);
    const { corpus, recipe, version } = order;
    const figures = text.heldOut ? this.score(text.heldOut) : null;
    const heldOut = figures &&
      Number.isFinite(figures.perplexity) && {
        characters: figures.characters,
        unknown: figures.unknown,
        perplexity: Number(figures.perplexity),
        bits_per_character: Number(figures.bits_per_character),
      };
    const characters = Array.from(text.validation || text.train);
    const unread = characters.slice(0, EXAMPLE_CHARS).join("");
    const example = characters.length > EXAMPLE_CHARS ? unread.replace(/\s+\S*$/u, "") : unread;
    const card = {
      ...corpus,
      corpus: corpus.name,
      name: undefined,
      characters: text.characters.length,
      ...(await digests(text)),
      split: text.isSplit ? "train 85 %, validation 5 %, held out 10 %, in order" : "not split",
      trained_on: "first 85 %",
      // As `TrainConfig` has it: so the app can train the same again.
      recipe: {
        ...{ ...recipe, layers: 1, embedding_size: 0, tied: false, train_on: "train" },
        ...{ characters: this.characters, precision: "float32" },
        ...(text.end && { fresh_rows: 0 }), // each text begins anew
      },
      seed: recipe.seed,
      training_seconds: Math.round(this.milliseconds / 100) / 10,
      parameters: network.parameters.reduce((sum, { name }) => sum + network.size(name), 0),
      example,
      engine: { device: "browser", precision: "float32", backward: "page" },
      versions: { rnnviz: version },
      ...(heldOut && { held_out: { ...heldOut, uniform: config.vocabulary_size } }),
    };
    const description = { config, symbols: text.symbols, normaliser: "newlines", card };
    const reason = this.diverged ? "diverged" : this.done ? "done" : "ended";
    return { reason, description, tensors, held_out: heldOut || null };
  }

  // ---- to go on later ----

  /** All that `restore` needs; copies, as an array of WebAssembly's memory would take all of that along. @param {TrainingStart} started @returns {TrainingSnapshot} */
  snapshot(started) {
    const { network, optimiser, streams, random, sums, best } = this;
    const { steps, characters, milliseconds, nextReport } = this;
    const copies = (/** @type {Float32Array[]} */ arrays) => arrays.map((array) => array.slice());
    const state = {
      ...{ steps, characters, milliseconds, nextReport, sums, best, random: random.state },
      values: copies(network.parameters.map(({ values }) => values)),
      moments: copies([...optimiser.first, ...optimiser.second]),
      optimiserSteps: optimiser.step,
      states: copies(Object.values(network.state)),
      place: { begin: streams.begin, offset: streams.offset },
    };
    const { order, reports } = this;
    return { order, started, reports, tensors: network.tensors(), state };
  }

  /** Go on where a snapshot was made. @param {TrainingSnapshot} snapshot */
  restore({ reports, state }) {
    const { values, moments, states, place, random, optimiserSteps, ...counts } = /** @type {any} */ (state);
    const { network, optimiser } = this;
    Object.assign(this, counts, { reports });
    this.random.state = random;
    optimiser.step = optimiserSteps;
    Object.assign(this.streams, place);
    network.parameters.forEach((parameter, i) => parameter.values.set(values[i]));
    [...optimiser.first, ...optimiser.second].forEach((array, i) => array.set(moments[i]));
    Object.values(network.state).forEach((rows, i) => rows.set(states[i]));
  }
}

const emptySums = () => ({
  loss: 0,
  characters: 0,
  milliseconds: 0,
  norms: /** @type {[step: number, norm: number][]} */ ([]),
});

/** The largest gradients of stretches of the steps, REPORTED_NORMS at most: what explodes does so within a few. @param {[step: number, norm: number][]} norms */
function largest(norms) {
  const length = Math.ceil(norms.length / REPORTED_NORMS);
  const parts = Array.from({ length: Math.ceil(norms.length / length) }, (_, i) =>
    norms.slice(i * length, (i + 1) * length),
  );
  return parts.map((part) => part.reduce((a, b) => (b[1] > a[1] ? b : a)));
}

/** The checksums of a text's parts for its card, where the browser computes them: at https and on this computer. @param {TrainingText} text */
async function digests({ characters, train, heldOut, isSplit }) {
  if (!globalThis.crypto?.subtle) return {};
  const digest = async (/** @type {string} */ text) => {
    const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  const [sha256, sha256_trained_on, sha256_held_out] = await Promise.all(
    [characters.join(""), train, heldOut].map(digest),
  );
  return { sha256, sha256_trained_on, ...(isSplit && { sha256_held_out }) };
}
