// A network that learns: truncated backpropagation through time over T characters of B texts side by side.
//
// Time is the first axis of every array: row t · B + i belongs to character t of text i. The state after the last character
// is where the next piece begins, and no gradient passes through it. One layer, one-hot inputs.
//
// What costs time are the products, so they are as few and as large as can be: one with W_hh for each character, forwards and
// backwards, and one each over all T · B rows for the readout and for the gradients of W_hh and W_hq.

import { CELLS, hasCell, isRelu } from "./cells.js";
import { allocate, paddedLength } from "./products.js";

/** @import { BackwardStep } from "./cells.js" */
/** @import { Config, Tensors } from "./types" */

/** A tensor in the order in which it is computed with, its gradient, and whether its weights decay. @typedef {{ name: string, values: Float32Array, gradient: Float32Array, decays: boolean }} Parameter */

const W_IH = "recurrence.weight_ih_l0"; // here (V + 1, G): a one-hot input picks a row
const W_HH = "recurrence.weight_hh_l0"; // (G, H)
const B_IH = "recurrence.bias_ih_l0";
const B_HH = "recurrence.bias_hh_l0";
const W_HQ = "readout.weight"; // here with rows of zeros below, as products want them
const B_Q = "readout.bias";

export class LearningNetwork {
  /** @param {Config} config of one layer with one-hot inputs and a multiple of 16 units @param {number} B @param {number} T at most @param {boolean} [plain] without WebAssembly */
  constructor(config, B, T, plain = false) {
    const { cell, vocabulary_size: V, hidden_size: H } = config;
    this.config = config;
    this.cell = CELLS[cell];
    this.B = B;
    this.V = V;
    this.H = H;
    this.shape = { units: H, relu: isRelu(config) };
    const G = H * Math.max(1, this.cell.gates.length);
    this.G = G;
    this.width = paddedLength(V); // of a row of logits
    if (config.layers !== 1 || config.embedding_size || paddedLength(H) !== H || !this.cell.backward)
      throw new Error("the page trains one layer of a multiple of 16 units on one-hot inputs");
    const N = T * B;
    const lengths = [(V + 1) * G, G * H, G, G, this.width * H, this.width];
    const states = (T + 1) * B * H;
    const { arrays, kernels } = allocate(
      [
        ...lengths,
        ...lengths,
        ...[states, hasCell(cell) ? states : 0, N * G, N * G, N * this.width, N * H],
        ...[G * H, G * H, this.width * H, this.width * H, N * H],
      ],
      plain,
    );
    /** @type {Parameter[]} */
    this.parameters = [W_IH, W_HH, B_IH, B_HH, W_HQ, B_Q].map((name, i) => ({
      name,
      values: arrays[i],
      gradient: arrays[i + lengths.length],
      decays: name.includes("weight"),
    }));
    const [hidden, cells, gates, carried, logits, dHidden] = arrays.slice(12);
    this.hidden = hidden;
    this.cells = cells;
    this.gates = gates;
    this.carried = carried;
    this.logits = logits;
    this.dHidden = dHidden;
    // The matrices as the products want them, forwards and backwards, and states as the gradients' products do.
    const [forwardW, backwardW, forwardQ, backwardQ, packedStates] = arrays.slice(18);
    this.forwardW = forwardW;
    this.backwardW = backwardW;
    this.forwardQ = forwardQ;
    this.backwardQ = backwardQ;
    this.packedStates = packedStates;
    this.dCell = new Float32Array(hasCell(cell) ? B * H : 0);
    this.kernels = kernels;
  }

  /** The weights by torch's names and shapes. @returns {Tensors} */
  tensors() {
    const { V, G } = this;
    const out = /** @type {Tensors} */ ({});
    for (const { name, values } of this.parameters)
      out[name] = name === W_IH ? transposed(values, V + 1, G) : values.slice(0, this.size(name));
    return out;
  }

