// The text viewer's chunks and colours.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Chunks } from "../../rnnviz/ui/pages/perplexity/static/chunks.js";
import { levels } from "../../rnnviz/ui/pages/perplexity/static/paint.js";

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
  const chunks = new Chunks();
  chunks.take(...answer([2, 7]));
  assert.deepEqual(
    [chunks.tell(25)?.nll, chunks.tell(79)?.unknown, chunks.tell(79)?.rank, chunks.tell(70)?.unknown],
    [25, true, 5, false],
  );
  assert.equal(chunks.tell(30), null);
  assert.deepEqual(chunks.candidates(0), [0, 1]);
});

test("of many chunks those used last are kept", () => {
  const chunks = new Chunks();
  chunks.take(...answer([0]));
  for (let i = 1; i < 60; i++) {
    chunks.get(0);
    chunks.take(...answer([i]));
  }
  assert.equal(chunks.held.size, 48);
  assert.ok(chunks.get(0) && !chunks.get(1) && chunks.get(59));
});

test("colours are numbers from a cost, a rank and a difference", () => {
  const fixed = /** @type {Fixed} */ ({
    bands: [1, 3, 10],
    surprisalFull: 10,
    surprisalSteps: 12,
    versusFull: 6,
    versusSteps: 13,
  });
  const bits = (/** @type {number[]} */ values) => Float32Array.from(values, (b) => b * Math.LN2);
  const chunk = /** @type {Chunk} */ (
    /** @type {unknown} */ ({
      codes: new Uint32Array(5),
      nll: bits([0, 5, 10, 99, 0.1]),
      rank: Int32Array.of(1, -2, 4, 10, 11),
      versus: bits([-99, -6, 0, 3, 6]),
    })
  );
  assert.deepEqual([...levels(chunk, "surprisal", fixed)], [0, 6, 11, 11, 0]);
  assert.deepEqual([...levels(chunk, "rank", fixed)], [0, 1, 2, 2, 3]);
  assert.deepEqual([...levels(chunk, "versus", fixed)], [0, 0, 6, 9, 12]);
});
