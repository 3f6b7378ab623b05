// The recurrences of rnnviz/networks/cells.py: one step of one layer for n texts side by side, in place, a row for each text.

/** @import { Kernels, Matrix } from "./products.js" */
/** @import { Config, Tensors } from "./types" */

/** The gates and the candidate of each cell, in the order of their blocks: torch's. */
const GATES = {
  mlp: [],
  rnn: [],
  gru: ["reset", "update", "candidate"],
  lstm: ["input", "forget", "candidate", "output"],
  mingru: ["update", "candidate"],
};

/**
 * A step's arrays by rows: in `gates` (n, width) W x + b becomes the gates' values; for a GRU `carried` (n, width) is U h + c, for a
 * minGRU room, in the others the product with the state is in `gates` already. `hidden` and `cell` (n, units) become the states after.
 * @typedef {{ gates: Float32Array, carried: Float32Array, width: number, hidden: Float32Array, cell: Float32Array, kernels: Kernels }} Step
 */

/** @type {Record<Config["cell"], (layer: Layer, step: Step, n: number) => void>} */
const STEPS = { mlp: plain, rnn: plain, gru, lstm, mingru };

/** @param {Layer} layer @param {Step} step @param {number} n */
function plain({ units: H, relu }, { gates, width, hidden, kernels }, n) {
  for (let i = 0; i < n; i++) {
    const at = i * width;
    for (let j = 0; j < H; j++) hidden[i * H + j] = relu ? Math.max(0, gates[at + j]) : gates[at + j];
  }
  if (!relu) kernels.tanh(hidden, 0, n * H);
}

/** @param {Layer} layer @param {Step} step @param {number} n */
function gru({ units: H }, { gates, carried, width, hidden, kernels }, n) {
  for (let i = 0; i < n; i++) {
    const [reset, update, candidate] = blocks(i * width, H);
    for (let j = reset; j < candidate; j++) gates[j] += carried[j];
    kernels.sigmoid(gates, reset, 2 * H);
    for (let j = 0; j < H; j++) gates[candidate + j] += gates[reset + j] * carried[candidate + j];
    kernels.tanh(gates, candidate, H);
    for (let j = 0; j < H; j++) {
      const value = gates[candidate + j];
      hidden[i * H + j] = value + gates[update + j] * (hidden[i * H + j] - value);
    }
  }
}

/** @param {Layer} layer @param {Step} step @param {number} n */
function lstm({ units: H }, { gates, width, hidden, cell, kernels }, n) {
  for (let i = 0; i < n; i++) {
    const [input, forget, candidate, output] = blocks(i * width, H);
    kernels.sigmoid(gates, input, 2 * H);
    kernels.tanh(gates, candidate, H);
    kernels.sigmoid(gates, output, H);
    for (let j = 0; j < H; j++) {
      const value = gates[forget + j] * cell[i * H + j] + gates[input + j] * gates[candidate + j];
      cell[i * H + j] = value;
      hidden[i * H + j] = value;
    }
    kernels.tanh(hidden, i * H, H);
    for (let j = 0; j < H; j++) hidden[i * H + j] *= gates[output + j];
  }
}

/** @param {Layer} layer @param {Step} step @param {number} n */
function mingru({ units: H }, { gates, carried: kept, width, hidden, kernels }, n) {
  for (let i = 0; i < n; i++) {
    const [update, candidate] = blocks(i * width, H);
    for (let j = 0; j < H; j++) {
      kept[update + j] = -gates[update + j]; // 1 - σ(a) is σ(-a), without the loss of digits
      kept[candidate + j] = gates[candidate + j];
    }
    kernels.sigmoid(gates, update, 2 * H);
    kernels.sigmoid(kept, update, H);
    for (let j = 0; j < H; j++) {
      const a = kept[candidate + j];
      if (a >= 0) gates[candidate + j] = a + 0.5; // g of minGRU's candidate: continuous and positive
      hidden[i * H + j] = gates[update + j] * hidden[i * H + j] + kept[update + j] * gates[candidate + j];
    }
  }
}

/** The first places of four blocks of H numbers. @param {number} at @param {number} H */
const blocks = (at, H) => [at, at + H, at + 2 * H, at + 3 * H];

/** Whether a cell has a cell state C beside the hidden state. @param {Config["cell"]} cell */
export const hasCell = (cell) => cell === "lstm";

/** One layer: its weights, and its step. */
export class Layer {
  /** @type {Matrix | undefined} of the product with the inputs; the first layer's is a table */
  inputMatrix;
  /** @type {Matrix | undefined} of the product with the state */
  stateMatrix;

  /** @param {Config} config @param {Tensors} tensors @param {number} n */
  constructor(config, tensors, n) {
    this.units = config.hidden_size;
    this.relu = config.activation === "relu" && (config.cell === "mlp" || config.cell === "rnn");
    this.step = STEPS[config.cell];
    /** @type {string[]} */
    this.gates = GATES[config.cell];
    const tensor = (/** @type {string} */ kind) => tensors[`recurrence.${kind}_l${n}`];
    this.W = tensor("weight_ih") ?? tensors[`recurrence.${n}.weight`];
    this.U = tensor("weight_hh");
    const c = tensor("bias_hh");
    const b = tensor("bias_ih") ?? tensors[`recurrence.${n}.bias`];
    // A GRU's second bias is scaled by a gate together with its product; every other is one sum with the first.
    this.c = config.cell === "gru" ? c : undefined;
    this.b = c && !this.c ? b.map((value, i) => value + c[i]) : b;
  }
}
