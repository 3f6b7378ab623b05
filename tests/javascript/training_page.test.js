// A training on the page: how its state follows the worker's answers, and what is said of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KeptTraining } from "../../rnnviz/page/kept_training.js";
import { FileError } from "../../rnnviz/page/safetensors.js";
import { TrainingRun } from "../../rnnviz/page/training_run.js";
import { sentencesOf, timeLeft } from "../../rnnviz/page/training_sentences.js";
import { Numbers } from "../../rnnviz/ui/browser/static/number_format.js";

const numbers = new Numbers("en");
const phrase = (/** @type {string} */ name, values = {}) => [name, ...Object.values(values)].join(" ");
const started = /** @type {any} */ ({
  ...{ uniform: 69, letters: 17.2, ngram: 4.36, ngram_order: 6, symbols: [], normaliser: "newlines" },
  ...{ parameters: 1, dropped: 0, characters: { train: 1, validation: 1, held_out: 1 } },
  config: {
    cell: "gru",
    vocabulary_size: 69,
    hidden_size: 64,
    layers: 1,
    embedding_size: 0,
    activation: "tanh",
    tied: false,
  },
});
const tensors = { "readout.bias": new Float32Array(69) };

/** @param {number} characters @param {number} perplexity @param {object} [more] */
const report = (characters, perplexity, more) => ({
  ...{ step: characters / 1000, characters, seconds: 1, share: 0.25, train_perplexity: perplexity },
  ...{ validation_perplexity: perplexity, gradient_norms: [[characters / 1000, 0.5]], learning_rate: 0.01 },
  ...{ characters_per_second: 54_321, best: true, sample: "", ...more },
});

/** A training whose worker hears `sent`, and answers what `hear` is given. */
function makeRun() {
  /** @type {any[]} */
  const seen = [];
  /** @type {any[]} */
  const sent = [];
  /** @type {Error[]} */
  const errors = [];
  /** @type {any} the newest one */
  let worker;
  class FakeWorker {
    onmessage = null;
    constructor() {
      worker = this;
    }
    terminate() {}
    postMessage(/** @type {any} */ message) {
      sent.push(message);
    }
  }
  globalThis.Worker = /** @type {any} */ (FakeWorker);
  const heard = {
    change() {},
    weights: () => seen.push(run.tensors),
    fail: (/** @type {Error} */ error) => errors.push(error),
  };
  const run = new TrainingRun(async () => "worker.js", new KeptTraining(), heard);
  const hear = (/** @type {object} */ answer, id = run.id) => worker.onmessage({ data: { id, ...answer } });
  return { run, sent, errors, hear, seen };
}

const order = /** @type {any} */ ({ text: "hello", seconds: 60, recipe: { clip: 1 } });

/** A training that has begun and made these reports. @param {object[]} reports */
async function trained(...reports) {
  const made = makeRun();
  await made.run.start(order, "mine");
  made.hear({ kind: "started", started });
  for (const one of reports) made.hear({ kind: "report", report: one });
  return made;
}

test("a training goes through its states, and answers of an older one are ignored", async () => {
  const { run, sent, hear } = await trained();
  assert.equal(run.state, "runs");
  run.goOn(); // means nothing now
  run.pause(true);
  await null;
  assert.deepEqual([run.state, run.hidden], ["paused", true]);
  run.pause(false); // it does so already
  assert.equal(run.hidden, true);
  run.goOn();
  run.stop();
  await null;
  assert.equal(run.state, "measures");
  assert.deepEqual(
    sent.map(({ kind }) => kind),
    ["train", "pause", "continue", "end"],
  );
  hear({ kind: "ended", ended: { reason: "ended", description: {}, tensors, held_out: null } });
  assert.equal(run.state, "ended");
  const old = run.id;
  await run.start(order, "mine");
  hear({ kind: "started", started }, old);
  assert.deepEqual([run.state, run.started], ["begins", null]);
});

test("a training that was kept waits to go on", async () => {
  const { run, sent, hear } = makeRun();
  await run.restore({ name: "mine", started, reports: [], tensors, state: { step: 3 } }, order);
  hear({ kind: "started", started });
  assert.equal(run.state, "paused");
  assert.deepEqual(sent, [
    { kind: "resume", id: run.id, snapshot: { order, started, reports: [], tensors, state: { step: 3 } } },
  ]);
});

test("an error ends a training, and says why", async () => {
  const { run, errors, hear } = await trained();
  hear({ kind: "error", error: "train.short", values: { n: 1 } });
  assert.equal(run.state, "none");
  assert.ok(errors[0] instanceof FileError);
  assert.deepEqual([errors[0].reason, errors[0].values], ["train.short", { n: 1 }]);
});

