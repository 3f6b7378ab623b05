// Inside: the figures' arrays and axes, and the line on a character.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as panel from "../../rnnviz/lab/pages/inside/static/panel.js";
import { line } from "../../rnnviz/lab/pages/inside/static/view.js";
import { makePhrase } from "../../rnnviz/ui/browser/static/messages.js";
import { Numbers } from "../../rnnviz/ui/browser/static/number_format.js";

/** Plotly's axis of so many pixels for a value. @param {number} offset @param {number} length @param {number} pixels */
const axis = (offset, length, pixels) => ({
  _offset: offset,
  _length: length,
  l2p: (/** @type {number} */ v) => v * pixels,
  p2l: (/** @type {number} */ p) => p / pixels,
});
const axes = { xaxis: axis(40, 200, 10), yaxis: axis(20, 100, -4) };

test("a figure's arrays are filled in at any depth, a matrix as its rows", () => {
  const shaped = (/** @type {number[]} */ values, /** @type {number[]} */ shape) =>
    Object.assign(Float32Array.from(values), { shape });
  const arrays = { one: shaped([1, 2], [2]), two: shaped([1, 2, 3, 4, 5, 6], [3, 2]) };
  const { data, layout } = panel.filled(
    { data: [{ x: { $: "one" }, z: { $: "two" } }], layout: { title: null, width: 3 } },
    arrays,
  );
  assert.equal(data[0].x, arrays.one);
  assert.deepEqual(
    data[0].z.map((/** @type {Float32Array} */ row) => [...row]),
    [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
  );
  assert.deepEqual(layout, { title: null, width: 3 });
});

test("a point stands where its axes have it", () => {
  assert.deepEqual(panel.pixels(axes, 3, -5), { left: 70, top: 40 });
});

test("an axis spans its two ends, and the room around them that it is given", () => {
  const spanned = (room = 0) => [38, 39, 40, 240, 241, 242].map((at) => panel.spans(axes.xaxis, at, room));
  assert.deepEqual(spanned(), [false, false, true, true, false, false]);
  assert.deepEqual(spanned(1), [false, true, true, true, true, false]);
});

test("a pixel along an axis is the nearest character, and none beside the text", () => {
  const at = (/** @type {number} */ pixel, length = 12) => panel.characterAt(axes.xaxis, pixel, length);
  assert.deepEqual(
    [39, 40, 44, 46, 150, 156].map((pixel) => at(pixel)),
    [null, 0, 0, 1, 11, null],
  );
  assert.deepEqual([at(240, 99), at(241, 99)], [20, null]);
  const from = { ...axes.xaxis, p2l: (/** @type {number} */ p) => p / 10 - 2 }; // an axis that begins at -2
  assert.equal(panel.characterAt(from, 50, 12), null);
  assert.equal(panel.indexAt(axes.yaxis, 11), 2); // upwards
});

test("the nearest point is pointed at, unless it is too far off", () => {
  const trace = { x: [0, 5, 20], y: [0, 0, -20] }; // at (40, 20), (90, 20), (240, 100)
  const at = (/** @type {number} */ left, /** @type {number} */ top) => panel.nearest(trace, axes, left, top);
  assert.deepEqual([at(64, 21), at(66, 21), at(240, 71), at(240, 70), at(140, 60)], [0, 1, 2, null, null]);
  assert.equal(at(90, 49), 1);
});

test("the line on a character has its value in each linked text that has one", () => {
  const text = (/** @type {string | null} */ value, name = "", linked = true) => ({
    about: { linked, name },
    character: (/** @type {number} */ t) => `“${name || "abc"[t % 3]}”`,
    value: () => value,
  });
  const describe = (/** @type {ReturnType<typeof text>[]} */ texts) =>
    line(1000, /** @type {any} */ (texts), new Numbers("en"), makePhrase({ at: "character {n}:" }));
  const texts = [text("9", "elsewhere", false), text("0.5"), text("−2", "gate"), text(null, "no value")];
  assert.equal(describe(texts), "character 1,001: “b” · 0.5 · gate −2");
  assert.equal(describe([]), "character 1,001: ");
});
