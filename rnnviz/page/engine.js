// A network read in the browser, one character after another, by the recurrences of cells.js.
//
//   tensors       float32, with torch's names, shapes and order of gates, as in a model's file
//   states        a row (L, H) for the start symbol, and one for each character
//   predictions   for each row, the log-probabilities (V,) of all symbols, in nats
//
// A changed text is read again only from the first difference on: a keystroke costs one character.

import { commonPrefix } from "../ui/browser/static/characters.js";
import { hasCell, Layer } from "./cells.js";
import { allocate, Matrix, paddedLength } from "./products.js";

/** @import { Kernels } from "./products.js" */
/** @import { Config, Tensors, WeightedSum, WhyBits } from "./types" */

const FIRST_ROWS = 256; // rows of the first allocation
const WHY_CHARS = 64; // characters that "why" leaves out, as MAX_OMISSIONS in scoring/occlusion.py
export const MAX_TEXTS = WHY_CHARS; // texts side by side

/** A model's weights, and one step through all its layers. */
export class Network {
  /** @param {Config} config @param {Tensors} tensors @param {boolean} [plain] whether products are made without WebAssembly */
  constructor(config, tensors, plain = false) {
    this.config = config;
    this.V = config.vocabulary_size;
    this.L = config.layers;
    this.H = config.hidden_size;
    /** The symbol of a text's end: once it is read, the next text begins. 0: the network knows none. */
    this.end = config.end ?? 0;
    /** @type {Record<string, WeightedSum[]>} rows behind the units, by quantity */
    this.sums = {};
    this.embedding = tensors["embedding.weight"];
    this.bias = tensors["readout.bias"];
    this.hasCell = hasCell(config.cell);
    this.layers = Array.from({ length: this.L }, (_, n) => new Layer(config, tensors, n));
    this.readout = new Matrix(readoutWeights(config, tensors), this.V);
    const matrices = [this.readout];
    for (const [n, layer] of this.layers.entries()) {
      const matrix = (/** @type {Float32Array} */ weights) => new Matrix(weights, layer.b.length);
      layer.inputMatrix = n ? matrix(layer.W) : undefined;
      layer.stateMatrix = layer.U && matrix(layer.U);
      matrices.push(...[layer.inputMatrix, layer.stateMatrix].filter((made) => made !== undefined));
    }
    const shares = [1, MAX_TEXTS].map((texts) => rowLengths(this, texts));
    const { arrays, kernels } = allocate([...matrices.map(({ length }) => length), ...shares.flat()], plain);
    for (const [i, matrix] of matrices.entries()) matrix.place(arrays[i], kernels);
    const [single, several] = shares.map(({ length }, i) =>
      arrays.slice(matrices.length + i * length).slice(0, length),
    );
    /** For a step of one text, which leaves nothing; and for texts side by side. */
    this.single = new Rows(this, single, kernels);
    this.several = new Rows(this, several, kernels);
    /** @type {(Float32Array | undefined)[]} the first layer's W x + b by symbol, cached at the symbol's first use */
    this.table = Array(this.V + 1);
  }

  /**
   * Take other weights of the same shapes: a new network would need new memory, which a browser takes back late.
   * @param {Tensors} tensors
   */
  load(tensors) {
    this.embedding = tensors["embedding.weight"];
    this.bias = tensors["readout.bias"];
    this.table.fill(undefined);
    this.readout.load(readoutWeights(this.config, tensors));
    for (const layer of this.layers) {
      layer.load(tensors);
      layer.inputMatrix?.load(layer.W);
      if (layer.U) layer.stateMatrix?.load(layer.U);
    }
  }

  /** The first layer's W x + b for symbol `id`; V is the start symbol, and the end is read so. @param {number} id @returns {Float32Array} */
  driven(id) {
    if (id && id === this.end) return this.driven(this.V);
    const cached = this.table[id];
    if (cached) return cached;
    const { W, b } = this.layers[0];
    const X = this.config.embedding_size;
    // A one-hot x selects a column of W.
    const row = b.map((bias, i) => {
      if (!X) return bias + W[i * (this.V + 1) + id];
      let sum = bias;
      for (let j = 0; j < X; j++) sum += W[i * X + j] * this.embedding[id * X + j];
      return sum;
    });
    this.table[id] = row;
    return row;
  }

  /**
   * Read symbol `id` through all layers, from the states `before` to `after`, (L · H,) each.
   * @param {number} id @param {Float32Array} before @param {Float32Array} after
   * @param {Float32Array} [cells] cell states before @param {Float32Array} [next] cell states after
   * @param {(n: number, parts: Record<string, Float32Array>) => void} [look] called with each layer's gates
   */
  step(id, before, after, cells, next, look) {
    this.single.load(0, before, cells);
    this.single.step([id], look);
    this.single.store(0, after, next);
  }

