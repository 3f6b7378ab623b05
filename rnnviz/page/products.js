// Products with a network's matrices, and functions of arrays: by WebAssembly's 128-bit instructions where the browser has
// them, else by plain loops.
//
// products.wat is the module's text, BYTES the same in base64: docs/tools/products.mjs writes both. On one core V8
// multiplies several rows at 39 GFLOP/s by the module and at 3 plain. The module's exp, sigmoid and tanh are
// within 3 units of a float32's last place; Math's take ten times as long for a number.

const BYTES =
  "AGFzbQEAAAABFwNgCH9/f39/f39/AGACf38AYAN/f38AAhABBHBhZ2UGbWVtb3J5AgABAwcGAAABAQECByoGA29uZQAAA3R3bwABA2V4cAACB3NpZ21vaWQAAwR0YW5oAAQDYWRkAAUKyhIGlgICCH8JeyABQQJ0IQ8DQCADIQsgByAJQQJ0aiEOQQAhCANAIAshDCAGIQ0gDv0ABAAhFSAO/QAEECEWIA79AAQgIRcgDv0ABDAhGCACIQoDQCAN/QAEACERIA39AAQQIRIgDf0ABCAhEyAN/QAEMCEUIAz9CQIAIRAgFSAQIBH95gH95AEhFSAWIBAgEv3mAf3kASEWIBcgECAT/eYB/eQBIRcgGCAQIBT95gH95AEhGCAMIAVqIQwgDUHAAGohDSAKQQFrIgoNAAsgDiAV/QsEACAOIBb9CwQQIA4gF/0LBCAgDiAY/QsEMCALIARqIQsgDiAPaiEOIAhBAWoiCCAASQ0ACyANIQYgCUEQaiIJIAFJDQALC78DAgh/DXsgAUECdCEPA0AgAyELIAcgCUECdGohDkEAIQgDQCALIQwgBiENIA79AAQAIRUgDv0ABBAhFiAO/QAEICEXIA79AAQwIRggDiAPav0ABAAhGSAOIA9q/QAEECEaIA4gD2r9AAQgIRsgDiAPav0ABDAhHCACIQoDQCAN/QAEACERIA39AAQQIRIgDf0ABCAhEyAN/QAEMCEUIAz9CQIAIRAgFSAQIBH95gH95AEhFSAWIBAgEv3mAf3kASEWIBcgECAT/eYB/eQBIRcgGCAQIBT95gH95AEhGCAMIARq/QkCACEQIBkgECAR/eYB/eQBIRkgGiAQIBL95gH95AEhGiAbIBAgE/3mAf3kASEbIBwgECAU/eYB/eQBIRwgDCAFaiEMIA1BwABqIQ0gCkEBayIKDQALIA4gFf0LBAAgDiAW/QsEECAOIBf9CwQgIA4gGP0LBDAgDiAPaiAZ/QsEACAOIA9qIBr9CwQQIA4gD2ogG/0LBCAgDiAPaiAc/QsEMCALIARqIQsgCyAEaiELIA4gD2ohDiAOIA9qIQ4gCEECaiIIIABJDQALIA0hBiAJQRBqIgkgAUkNAAsLnAMCAX8DeyAAIAFBAnRqIQIDQCAA/QAEACEDIAP9DAAAsEIAALBCAACwQgAAsEL96AH9DAAArsIAAK7CAACuwgAArsL96QEhBCAE/Qw7qrg/O6q4PzuquD87qrg//eYB/WohBSAEIAX9DACAMT8AgDE/AIAxPwCAMT/95gH95QEgBf0Mg4BeuYOAXrmDgF65g4Beuf3mAf3lASEE/QwBDVA5AQ1QOQENUDkBDVA5IAT95gH9DGELtjphC7Y6YQu2OmELtjr95AEgBP3mAf0MiYgIPImICDyJiAg8iYgIPP3kASAE/eYB/Qyrqio9q6oqPauqKj2rqio9/eQBIAT95gH9DKuqKj6rqio+q6oqPquqKj795AEgBP3mAf0MAAAAPwAAAD8AAAA/AAAAP/3kASAE/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAT95gH9DAAAgD8AAIA/AACAPwAAgD/95AEgBf34Af0MfwAAAH8AAAB/AAAAfwAAAP2uAUEX/asB/eYBIQQgACAE/QsEACAAQRBqIgAgAkkNAAsLyQMCAX8DeyAAIAFBAnRqIQIDQCAA/QAEACEDIAP94QH9DAAAsEIAALBCAACwQgAAsEL96AH9DAAArsIAAK7CAACuwgAArsL96QEhBCAE/Qw7qrg/O6q4PzuquD87qrg//eYB/WohBSAEIAX9DACAMT8AgDE/AIAxPwCAMT/95gH95QEgBf0Mg4BeuYOAXrmDgF65g4Beuf3mAf3lASEE/QwBDVA5AQ1QOQENUDkBDVA5IAT95gH9DGELtjphC7Y6YQu2OmELtjr95AEgBP3mAf0MiYgIPImICDyJiAg8iYgIPP3kASAE/eYB/Qyrqio9q6oqPauqKj2rqio9/eQBIAT95gH9DKuqKj6rqio+q6oqPquqKj795AEgBP3mAf0MAAAAPwAAAD8AAAA/AAAAP/3kASAE/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAT95gH9DAAAgD8AAIA/AACAPwAAgD/95AEgBf34Af0MfwAAAH8AAAB/AAAAfwAAAP2uAUEX/asB/eYBIQQgAP0MAACAPwAAgD8AAIA/AACAP/0MAACAPwAAgD8AAIA/AACAPyAE/eQB/ecB/QsEACAAQRBqIgAgAkkNAAsLywUCAX8DeyAAIAFBAnRqIQIDQCAA/QAEACEDIAP94AH9DAAAAEAAAABAAAAAQAAAAED95gH9DAAAsEIAALBCAACwQgAAsEL96AH9DAAArsIAAK7CAACuwgAArsL96QEhBCAE/Qw7qrg/O6q4PzuquD87qrg//eYB/WohBSAEIAX9DACAMT8AgDE/AIAxPwCAMT/95gH95QEgBf0Mg4BeuYOAXrmDgF65g4Beuf3mAf3lASEE/QwBDVA5AQ1QOQENUDkBDVA5IAT95gH9DGELtjphC7Y6YQu2OmELtjr95AEgBP3mAf0MiYgIPImICDyJiAg8iYgIPP3kASAE/eYB/Qyrqio9q6oqPauqKj2rqio9/eQBIAT95gH9DKuqKj6rqio+q6oqPquqKj795AEgBP3mAf0MAAAAPwAAAD8AAAA/AAAAP/3kASAE/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAT95gH9DAAAgD8AAIA/AACAPwAAgD/95AEgBf34Af0MfwAAAH8AAAB/AAAAfwAAAP2uAUEX/asB/eYBIQQgAyAD/eYBIQUgACAD/QwAAIA/AACAPwAAgD8AAIA/IAX95gH9DAAA0kIAANJCAADSQgAA0kL95AEgBf3mAf0MAEBsRABAbEQAQGxEAEBsRP3kAf3mASAE/QwAAIA/AACAPwAAgD8AAIA//eUBIAP9DAAAAIAAAACAAAAAgAAAAID9Tv1QIAP94AH9DAAAQD8AAEA/AABAPwAAQD/9Q/1S/QwAAHBBAABwQQAAcEEAAHBBIAX95gH9DAAA0kMAANJDAADSQwAA0kP95AEgBf3mAf0MAEBsRABAbEQAQGxEAEBsRP3kASAE/QwAAIA/AACAPwAAgD8AAIA//eQBIAP94AH9DAAAQD8AAEA/AABAPwAAQD/9Q/1S/ecB/QsEACAAQRBqIgAgAkkNAAsLOQEBfyAAIAJBAnRqIQMDQCAAIAD9AAQAIAH9AAQA/eQB/QsEACABQRBqIQEgAEEQaiIAIANJDQALCw==";
