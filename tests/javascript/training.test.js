// The page's training against torch: gradients, whole runs, and what a run needs beside them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { after, test } from "node:test";
import { LearningNetwork } from "../../rnnviz/page/backpropagation.js";
import { countNgrams } from "../../rnnviz/page/counting.js";
import { rate } from "../../rnnviz/page/optimiser.js";
import { readNetwork, writeNetwork } from "../../rnnviz/page/safetensors.js";
import { Trainer } from "../../rnnviz/page/trainer.js";
import { unpack } from "../../rnnviz/ui/browser/static/payload.js";

const folder = mkdtempSync(`${tmpdir()}/rnnviz-`);
execFileSync("python", ["-m", "tests.javascript.golden_training", folder]);
after(() => execFileSync("rm", ["-r", folder]));
const files = (/** @type {string} */ suffix) => readdirSync(folder).filter((name) => name.endsWith(suffix));
const open = (/** @type {string} */ name) => unpack(new Uint8Array(readFileSync(`${folder}/${name}`)));
/** The arrays whose names begin so, by the rest of the name. @param {any} arrays @param {string} kind */
const named = (arrays, kind) =>
  Object.fromEntries(
    Object.keys(arrays)
      .filter((name) => name.startsWith(kind))
      .map((name) => [name.slice(kind.length), arrays[name]]),
  );

for (const name of files(".gradients"))
  for (const plain of [false, true])
    test(`gradients are torch's: ${name}${plain ? ", plain" : ""}`, () => {
      const { header, arrays } = open(name);
      const { config, loss, B, T } = /** @type {any} */ (header);
      const network = new LearningNetwork(config, B, T + 2, plain);
      network.load(named(arrays, "tensor:"));
      const { hidden, cells } = network.state;
      hidden.set(arrays["state:0"]);
      cells.set(arrays["state:1"] ?? []);
      const cost = network.differentiate(Int32Array.from(arrays.inputs), Int32Array.from(arrays.labels), T);
      assert.ok(Math.abs(cost - loss) < 1e-5, `${cost} ≠ ${loss}`);
      for (const parameter of network.parameters) parameter.values.set(parameter.gradient);
      const gradients = network.tensors();
      for (const [part, expected] of Object.entries(named(arrays, "gradient:"))) {
        assert.equal(gradients[part].length, expected.length);
        const apart = gradients[part].map((value, i) => Math.abs(value - expected[i]));
        assert.ok(Math.max(...apart) < 1e-5, `${part}: ${Math.max(...apart)}`);
      }
    });

const ABOUT = {
  ...{ id: "1", source: "own" },
  corpus: { name: "t", title: "T", licence: "", language: "en" },
  seconds: 60,
  version: "3",
};
const near = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ tolerance) =>
  Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(b));

for (const name of files(".run"))
  test(`200 steps are those of rnnviz.train: ${name}`, () => {
    const { header, arrays } = open(name);
    const { text, ends, recipe, steps } = /** @type {any} */ (header);
    // The first 85 % of the text's beginning, as the package's trainer read it.
    const trainer = new Trainer({ text, ends, recipe, ...ABOUT });
    trainer.network.load(named(arrays, "tensor:"));
    const drawn = Array.from(arrays.drawn);
    trainer.below = (n) => {
      const number = /** @type {number} */ (drawn.shift());
      assert.ok(number < n);
      return number;
    };
    for (const [i, expected] of arrays.losses.entries()) {
      const highest = recipe.learning_rate;
      const { loss, norm } = trainer.update(
        recipe.optimiser === "adamw" ? rate(highest, i, 1, steps) : highest,
      );
      assert.ok(near(loss, expected, 1e-3), `step ${i}: ${loss} ≠ ${expected}`);
      assert.ok(near(norm, arrays.norms[i], 1e-2), `step ${i}: norm ${norm} ≠ ${arrays.norms[i]}`);
    }
    assert.equal(drawn.length, 0);
  });

