// The page's training against torch: gradients, whole runs, and what a run needs beside them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { after, test } from "node:test";
import { LearningNetwork } from "../../rnnviz/page/backpropagation.js";
import { countNgrams } from "../../rnnviz/page/counting.js";
import { rate } from "../../rnnviz/page/optimiser.js";
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

const ABOUT = { corpus: { name: "t", title: "T", licence: "", language: "en" }, seconds: 60, version: "3" };
const near = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ tolerance) =>
  Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(b));

for (const name of files(".run"))
  test(`200 steps are those of rnnviz.train: ${name}`, () => {
    const { header, arrays } = open(name);
    const { text, recipe, steps } = /** @type {any} */ (header);
    // The first 85 % of the text's beginning, as the package's trainer read it.
    const trainer = new Trainer({ text, recipe, ...ABOUT });
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
    const { V, order } = /** @type {any} */ (header);
    const levels = countNgrams(/** @type {any} */ (arrays.ids), V, order);
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
