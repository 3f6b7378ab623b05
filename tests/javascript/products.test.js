// Products with matrices: the WebAssembly module is what its text says, and gives what plain loops give.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { base64, text } from "../../docs/tools/products.mjs";
import { makeMatrices } from "../../rnnviz/page/products.js";

const read = (/** @type {string} */ file) => readFileSync(`rnnviz/page/${file}`, "utf8");

test("the module's text is the generator's, and its bytes are the text's", async () => {
  assert.equal(read("products.wat"), text());
  assert.equal(read("products.js").match(/const BYTES =\s*"([^"]*)"/)?.[1], await base64(text()));
});

/** @param {number} length @param {number} seed */
const numbers = (length, seed) => Float32Array.from({ length }, (_, i) => Math.sin(seed + 1.7 * i));

for (const [rows, columns] of [
  [1, 1],
  [3, 5],
  [32, 8],
  [69, 256],
  [100, 33],
])
  test(`a matrix of ${rows} × ${columns} gives what plain loops give, times one vector and many`, () => {
    const list = [
      { W: numbers(rows * columns, 1), rows },
      { W: numbers(7 * columns, 2), rows: 7 },
    ];
    const [fast, plain] = [makeMatrices(list), makeMatrices(list, true)];
    const vectors = numbers(70 * (columns + 3), 3);
    list.forEach(({ rows: height }, i) => {
      const b = numbers(height, 4);
      const expected = Float64Array.from({ length: height }, (_, row) =>
        list[i].W.subarray(row * columns, (row + 1) * columns).reduce(
          (sum, w, j) => sum + w * vectors[2 + j],
          b[row],
        ),
      );
      for (const matrix of [fast[i], plain[i]]) {
        const out = new Float32Array(height);
        matrix.times(vectors.subarray(2, 2 + columns), b, out);
        out.forEach((value, row) =>
          assert.ok(Math.abs(value - expected[row]) < 1e-4, `${value} ≠ ${expected[row]}`),
        );
        for (const n of [1, 4, 6, 70]) {
          const each = matrix.timesEach(vectors, b, { n, stride: columns + 3, from: 2 });
          assert.equal(each.length, n * height);
          for (const t of [0, n - 1]) {
            matrix.times(vectors.subarray(t * (columns + 3) + 2).subarray(0, columns), b, out);
            out.forEach((value, row) => assert.ok(Math.abs(value - each[t * height + row]) < 1e-4));
          }
        }
      }
    });
  });
