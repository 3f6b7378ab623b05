// A model made of a page's arrays, and who reads its long texts, on a thread of its own.

import { Answers } from "./answers.js";
import { Counts } from "./counts.js";
import { Network, Reading } from "./engine.js";

/** @import { Arrays, Heard, Level, Made, State, Tensors, Wanted } from "./types" */

const SLICE = 40; // milliseconds of reading after which others come first

/** A number of 16 bits as IEEE 754 has it. @param {number} half */
function widened(half) {
  const [sign, exponent, fraction] = [half >> 15 ? -1 : 1, (half >> 10) & 31, half & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : (2 ** -14 * fraction) / 1024);
}

const WIDE = Float32Array.from({ length: 65536 }, (_, half) => widened(half));

/** What begins with `kind`, without it. @param {Arrays} arrays @param {string} kind */
const of = (arrays, kind) =>
  Object.entries(arrays).flatMap(([name, values]) =>
    name.startsWith(kind) ? [/** @type {const} */ ([name.slice(kind.length), values])] : [],
  );

/** A model's weights, stored in 16 bits or in 32. @param {Arrays} arrays @returns {Tensors} */
export function tensors(arrays) {
  return Object.fromEntries(
    of(arrays, "weight:").map(([name, values]) => {
      const wide = values instanceof Float32Array ? values : Float32Array.from(values, (half) => WIDE[half]);
      return [name, wide];
    }),
  );
}

/** @param {Made} made @param {Arrays} arrays */
const network = (made, arrays) => new Network(made.config, tensors(arrays));

/** @param {Made} made @param {Arrays} arrays @returns {Answers} */
export function answers(made, arrays) {
  /** @type {Record<string, Record<string, unknown>>} */
  const levels = {};
  for (const [name, values] of of(arrays, "level:")) {
    const [k, part] = name.split(".");
    levels[k] = { ...levels[k], [part]: values };
  }
  const tables = /** @type {Level[]} */ (/** @type {unknown} */ (Object.values(levels))); // in order: keys are digits
  const read = network(made, arrays);
  const rows = Object.fromEntries(of(arrays, "rows:"));
  const counts = tables.length ? new Counts(read.V, tables) : null;
  const reach = Object.fromEntries(of(arrays, "reach:"));
  return new Answers(/** @type {Made} */ ({ ...made, rows, reach }), read, counts);
}

/** Let what waits come first: a newer text, a key, a frame. @returns {Promise<unknown>} */
const others = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve(undefined);
    };
    port2.postMessage(0);
  });

/**
 * Read long texts: takes what the page has read so far with the first text, tells how far it is, and gives back
 * what it has read. A text that comes meanwhile takes the other's place.
 * @param {Made} made @param {Arrays} arrays @param {(message: Heard, transfer: ArrayBufferLike[]) => void} tell
 * @returns {(message: Wanted) => Promise<void>}
 */
export function serve(made, arrays, tell) {
  const reading = new Reading(network(made, arrays), made.unknownCost);
  let here = false;
  /** @type {number[]} */
  let wanted;
  return async ({ ids, why, state }) => {
    if (state) reading.take(state);
    else if (!here) return; // it is on its way back: the page will ask again
    here = true;
    wanted = ids;
    let since = performance.now();
    for (const done of reading.steps(ids, why)) {
      if (performance.now() - since < SLICE) continue;
      tell({ done, length: ids.length }, []);
      await others();
      if (wanted !== ids) return;
      since = performance.now();
    }
    here = false;
    const given = reading.give();
    tell({ state: given }, buffers(given));
  };
}

/** What of a state is handed on without being copied. @param {State} state */
export const buffers = ({ hidden, cells, nll, rank, entropy }) =>
  [hidden, cells, nll, rank, entropy].flatMap((array) => (array ? [array.buffer] : []));
