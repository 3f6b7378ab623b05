// Products with a network's matrices, and functions of arrays: by WebAssembly's 128-bit instructions where the browser has
// them, else by plain loops.
//
// products.wat is the module's text, BYTES the same in base64: docs/tools/products.mjs writes both. On one core V8
// multiplies several rows at 39 GFLOP/s by the module and at 3 plain. The module's exp, sigmoid and tanh are
// within 3 units of a float32's last place; Math's take ten times as long for a number.

const BYTES =
  "AGFzbQEAAAABDwJgBn9/f39/fwBgAn9/AAIQAQRwYWdlBm1lbW9yeQIAAQMGBQAAAQEBByQFA29uZQAAA3R3bwABA2V4cAACB3NpZ21vaWQAAwR0YW5oAAQKiBIFkgICCH8JeyABQQJ0IQwgAkECdCENA0AgAyEJIAUgB0ECdGohC0EAIQYDQCAEIQogC/0ABAAhEyAL/QAEECEUIAv9AAQgIRUgC/0ABDAhFiACIQgDQCAK/QAEACEPIAr9AAQQIRAgCv0ABCAhESAK/QAEMCESIAn9CQIAIQ4gEyAOIA/95gH95AEhEyAUIA4gEP3mAf3kASEUIBUgDiAR/eYB/eQBIRUgFiAOIBL95gH95AEhFiAJQQRqIQkgCkHAAGohCiAIQQFrIggNAAsgCyAT/QsEACALIBT9CwQQIAsgFf0LBCAgCyAW/QsEMCALIAxqIQsgBkEBaiIGIABJDQALIAohBCAHQRBqIgcgAUkNAAsLuwMCCH8NeyABQQJ0IQwgAkECdCENA0AgAyEJIAUgB0ECdGohC0EAIQYDQCAEIQogC/0ABAAhEyAL/QAEECEUIAv9AAQgIRUgC/0ABDAhFiALIAxq/QAEACEXIAsgDGr9AAQQIRggCyAMav0ABCAhGSALIAxq/QAEMCEaIAIhCANAIAr9AAQAIQ8gCv0ABBAhECAK/QAEICERIAr9AAQwIRIgCf0JAgAhDiATIA4gD/3mAf3kASETIBQgDiAQ/eYB/eQBIRQgFSAOIBH95gH95AEhFSAWIA4gEv3mAf3kASEWIAkgDWr9CQIAIQ4gFyAOIA/95gH95AEhFyAYIA4gEP3mAf3kASEYIBkgDiAR/eYB/eQBIRkgGiAOIBL95gH95AEhGiAJQQRqIQkgCkHAAGohCiAIQQFrIggNAAsgCyAT/QsEACALIBT9CwQQIAsgFf0LBCAgCyAW/QsEMCALIAxqIBf9CwQAIAsgDGogGP0LBBAgCyAMaiAZ/QsEICALIAxqIBr9CwQwIAkgDWohCSALIAxqIQsgCyAMaiELIAZBAmoiBiAASQ0ACyAKIQQgB0EQaiIHIAFJDQALC5wDAgF/A3sgACABQQJ0aiECA0AgAP0ABAAhAyAD/QwAALBCAACwQgAAsEIAALBC/egB/QwAAK7CAACuwgAArsIAAK7C/ekBIQQgBP0MO6q4PzuquD87qrg/O6q4P/3mAf1qIQUgBCAF/QwAgDE/AIAxPwCAMT8AgDE//eYB/eUBIAX9DIOAXrmDgF65g4BeuYOAXrn95gH95QEhBP0MAQ1QOQENUDkBDVA5AQ1QOSAE/eYB/QxhC7Y6YQu2OmELtjphC7Y6/eQBIAT95gH9DImICDyJiAg8iYgIPImICDz95AEgBP3mAf0Mq6oqPauqKj2rqio9q6oqPf3kASAE/eYB/Qyrqio+q6oqPquqKj6rqio+/eQBIAT95gH9DAAAAD8AAAA/AAAAPwAAAD/95AEgBP3mAf0MAACAPwAAgD8AAIA/AACAP/3kASAE/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAX9+AH9DH8AAAB/AAAAfwAAAH8AAAD9rgFBF/2rAf3mASEEIAAgBP0LBAAgAEEQaiIAIAJJDQALC8kDAgF/A3sgACABQQJ0aiECA0AgAP0ABAAhAyAD/eEB/QwAALBCAACwQgAAsEIAALBC/egB/QwAAK7CAACuwgAArsIAAK7C/ekBIQQgBP0MO6q4PzuquD87qrg/O6q4P/3mAf1qIQUgBCAF/QwAgDE/AIAxPwCAMT8AgDE//eYB/eUBIAX9DIOAXrmDgF65g4BeuYOAXrn95gH95QEhBP0MAQ1QOQENUDkBDVA5AQ1QOSAE/eYB/QxhC7Y6YQu2OmELtjphC7Y6/eQBIAT95gH9DImICDyJiAg8iYgIPImICDz95AEgBP3mAf0Mq6oqPauqKj2rqio9q6oqPf3kASAE/eYB/Qyrqio+q6oqPquqKj6rqio+/eQBIAT95gH9DAAAAD8AAAA/AAAAPwAAAD/95AEgBP3mAf0MAACAPwAAgD8AAIA/AACAP/3kASAE/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAX9+AH9DH8AAAB/AAAAfwAAAH8AAAD9rgFBF/2rAf3mASEEIAD9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD8gBP3kAf3nAf0LBAAgAEEQaiIAIAJJDQALC8sFAgF/A3sgACABQQJ0aiECA0AgAP0ABAAhAyAD/eAB/QwAAABAAAAAQAAAAEAAAABA/eYB/QwAALBCAACwQgAAsEIAALBC/egB/QwAAK7CAACuwgAArsIAAK7C/ekBIQQgBP0MO6q4PzuquD87qrg/O6q4P/3mAf1qIQUgBCAF/QwAgDE/AIAxPwCAMT8AgDE//eYB/eUBIAX9DIOAXrmDgF65g4BeuYOAXrn95gH95QEhBP0MAQ1QOQENUDkBDVA5AQ1QOSAE/eYB/QxhC7Y6YQu2OmELtjphC7Y6/eQBIAT95gH9DImICDyJiAg8iYgIPImICDz95AEgBP3mAf0Mq6oqPauqKj2rqio9q6oqPf3kASAE/eYB/Qyrqio+q6oqPquqKj6rqio+/eQBIAT95gH9DAAAAD8AAAA/AAAAPwAAAD/95AEgBP3mAf0MAACAPwAAgD8AAIA/AACAP/3kASAE/eYB/QwAAIA/AACAPwAAgD8AAIA//eQBIAX9+AH9DH8AAAB/AAAAfwAAAH8AAAD9rgFBF/2rAf3mASEEIAMgA/3mASEFIAAgA/0MAACAPwAAgD8AAIA/AACAPyAF/eYB/QwAANJCAADSQgAA0kIAANJC/eQBIAX95gH9DABAbEQAQGxEAEBsRABAbET95AH95gEgBP0MAACAPwAAgD8AAIA/AACAP/3lASAD/QwAAACAAAAAgAAAAIAAAACA/U79UCAD/eAB/QwAAEA/AABAPwAAQD8AAEA//UP9Uv0MAABwQQAAcEEAAHBBAABwQSAF/eYB/QwAANJDAADSQwAA0kMAANJD/eQBIAX95gH9DABAbEQAQGxEAEBsRABAbET95AEgBP0MAACAPwAAgD8AAIA/AACAP/3kASAD/eAB/QwAAEA/AABAPwAAQD8AAEA//UP9Uv3nAf0LBAAgAEEQaiIAIAJJDQALCw==";