  /** log P of every symbol after states (L · H,), into `out` (V,); returns the entropy. @param {Float32Array} states @param {Float32Array} out */
  predict(states, out) {
    const { single } = this;
    single.load(0, states);
    single.predict(1);
    const { logits, logSum, entropy } = single.summarise(0);
    for (let i = 0; i < out.length; i++) out[i] = logits[i] - logSum;
    return entropy;
  }
}

/** W_hq: tied, it is the embedding's first rows. @param {Config} config @param {Tensors} tensors */
const readoutWeights = ({ vocabulary_size, hidden_size }, tensors) =>
  tensors["readout.weight"] ?? tensors["embedding.weight"].subarray(0, vocabulary_size * hidden_size);

/** The lengths of the arrays of Rows. @param {Network} network @param {number} texts at most */
function rowLengths({ H, L, V, layers, readout, hasCell }, texts) {
  const states = L * texts * H;
  const gates = texts * paddedLength(layers[0].b.length);
  return [states, hasCell ? states : 0, gates, gates, texts * readout.width, V];
}

/** Texts that a network reads side by side: a row of states for each, and the arrays of a step. */
export class Rows {
  /** @param {Network} network @param {Float32Array[]} arrays of `rowLengths` @param {Kernels} kernels */
  constructor(network, [hidden, cells, gates, carried, logits, exps], kernels) {
    const { L, layers } = network;
    this.network = network;
    const split = (/** @type {Float32Array} */ states) =>
      layers.map((_, n) => states.subarray((n * states.length) / L, ((n + 1) * states.length) / L));
    /** The states by layer, a row for each text. */
    this.hidden = split(hidden);
    this.cells = split(cells);
    this.gates = gates;
    this.carried = carried;
    this.width = paddedLength(layers[0].b.length); // of a row of gates
    this.logits = logits;
    this.exps = exps;
    this.kernels = kernels;
  }

  /** Put states (L · H,) into row i. @param {number} i @param {Float32Array} hidden @param {Float32Array} [cells] */
  load(i, hidden, cells) {
    const { H } = this.network;
    this.hidden.forEach((rows, n) => rows.set(hidden.subarray(n * H, (n + 1) * H), i * H));
    if (cells) this.cells.forEach((rows, n) => rows.set(cells.subarray(n * H, (n + 1) * H), i * H));
  }

  /** Copy the states of row i. @param {number} i @param {Float32Array} hidden @param {Float32Array} [cells] */
  store(i, hidden, cells) {
    const { H } = this.network;
    this.hidden.forEach((rows, n) => hidden.set(rows.subarray(i * H, (i + 1) * H), n * H));
    if (cells) this.cells.forEach((rows, n) => cells.set(rows.subarray(i * H, (i + 1) * H), n * H));
  }

  /**
   * Read a symbol in each of the first texts, in place.
   * @param {number[]} ids @param {(n: number, parts: Record<string, Float32Array>) => void} [look] called with each layer's
   * gates, of the first text
   */
  step(ids, look) {
    const { network, gates, carried, width, kernels } = this;
    const { H, end } = network;
    // Behind an end the next text begins, from zeros.
    for (const [i, id] of ids.entries())
      if (id && id === end)
        for (const rows of [...this.hidden, ...this.cells]) rows.fill(0, i * H, (i + 1) * H);
    network.layers.forEach((layer, n) => {
      const { b, c, inputMatrix, stateMatrix } = layer;
      const [hidden, cell] = [this.hidden[n], this.cells[n]];
      ids.forEach((id, i) => gates.set(n ? b : network.driven(id), i * width));
      inputMatrix?.addProduct(this.hidden[n - 1], gates, ids.length);
      if (c) for (let i = 0; i < ids.length; i++) carried.set(c, i * width);
      stateMatrix?.addProduct(hidden, c ? carried : gates, ids.length);
      layer.step(layer, { gates, carried, width, hidden, cell, kernels }, ids.length);
      look?.(n, Object.fromEntries(layer.gates.map((name, k) => [name, gates.subarray(k * H, (k + 1) * H)])));
    });
  }

  /** Compute the logits after the first n texts. @param {number} n */
  predict(n) {
    const { network, logits, hidden } = this;
    for (let i = 0; i < n; i++) logits.set(network.bias, i * network.readout.width);
    network.readout.addProduct(hidden[network.L - 1], logits, n);
  }