  /** Take weights of torch's names and shapes. @param {Tensors} tensors */
  load(tensors) {
    const { V, G } = this;
    for (const { name, values } of this.parameters)
      values.set(name === W_IH ? transposed(tensors[name], G, V + 1) : tensors[name]);
  }

  /** The number of a tensor's weights, without rows of zeros. @param {string} name */
  size(name) {
    const { V, H, G } = this;
    return { [W_IH]: (V + 1) * G, [W_HH]: G * H, [B_IH]: G, [B_HH]: G, [W_HQ]: V * H, [B_Q]: V }[name] ?? 0;
  }

  /** The states that the next piece begins with, a row for each text. */
  get state() {
    const { B, H, hidden, cells } = this;
    return { hidden: hidden.subarray(0, B * H), cells: cells.subarray(0, Math.min(cells.length, B * H)) };
  }

  /** Let texts begin anew, from text `first` on. @param {number} [first] */
  forget(first = 0) {
    for (const rows of Object.values(this.state)) rows.fill(0, first * this.H);
  }

  /**
   * Read a piece, and leave the gradients of its mean cost in the parameters.
   * @param {Int32Array} inputs (T, B) symbols; V is the start symbol @param {Int32Array} labels (T, B), below 0 none @param {number} T
   * @returns {number} the mean cost −log P of the labels, in nats
   */
  differentiate(inputs, labels, T) {
    this.readPiece(inputs, T);
    const loss = this.predict(labels, T);
    this.differentiateReadout(T);
    this.differentiateRecurrence(inputs, T);
    const { B, H, hidden, cells } = this;
    for (const states of [hidden, cells]) states.copyWithin(0, T * B * H, (T + 1) * B * H);
    return loss;
  }

  /** The states after every character. @param {Int32Array} inputs @param {number} T */
  readPiece(inputs, T) {
    const { B, H, G, cell, shape, kernels, hidden, cells, forwardW } = this;
    const [W, U, b, c] = this.parameters.map(({ values }) => values);
    kernels.pack(U, G, H, forwardW);
    const { apart } = cell;
    // A symbol's W x + b, once for all places where it stands.
    const driven = W.map((value, i) => value + b[i % G] + (apart ? 0 : c[i % G]));
    for (let t = 0; t < T; t++) {
      const { gates, carried, before, after } = this.at(t);
      for (let i = 0; i < B; i++) {
        const from = inputs[t * B + i] * G;
        gates.set(driven.subarray(from, from + G), i * G);
        if (apart) carried.set(c, i * G);
      }
      kernels.product(B, G, H, before.hidden, forwardW, apart ? carried : gates);
      hidden.copyWithin((t + 1) * B * H, t * B * H, (t + 1) * B * H); // a step is made in place
      cells.copyWithin((t + 1) * B * H, t * B * H, (t + 1) * B * H);
      cell.forward(shape, { gates, carried, width: G, ...after, kernels }, B);
    }
  }

  /** The mean cost of the labels, in nats; the logits become their gradients. @param {Int32Array} labels @param {number} T */
  predict(labels, T) {
    const { B, V, H, width, kernels, hidden, logits, forwardQ } = this;
    const [Q, q] = this.parameters.slice(4).map(({ values }) => values);
    const N = T * B;
    kernels.pack(Q, width, H, forwardQ);
    for (let i = 0; i < N; i++) logits.set(q, i * width);
    kernels.product(N, width, H, hidden.subarray(B * H), forwardQ, logits);
    let [loss, labelled] = [0, 0];
    for (let i = 0; i < N; i++) labelled += Number(labels[i] >= 0);
    for (let i = 0, at = 0; i < N; i++, at += width) {
      let largest = logits[at];
      for (let j = at + 1; j < at + V; j++) if (logits[j] > largest) largest = logits[j];
      for (let j = at; j < at + V; j++) logits[j] -= largest;
      if (labels[i] >= 0) loss -= logits[at + labels[i]];
    }
    kernels.exp(logits, 0, N * width);
    for (let i = 0, at = 0; i < N; i++, at += width) {
      if (labels[i] < 0) {
        logits.fill(0, at, at + width);
        continue;
      }
      let sum = 0;
      for (let j = at; j < at + V; j++) sum += logits[j];
      loss += Math.log(sum);
      const share = 1 / (sum * labelled);
      for (let j = at; j < at + V; j++) logits[j] *= share;
      logits.fill(0, at + V, at + width);
      logits[at + labels[i]] -= 1 / labelled;
    }
    return loss / labelled;
  }

