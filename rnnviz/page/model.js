// The model of a page, from its arrays.

import { Answers } from "./answers.js";
import { Network } from "./engine.js";
import { Counts } from "./ngram.js";

/** @import { Arrays, Level, PageModel, Tensors } from "./types" */

/** The value of a half-precision number (IEEE 754 binary16) from its bits. @param {number} half */
function widened(half) {
  const [sign, exponent, fraction] = [half >> 15 ? -1 : 1, (half >> 10) & 31, half & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : (2 ** -14 * fraction) / 1024);
}

const WIDE = Float32Array.from({ length: 65536 }, (_, half) => widened(half));

/** The arrays whose names begin with `kind`, by the rest of the name. @param {Arrays} arrays @param {string} kind */
const arraysNamed = (arrays, kind) =>
  Object.entries(arrays).flatMap(([name, values]) =>
    name.startsWith(kind) ? [/** @type {const} */ ([name.slice(kind.length), values])] : [],
  );

/** A model's weights in float32, stored in 16 or 32 bits. @param {Arrays} arrays @returns {Tensors} */
export function tensors(arrays) {
  return Object.fromEntries(
    arraysNamed(arrays, "weight:").map(([name, values]) => {
      const wide = values instanceof Float32Array ? values : Float32Array.from(values, (half) => WIDE[half]);
      return [name, wide];
    }),
  );
}

/** @param {PageModel} model @param {Arrays} arrays @returns {Answers} */
export function answers(model, arrays) {
  /** @type {Record<string, Record<string, unknown>>} */
  const levels = {};
  for (const [name, values] of arraysNamed(arrays, "level:")) {
    const [k, part] = name.split(".");
    levels[k] = { ...levels[k], [part]: values };
  }
  const tables = /** @type {Level[]} */ (/** @type {unknown} */ (Object.values(levels))); // integer keys come in ascending order
  const network = new Network(model.config, tensors(arrays));
  const rows = Object.fromEntries(arraysNamed(arrays, "rows:"));
  const counts = tables.length ? new Counts(network.V, tables) : null;
  const reach = Object.fromEntries(arraysNamed(arrays, "reach:"));
  return new Answers(/** @type {PageModel} */ ({ ...model, rows, reach }), network, counts);
}
