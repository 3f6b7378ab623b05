// The recurrences of rnnviz/networks/cells.py: one step of one layer for n texts side by side, in place, a row for each text,
// and the same step backwards. A cell is one record; what trains or reads it knows no cell by name.

/** @import { Kernels, Matrix } from "./products.js" */
/** @import { Config, Tensors } from "./types" */

/**
 * A step's arrays by rows: in `gates` (n, width) W x + b becomes the gates' values; for a GRU `carried` (n, width) is U h + c, for a
 * minGRU room, in the others the product with the state is in `gates` already. `hidden` and `cell` (n, units) become the states after.
 * @typedef {{ gates: Float32Array, carried: Float32Array, width: number, hidden: Float32Array, cell: Float32Array, kernels: Kernels }} Step
 */

/**
 * The same step backwards. `hidden` and `cell` are the states after the step, `hiddenBefore` and `cellBefore` those before; of
 * `gates` and `carried` the values become the gradients of what was in them before the step. `dHidden` and `dCell` (n, units), the
 * gradients of the states after, become those of the states before, without what flows through the product with the state.
 * @typedef {Step & { hiddenBefore: Float32Array, cellBefore: Float32Array, dHidden: Float32Array, dCell: Float32Array }} BackwardStep
 */

/** What a cell's functions know of the layer. @typedef {{ units: number, relu: boolean }} Shape */

/**
 * `gates` are the gates and the candidate in the order of their blocks: torch's. `apart`: the product with the state comes in
 * `carried`, as a gate scales it, with its bias. Without `backward` a cell is only read.
 * @typedef {{ gates: string[], apart?: boolean, forward: (shape: Shape, step: Step, n: number) => void,
 *   backward?: (shape: Shape, step: BackwardStep, n: number) => void }} Cell
 */

/** @type {Cell} the recurrence of mlp and rnn */
const PLAIN = {
  gates: [],
  forward({ units: H, relu }, { gates, width, hidden, kernels }, n) {
    for (let i = 0; i < n; i++) {
      const at = i * width;
      for (let j = 0; j < H; j++) hidden[i * H + j] = relu ? Math.max(0, gates[at + j]) : gates[at + j];
    }
    if (!relu) kernels.tanh(hidden, 0, n * H);
  },
  backward({ units: H, relu }, { gates, width, hidden, dHidden }, n) {
    for (let i = 0; i < n; i++)
      for (let j = 0; j < H; j++) {
        const h = hidden[i * H + j];
        const slope = relu ? Number(h > 0) : 1 - h * h;
        gates[i * width + j] = dHidden[i * H + j] * slope;
        dHidden[i * H + j] = 0;
      }
  },
};

/** @type {Cell} */
const GRU = {
  gates: ["reset", "update", "candidate"],
  apart: true,
  forward({ units: H }, { gates, carried, width, hidden, kernels }, n) {
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
  },
  backward({ units: H }, { gates, carried, width, hiddenBefore, dHidden }, n) {
    for (let i = 0; i < n; i++) {
      const [reset, update, candidate] = blocks(i * width, H);
      for (let j = 0; j < H; j++) {
        const r = gates[reset + j];
        const z = gates[update + j];
        const value = gates[candidate + j];
        const d = dHidden[i * H + j];
        const dValue = d * (1 - z) * (1 - value * value);
        const dReset = dValue * carried[candidate + j] * r * (1 - r);
        const dUpdate = d * (hiddenBefore[i * H + j] - value) * z * (1 - z);
        gates[reset + j] = dReset;
        gates[update + j] = dUpdate;
        gates[candidate + j] = dValue;
        carried[reset + j] = dReset;
        carried[update + j] = dUpdate;
        carried[candidate + j] = dValue * r;
        dHidden[i * H + j] = d * z;
      }
    }
  },
};

/** @type {Cell} */
const LSTM = {
  gates: ["input", "forget", "candidate", "output"],
  forward({ units: H }, { gates, width, hidden, cell, kernels }, n) {
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
  },
  backward({ units: H }, { gates, carried, width, cell, cellBefore, dHidden, dCell, kernels }, n) {
    for (let i = 0; i < n; i++) {
      const [input, forget, candidate, output] = blocks(i * width, H);
      const room = i * width; // h / o would lose tanh C where the output gate is shut, so it is computed again
      for (let j = 0; j < H; j++) carried[room + j] = cell[i * H + j];
      kernels.tanh(carried, room, H);
      for (let j = 0; j < H; j++) {
        const a = gates[input + j];
        const f = gates[forget + j];
        const value = gates[candidate + j];
        const o = gates[output + j];
        const tanh = carried[room + j];
        const d = dHidden[i * H + j];
        const dC = dCell[i * H + j] + d * o * (1 - tanh * tanh);
        gates[input + j] = dC * value * a * (1 - a);
        gates[forget + j] = dC * cellBefore[i * H + j] * f * (1 - f);
        gates[candidate + j] = dC * a * (1 - value * value);
        gates[output + j] = d * tanh * o * (1 - o);
        dCell[i * H + j] = dC * f;
        dHidden[i * H + j] = 0;
      }
    }
  },
};

/** @type {Cell} */
const MINGRU = {
  gates: ["update", "candidate"],
  forward({ units: H }, { gates, carried: kept, width, hidden, kernels }, n) {
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
  },
};

/** @type {Record<Config["cell"], Cell>} */
export const CELLS = { mlp: PLAIN, rnn: PLAIN, gru: GRU, lstm: LSTM, mingru: MINGRU };

/** The first places of four blocks of H numbers. @param {number} at @param {number} H */
const blocks = (at, H) => [at, at + H, at + 2 * H, at + 3 * H];

/** Whether a cell has a cell state C beside the hidden state. @param {Config["cell"]} cell */
export const hasCell = (cell) => cell === "lstm";

/** Whether a layer's activation is ReLU. @param {Pick<Config, "cell" | "activation">} config */
export const isRelu = ({ cell, activation }) => activation === "relu" && CELLS[cell] === PLAIN;

/** One layer: its weights, and its step. */
export class Layer {
  /** @type {Matrix | undefined} of the product with the inputs; the first layer's is a table */
  inputMatrix;
  /** @type {Matrix | undefined} of the product with the state */
  stateMatrix;
  /** @type {Float32Array} of the inputs */
  W;
  /** @type {Float32Array} */
  b;

  /** @param {Config} config @param {Tensors} tensors @param {number} n */
  constructor(config, tensors, n) {
    this.units = config.hidden_size;
    this.relu = isRelu(config);
    const { gates, forward, apart } = CELLS[config.cell];
    this.step = forward;
    this.gates = gates;
    this.n = n;
    this.apart = apart;
    this.load(tensors);
  }

  /** @param {Tensors} tensors */
  load(tensors) {
    const tensor = (/** @type {string} */ kind) => tensors[`recurrence.${kind}_l${this.n}`];
    this.W = tensor("weight_ih") ?? tensors[`recurrence.${this.n}.weight`];
    this.U = tensor("weight_hh");
    const c = tensor("bias_hh");
    const b = tensor("bias_ih") ?? tensors[`recurrence.${this.n}.bias`];
    // Where nothing scales it apart, the second bias is one sum with the first.
    this.c = this.apart ? c : undefined;
    this.b = c && !this.c ? b.map((value, i) => value + c[i]) : b;
  }
}