  /** The gradients of the readout, and of the states by it. @param {number} T */
  differentiateReadout(T) {
    const { B, H, width, kernels, hidden, logits, dHidden, packedStates, backwardQ } = this;
    const [Q, q] = this.parameters.slice(4);
    const N = T * B;
    for (const { gradient } of [Q, q]) gradient.fill(0);
    for (let i = 0; i < N; i++) kernels.addRow(logits, i * width, width, q.gradient, 0);
    kernels.packTransposed(hidden.subarray(B * H), N, H, packedStates);
    kernels.product(width, H, N, logits, packedStates, Q.gradient, 1, width);
    kernels.packTransposed(Q.values, width, H, backwardQ);
    dHidden.fill(0);
    kernels.product(N, H, width, logits, backwardQ, dHidden);
  }

  /** The gradients of the recurrence, from the last character back to the first. @param {Int32Array} inputs @param {number} T */
  differentiateRecurrence(inputs, T) {
    const { B, H, G, V, cell, shape, kernels, hidden, dHidden, dCell, packedStates, backwardW } = this;
    const [W, U, b, c] = this.parameters;
    const N = T * B;
    const toState = cell.apart ? this.carried : this.gates;
    kernels.packTransposed(U.values, G, H, backwardW);
    dCell.fill(0);
    for (let t = T - 1; t >= 0; t--) {
      const { gates, carried, before, after } = this.at(t);
      const d = dHidden.subarray(t * B * H, (t + 1) * B * H);
      /** @type {BackwardStep} */
      const step = {
        ...{ gates, carried, width: G, ...after, kernels, dHidden: d, dCell },
        ...{ hiddenBefore: before.hidden, cellBefore: before.cell },
      };
      cell.backward?.(shape, step, B);
      if (!t) break; // here the gradient is truncated
      const into = dHidden.subarray((t - 1) * B * H, t * B * H);
      for (let j = 0; j < into.length; j++) into[j] += d[j];
      kernels.product(B, H, G, toState.subarray(t * B * G), backwardW, into);
    }
    for (const { gradient } of [W, U, b, c]) gradient.fill(0);
    for (let i = 0; i < N; i++) {
      kernels.addRow(this.gates, i * G, G, W.gradient, inputs[i] * G);
      kernels.addRow(toState, i * G, G, c.gradient, 0);
    }
    for (let symbol = 0; symbol <= V; symbol++) kernels.addRow(W.gradient, symbol * G, G, b.gradient, 0);
    kernels.packTransposed(hidden, N, H, packedStates);
    kernels.product(G, H, N, toState, packedStates, U.gradient, 1, G);
  }

  /** The rows of character t. @param {number} t */
  at(t) {
    const { B, H, G, hidden, cells, gates, carried } = this;
    const rows = (/** @type {Float32Array} */ array, /** @type {number} */ width, time = t) =>
      array.subarray(time * B * width, (time + 1) * B * width);
    return {
      gates: rows(gates, G),
      carried: rows(carried, G),
      before: { hidden: rows(hidden, H), cell: rows(cells, H) },
      after: { hidden: rows(hidden, H, t + 1), cell: rows(cells, H, t + 1) },
    };
  }
}

/** @param {Float32Array} values (rows, columns) @param {number} rows @param {number} columns */
function transposed(values, rows, columns) {
  const out = new Float32Array(values.length);
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) out[j * rows + i] = values[i * columns + j];
  return out;
}