for (const name of files(".counts"))
  test(`n-grams are counted as the core counts them: ${name}`, () => {
    const { header, arrays } = open(name);
    const { V, order, end } = /** @type {any} */ (header);
    const levels = countNgrams(/** @type {any} */ (arrays.ids), V, order, end);
    assert.equal(levels.length, order);
    for (const [n, level] of levels.entries()) {
      if (n) assert.deepEqual(Array.from(level.keys), Array.from(arrays[`${n}:keys`]));
      for (const part of /** @type {const} */ (["share", "backoff"])) {
        const expected = arrays[`${n}:${part}`];
        assert.equal(level[part].length, expected.length);
        level[part].forEach((value, i) => {
          assert.ok(Math.abs(value - expected[i]) < 1e-6, `${part} ${n} ${i}: ${value} ≠ ${expected[i]}`);
        });
      }
    }
  });

const TEXT = "A ferry left before the fog had lifted, and nobody could say where it went.\n\n".repeat(40);
/** @type {import("../../rnnviz/page/types").Recipe} */
const RECIPE = {
  cell: "gru",
  hidden_size: 16,
  activation: "tanh",
  batch: 8,
  steps: 16,
  learning_rate: 0.02,
  weight_decay: 0.01,
  clip: 1,
  optimiser: "adamw",
  initialisation: "torch",
  sigma: 0.01,
  fresh_rows: 0.25,
  min_count: 0,
  seed: 4,
};
/** @param {object} [changes] of the recipe @param {string} [text] */
const trainer = (changes, text = TEXT) => new Trainer({ text, recipe: { ...RECIPE, ...changes }, ...ABOUT });
/** @param {Trainer} training @param {number} steps @param {number} [learningRate] */
const costs = (training, steps, learningRate = 0.02) =>
  Array.from({ length: steps }, () => training.update(learningRate).loss);

test("a training that went on from a snapshot gives the costs of one that was never stopped", () => {
  for (const optimiser of ["adamw", "momentum", "sgd"])
    for (const cell of ["rnn", "lstm"]) {
      const [whole, first] = [trainer({ optimiser, cell }), trainer({ optimiser, cell })];
      costs(whole, 30);
      costs(first, 30);
      const kept = structuredClone(first.snapshot(first.start()));
      const second = new Trainer(kept.order);
      second.restore(kept);
      assert.deepEqual(costs(second, 30), costs(whole, 30));
      assert.equal(second.characters, whole.characters);
    }
});

test("a training learns its text, reports it, and keeps the weights that do best on the validation text", async () => {
  const training = trainer();
  const started = training.start();
  assert.equal(started.uniform, new Set(TEXT).size + 1);
  assert.ok(Number(started.ngram) < Number(started.letters) && Number(started.letters) < started.uniform);
  training.step();
  const early = training.report();
  costs(training, 300);
  training.step();
  const late = training.report();
  assert.ok(
    early.best &&
      late.best &&
      Number(late.validation_perplexity) < 2 &&
      Number(early.validation_perplexity) > 8,
  );
  const weights = training.network.tensors();
  costs(training, 5, 30); // spoils it
  training.step();
  assert.ok(!training.report().best);
  const { reason, tensors, held_out, description } = await training.end();
  assert.deepEqual(tensors, weights);
  assert.equal(reason, "ended");
  assert.equal(held_out?.characters, started.characters.held_out);
  assert.equal(description.card.sha256 !== undefined, true);
});

test("a word has no held-out text, and its last weights are the best", async () => {
  const training = trainer({ batch: 1, steps: 7, fresh_rows: 0, cell: "rnn" }, "hellohello");
  assert.equal(training.start().ngram, null);
  costs(training, 200);
  training.step();
  const { validation_perplexity, best, train_perplexity } = training.report();
  assert.ok(best && validation_perplexity === null && train_perplexity < 4);
  assert.match(training.sample(), /hellohello/);
  assert.equal((await training.end()).held_out, null);
});

