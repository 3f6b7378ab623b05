// The text viewer's chunks and colours.

import assert from "node:assert/strict";
import { test } from "node:test";
import { joined, runs } from "../../rnnviz/ui/browser/static/coloured.js";
import { chunks, tell } from "../../rnnviz/ui/pages/perplexity/static/chunks.js";
import { scales } from "../../rnnviz/ui/pages/perplexity/static/colours.js";

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
  const { nll, unknown } = tell(two, 25);
  assert.deepEqual([nll, unknown], [25, false]);
  const last = tell(seven, 79);
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
    ...joined(codes, Uint8ClampedArray.of(1, 2, 0, 9, 3, 4), neutral),
  ];
  assert.deepEqual(level(0), [1, 9, 9, 9, 4, 4]);
  assert.deepEqual(level(12), [1, 0, 0, 0, 3, 3]);
});
