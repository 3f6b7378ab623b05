// The text viewer's chunks and colours, its curve, and its numbers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runs, unifyClusters } from "../../rnnviz/ui/browser/static/coloured.js";
import { makePhrase } from "../../rnnviz/ui/browser/static/messages.js";
import { Numbers } from "../../rnnviz/ui/browser/static/number_format.js";
import { characterFacts, chunks } from "../../rnnviz/ui/pages/perplexity/static/chunks.js";
import { scales } from "../../rnnviz/ui/pages/perplexity/static/colours.js";
import * as curve from "../../rnnviz/ui/pages/perplexity/static/curve.js";
import * as view from "../../rnnviz/ui/pages/perplexity/static/view.js";

/** @import { Answer, Arrays, Chunk, Fixed } from "../../rnnviz/ui/pages/perplexity/static/types" */

/** Chunks of ten characters, whose costs are their places. @param {number[]} indices */
function answer(indices) {
  const spans = indices.map((i) => [i, 10 * i, 10 * i + 10]);
  const places = indices.flatMap((i) => Array.from({ length: 10 }, (_, t) => 10 * i + t));
  const arrays = {
    codes: Uint32Array.from(places, (t) => 97 + (t % 26)),
    nll: Float32Array.from(places),
    rank: Uint32Array.from(places, (t) => (t % 10 === 9 ? -5 >>> 0 : 1)),
    entropy: Float32Array.from(places, (t) => t / 2),
  };
  const header = { length: 1000, count: 100, chunk: 10, spans };
  return /** @type {[Answer, Arrays]} */ (/** @type {unknown} */ ([header, arrays]));
}

test("a character is told of from its chunk, and an unknown one by its rank's sign", () => {
  const [two, seven] = chunks(...answer([2, 7]));
  assert.deepEqual([two.start, two.codes.length, seven.index], [20, 10, 7]);
  const { nll, unknown } = characterFacts(two, 25);
  assert.deepEqual([nll, unknown], [25, false]);
  const last = characterFacts(seven, 79);
  assert.deepEqual([last.unknown, last.rank, last.code, last.versus], [true, 5, 97 + 1, undefined]);
});

test("colours are numbers from a cost, a rank and a difference", () => {
  const { surprisal, rank, versus } = scales(
    /** @type {Fixed} */ ({
      bands: [1, 3, 10],
      surprisalFull: 10,
      surprisalSteps: 12,
      versusFull: 6,
      versusSteps: 13,
    }),
  );
  const bits = (/** @type {number[]} */ values) => Float32Array.from(values, (b) => b * Math.LN2);
  const chunk = /** @type {Chunk} */ (
    /** @type {unknown} */ ({
      nll: bits([0, 5, 10, 99, 0.1]),
      rank: Int32Array.of(1, 2, 4, 10, 11),
      versus: bits([-99, -6, 0, 3, 6]),
    })
  );
  assert.deepEqual([...surprisal.level(chunk)], [0, 6, 11, 11, 0]);
  assert.deepEqual([...rank.level(chunk)], [0, 1, 2, 2, 3]);
  assert.deepEqual([...versus.level(chunk)], [0, 0, 6, 9, 12]);
  assert.deepEqual([surprisal.neutral, rank.neutral, versus.neutral], [0, 0, 6]);
});

test("neighbours of one colour are one piece, and a cluster has its most remarkable colour", () => {
  assert.deepEqual(runs([4, 4, 0, 4]), [
    [0, 2, 4],
    [2, 3, 0],
    [3, 4, 4],
  ]);
  assert.deepEqual(runs([]), []);
  const codes = Uint32Array.from([..."a\u{1f469}\u200d\u{1f467}e\u0301"], (c) => Number(c.codePointAt(0)));
  const level = (/** @type {number} */ neutral) => [
    ...unifyClusters(codes, Uint8ClampedArray.of(1, 2, 0, 9, 3, 4), neutral),
  ];
  assert.deepEqual(level(0), [1, 9, 9, 9, 4, 4]);
  assert.deepEqual(level(12), [1, 0, 0, 0, 3, 3]);
});

const numbers = new Numbers("en");

