// A network's file, read and checked as rnnviz/networks/modelfile.py does: anybody's file may be dropped on the page.
//
//   8 bytes   the header's length, little-endian
//   header    JSON: each tensor's dtype, shape and place; "__metadata__" has "rnnviz": configuration, vocabulary, card
//   tensors   float16 or float32
//
// `writeNetwork` makes such a file, in float32, of a network that was trained here.
//
// A file is judged by its header before a tensor is read, and every promise of the header is checked: its sizes against
// the file's, its shapes against the configuration's.

/** @import { Config, Description, Tensors } from "./types" */

const FORMAT = 1;
const END_POINT = 3; // the code point of a text's end
const MAX_HEADER_BYTES = 4 << 20;
const MAX_FILE_BYTES = 1 << 28; // a browser holds the file, and its numbers in float32
const MAX_UNITS = 4096;
const MAX_LAYERS = 8;
const CELLS = ["mlp", "rnn", "gru", "lstm", "mingru"];
const NORMALISERS = ["newlines", "typography", "corner-brackets"];

/** The reason why a file is no network for the page: a key of the page's words, and the values in its sentence. */
export class FileError extends Error {
  /** @param {string} reason @param {Record<string, string | number>} [values] */
  constructor(reason, values = {}) {
    super(reason);
    this.reason = reason;
    this.values = values;
  }
}

/** The value of a half-precision number (IEEE 754 binary16) from its bits. @param {number} half */
function widened(half) {
  const [sign, exponent, fraction] = [half >> 15 ? -1 : 1, (half >> 10) & 31, half & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : (2 ** -14 * fraction) / 1024);
}

// JavaScript has no array of float16 everywhere (Float16Array is of 2025), so its bits are looked up.
const WIDE = Float32Array.from({ length: 65536 }, (_, half) => widened(half));

/** @param {unknown} value @param {number} low @param {number} high */
const whole = (value, low, high) => Number.isInteger(value) && Number(value) >= low && Number(value) <= high;

/** @param {Uint8Array} bytes @returns {any} an object; throws for anything else */
function parsed(bytes) {
  const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("no object");
  return value;
}

/** @template T @param {() => T} act @param {string} reason of the FileError in place of any other error */
function orElse(act, reason) {
  try {
    return act();
  } catch {
    throw new FileError(reason);
  }
}

/**
 * The description and the weights of a network's file. Throws a FileError.
 * @param {Uint8Array} bytes @returns {{ description: Description, tensors: Tensors }}
 */
export function readNetwork(bytes) {
  if (bytes.length > MAX_FILE_BYTES)
    throw new FileError("file.large", { n: bytes.length, most: MAX_FILE_BYTES });
  if (bytes.length < 8) throw new FileError("file.cut", { n: bytes.length });
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = Number(view.getBigUint64(0, true));
  if (length > MAX_HEADER_BYTES) throw new FileError("file.none");
  const start = 8 + length;
  if (start > bytes.length) throw new FileError("file.cut", { n: bytes.length });
  const { __metadata__: metadata, ...described } = orElse(
    () => parsed(bytes.subarray(8, start)),
    "file.none",
  );
  const description = readDescription(metadata);
  const ends = Object.values(described).map((entry) => entry?.data_offsets?.[1]);
  const promised =
    start + Math.max(0, ...ends.map((end) => (whole(end, 0, MAX_FILE_BYTES) ? end : Infinity)));
  if (promised !== bytes.length) throw new FileError("file.size", { n: bytes.length });
  delete described["overlap.hashes"]; // the sketch of the training text is no weight
  return { description, tensors: readTensors(described, shapes(description.config), view, start) };
}

/** @param {any} metadata @returns {Description} */
function readDescription(metadata) {
  if (typeof metadata?.rnnviz !== "string") throw new FileError("file.foreign");
  const meta = orElse(() => parsed(new TextEncoder().encode(metadata.rnnviz)), "file.damaged");
  if (whole(meta.format, FORMAT + 1, 1e9)) throw new FileError("file.newer", { n: meta.format });
  if (meta.kind === "ngram") throw new FileError("file.ngram");
  const { config, vocabulary, normaliser = "newlines", card } = meta;
  if (!CELLS.includes(config?.cell))
    throw new FileError("file.cell", { cells: CELLS.join(", "), cell: String(config?.cell).slice(0, 40) });
  const known =
    whole(meta.format, FORMAT, FORMAT) &&
    whole(config.hidden_size, 1, MAX_UNITS) &&
    whole(config.layers, 1, MAX_LAYERS) &&
    whole(config.embedding_size, 0, MAX_UNITS) &&
    whole(config.vocabulary_size, 1, 0x110000) &&
    ["tanh", "relu"].includes(config.activation) &&
    typeof config.tied === "boolean" &&
    NORMALISERS.includes(normaliser) &&
    typeof card === "object" &&
    card !== null;
  const points = Array.isArray(vocabulary) ? vocabulary : [];
  const ordered = points.every((point, i) => whole(point, i ? points[i - 1] + 1 : 0, 0x10ffff));
  const surrogates = points.some((point) => point >= 0xd800 && point < 0xe000);
  if (!known || !ordered || surrogates || points.length + 1 !== config.vocabulary_size)
    throw new FileError("file.damaged");
  const end = points.indexOf(END_POINT) + 1;
  const symbols = points.map((point) => String.fromCodePoint(point));
  return { config: meta.ends === true && end ? { ...config, end } : config, symbols, normaliser, card };
}