const PAGE_BYTES = 65536; // of WebAssembly's memory
const STRIP = 16; // columns of a block of the module: a product's columns are padded to a multiple

/**
 * Functions of n numbers of an array in place, from one on; and products, see Matrix.
 * @typedef {(array: Float32Array, from: number, n: number) => void} InPlace
 * @typedef {{ exp: InPlace, sigmoid: InPlace, tanh: InPlace,
 *   pack: (W: Float32Array, matrix: Matrix, B: Float32Array) => void,
 *   product: (n: number, matrix: Matrix, A: Float32Array, B: Float32Array, C: Float32Array) => void }} Kernels
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
  pack: (W, _, B) => B.set(W),
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
    pack(W, { rows, columns }, B) {
      for (let row = 0; row < rows; row++) {
        const at = (row - (row % STRIP)) * columns + (row % STRIP);
        for (let j = 0; j < columns; j++) B[at + j * STRIP] = W[row * columns + j];
      }
    },
    product(n, { width, columns }, A, B, C) {
      const product = n === 1 ? functions.one : functions.two;
      product(n, width, columns, A.byteOffset, B.byteOffset, C.byteOffset);
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
    kernels.pack(this.W, this, B);
  }

  /**
   * C += A Wᵀ for the first n rows of A (…, columns) and C (…, width), arrays of `allocate` with an even number of rows: of an
   * odd n above 1, one row more is computed, from whatever is there.
   * @param {Float32Array} A @param {Float32Array} C @param {number} n
   */
  addProduct(A, C, n) {
    this.kernels?.product(n, this, A, /** @type {Float32Array} */ (this.B), C);
  }
}

/**
 * The product by plain loops, in blocks of 4 × 4, whose sums stay in registers; rows left over in blocks of 1 × 4. Nothing is
 * unpacked from an array here: V8 would make the array.
 * @param {number} n @param {Matrix} matrix @param {Float32Array} A @param {Float32Array} B @param {Float32Array} C
 */
function multiply(n, { width, columns: k }, A, B, C) {
  const fours = n & ~3;
  for (let j = 0; j < width; j += 4) {
    const b = j * k;
    for (let i = 0; i < fours; i += 4) {
      const a = i * k;
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
        const x0 = A[a + l];
        const x1 = A[a + k + l];
        const x2 = A[a + 2 * k + l];
        const x3 = A[a + 3 * k + l];
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
      addFour(C, i * width + j, s00, s01, s02, s03);
      addFour(C, (i + 1) * width + j, s10, s11, s12, s13);
      addFour(C, (i + 2) * width + j, s20, s21, s22, s23);
      addFour(C, (i + 3) * width + j, s30, s31, s32, s33);
    }
    for (let i = fours; i < n; i++) {
      let s0 = 0;
      let s1 = 0;
      let s2 = 0;
      let s3 = 0;
      for (let l = 0; l < k; l++) {
        const x = A[i * k + l];
        s0 += x * B[b + l];
        s1 += x * B[b + k + l];
        s2 += x * B[b + 2 * k + l];
        s3 += x * B[b + 3 * k + l];
      }
      addFour(C, i * width + j, s0, s1, s2, s3);
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
