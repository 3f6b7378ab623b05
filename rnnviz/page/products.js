// Products with a network's matrices: by WebAssembly's 128-bit instructions where the browser has them, else plain.
//
// products.wat is the module's text, BYTES the same in base64: docs/tools/products.mjs writes both. In Chromium, on one
// core, a step of an LSTM of 384 units takes 0.15 ms by the module and 0.9 ms plain.

const BYTES =
  "AGFzbQEAAAABCgFgBn9/f39/fwACEAEEcGFnZQZtZW1vcnkCAAEDAwIAAAcOAgNvbmUAAARmb3VyAAEKqwgClgQCCH8ReyABQQJ0IQwgAkECdCENA0BBACEHA0AgAyAGIA1saiEJIAQgB0ECdGohCiAFIAYgDGxqIAdBAnRqIQsgC0EAIAxsav0ABAAhFyALQQAgDGxq/QAEECEYIAtBACAMbGr9AAQgIRkgC0EAIAxsav0ABDAhGiALQQAgDGxq/QAEQCEbIAtBACAMbGr9AARQIRwgC0EAIAxsav0ABGAhHSALQQAgDGxq/QAEcCEeIAIhCANAIAr9AAQAIQ8gCv0ABBAhECAK/QAEICERIAr9AAQwIRIgCv0ABEAhEyAK/QAEUCEUIAr9AARgIRUgCv0ABHAhFiAJQQAgDWxq/QkCACEOIBcgDiAP/eYB/eQBIRcgGCAOIBD95gH95AEhGCAZIA4gEf3mAf3kASEZIBogDiAS/eYB/eQBIRogGyAOIBP95gH95AEhGyAcIA4gFP3mAf3kASEcIB0gDiAV/eYB/eQBIR0gHiAOIBb95gH95AEhHiAJQQRqIQkgCiAMaiEKIAhBAWsiCA0ACyALQQAgDGxqIBf9CwQAIAtBACAMbGogGP0LBBAgC0EAIAxsaiAZ/QsEICALQQAgDGxqIBr9CwQwIAtBACAMbGogG/0LBEAgC0EAIAxsaiAc/QsEUCALQQAgDGxqIB39CwRgIAtBACAMbGogHv0LBHAgB0EgaiIHIAFJDQALIAZBAWoiBiAASQ0ACwuQBAIIfwt7IAFBAnQhDCACQQJ0IQ0DQEEAIQcDQCADIAYgDWxqIQkgBCAHQQJ0aiEKIAUgBiAMbGogB0ECdGohCyALQQAgDGxq/QAEACERIAtBACAMbGr9AAQQIRIgC0EBIAxsav0ABAAhEyALQQEgDGxq/QAEECEUIAtBAiAMbGr9AAQAIRUgC0ECIAxsav0ABBAhFiALQQMgDGxq/QAEACEXIAtBAyAMbGr9AAQQIRggAiEIA0AgCv0ABAAhDyAK/QAEECEQIAlBACANbGr9CQIAIQ4gESAOIA/95gH95AEhESASIA4gEP3mAf3kASESIAlBASANbGr9CQIAIQ4gEyAOIA/95gH95AEhEyAUIA4gEP3mAf3kASEUIAlBAiANbGr9CQIAIQ4gFSAOIA/95gH95AEhFSAWIA4gEP3mAf3kASEWIAlBAyANbGr9CQIAIQ4gFyAOIA/95gH95AEhFyAYIA4gEP3mAf3kASEYIAlBBGohCSAKIAxqIQogCEEBayIIDQALIAtBACAMbGogEf0LBAAgC0EAIAxsaiAS/QsEECALQQEgDGxqIBP9CwQAIAtBASAMbGogFP0LBBAgC0ECIAxsaiAV/QsEACALQQIgDGxqIBb9CwQQIAtBAyAMbGogF/0LBAAgC0EDIAxsaiAY/QsEECAHQQhqIgcgAUkNAAsgBkEEaiIGIABJDQALCw==";
const MAX_ROWS = 64; // vectors that are multiplied at a time
const PAGE_BYTES = 65536; // of WebAssembly's memory
const COLUMNS = 32; // of the module's widest block: a matrix's columns are padded to a multiple

/** @type {WebAssembly.Module | null | undefined} */
let compiled;

/** The module; null in a browser that can't compile it. */
function productModule() {
  if (compiled !== undefined) return compiled;
  try {
    compiled = new WebAssembly.Module(Uint8Array.from(atob(BYTES), (letter) => letter.charCodeAt(0)));
  } catch {
    compiled = null; // no WebAssembly, no 128-bit instructions, or a policy that allows none
  }
  return compiled;
}

/**
 * Matrices that products are made with.
 * @param {{ W: Float32Array, rows: number }[]} list each (rows, columns) by rows
 * @param {boolean} [plain] without WebAssembly
 * @returns {Matrix[]}
 */
