// The engine of a network: from its weights, its description, and the arrays of its .data file.

import { Answers } from "./answers.js";
import { Network } from "./engine.js";
import { Counts } from "./ngram.js";

/** @import { Arrays, Level, PageModel, Tensors } from "./types" */

/** The arrays whose names begin with `kind`, by the rest of the name. @param {Arrays} arrays @param {string} kind */
const named = (arrays, kind) =>
  Object.fromEntries(
    Object.entries(arrays).flatMap(([name, values]) =>
      name.startsWith(kind) ? [/** @type {const} */ ([name.slice(kind.length), values])] : [],
    ),
  );

/** The levels of an n-gram model's tables, if there are any. @param {Arrays} arrays */
export function tables(arrays) {
  /** @type {Record<string, Record<string, unknown>>} */
  const levels = {};
  for (const [name, values] of Object.entries(named(arrays, "level:"))) {
    const [k, part] = name.split(".");
    levels[k] = { ...levels[k], [part]: values };
  }
  return /** @type {Level[]} */ (/** @type {unknown} */ (Object.values(levels))); // integer keys come in ascending order
}

/** Weighted sums of a layer's H units: their weights, bias and layer in a row. @param {Float32Array} rows @param {number} H */
function weightedSums(rows, H) {
  return Array.from({ length: rows.length / (H + 2) }, (_, k) => {
    const row = rows.subarray(k * (H + 2), (k + 1) * (H + 2));
    return { weights: row.subarray(0, H), bias: row[H], layer: row[H + 1] };
  });
}

/**
 * @param {PageModel} model @param {Tensors} tensors @param {Arrays} arrays
 * @param {boolean} [plain] whether the engine does without WebAssembly
 * @returns {Answers}
 */
export function answers(model, tensors, arrays, plain = false) {
  const levels = tables(arrays);
  const network = new Network(model.config, tensors, plain);
  const counts = levels.length ? new Counts(network.V, levels, model.config.end) : null;
  for (const [quantity, rows] of Object.entries(named(arrays, "sums:")))
    network.sums[quantity] = weightedSums(/** @type {Float32Array} */ (rows), network.H);
  const parts = { rows: named(arrays, "rows:"), reach: named(arrays, "reach:") };
  return new Answers(/** @type {PageModel} */ ({ ...model, ...parts }), network, counts);
}
