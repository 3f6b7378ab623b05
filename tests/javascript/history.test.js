// What was done to the text is undone in the steps of whoever wrote it, and nothing is lost on the way.

import assert from "node:assert/strict";
import { test } from "node:test";
import { History, HUMAN, NETWORK } from "../../rnnviz/ui/pages/explore/static/history.js";

/** @import { Step } from "../../rnnviz/ui/pages/explore/static/history.js" */

/** A text with its history, and who wrote it. */
class Desk {
  history = new History();
  text = "";
  by = "";

  /** @param {Step} step */
  apply({ at, out, into, outBy, intoBy }) {
    assert.equal(this.text.slice(at, at + out.length), out);
    assert.equal(this.by.slice(at, at + out.length), outBy);
    this.text = this.text.slice(0, at) + into + this.text.slice(at + out.length);
    this.by = this.by.slice(0, at) + intoBy + this.by.slice(at + out.length);
  }

  /** @param {number} at @param {number} deleted @param {string} into @param {string} kind @param {string} writer */
  change(at, deleted, into, kind = "", writer = HUMAN) {
    const out = this.text.slice(at, at + deleted);
    const outBy = this.by.slice(at, at + deleted);
    const step = { at, out, into, outBy, intoBy: writer.repeat(into.length), kind };
    this.history.add(step);
    this.apply(step);
  }

  /** @param {"undo" | "redo"} way whether there was anything to do */
  go(way) {
    const step = this.history[way]();
    if (step) this.apply(step);
    return Boolean(step);
  }
}

test("letters are undone by the word, and done again", () => {
  const desk = new Desk();
  [..."one two"].forEach((letter, i) => {
    desk.change(i, 0, letter, "type");
  });
  const texts = [];
  while (desk.go("undo")) texts.push(desk.text);
  assert.deepEqual(texts, ["one ", ""]);
  while (desk.go("redo")) texts.push(desk.text);
  assert.deepEqual(texts.slice(2), ["one ", "one two"]);
  assert.equal(desk.go("redo"), false);
});

test("what a network writes is one step, and so is what follows by hand", () => {
  const desk = new Desk();
  desk.change(0, 0, "ab", "");
  [..."cd ef"].forEach((letter, i) => {
    desk.change(1 + i, 0, letter, "write 1", NETWORK);
  });
  desk.change(6, 0, "x", "write 2", NETWORK);
  assert.equal(desk.text, "acd efxb");
  assert.equal(desk.by, ".nnnnnn.");
  desk.go("undo");
  assert.equal(desk.text, "acd efb");
  desk.go("undo");
  assert.deepEqual([desk.text, desk.by], ["ab", ".."]);
  desk.go("redo");
  assert.equal(desk.by, ".nnnnn.");
});

test("characters that are deleted one after another come back together", () => {
  for (const places of [
    [3, 2, 1],
    [1, 1, 1],
  ]) {
    const desk = new Desk();
    desk.change(0, 0, "abcde", "");
    for (const at of places) desk.change(at, 1, "", "delete");
    assert.equal(desk.text, "ae");
    desk.go("undo");
    assert.equal(desk.text, "abcde");
  }
});

test("a caret that was moved begins another step", () => {
  const desk = new Desk();
  desk.change(0, 0, "a", "type");
  desk.history.seal();
  desk.change(1, 0, "b", "type");
  desk.change(0, 0, "c", "type"); // elsewhere
  for (const text of ["ab", "a", ""]) {
    desk.go("undo");
    assert.equal(desk.text, text);
  }
});

test("after a change nothing that was undone can be done again", () => {
  const desk = new Desk();
  desk.change(0, 0, "a", "");
  desk.go("undo");
  desk.change(0, 0, "b", "");
  assert.equal(desk.go("redo"), false);
  assert.equal(desk.text, "b");
});

test("whatever was done, undoing all leaves nothing and doing all again leaves the same", () => {
  let seed = 7;
  const random = (/** @type {number} */ n) => {
    seed = (seed * 48271) % 2147483647;
    return seed % n;
  };
  const kinds = ["type", "delete", "", "write 1", "write 2"];
  for (let round = 0; round < 200; round++) {
    const desk = new Desk();
    for (let i = 0; i < 30; i++) {
      if (random(6) === 0) {
        desk.go(random(2) ? "undo" : "redo");
        continue;
      }
      const kind = kinds[random(kinds.length)];
      const at = random(desk.text.length + 1);
      const deleted = kind === "type" || kind.startsWith("write") ? 0 : random(3);
      const into = kind === "delete" ? "" : ["a", " ", "bc ", "d"][random(4)];
      desk.change(at, deleted, into, kind, kind.startsWith("write") ? NETWORK : HUMAN);
      if (random(4) === 0) desk.history.seal();
    }
    while (desk.go("redo"));
    const { text, by } = desk;
    while (desk.go("undo"));
    assert.deepEqual([desk.text, desk.by], ["", ""]);
    while (desk.go("redo"));
    assert.deepEqual([desk.text, desk.by], [text, by]);
  }
});
