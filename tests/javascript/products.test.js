// Products with matrices, and functions of arrays: the WebAssembly module is what its text says, and gives what plain loops give.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { base64, text } from "../../docs/tools/products.mjs";
import { allocate, Matrix } from "../../rnnviz/page/products.js";

const read = (/** @type {string} */ file) => readFileSync(`rnnviz/page/${file}`, "utf8");

test("the module's text is the generator's, and its bytes are the text's", async () => {
  assert.equal(read("products.wat"), text());
  assert.equal(read("products.js").match(/const BYTES =\s*"([^"]*)"/)?.[1], await base64(text()));
});

/** @param {number} length @param {number} seed */
const numbers = (length, seed) => Float32Array.from({ length }, (_, i) => Math.sin(seed + 1.7 * i));

for (const plain of [false, true])
  for (const [rows, columns] of [
    [1, 1],
    [3, 5],
    [32, 8],
    [69, 256],
    [100, 33],
  ])
    test(`a product with ${rows} × ${columns} numbers is added, ${plain ? "plain" : "by the module"}`, () => {
      const matrix = new Matrix(numbers(rows * columns, 1), rows);
      const lengths = [8, matrix.length, 8 * columns, 8 * matrix.width];
      const { arrays, kernels } = allocate(lengths, plain);
      const [, B, A, C] = arrays;
      matrix.place(B, kernels);
      A.set(numbers(8 * columns, 3));
      /** @type {Float32Array[]} the first text's row, for each number of texts */
      const firsts = [];
      for (const n of [1, 2, 4, 7, 8]) {
        C.set(numbers(C.length, 4));
        matrix.addProduct(A, C, n);
        for (let i = 0; i < n; i++)
          for (let row = 0; row < rows; row++) {
            let expected = numbers(C.length, 4)[i * matrix.width + row];
            for (let j = 0; j < columns; j++) expected += matrix.W[row * columns + j] * A[i * columns + j];
            const value = C[i * matrix.width + row];
            assert.ok(Math.abs(value - expected) < 1e-4, `${n}: ${value} ≠ ${expected}`);
          }
        assert.deepEqual(C.slice((n + 1) * matrix.width), numbers(C.length, 4).slice((n + 1) * matrix.width));
        firsts.push(C.slice(0, rows));
      }
      for (const first of firsts) assert.deepEqual(first, firsts[0]); // the company of other texts changes no bit
    });

const FUNCTIONS = /** @type {const} */ ({
  exp: [Math.exp, -87, 88],
  sigmoid: [(/** @type {number} */ x) => 1 / (1 + Math.exp(-x)), -60, 60],
  tanh: [Math.tanh, -12, 12],
});

for (const [name, [exact, low, high]] of Object.entries(FUNCTIONS))
  test(`${name} is within 3 units of float32's last place, in its range alone`, () => {
    const { arrays, kernels } = allocate([40_003]);
    const [values] = arrays;
    const apply = kernels[/** @type {"exp"} */ (name)];
    for (const scale of [1, 0.1, 0.01, 1e-4, 1e-30]) {
      const inputs = values.map((_, i) => scale * (low + ((high - low) * i) / values.length));
      values.set(inputs);
      apply(values, 1, values.length - 3);
      assert.deepEqual([values[0], ...values.slice(-2)], [inputs[0], ...inputs.slice(-2)]);
      let worst = 0;
      for (let i = 1; i < values.length - 2; i++) {
        const expected = exact(inputs[i]);
        const unit = Math.max(2 ** (Math.floor(Math.log2(Math.abs(expected))) - 23), 2 ** -149);
        worst = Math.max(worst, Math.abs(values[i] - expected) / unit);
      }
      assert.ok(worst <= 3, `${worst} units`);
    }
    values.set([NaN, -Infinity, Infinity, 1e30, -1e30]);
    apply(values, 0, 8);
    assert.ok(Number.isNaN(values[0]));
    assert.ok(Math.abs(values[1] - exact(-Infinity)) < 1e-37 && Math.abs(values[4] - exact(-1e30)) < 1e-37);
    if (name !== "exp") assert.ok(values[2] === 1 && values[3] === 1);
  });

for (const plain of [false, true])
  test(`products of a transpose, and rows added, ${plain ? "plain" : "by the module"}`, () => {
    const [m, n, k] = [20, 32, 7];
    const { arrays, kernels } = allocate([k * m, k * n, k * n, m * n, n], plain);
    const [A, W, B, C, sum] = arrays;
    A.set(numbers(k * m, 1));
    W.set(numbers(k * n, 2));
    kernels.packTransposed(W, k, n, B);
    kernels.product(m, n, k, A, B, C, 1, m); // Aᵀ W of A (k, m)
    for (let i = 0; i < m; i++)
      for (let j = 0; j < n; j++) {
        let expected = 0;
        for (let l = 0; l < k; l++) expected += A[l * m + i] * W[l * n + j];
        assert.ok(Math.abs(C[i * n + j] - expected) < 1e-5);
      }
    for (let row = 0; row < k; row++) kernels.addRow(W, row * n, n - 4, sum, 4);
    assert.deepEqual(sum.slice(0, 4), new Float32Array(4));
    for (let j = 0; j < n - 4; j++) {
      let expected = 0;
      for (let l = 0; l < k; l++) expected += W[l * n + j];
      assert.ok(Math.abs(sum[4 + j] - expected) < 1e-5);
    }
  });