const PAGE_BYTES = 65536; // of WebAssembly's memory
const STRIP = 16; // columns of a block of the module: a product's columns are padded to a multiple

/**
 * Functions of n numbers of an array in place, from one on; and products, see Matrix.
 * @typedef {(array: Float32Array, from: number, n: number) => void} InPlace
 * @typedef {{ exp: InPlace, sigmoid: InPlace, tanh: InPlace,
 *   addRow: (rows: Float32Array, from: number, n: number, sum: Float32Array, to: number) => void,
 *   pack: (W: Float32Array, rows: number, columns: number, B: Float32Array) => void,
 *   packTransposed: (W: Float32Array, rows: number, columns: number, B: Float32Array) => void,
 *   product: (m: number, n: number, k: number, A: Float32Array, B: Float32Array, C: Float32Array, row?: number, term?: number) => void }} Kernels
 *
 * `addRow` adds n numbers, a multiple of 4, to as many others. `product` adds A Wᵀ to C (m, n) by rows, where B is W (n, k) packed, or A W where B is W (k, n) packed transposed; n is a
 * multiple of STRIP. In A (m, k), `row` numbers lie between two rows and `term` between two terms of one: so Aᵀ needs no copy.
 */

/** @param {(x: number) => number} f @returns {InPlace} */
const inPlace = (f) => (array, from, n) => {
  for (let i = from; i < from + n; i++) array[i] = f(array[i]);
};

