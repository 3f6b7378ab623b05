// A picture's text alternative waits for a pause, and what never pauses is told now and then.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AltText, together } from "../../rnnviz/ui/browser/static/alt_text.js";

/** An element that remembers what was written. */
function picture() {
  /** @type {Record<string, string>} */
  const attributes = {};
  /** @type {string[]} */
  const written = [];
  const element = {
    written,
    getAttribute: (/** @type {string} */ name) => attributes[name] ?? null,
    hasAttribute: (/** @type {string} */ name) => name in attributes,
    setAttribute: (/** @type {string} */ name, /** @type {string} */ value) => {
      attributes[name] = value;
      if (name === "aria-label") written.push(value);
    },
  };
  return /** @type {Element & { written: string[] }} */ (/** @type {unknown} */ (element));
}

test("the first is there at once; while one types nothing is worked out", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const element = picture();
  const alternative = new AltText(element);
  let calls = 0;
  const makeText = (/** @type {string} */ text) => () => {
    calls++;
    return text;
  };
  alternative.later(makeText("opening"));
  assert.deepEqual(element.written, ["opening"]);
  for (const text of ["a", "ab", "abc"]) {
    alternative.later(makeText(text));
    t.mock.timers.tick(200);
  }
  assert.equal(calls, 1);
  t.mock.timers.tick(1000);
  assert.deepEqual(element.written, ["opening", "abc"]);
  assert.equal(calls, 2);
});

test("what changes all the time is told now and then", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const element = picture();
  const alternative = new AltText(element);
  for (let i = 0; i < 100; i++) {
    alternative.later(() => String(i));
    t.mock.timers.tick(100);
  }
  assert.ok(element.written.length >= 3 && element.written.length <= 5, String(element.written));
});

test("sentences that have nothing to say leave no gap", () => {
  assert.equal(together("One.", "", "Two."), "One. Two.");
});