test("without clipping, a rate of 10 makes ReLU's gradients explode, and the weights stay numbers", () => {
  /** @type {Partial<typeof RECIPE>} */
  const recipe = {
    cell: "rnn",
    activation: "relu",
    hidden_size: 64,
    optimiser: "sgd",
    learning_rate: 10,
    seed: 1,
  };
  const training = trainer({ ...recipe, clip: null });
  while (!training.done && training.steps < 500) training.step();
  const { gradient_norms: norms, train_perplexity } = training.report();
  assert.ok(training.diverged);
  assert.ok(norms[norms.length - 1][1] > 20 * norms[0][1], JSON.stringify(norms));
  assert.ok(train_perplexity > 18 && Number.isFinite(train_perplexity));
  for (const values of Object.values(training.network.tensors())) assert.ok(values.every(Number.isFinite));
});

test("the same weights read a text alike, whether a network is made of them or takes them", () => {
  const [one, other] = [trainer({ seed: 1 }), trainer({ seed: 2 })];
  const expected = other.score(TEXT.slice(0, 300)).perplexity;
  one.reader.load(other.network.tensors());
  assert.equal(one.score(TEXT.slice(0, 300)).perplexity, expected);
});

test("a text of one character, or of too many, is refused by name", () => {
  assert.throws(() => trainer({}, "a"), { reason: "train.short", values: { n: 1 } });
  assert.throws(() => trainer({}, "ab".repeat(2_500_001)), { reason: "train.long" });
});

test("a network that predicts nothing any more has no figures, and is never the best", async () => {
  const training = trainer({ cell: "rnn", activation: "relu", hidden_size: 64 });
  for (const { name, values } of training.network.parameters) if (name.includes("hh")) values.fill(3); // states explode
  training.step();
  const { best, validation_perplexity, train_perplexity } = training.report();
  assert.deepEqual([best, validation_perplexity], [false, Infinity]);
  assert.ok(Number.isFinite(train_perplexity));
  const { held_out, description } = await training.end();
  assert.deepEqual([held_out, description.card.held_out], [null, undefined]);
});

test("a training on texts that end learns where they end, goes on, and is saved so", async () => {
  const names = ["Anna", "Bob", "Christopher", "Al", "Dora", "Eve", "Fay"];
  const text = names
    .map((name, i) => `${name}${names[(i * 3) % 7].toLowerCase()}\n`)
    .join("")
    .repeat(6);
  const order = { text, ends: true, recipe: { ...RECIPE, batch: 4, steps: 6 }, ...ABOUT };
  const training = new Trainer(order);
  assert.ok(training.text.end);
  assert.ok(!training.text.symbols.includes("\n"));
  for (const part of [training.text.train, training.text.validation, training.text.heldOut])
    assert.ok(part.endsWith("\n"), "no text is cut");
  const started = training.start();
  assert.ok(Number(started.ngram) < Number(started.letters));
  costs(training, 90);
  const second = new Trainer(order);
  second.restore(structuredClone(training.snapshot(started)));
  assert.deepEqual(costs(second, 40), costs(training, 40));
  costs(training, 400);
  training.step();
  const report = training.report();
  assert.ok(Number(report.validation_perplexity) < 3, String(report.validation_perplexity));
  assert.ok(report.sample.split("\n").length > 8, report.sample);
  const { description, tensors } = await training.end();
  const read = readNetwork(writeNetwork(description, tensors));
  assert.equal(read.description.config.end, training.text.end);
  assert.equal(
    /** @type {any} */ (read.description.card.recipe).fresh_rows,
    0,
    "so that the package takes it",
  );
  // A piece may be shorter than the whole text: its characters count, its padding doesn't.
  const first = new Trainer({ ...order, recipe: { ...order.recipe, steps: 64 } });
  let characters = 0;
  do characters += first.update(0.01).characters;
  while (first.streams.begin);
  assert.equal(characters, first.text.ids.length);
});