/** @type {Kernels} B is W with rows of zeros below */
const PLAIN = {
  exp: inPlace(Math.exp),
  sigmoid: inPlace((x) => 1 / (1 + Math.exp(-x))),
  tanh: inPlace(Math.tanh),
  addRow(rows, from, n, sum, to) {
    for (let j = 0; j < n; j++) sum[to + j] += rows[from + j];
  },
  pack: (W, rows, columns, B) => B.set(W.subarray(0, rows * columns)),
  packTransposed(W, rows, columns, B) {
    for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) B[j * rows + i] = W[i * columns + j];
  },
  product: multiply,
};

/**
 * Arrays of float32, zeros, in one memory, and what computes in it. WebAssembly's memory can't grow later: that would take
 * its arrays away from under their owners.
 * @param {number[]} lengths @param {boolean} [plain] without WebAssembly
 * @returns {{ arrays: Float32Array[], kernels: Kernels }}
 */
export function allocate(lengths, plain = false) {
  const module = plain ? null : compiledModule();
  const starts = [0];
  for (const [i, length] of lengths.entries()) starts.push(starts[i] + paddedLength(length));
  const bytes = 4 * /** @type {number} */ (starts.at(-1));
  const places = (/** @type {ArrayBuffer} */ buffer) =>
    lengths.map((length, i) => new Float32Array(buffer, 4 * starts[i], length));
  if (!module) return { arrays: places(new ArrayBuffer(bytes)), kernels: PLAIN };
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES) });
  const instance = new WebAssembly.Instance(module, { page: { memory } });
  return { arrays: places(memory.buffer), kernels: fastKernels(instance) };
}

/** @type {WebAssembly.Module | null | undefined} */
let compiled;

/** The module; null in a browser that can't compile it. */
function compiledModule() {
  if (compiled !== undefined) return compiled;
  try {
    compiled = new WebAssembly.Module(Uint8Array.from(atob(BYTES), (letter) => letter.charCodeAt(0)));
  } catch {
    compiled = null; // no WebAssembly, no 128-bit instructions, or a policy that allows none
  }
  return compiled;
}

/** @param {WebAssembly.Instance} instance @returns {Kernels} B holds W transposed, in strips of STRIP columns, each by rows */
function fastKernels({ exports }) {
  const functions = /** @type {Record<string, (...numbers: number[]) => void>} */ (exports);
  /** @param {"exp" | "sigmoid" | "tanh"} name @returns {InPlace} */
  const inFours = (name) => (array, from, n) => {
    const fours = n & ~3;
    if (fours) functions[name](array.byteOffset + 4 * from, fours);
    PLAIN[name](array, from + fours, n - fours);
  };
  return {
    exp: inFours("exp"),
    sigmoid: inFours("sigmoid"),
    tanh: inFours("tanh"),
    addRow: (rows, from, n, sum, to) => functions.add(sum.byteOffset + 4 * to, rows.byteOffset + 4 * from, n),
    pack(W, rows, columns, B) {
      for (let row = 0; row < rows; row++) {
        const at = (row - (row % STRIP)) * columns + (row % STRIP);
        for (let j = 0; j < columns; j++) B[at + j * STRIP] = W[row * columns + j];
      }
    },
    packTransposed(W, rows, columns, B) {
      for (let strip = 0, at = 0; strip < columns; strip += STRIP)
        for (let i = 0; i < rows; i++, at += STRIP)
          for (let j = 0; j < STRIP; j++) B[at + j] = W[i * columns + strip + j];
    },
    product(m, n, k, A, B, C, row = k, term = 1) {
      const even = m & ~1;
      const multiplyRows = (
        /** @type {(...numbers: number[]) => void} */ f,
        /** @type {number} */ first,
        /** @type {number} */ count,
      ) =>
        f(
          count,
          n,
          k,
          A.byteOffset + 4 * first * row,
          4 * row,
          4 * term,
          B.byteOffset,
          C.byteOffset + 4 * first * n,
        );
      if (even) multiplyRows(functions.two, 0, even);
      if (m > even) multiplyRows(functions.one, even, 1);
    },
  };
}