export function makeMatrices(list, plain = false) {
  const module = plain ? null : productModule();
  if (!module) return list.map(({ W, rows }) => new Matrix(W, rows));
  const sizes = list.map(({ W, rows }) => ({ k: W.length / rows, n: Math.ceil(rows / COLUMNS) * COLUMNS }));
  const widest = (/** @type {"k" | "n"} */ side) => Math.max(...sizes.map((size) => size[side]));
  // One memory for all: it can't grow later, as that would take the arrays away from under their owners.
  const floats = sizes.reduce((sum, { k, n }) => sum + k * n, MAX_ROWS * (widest("k") + widest("n")));
  const memory = new WebAssembly.Memory({ initial: Math.ceil((4 * floats + 64) / PAGE_BYTES) });
  const { one, four } = /** @type {Record<string, (...numbers: number[]) => void>} */ (
    new WebAssembly.Instance(module, { page: { memory } }).exports
  );
  let place = 0;
  const array = (/** @type {number} */ length) => {
    const made = new Float32Array(memory.buffer, place, length);
    place += Math.ceil((4 * length) / 16) * 16;
    return made;
  };
  const [A, C] = [array(MAX_ROWS * widest("k")), array(MAX_ROWS * widest("n"))];
  return list.map(({ W, rows }, i) => {
    const { k, n } = sizes[i];
    const B = array(k * n);
    for (let row = 0; row < rows; row++) for (let j = 0; j < k; j++) B[j * n + row] = W[row * k + j];
    return new FastMatrix(W, rows, { A, B, C, n, one, four });
  });
}

/** A matrix W (rows, columns), multiplied by plain loops. */
export class Matrix {
  /** @param {Float32Array} W @param {number} rows */
  constructor(W, rows) {
    this.W = W;
    this.rows = rows;
    this.columns = W.length / rows;
  }

  /** out = W x + b. @param {Float32Array} x @param {Float32Array} b @param {Float32Array} out */
  times(x, b, out) {
    const { W, rows, columns } = this;
    for (let i = 0, at = 0; i < rows; i++) {
      let [one, two, three, four] = [b[i], 0, 0, 0]; // four independent sums: no addition waits for the one before
      let j = 0;
      for (; j + 3 < columns; j += 4, at += 4) {
        one += W[at] * x[j];
        two += W[at + 1] * x[j + 1];
        three += W[at + 2] * x[j + 2];
        four += W[at + 3] * x[j + 3];
      }
      for (; j < columns; j++, at++) one += W[at] * x[j];
      out[i] = one + two + (three + four);
    }
  }

  /**
   * W x + b for n vectors x, `stride` apart in `vectors`, the first at `from`; the result has a row for each.
   * @param {Float32Array} vectors @param {Float32Array} b @param {{ n: number, stride: number, from: number }} where
   */
  timesEach(vectors, b, { n, stride, from }) {
    const out = new Float32Array(n * this.rows);
    for (let i = 0; i < n; i++) {
      const x = vectors.subarray(i * stride + from, i * stride + from + this.columns);
      this.times(x, b, out.subarray(i * this.rows, (i + 1) * this.rows));
    }
    return out;
  }
}

/**
 * The module's arrays, and its functions for one row and for blocks of four.
 * @typedef {{ A: Float32Array, B: Float32Array, C: Float32Array, n: number, one: (...numbers: number[]) => void, four: (...numbers: number[]) => void }} Fast
 */

/** The same by the module. B holds W transposed, its columns padded with zeros. */
class FastMatrix extends Matrix {
  /** @param {Float32Array} W @param {number} rows @param {Fast} fast */
  constructor(W, rows, fast) {
    super(W, rows);
    this.fast = fast;
  }

  /** @param {Float32Array} x @param {Float32Array} b @param {Float32Array} out */
  times(x, b, out) {
    const { A, B, C, n, one } = this.fast;
    A.set(x);
    C.set(b); // the module adds to what is there
    one(1, n, this.columns, A.byteOffset, B.byteOffset, C.byteOffset);
    out.set(C.subarray(0, this.rows));
  }

  /** @param {Float32Array} vectors @param {Float32Array} b @param {{ n: number, stride: number, from: number }} where */
  timesEach(vectors, b, { n: count, stride, from }) {
    const { rows, columns } = this;
    const { A, B, C, n, four } = this.fast;
    const out = new Float32Array(count * rows);
    for (let first = 0; first < count; first += MAX_ROWS) {
      const some = Math.min(MAX_ROWS, count - first);
      for (let i = 0; i < some; i++) {
        const at = (first + i) * stride + from;
        A.set(vectors.subarray(at, at + columns), i * columns);
        C.set(b, i * n);
      }
      // Rows up to a multiple of four are what the last product left there; nobody reads their results.
      four(Math.ceil(some / 4) * 4, n, columns, A.byteOffset, B.byteOffset, C.byteOffset);
      for (let i = 0; i < some; i++) out.set(C.subarray(i * n, i * n + rows), (first + i) * rows);
    }
    return out;
  }
}