/** The shape of each tensor, as `ModelConfig.shapes` in rnnviz/networks/config.py. @param {Config} config */
function shapes({ cell, vocabulary_size: V, hidden_size: H, layers, embedding_size: X, tied }) {
  const gates = { mlp: 1, rnn: 1, gru: 3, lstm: 4, mingru: 2 }[cell];
  /** @type {Record<string, number[]>} */
  const all = { "readout.bias": [V] };
  if (X) all["embedding.weight"] = [V + 1, X];
  if (!tied) all["readout.weight"] = [V, H];
  for (let n = 0; n < layers; n++) {
    const inputs = n ? H : X || V + 1;
    if (cell === "mlp") {
      all[`recurrence.${n}.weight`] = [H, inputs];
      all[`recurrence.${n}.bias`] = [H];
      continue;
    }
    all[`recurrence.weight_ih_l${n}`] = [gates * H, inputs];
    all[`recurrence.bias_ih_l${n}`] = [gates * H];
    if (cell === "mingru") continue; // its gates don't look at the state
    all[`recurrence.weight_hh_l${n}`] = [gates * H, H];
    all[`recurrence.bias_hh_l${n}`] = [gates * H];
  }
  return all;
}

/**
 * @param {Record<string, any>} described @param {Record<string, number[]>} expected @param {DataView} view
 * @param {number} start the tensors' first byte @returns {Tensors}
 */
function readTensors(described, expected, view, start) {
  const names = new Set([...Object.keys(described), ...Object.keys(expected)]);
  /** @type {Tensors} */
  const tensors = {};
  for (const name of names) {
    const { dtype, shape, data_offsets: place } = described[name] ?? {};
    if (!Array.isArray(shape) || shape.join() !== expected[name]?.join())
      throw new FileError("file.shape", {
        name: name.slice(0, 80),
        expected: expected[name]?.join(" × ") ?? "—",
        received: Array.isArray(shape) ? shape.join(" × ").slice(0, 80) : "—",
      });
    const size = { F16: 2, F32: 4 }[/** @type {"F16" | "F32"} */ (dtype)];
    if (!size) throw new FileError("file.type", { type: String(dtype).slice(0, 20) });
    const count = shape.reduce((product, side) => product * side, 1);
    const [from, to] = Array.isArray(place) ? place : [];
    if (
      !whole(from, 0, view.byteLength - start) ||
      to - from !== count * size ||
      start + to > view.byteLength
    )
      throw new FileError("file.damaged");
    const at = start + from;
    const values = new Float32Array(count);
    for (let i = 0; i < count; i++)
      values[i] = size === 2 ? WIDE[view.getUint16(at + 2 * i, true)] : view.getFloat32(at + 4 * i, true);
    if (values.some((value) => !Number.isFinite(value)))
      throw new FileError("file.infinite", { name: name.slice(0, 80) });
    tensors[name] = values;
  }
  return tensors;
}

/** JSON in ASCII, as Python writes it. @param {unknown} value */
const ascii = (value) =>
  JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/**
 * The file of a network, which `rnnviz.load` opens. Throws an Error for a tensor that the configuration doesn't have in that size.
 * @param {Description} description @param {Tensors} tensors
 */
export function writeNetwork({ config: { end, ...config }, symbols, normaliser, card }, tensors) {
  const vocabulary = symbols.map((symbol) => symbol.codePointAt(0));
  const ends = end ? { ends: true } : {};
  const description = { format: FORMAT, vocabulary, ...ends, normaliser, card, kind: "neural", config };
  /** @type {Record<string, unknown>} */
  const header = { __metadata__: { rnnviz: ascii(description) } };
  const names = Object.entries(shapes(config)).sort(([one], [other]) => (one < other ? -1 : 1));
  let size = 0;
  for (const [name, shape] of names) {
    const bytes = 4 * shape.reduce((product, side) => product * side, 1);
    if (tensors[name]?.byteLength !== bytes)
      throw new Error(`${name}: ${tensors[name]?.length} numbers, ${shape}`);
    header[name] = { dtype: "F32", shape, data_offsets: [size, size + bytes] };
    size += bytes;
  }
  const text = ascii(header);
  const start = 8 + Math.ceil(text.length / 8) * 8; // blanks fill the header: the tensors begin at a multiple of 8
  const file = new Uint8Array(start + size);
  const view = new DataView(file.buffer);
  view.setBigUint64(0, BigInt(start - 8), true);
  file.set(new TextEncoder().encode(text.padEnd(start - 8)), 8);
  let at = start;
  for (const [name] of names)
    for (const value of tensors[name]) {
      view.setFloat32(at, value, true);
      at += 4;
    }
  return file;
}
