// The bytes of an answer: see rnnviz/ui/live/payload.py, which writes them.

const KINDS = { f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };
const utf8 = new TextDecoder();

export function unpack(bytes) {
  const block = bytes.slice(); // a buffer of its own, in which every array is aligned
  const length = new DataView(block.buffer).getUint32(0, true);
  const header = JSON.parse(utf8.decode(block.subarray(4, 4 + length)));
  const arrays = {};
  for (const [name, [kind, shape, offset]] of Object.entries(header.arrays)) {
    const count = shape.reduce((a, b) => a * b, 1);
    arrays[name] = new KINDS[kind](block.buffer, 4 + length + offset, count);
    arrays[name].shape = shape;
  }
  return { header, arrays };
}