test("the curve's end and its peaks are told, of several models each by its name", () => {
  const phrase = makePhrase({
    "curve.ends": "ends at {p}.",
    "curve.peaks": "of {n}: {high} at {at}, {low} at {and}.",
  });
  const position = [500, 1000, 1500, 2000, 2500];
  const peaked = { running: [70, 20, 12, 8, 6.5], rolling: [900, 9, 3, NaN, 4] };
  const other = { running: [70, 20, 12, 8, 7], rolling: [1, 2, 3, 4, 5] };
  const flat = { running: [70, 20, 12, 8, 9], rolling: [1, 5, 5, 5, 5] };
  const describe = (/** @type {typeof peaked[]} */ lines, /** @type {string[]} */ names, window = 1000) =>
    curve.description({ lines, position }, numbers, phrase, names, window);
  const first = "ends at 6.50. of 1,000: 9.00 at 1,000, 3.00 at 1,500.";
  assert.equal(describe([peaked], ["a"]), first);
  const second = "ends at 7.00. of 1,000: 5.00 at 2,500, 2.00 at 1,000.";
  assert.equal(describe([peaked, other], ["a", "b"]), `a: ${first} b: ${second}`);
  assert.equal(describe([flat], ["a"]), "ends at 9.00.");
  assert.match(describe([other], ["a"], 9000), /1.00 at 500\.$/); // no window is whole
});

test("an extreme is the first of its size, and no gap", () => {
  const values = [9, NaN, 5, 3, 5, 3, 4];
  assert.deepEqual(
    [curve.extreme(values, 1, 2), curve.extreme(values, -1, 2), curve.extreme(values, 1, 0)],
    [2, 3, 0],
  );
  assert.deepEqual([curve.extreme(values, 1, 1), curve.extreme(values, -1, 1)], [2, 3]); // begins with a gap
});

test("a place is told of by the drawn point that first covers it", () => {
  const at = (/** @type {number} */ place) => curve.drawnAt([10, 20, 30], place);
  assert.deepEqual([0, 9, 10, 19, 20, 29, 99].map(at), [0, 0, 1, 1, 2, 2, 2]);
});

test("a key moves on from where the last one led, or from what is in sight", () => {
  const nowhere = -1e9;
  const to = (/** @type {string} */ key, place = nowhere, first = 200) =>
    curve.reached(key, place, first, 1000);
  const keys = ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown", "PageUp", "PageDown", "Home", "End", "x"];
  assert.deepEqual(
    keys.map((key) => to(key)),
    [210, 210, 190, 190, 300, 100, 0, 999, undefined],
  );
  assert.deepEqual(
    [180, 185, 219, 220].map((place) => to("ArrowRight", place)),
    [210, 195, 229, 210],
  );
  assert.deepEqual([to("ArrowLeft", nowhere, 5), to("PageUp", nowhere, 990)], [0, 999]);
  assert.equal(curve.reached("ArrowRight", nowhere, 10, 160), 12); // 11.6
});

test("a pixel of the curve is a character, and a character a share of it", () => {
  const shares = [-1, 0, 0.26, 0.5, 1, 2];
  assert.deepEqual(
    shares.map((share) => curve.characterAt(share, 10)),
    [0, 0, 3, 5, 9, 9],
  );
  assert.deepEqual([curve.percent(0, 0), curve.percent(1, 4), curve.percent(1, 1)], ["0%", "25%", "100%"]);
});

test("a number that a reader types is the number of a character", () => {
  const entered = (/** @type {string} */ typed) => view.enteredPosition(typed, 2_000_000);
  assert.deepEqual(["1", "1,234,567", "2000000"].map(entered), [0, 1_234_566, 1_999_999]);
  assert.deepEqual(["2000001", "0", "", "end"].map(entered), [1_999_999, 0, null, null]);
});

test("places in words count from 1, costs are perplexities", () => {
  assert.deepEqual(numbers.window(999, 2500, 4000), { from: "1,000", to: "2,500", n: "4,000" });
  assert.deepEqual(numbers.window(0, 0, 4000), { from: "1", to: "1", n: "4,000" });
  assert.deepEqual(view.passageWords({ at: [1000, 3500], nats: [Math.log(4), 0] }, numbers), {
    n: "2,500",
    before: "1,000",
    perplexity: "4.00 / 1.00",
  });
  const lines = [
    { running: 2, rolling: 3 },
    { running: 4, rolling: NaN },
  ];
  assert.deepEqual(view.atPoint({ at: 1000, lines }, numbers), {
    at: "1,000",
    running: "2.00 / 4.00",
    rolling: "3.00 / –",
  });
});
