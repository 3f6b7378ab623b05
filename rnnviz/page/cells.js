// The recurrences of rnnviz/networks/cells.py: one step of one layer, with every gate by its name.

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
 * out = W x + b, for W (out.length, x.length) by rows.
 * @param {Float32Array} out @param {Float32Array} W @param {Float32Array} x @param {Float32Array} b
 */
export function affine(out, W, x, b) {
  const [rows, columns] = [out.length, x.length];
  for (let i = 0, at = 0; i < rows; i++) {
    let [sum1, sum2, sum3, sum4] = [b[i], 0, 0, 0]; // four independent sums: no addition waits for the one before
    let j = 0;
    for (; j + 3 < columns; j += 4, at += 4) {
      sum1 += W[at] * x[j];
      sum2 += W[at + 1] * x[j + 1];
      sum3 += W[at + 2] * x[j + 2];
      sum4 += W[at + 3] * x[j + 3];
    }
    for (; j < columns; j++, at++) sum1 += W[at] * x[j];
    out[i] = sum1 + sum2 + (sum3 + sum4);
  }
}

/**
 * W x + b for n vectors x, `stride` apart in `rows`, the first at `from`; the result has a row for each vector.
 * A hot path: two rows of W and four vectors at a time, so that each loaded number serves several sums. `rows` and the
 * result have room for n rounded up to a multiple of four.
 * @param {Float32Array} W @param {Float32Array} rows @param {Float32Array} b
 * @param {{ n: number, stride: number, from: number }} where
 */
export function affines(W, rows, b, { n, stride, from }) {
  const R = b.length;
  const C = W.length / R;
  const out = new Float32Array((n + 3) * R);
  for (let i = 0; i < n; i += 4) {
    const x = i * stride + from;
    const [y, z, t] = [x + stride, x + 2 * stride, x + 3 * stride];
    for (let k = 0; k < R; k += 2) {
      const l = Math.min(k + 1, R - 1);
      const [u, v] = [k * C, l * C];
      let [ux, uy, uz, ut] = [b[k], b[k], b[k], b[k]];
      let [vx, vy, vz, vt] = [b[l], b[l], b[l], b[l]];
      for (let j = 0; j < C; j++) {
        const p = W[u + j];
        const q = W[v + j];
        ux += p * rows[x + j];
        uy += p * rows[y + j];
        uz += p * rows[z + j];
        ut += p * rows[t + j];
        vx += q * rows[x + j];
        vy += q * rows[y + j];
        vz += q * rows[z + j];
        vt += q * rows[t + j];
      }
      const [sums, at] = [[ux, uy, uz, ut, vx, vy, vz, vt], i * R];
      for (let m = 0; m < 8; m++) out[at + (m & 3) * R + (m < 4 ? k : l)] = sums[m];
    }
  }
  return out;
}

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

/** One layer: its weights, and its step. */
export class Layer {
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
    if (this.U && this.c) affine(this.carried, this.U, before, this.c);
    this.stepFunction(this, { driven, before, after, cell, next });
  }
}
