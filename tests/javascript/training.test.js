// The page's training against torch: gradients, whole runs, and what a run needs beside them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { after, test } from "node:test";
import { LearningNetwork } from "../../rnnviz/page/backpropagation.js";
import { unpack } from "../../rnnviz/ui/browser/static/payload.js";

const folder = mkdtempSync(`${tmpdir()}/rnnviz-`);
execFileSync("python", ["-m", "tests.javascript.golden_training", folder]);
after(() => execFileSync("rm", ["-r", folder]));
const files = (/** @type {string} */ suffix) => readdirSync(folder).filter((name) => name.endsWith(suffix));
const open = (/** @type {string} */ name) => unpack(new Uint8Array(readFileSync(`${folder}/${name}`)));
/** The arrays whose names begin so, by the rest of the name. @param {any} arrays @param {string} kind */
const named = (arrays, kind) =>
  Object.fromEntries(Object.keys(arrays).filter((name) => name.startsWith(kind)).map((name) => [name.slice(kind.length), arrays[name]]));

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