test("a browser without a store is said", async () => {
  const { run, hear } = await trained(report(1000, 60));
  hear({ kind: "snapshot", snapshot: { order, started, reports: [], tensors, state: {} } });
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(run.unkept, "training.kept.none");
});

test("the view has the weights of a pause, which are newer than its last ones", async () => {
  const { hear, seen } = await trained(report(1000, 60));
  hear({ kind: "weights", tensors });
  const newer = { "readout.bias": new Float32Array(69).fill(1) };
  hear({ kind: "snapshot", snapshot: { order, started, reports: [], tensors: newer, state: {} } });
  assert.deepEqual(seen, [tensors, newer]);
});

test("a network is sound where it has a perplexity", async () => {
  const { run, hear } = await trained(report(1000, 60));
  assert.equal(run.sound, false); // it hasn't ended
  const ended = { reason: "diverged", description: {}, tensors };
  for (const [held_out, sound] of [
    [{ perplexity: 9 }, true],
    [{ perplexity: Number.NaN }, false],
    [{ perplexity: Infinity }, false],
    [null, true], // a word's is that of its reports
  ]) {
    hear({ kind: "ended", ended: { ...ended, held_out } });
    assert.equal(run.sound, sound);
  }
  const without = await trained();
  without.hear({ kind: "ended", ended: { ...ended, held_out: null } });
  assert.equal(without.run.sound, false);
});

test("a figure stands beside what it is compared with", async () => {
  const { run, hear } = await trained(
    report(1000, 60),
    report(2000, 6.1),
    report(3000, 6.2, { best: false }),
  );
  assert.deepEqual(sentencesOf(run, phrase, numbers), ["training.after 3,000 6.20 17.20"]);
  assert.equal(timeLeft(run, phrase, numbers), "training.left text.seconds 45 54,000");
  hear({ kind: "report", report: report(4000, 4.2) });
  hear({ kind: "report", report: report(5000, 4.3, { best: false }) });
  const held = { characters: 17_898, unknown: 0, perplexity: 4.97, bits_per_character: 2.3 };
  hear({ kind: "ended", ended: { reason: "done", description: {}, tensors, held_out: held } });
  assert.deepEqual(sentencesOf(run, phrase, numbers), [
    "training.best 4,000 4.20 17.20", // which stays
    "training.passed 6 4.36",
    "training.held 17,898 4.97",
    "training.open",
  ]);
});

test("a word has no other text to be measured on", async () => {
  const { run } = await trained(report(1000, 1.2, { validation_perplexity: null }));
  assert.deepEqual(sentencesOf(run, phrase, numbers), ["training.after.word 1,000 1.20 69"]);
});

test("a training that diverges is told by its perplexity and its norm", async () => {
  const { run, hear } = await trained(report(1000, 90));
  assert.equal(run.diverges, false); // untrained
  hear({
    kind: "report",
    report: report(2000, 1e20, {
      gradient_norms: [
        [2, 3],
        [2, 4e6],
      ],
    }),
  });
  assert.deepEqual(sentencesOf(run, phrase, numbers), [
    "training.worse 1.0 × 10²⁰ 69",
    "training.exploded 0.5 4,000,000",
    "training.advice",
  ]);
  hear({ kind: "ended", ended: { reason: "diverged", description: {}, tensors, held_out: null } });
  assert.equal(sentencesOf(run, phrase, numbers)[0], "training.diverged");
  run.order = /** @type {any} */ ({ ...order, recipe: { clip: null, optimiser: "sgd" } });
  assert.ok(sentencesOf(run, phrase, numbers).includes("training.advice.clip"));
});

test("a network that learns its text by heart is said to overfit, and what of it is kept", async () => {
  const worse = { train_perplexity: 1.5, best: false };
  const { run, hear } = await trained(report(1000, 60), report(2000, 12), report(3000, 90, worse));
  assert.deepEqual(sentencesOf(run, phrase, numbers), [
    "training.after 3,000 90.00 17.20",
    "training.overfits 2,000",
  ]);
  hear({ kind: "ended", ended: { reason: "done", description: {}, tensors, held_out: null } });
  assert.deepEqual(sentencesOf(run, phrase, numbers), [
    "training.best 2,000 12.00 17.20",
    "training.overfitted 2,000",
    "training.open",
  ]);
});

test("weights of which none predicts anything are not offered", async () => {
  const none = { best: false, validation_perplexity: Infinity };
  const { run, hear } = await trained(report(1000, 1e20, none), report(2000, 1e30, none));
  hear({ kind: "ended", ended: { reason: "diverged", description: {}, tensors, held_out: null } });
  assert.ok(!sentencesOf(run, phrase, numbers).some((sentence) => /open|after|best/.test(sentence)));
});