  /** The prediction after text i: log Σ e^O of its logits O (V,), and its entropy, in nats. @param {number} i */
  summarise(i) {
    const { exps, kernels } = this;
    const { V, readout } = this.network;
    const logits = this.logits.subarray(i * readout.width, i * readout.width + V);
    let [largest, sum, weighted] = [-Infinity, 0, 0];
    for (let j = 0; j < V; j++) if (logits[j] > largest) largest = logits[j];
    for (let j = 0; j < V; j++) exps[j] = logits[j] - largest;
    kernels.exp(exps, 0, V);
    for (let j = 0; j < V; j++) {
      sum += exps[j];
      weighted += exps[j] * (logits[j] - largest);
    }
    const log = Math.log(sum);
    return { logits, logSum: largest + log, entropy: Math.max(0, log - weighted / sum) };
  }
}

/** A text read by a network: its states, and each character's cost. */
export class Reading {
  /** @type {number[]} */
  ids = [];
  done = 0; // symbols read so far
  rows = FIRST_ROWS;
  /** The number of characters after which `prediction` is; -1 for none. */
  ahead = -1;
  /** @type {WhyBits | null} the last "why" */
  left = null;

  /** @param {Network} network @param {number} unknownCost nats of an unknown character beyond -log P(<unk>) */
  constructor(network, unknownCost) {
    this.network = network;
    this.unknownCost = unknownCost;
    const width = network.L * network.H;
    this.width = width;
    this.hidden = new Float32Array(FIRST_ROWS * width);
    this.cells = network.hasCell ? new Float32Array(FIRST_ROWS * width) : undefined;
    this.nll = new Float32Array(FIRST_ROWS); // the cost of character t, in nats
    this.entropy = new Float32Array(FIRST_ROWS); // the entropy of the prediction after t characters, in nats
    this.prediction = new Float32Array(network.V);
    const zeros = new Float32Array(width);
    network.step(network.V, zeros, this.row(0), network.hasCell ? zeros : undefined, this.cell(0));
    this.look(0);
  }

  /** The hidden states (L · H,) after t characters. @param {number} t */
  row(t) {
    return this.hidden.subarray(t * this.width, (t + 1) * this.width);
  }

  /** @param {number} t */
  cell(t) {
    return this.cells?.subarray(t * this.width, (t + 1) * this.width);
  }

  /** Compute the prediction after t characters, into `prediction`, and its entropy. @param {number} t */
  look(t) {
    if (this.ahead === t) return;
    this.entropy[t] = this.network.predict(this.row(t), this.prediction);
    this.ahead = t;
  }

  /** Make room for `length` characters. @param {number} length */
  grow(length) {
    if (length + 1 <= this.rows) return;
    this.rows = Math.max(length + 1, 2 * this.rows);
    const larger = (/** @type {Float32Array} */ old, /** @type {number} */ rowSize) => {
      const copy = new Float32Array(this.rows * rowSize);
      copy.set(old);
      return copy;
    };
    this.hidden = larger(this.hidden, this.width);
    if (this.cells) this.cells = larger(this.cells, this.width);
    this.nll = larger(this.nll, 1);
    this.entropy = larger(this.entropy, 1);
  }

  /**
   * Read a text's symbols from the first difference on, one at a time; then compute "why" for a character. The caller
   * may stop in between: the next call goes on from the symbols read.
   * @param {number[]} ids @param {number | null} why @yields {number} symbols read, or during "why" a share of them
   */
  *steps(ids, why = null) {
    const { network } = this;
    const unchanged = Math.min(this.done, commonPrefix(ids, this.ids));
    if (this.left && unchanged <= this.left.at) this.left = null;
    this.grow(ids.length);
    this.ids = ids;
    for (this.done = unchanged; this.done < ids.length; yield this.done) {
      const t = this.done++;
      this.look(t);
      this.nll[t] = -this.prediction[ids[t]] + (ids[t] === 0 ? this.unknownCost : 0);
      network.step(ids[t], this.row(t), this.row(t + 1), this.cell(t), this.cell(t + 1));
    }
    this.look(ids.length);
    if (why !== null && this.left?.at !== why) yield* this.leaveOut(why);
  }

  /** Read a text's symbols at once. @param {number[]} ids @param {number | null} [why] */
  read(ids, why) {
    for (const _ of this.steps(ids, why));
  }

  /**
   * Compute the bits by which the cost of character t rises without each of the last WHY_CHARS characters before it. For
   * each one left out, the text is read on from there; all side by side, as in scoring/occlusion.py.
   * @param {number} t @yields {number} a share of the text's length
   */
  *leaveOut(t) {
    const { network, ids } = this;
    const first = Math.max(0, t - WHY_CHARS);
    const n = t - first;
    const texts = network.several;
    for (let i = 0; i < n; i++) texts.load(i, this.row(first + i), this.cell(first + i));
    for (let s = 1; s < n; s++) {
      texts.step(Array(s).fill(ids[first + s]));
      yield (s / n) * ids.length;
    }
    texts.predict(n);
    const whole = this.logs(t)[ids[t]];
    const bits = Float32Array.from({ length: n }, (_, i) => {
      const { logits, logSum } = texts.summarise(i);
      return (whole - logits[ids[t]] + logSum) / Math.LN2;
    });
    this.left = { at: t, bits };
  }

