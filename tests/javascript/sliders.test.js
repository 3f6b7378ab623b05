// What a key does to something that can be dragged.

import assert from "node:assert/strict";
import test from "node:test";
import { slid } from "../../rnnviz/ui/pages/learn/static/board.js";

const slide = { value: 0.5, min: 0, max: 1, step: 0.01, change: () => {} };

test("an arrow moves by a step, and the ends stop it", () => {
  const at = (/** @type {string} */ key, value = 0.5) => slid(key, { ...slide, value });
  assert.equal(at("ArrowUp"), 0.51);
  assert.equal(at("ArrowRight"), 0.51);
  assert.equal(at("ArrowDown"), 0.49);
  assert.equal(at("ArrowLeft", 0), 0);
  assert.equal(at("ArrowRight", 0.997), 1);
  assert.equal(at("Home"), 0);
  assert.equal(at("End"), 1);
});

test("any other key is left to whom it belongs", () => {
  for (const key of [" ", "Enter", "p", "Escape", "Tab", "PageUp", "PageDown"])
    assert.equal(slid(key, slide), undefined);
});