/** A length as the module wants it: a multiple of STRIP. @param {number} length */
export const paddedLength = (length) => Math.ceil(length / STRIP) * STRIP;

/** A matrix W (rows, columns); a row of its product has `width` numbers, of which the last may be padding. */
export class Matrix {
  /** @param {Float32Array} W @param {number} rows */
  constructor(W, rows) {
    this.W = W;
    this.rows = rows;
    this.columns = W.length / rows;
    this.width = paddedLength(rows);
    this.length = this.width * this.columns; // of the array that it needs
  }

  /** @param {Float32Array} B an array of `allocate` @param {Kernels} kernels */
  place(B, kernels) {
    this.B = B;
    this.kernels = kernels;
    this.load(this.W);
  }

  /** Take other weights. @param {Float32Array} W */
  load(W) {
    this.W = W;
    this.kernels?.pack(W, this.rows, this.columns, /** @type {Float32Array} */ (this.B));
  }

  /** C += A Wᵀ for the first n rows of A (…, columns) and C (…, width), arrays of `allocate`. @param {Float32Array} A @param {Float32Array} C @param {number} n */
  addProduct(A, C, n) {
    this.kernels?.product(n, this.width, this.columns, A, /** @type {Float32Array} */ (this.B), C);
  }
}

/**
 * The product by plain loops, in blocks of 4 × 4, whose sums stay in registers; rows left over in blocks of 1 × 4. Nothing is
 * unpacked from an array here: V8 would make the array.
 * @param {number} m @param {number} n @param {number} k @param {Float32Array} A @param {Float32Array} B @param {Float32Array} C
 * @param {number} row @param {number} term
 */
function multiply(m, n, k, A, B, C, row = k, term = 1) {
  const fours = m & ~3;
  for (let j = 0; j < n; j += 4) {
    const b = j * k;
    for (let i = 0; i < fours; i += 4) {
      const a = i * row;
      let s00 = 0;
      let s01 = 0;
      let s02 = 0;
      let s03 = 0;
      let s10 = 0;
      let s11 = 0;
      let s12 = 0;
      let s13 = 0;
      let s20 = 0;
      let s21 = 0;
      let s22 = 0;
      let s23 = 0;
      let s30 = 0;
      let s31 = 0;
      let s32 = 0;
      let s33 = 0;
      for (let l = 0; l < k; l++) {
        const x0 = A[a + l * term];
        const x1 = A[a + row + l * term];
        const x2 = A[a + 2 * row + l * term];
        const x3 = A[a + 3 * row + l * term];
        const w0 = B[b + l];
        const w1 = B[b + k + l];
        const w2 = B[b + 2 * k + l];
        const w3 = B[b + 3 * k + l];
        s00 += x0 * w0;
        s01 += x0 * w1;
        s02 += x0 * w2;
        s03 += x0 * w3;
        s10 += x1 * w0;
        s11 += x1 * w1;
        s12 += x1 * w2;
        s13 += x1 * w3;
        s20 += x2 * w0;
        s21 += x2 * w1;
        s22 += x2 * w2;
        s23 += x2 * w3;
        s30 += x3 * w0;
        s31 += x3 * w1;
        s32 += x3 * w2;
        s33 += x3 * w3;
      }
      addFour(C, i * n + j, s00, s01, s02, s03);
      addFour(C, (i + 1) * n + j, s10, s11, s12, s13);
      addFour(C, (i + 2) * n + j, s20, s21, s22, s23);
      addFour(C, (i + 3) * n + j, s30, s31, s32, s33);
    }
    for (let i = fours; i < m; i++) {
      let s0 = 0;
      let s1 = 0;
      let s2 = 0;
      let s3 = 0;
      for (let l = 0; l < k; l++) {
        const x = A[i * row + l * term];
        s0 += x * B[b + l];
        s1 += x * B[b + k + l];
        s2 += x * B[b + 2 * k + l];
        s3 += x * B[b + 3 * k + l];
      }
      addFour(C, i * n + j, s0, s1, s2, s3);
    }
  }
}

/** @param {Float32Array} C @param {number} at @param {number} s0 @param {number} s1 @param {number} s2 @param {number} s3 */
function addFour(C, at, s0, s1, s2, s3) {
  C[at] += s0;
  C[at + 1] += s1;
  C[at + 2] += s2;
  C[at + 3] += s3;
}