  /**
   * The numbers of the text, with the formulas of page/text_numbers.py; null where one is undefined or infinite.
   * @returns {Record<string, number | null>}
   */
  numbers() {
    const { length } = this.ids;
    let [sum, unknown] = [0, 0];
    for (let t = 0; t < length; t++) {
      sum += this.nll[t];
      if (this.ids[t] === 0) unknown++;
    }
    const finite = (/** @type {number} */ value) => (Number.isFinite(value) ? value : null); // 0 / 0 of an empty text
    const mean = sum / length;
    return { characters: length, perplexity: finite(Math.exp(mean)), unknown, bits: finite(mean / Math.LN2) };
  }

  /** log P (V,) of the symbols after t characters, in nats. @param {number} t */
  logs(t) {
    if (t === this.ahead) return this.prediction;
    const out = new Float32Array(this.network.V);
    this.network.predict(this.row(t), out);
    return out;
  }

  /** The rows of a quantity: its units, then its weighted sums. @param {string} quantity */
  rowCount(quantity) {
    return this.network.H + (this.network.sums[quantity]?.length ?? 0);
  }

  /**
   * The rows of a quantity in a layer over characters start … stop - 1, (stop - start, rows). Gates are not kept but computed again.
   * @param {string} quantity @param {number} layer @param {number} start @param {number} stop
   */
  plane(quantity, layer, start, stop) {
    const { network, width } = this;
    const { H } = network;
    const rows = this.rowCount(quantity);
    const out = new Float32Array(Math.max(0, stop - start) * rows);
    const states = quantity === "hidden" ? this.hidden : quantity === "cell" ? this.cells : undefined;
    const after = new Float32Array(width);
    const next = network.hasCell ? new Float32Array(width) : undefined;
    for (let t = start; t < stop; t++) {
      const at = (t - start) * rows;
      if (states) {
        const from = (t + 1) * width + layer * H;
        out.set(states.subarray(from, from + H), at);
        network.sums[quantity]?.forEach((sum, k) => {
          const first = (t + 1) * width + sum.layer * H;
          out[at + H + k] = sum.weights.reduce((total, w, n) => total + w * states[first + n], sum.bias);
        });
        continue;
      }
      network.step(this.ids[t], this.row(t), after, this.cell(t), next, (n, parts) => {
        if (n === layer) out.set(parts[quantity], at);
      });
    }
    return out;
  }
}

/**
 * The sampling distribution, as in scoring/sampling.py: symbols, the most probable first, and their weights.
 * @param {Float32Array} logs (V,) @param {{ temperature: number, top_k: number | null, top_p: number | null }} shape
 */
export function weigh(logs, { temperature, top_k, top_p }) {
  const all = Array.from(logs, (_, i) => i).slice(1); // <unk> is never drawn
  all.sort((a, b) => logs[b] - logs[a] || a - b);
  const symbols = all.slice(0, temperature === 0 ? 1 : (top_k ?? all.length));
  const weights = symbols.map((id) => Math.exp((logs[id] - logs[symbols[0]]) / (temperature || 1)));
  if (top_p === null || top_p >= 1) return { symbols, weights };
  const limit = top_p * weights.reduce((a, b) => a + b, 0);
  let before = 0;
  const left = weights.map((weight) => {
    const stays = before < limit;
    before += weight;
    return stays ? weight : 0;
  });
  return { symbols, weights: left };
}

/**
 * A continuation of the first t characters of a reading, which doesn't change: symbols drawn one after another, up to a text's end.
 * @param {Reading} reading @param {number} t @param {number} length
 * @param {{ temperature: number, top_k: number | null, top_p: number | null }} shape
 * @param {() => number} [chance] a uniform random number, from 0 to 1
 */
export function write(reading, t, length, shape, chance = Math.random) {
  const { network, width } = reading;
  let state = new Float32Array(reading.row(t));
  let cell = reading.cells && new Float32Array(/** @type {Float32Array} */ (reading.cell(t)));
  const logs = new Float32Array(network.V);
  const written = [];
  for (let n = 0; n < length; n++) {
    network.predict(state, logs);
    const { symbols, weights } = weigh(logs, shape);
    let left = chance() * weights.reduce((a, b) => a + b, 0);
    const at = weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
    const id = symbols[at < 0 ? 0 : at];
    if (id === network.end) break;
    written.push(id);
    const [after, next] = [new Float32Array(width), cell && new Float32Array(width)];
    network.step(id, state, after, cell, next);
    [state, cell] = [after, next];
  }
  return written;
}
