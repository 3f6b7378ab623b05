// The recurrences of rnnviz/networks/cells.py: one step of one layer, with every gate by its name.

/** @import { Matrix } from "./products.js" */
/** @import { Config, Tensors } from "./types" */

/** The gates and the candidate of each cell; for GRU and LSTM in the order of torch's weight blocks. */
const GATES = {
  mlp: [],
  rnn: [],
  gru: ["reset", "update", "candidate"],
  lstm: ["input", "forget", "candidate", "output"],
  mingru: ["update", "candidate"],
};

const sigmoid = (/** @type {number} */ x) => 1 / (1 + Math.exp(-x));
const positive = (/** @type {number} */ x) => (x >= 0 ? x + 0.5 : sigmoid(x)); // g of minGRU's candidate: continuous and positive

/**
 * A step's arrays: `driven` is W x + b; `before` and `after` are the hidden state, `cell` and `next` the cell state.
 * @typedef {{ driven: Float32Array, before: Float32Array, after: Float32Array, cell: Float32Array, next: Float32Array }} Step
 */

/** @type {Record<Config["cell"], (layer: Layer, step: Step) => void>} */
const STEPS = { mlp: plain, rnn: plain, gru, lstm, mingru };

/** @param {Layer} layer @param {Step} step */
function plain({ units: H, carried, relu }, { driven, after }) {
  for (let i = 0; i < H; i++) {
    const a = driven[i] + carried[i]; // for an MLP, `carried` stays 0
    after[i] = relu ? Math.max(0, a) : Math.tanh(a);
  }
}

/** @param {Layer} layer @param {Step} step */
function gru({ units: H, carried, parts }, { driven, before, after }) {
  const { reset, update, candidate } = parts;
  for (let i = 0; i < H; i++) {
    reset[i] = sigmoid(driven[i] + carried[i]);
    update[i] = sigmoid(driven[H + i] + carried[H + i]);
    candidate[i] = Math.tanh(driven[2 * H + i] + reset[i] * carried[2 * H + i]);
    after[i] = candidate[i] + update[i] * (before[i] - candidate[i]);
  }
}

/** @param {Layer} layer @param {Step} step */
function lstm({ units: H, carried, parts }, { driven, after, cell, next }) {
  const { input, forget, candidate, output } = parts;
  for (let i = 0; i < H; i++) {
    input[i] = sigmoid(driven[i] + carried[i]);
    forget[i] = sigmoid(driven[H + i] + carried[H + i]);
    candidate[i] = Math.tanh(driven[2 * H + i] + carried[2 * H + i]);
    output[i] = sigmoid(driven[3 * H + i] + carried[3 * H + i]);
    next[i] = forget[i] * cell[i] + input[i] * candidate[i];
    after[i] = output[i] * Math.tanh(next[i]);
  }
}

/** @param {Layer} layer @param {Step} step */
function mingru({ units: H, parts }, { driven, before, after }) {
  const { update, candidate } = parts;
  for (let i = 0; i < H; i++) {
    update[i] = sigmoid(driven[i]);
    candidate[i] = positive(driven[H + i]);
    after[i] = update[i] * before[i] + sigmoid(-driven[i]) * candidate[i];
  }
}

/** Whether a cell has a cell state C beside the hidden state. @param {Config["cell"]} cell */
export const hasCell = (cell) => cell === "lstm";

const NONE = new Float32Array();

/** One layer: its matrices, its biases, and its step. */
export class Layer {
  /** @type {Matrix | undefined} of the product with the layer's inputs */
  inputMatrix;
  /** @type {Matrix | undefined} of the product with the state */
  stateMatrix;

  /** @param {Config} config @param {Tensors} tensors @param {number} n */
  constructor(config, tensors, n) {
    this.units = config.hidden_size;
    this.relu = config.activation === "relu" && (config.cell === "mlp" || config.cell === "rnn");
    this.stepFunction = STEPS[config.cell];
    /** @type {string[]} */
    this.gates = GATES[config.cell];
    const tensor = (/** @type {string} */ kind) => tensors[`recurrence.${kind}_l${n}`];
    this.W = tensor("weight_ih") ?? tensors[`recurrence.${n}.weight`];
    this.b = tensor("bias_ih") ?? tensors[`recurrence.${n}.bias`];
    this.U = tensor("weight_hh");
    this.c = tensor("bias_hh");
    this.driven = new Float32Array(this.b.length); // W x + b
    this.carried = new Float32Array(this.b.length); // U h + c
    /** @type {Record<string, Float32Array>} the gates' values at the last step */
    this.parts = Object.fromEntries(this.gates.map((name) => [name, new Float32Array(this.units)]));
  }

  /**
   * Make a step: fill `after`, and `next` for an LSTM.
   * @param {Float32Array} driven W x + b @param {Float32Array} before @param {Float32Array} after
   * @param {Float32Array} [cell] the cell state before @param {Float32Array} [next] the cell state after
   */
  step(driven, before, after, cell = NONE, next = NONE) {
    if (this.c) this.stateMatrix?.times(before, this.c, this.carried);
    this.stepFunction(this, { driven, before, after, cell, next });
  }
}
