// The lecturer's clock: started, paused, set back, and kept while its window is loaded again.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Stopwatch } from "../../rnnviz/ui/pages/learn/static/stopwatch.js";

/** What a browser keeps. */
function storage() {
  /** @type {Record<string, string>} */
  const items = {};
  return {
    getItem: (/** @type {string} */ key) => items[key] ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => {
      items[key] = value;
    },
  };
}

test("a clock runs only while it is started", () => {
  let now = 1000;
  const watch = new Stopwatch("clock", storage(), () => now);
  now += 5000;
  assert.equal(watch.format(), "0:00");
  watch.toggle();
  now += 65_999;
  assert.equal(watch.format(), "1:05");
  watch.toggle();
  now += 10_000;
  assert.equal(watch.format(), "1:05");
  watch.toggle();
  now += 3_600_000;
  assert.equal(watch.format(), "1:01:05");
  watch.reset();
  assert.equal(watch.format(), "0:00");
  now += 2000;
  assert.equal(watch.format(), "0:02", "set back, it runs on");
});

test("a window that is loaded again finds the time that has passed since", () => {
  let now = 0;
  const store = storage();
  const watch = new Stopwatch("clock", store, () => now);
  watch.toggle();
  now += 30_000;
  assert.equal(new Stopwatch("clock", store, () => now).format(), "0:30");
  assert.equal(new Stopwatch("another", store, () => now).format(), "0:00");
  watch.toggle();
  now += 30_000;
  assert.equal(new Stopwatch("clock", store, () => now).format(), "0:30");
});
