// The training view's frames, and the character under the pointer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { layerOf, RunFrames } from "../../rnnviz/lab/pages/train/static/frames.js";
import { characterAt } from "../../rnnviz/lab/pages/train/static/view.js";

/** An answer of the training view with snapshots. @param {number[]} steps @param {number[]} sent @param {number | null} newest */
function training(steps, sent, newest, run = "one") {
  const about = (/** @type {number} */ step, key = `at${step}`) => ({
    key,
    step,
    characters: step,
    perplexity: 2,
  });
  const frames = [...sent.map((step) => about(step)), ...(newest === null ? [] : [about(newest, "now")])];
  return /** @type {any} */ ({
    run,
    created: 1,
    steps,
    watchText: newest === null ? "" : "ab",
    symbols: ["", "a"],
    frames,
  });
}

test("snapshots are kept by step, the newest trace stands last, and another run begins anew", () => {
  const frames = new RunFrames();
  frames.apply(training([1, 2, 4], [1, 4], 6), {});
  assert.deepEqual(
    [frames.count, frames.missing, frames.at(0)?.step, frames.at(1), frames.at(3)?.step],
    [4, [2], 1, null, 6],
  );
  frames.apply(training([1, 2], [2], 2), {});
  assert.deepEqual([frames.count, frames.missing, frames.at(1)?.step], [2, [], 2]);
  frames.apply({ ...training([1, 2], [], 2), alive: true }, {}); // other units are shown while it goes on
  assert.deepEqual(frames.missing, [1, 2]);
  frames.apply(training([1], [], null, "two"), {});
  assert.deepEqual([frames.newest, frames.missing, frames.count], [null, [1], 1]);
});

test("a layer of a frame is read as the heat map and the bars read a text", () => {
  const states = Object.assign(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), { shape: [2, 2, 2] });
  const next = Object.assign(Uint16Array.of(0, 1, 1, 0, 1, 0), { shape: [3, 2] });
  const chances = Float32Array.of(0.5, 0.5, 0.75, 0.25, 1, 0);
  const rest = {
    actual: Uint16Array.of(1, 0),
    chance: Float32Array.of(0.5, 0.25),
    nll: new Float32Array(2),
    entropy: new Float32Array(3),
    symbols: ["", "a"],
  };
  const about = { key: "k", step: 1, characters: 1, perplexity: 2 };
  const layer = layerOf({ ...about, states, next, chances, ...rest }, 1);
  assert.deepEqual([...layer.states], [3, 4, 7, 8]);
  assert.deepEqual(layer.expected(1), [
    { id: 1, p: 0.75 },
    { id: 0, p: 0.25 },
  ]);
  assert.deepEqual(
    [layer.length, layer.isUnknown(1), layer.symbol(1), layer.probability(1)],
    [2, true, "a", 0.25],
  );
});

test("a share of the heat map's width is a character, and none beside it", () => {
  assert.deepEqual(
    [-0.01, 0, 0.49, 0.5, 0.99, 1].map((share) => characterAt(share, 4)),
    [null, 0, 1, 2, 3, null],
  );
});
