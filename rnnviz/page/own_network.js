// A network of the reader's, from a file that was dropped or chosen: what build.py computes for the page's own networks.
// It names no unit: that takes a search over a text with controls, which the app makes (`rnnviz units`).

import { hasCell } from "./cells.js";
import { Network, Reading, write } from "./engine.js";
import { RandomNumbers } from "./random_numbers.js";
import { alike, reach, steady } from "./row_orders.js";
import { costOfUnknown } from "./vocabulary.js";

/** @import { Scale } from "../ui/pages/explore/static/types" */
/** @import { Arrays, Config, Description, Look, PageModel, Tensors } from "./types" */

const REFERENCE_CHARS = 400; // of the text that the network writes, on which its units are ordered
const SEED = 1;

/**
 * What the engine knows of a network beside its weights, and the arrays of its rows. While it is in training, neither its rows nor
 * its colours' scales may move: both are then as for any network.
 * @param {string} name @param {Description} description @param {Tensors} tensors
 * @param {PageModel} other another network's, in the page's language @param {Look} look @param {boolean} [training]
 * @returns {{ model: PageModel, arrays: Arrays }}
 */
export function describe(
  name,
  { config, symbols, normaliser, card },
  tensors,
  other,
  look,
  training = false,
) {
  const { cell, activation, layers, hidden_size: H, vocabulary_size: V } = config;
  const quantities = look.scales[cell][activation];
  const unknownCost = costOfUnknown(symbols, config.end);
  const { steadyUnits: few } = other.fixed;
  const arrays = training
    ? unsortedRows(config, quantities)
    : sortedRows(new Network(config, tensors), unknownCost, quantities, few);
  const perplexity = /** @type {{ perplexity?: unknown } | undefined} */ (card.held_out)?.perplexity;
  const fixed = {
    ...other.fixed,
    model: name,
    heldOutBits: typeof perplexity === "number" && perplexity >= 1 ? Math.log2(perplexity) : null,
    examples: other.fixed.examples.map((example) => ({ ...example, notice: "" })),
    cell,
    layers,
    units: H,
    steadyUnits: Math.min(few, H),
    quantities,
    named: [],
    unnamed: other.fixed.words["file.unnamed"],
    first: { quantity: "hidden", layer: 0, unit: null },
    symbols,
    ngram: null,
    order: 0,
    memoryless: null,
  };
  const digest = `${name} ${H} ${V} ${other.digest}`;
  const opening =
    typeof card.example === "string" && card.example.trim() ? card.example : fixed.examples[0].text;
  return {
    model: {
      ...other,
      fixed,
      digest,
      opening,
      config,
      normaliser: look.normalisers[normaliser],
      unknownCost,
    },
    arrays,
  };
}

/**
 * The orders of rows, and each unit's reach, on a text that the network writes.
 * @param {Network} network @param {number} unknownCost @param {Record<string, Scale>} quantities @param {number} few steady units
 */
function sortedRows(network, unknownCost, quantities, few) {
  const { L: layers, H } = network;
  const start = new Reading(network, unknownCost);
  const reading = new Reading(network, unknownCost);
  const random = new RandomNumbers(SEED); // always the same
  const shape = { temperature: 0.8, top_k: null, top_p: null };
  const text = write(start, 0, REFERENCE_CHARS, shape, () => random.uniform());
  while (text.length < REFERENCE_CHARS)
    text.push(network.end, ...write(start, 0, REFERENCE_CHARS, shape, () => random.uniform()));
  reading.read(text.slice(0, REFERENCE_CHARS));
  /** @type {Arrays} */
  const arrays = {};
  const sides = /** @type {Record<string, Float32Array>} */ ({});
  const states = network.hasCell ? ["hidden", "cell"] : ["hidden"];
  for (let layer = 0; layer < layers; layer++) {
    const planes = Object.fromEntries(
      states.map((state) => [
        state,
        { T: REFERENCE_CHARS, H, values: reading.plane(state, layer, 0, REFERENCE_CHARS) },
      ]),
    );
    // Untrained or diverged weights may magnify a state beyond any number.
    if (!planes.hidden.values.every(Number.isFinite)) return unsortedRows(network.config, quantities);
    const order = alike(planes.hidden);
    for (const quantity of Object.keys(quantities)) {
      const first = steady(planes[quantity] ?? planes.hidden, few);
      const rest = order.filter((unit) => !first.includes(unit));
      arrays[`rows:alike,${layer},${quantity}`] = Uint16Array.from(order);
      arrays[`rows:steady,${layer},${quantity}`] = Uint16Array.from([...first, ...rest]);
    }
    for (const [state, plane] of Object.entries(planes)) {
      const ends = reach(plane);
      sides[state] ??= new Float32Array(2 * layers * H);
      sides[state].set(ends.subarray(0, H), layer * H);
      sides[state].set(ends.subarray(H), (layers + layer) * H);
    }
  }
  for (const [state, ends] of Object.entries(sides)) arrays[`reach:${state}`] = ends;
  return arrays;
}

/** The same rows for any network: units by number, which reach the ends of the scale. @param {Config} config @param {Record<string, Scale>} quantities */
function unsortedRows({ cell, layers, hidden_size: H }, quantities) {
  const order = Uint16Array.from({ length: H }, (_, unit) => unit);
  /** @type {Arrays} */
  const arrays = {};
  for (let layer = 0; layer < layers; layer++)
    for (const quantity of Object.keys(quantities))
      for (const name of ["alike", "steady"]) arrays[`rows:${name},${layer},${quantity}`] = order;
  for (const state of hasCell(cell) ? ["hidden", "cell"] : ["hidden"])
    arrays[`reach:${state}`] = new Float32Array(2 * layers * H).fill(quantities[state].high);
  return arrays;
}
