// The bytes of an answer, in the format of rnnviz/page/payload.py, which writes them.

/** @import { WireArray } from "./types" */

const KINDS = { f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };
const utf8 = new TextDecoder();

/** @param {Uint8Array} bytes */
export function unpack(bytes) {
  const block = bytes.slice(); // a copy at offset 0 of its buffer: typed arrays need aligned offsets
  const length = new DataView(block.buffer).getUint32(0, true);
  const { arrays: directory, ...header } = JSON.parse(utf8.decode(block.subarray(4, 4 + length)));
  /** @type {Record<string, WireArray>} */
  const arrays = {};
  for (const name in directory) {
    /** @type {[keyof typeof KINDS, number[], number]} */
    const [kind, shape, offset] = directory[name];
    const count = shape.reduce((a, b) => a * b, 1);
    arrays[name] = Object.assign(new KINDS[kind](block.buffer, 4 + length + offset, count), { shape });
  }
  return { header, arrays };
}
