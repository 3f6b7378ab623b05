// What comes to the page from elsewhere: a network's file, whatever it holds, and an address.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { arrive, isBookmark } from "../../rnnviz/page/arrival.js";
import { FileError, readNetwork, writeNetwork } from "../../rnnviz/page/safetensors.js";
import { pack, unpack } from "../../rnnviz/ui/browser/static/compressed_text.js";

const whole = new Uint8Array(readFileSync("models/timemachine-rnn.safetensors"));
const length = Number(new DataView(whole.buffer).getBigUint64(0, true));
const tensors = whole.subarray(8 + length);
const text = new TextDecoder().decode(whole.subarray(8, 8 + length));

/** A file with another header. @param {string} header @param {Uint8Array} [body] */
function file(header, body = tensors) {
  const bytes = new TextEncoder().encode(header);
  const made = new Uint8Array(8 + bytes.length + body.length);
  new DataView(made.buffer).setBigUint64(0, BigInt(bytes.length), true);
  made.set(bytes, 8);
  made.set(body, 8 + bytes.length);
  return made;
}

/** A file whose header was changed. @param {(header: any, meta: any) => void} change of the header, and of its description */
function changed(change) {
  const header = JSON.parse(text);
  const meta = JSON.parse(header.__metadata__.rnnviz);
  header.__metadata__.rnnviz = meta;
  change(header, meta);
  const { rnnviz } = header.__metadata__ ?? {};
  if (typeof rnnviz === "object") header.__metadata__.rnnviz = JSON.stringify(rnnviz);
  return file(JSON.stringify(header));
}

/** A file with another configuration. @param {object} change */
const configured = (change) => changed((_, meta) => Object.assign(meta.config, change));

const U = "recurrence.weight_hh_l0";
const infinite = tensors.slice();
const [place] = JSON.parse(text)[U].data_offsets;
new DataView(infinite.buffer).setUint16(place, 0x7c00, true); // +∞ in half precision

const long = whole.slice();
new DataView(long.buffer).setBigUint64(0, 1n << 60n, true);

/** @type {[string, Uint8Array, string][]} a file's damage, and the reason that the reader hears */
const DAMAGED = [
  ["nothing", new Uint8Array(), "file.cut"],
  ["seven bytes", whole.slice(0, 7), "file.cut"],
  ["the length alone", whole.slice(0, 8), "file.cut"],
  ["half of the header", whole.slice(0, 8 + (length >> 1)), "file.cut"],
  ["no tensors", whole.slice(0, 8 + length), "file.size"],
  ["one byte less", whole.slice(0, -1), "file.size"],
  ["one byte more", file(text, new Uint8Array([...tensors, 0])), "file.size"],
  ["a length of 2^60", long, "file.none"],
  ["a picture", new TextEncoder().encode("\x89PNG\r\n\x1a\n and so on, for some bytes more"), "file.none"],
  [
    "a text",
    new TextEncoder().encode("The Time Traveller (for so it will be convenient to speak of him)"),
    "file.none",
  ],
  ["a header that is no JSON", file(text.trimEnd().slice(0, -1)), "file.none"],
  ["a header that is a list", file("[1]"), "file.none"],
  ["a header that is no UTF-8", new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe]), "file.none"],
  ["no description", changed((header) => delete header.__metadata__), "file.foreign"],
  [
    "another program's file",
    changed((header) => {
      header.__metadata__ = { format: "pt" };
    }),
    "file.foreign",
  ],
  [
    "a description that is no JSON",
    changed((header) => {
      header.__metadata__.rnnviz = "{";
    }),
    "file.damaged",
  ],
  [
    "a newer format",
    changed((_, meta) => {
      meta.format = 2;
    }),
    "file.newer",
  ],
  ["no format", changed((_, meta) => delete meta.format), "file.damaged"],
  [
    "an n-gram model",
    changed((_, meta) => {
      meta.kind = "ngram";
    }),
    "file.ngram",
  ],
  ["an unknown cell", configured({ cell: "transformer" }), "file.cell"],
  ["no configuration", changed((_, meta) => delete meta.config), "file.cell"],
  ["no units", configured({ hidden_size: 0 }), "file.damaged"],
  ["a billion units", configured({ hidden_size: 1e9 }), "file.damaged"],
  ["half a layer", configured({ layers: 0.5 }), "file.damaged"],
  ["another activation", configured({ activation: "gelu" }), "file.damaged"],
  ["more units than weights", configured({ hidden_size: 300 }), "file.shape"],
  ["one more layer", configured({ layers: 2 }), "file.shape"],
  ["a tensor less", changed((header) => delete header[U]), "file.shape"],
  [
    "a tensor more",
    changed((header) => {
      header.other = header[U];
    }),
    "file.shape",
  ],
  [
    "a tensor of integers",
    changed((header) => {
      header[U].dtype = "I16";
    }),
    "file.type",
  ],
  [
    "a tensor before the file",
    changed((header) => {
      header[U].data_offsets = [-2, header[U].data_offsets[1]];
    }),
    "file.damaged",
  ],
  ["a tensor of another size", changed((header) => (header[U].data_offsets[0] += 2)), "file.damaged"],
  ["a tensor without a place", changed((header) => delete header[U].data_offsets), "file.size"],
  ["a vocabulary of another size", changed((_, meta) => meta.vocabulary.pop()), "file.damaged"],
  ["a vocabulary out of order", changed((_, meta) => meta.vocabulary.reverse()), "file.damaged"],
  [
    "half a character",
    changed((_, meta) => {
      meta.vocabulary[meta.vocabulary.length - 1] = 0xd83d;
    }),
    "file.damaged",
  ],
  [
    "an unknown normaliser",
    changed((_, meta) => {
      meta.normaliser = "rot13";
    }),
    "file.damaged",
  ],
  ["a weight that is infinite", file(text, infinite), "file.infinite"],
];

for (const [name, bytes, reason] of DAMAGED)
  test(`a file with ${name} is refused: ${reason}`, () => {
    assert.throws(
      () => readNetwork(bytes),
      (error) => error instanceof FileError && error.reason === reason,
    );
  });

test("a whole file is read, wherever in memory it begins", () => {
  const moved = new Uint8Array(whole.length + 3);
  moved.set(whole, 3);
  const { description, tensors: read } = readNetwork(moved.subarray(3));
  assert.deepEqual(
    [description.config.cell, description.symbols.length + 1],
    ["rnn", description.config.vocabulary_size],
  );
  assert.equal(read[U].length, description.config.hidden_size ** 2);
  assert.deepEqual(Object.keys(readNetwork(changed(() => {})).tensors), Object.keys(read));
});

test("a packed text is read again, a damaged or long one is not", async () => {
  for (const written of ["machine", "", "“那日天色将晚” 🐒\n", "x".repeat(2000)])
    assert.equal(await unpack(await pack(written), 2000), written);
  assert.equal(await unpack("eJzLTUzOyMxLBQALUwLW", 2000), "machine"); // as rnnviz/ui/shell/address.py packs it
  assert.equal(await unpack("Hello", 2000), "Hello");
  for (const wrong of [
    "eJzLTUzOyMxLBQALUwL",
    "eJzLTUzOyMxLBQALUwLX",
    await pack("x".repeat(2001)),
    "x".repeat(2001),
  ])
    assert.equal(await unpack(wrong, 2000), null, wrong.slice(0, 30));
  assert.equal(await unpack(await pack("x".repeat(3_000_000)), 2000), null);
});

/** @type {any} */
const FIXED = {
  quantities: { hidden: {}, cell: {} },
  layers: 2,
  units: 10,
  named: [
    { quantity: "cell", layer: 1, unit: 3 },
    { quantity: "cell", layer: 0, unit: 10 }, // a weighted sum
  ],
  first: { quantity: "cell", layer: 1, unit: 3 },
  words: { "page.damaged": "damaged" },
};

test("an address says what the view shows, within the network's limits", async () => {
  const view = async (/** @type {string} */ query) => arrive(new URLSearchParams(query), FIXED);
  const first = { quantity: "cell", layer: 1, unit: 3, order: "steady" };
  assert.deepEqual((await view("text=Hello&at=2")).looks, first);
  assert.deepEqual((await view("unit=none")).looks, { ...first, unit: null });
  assert.deepEqual((await view("unit=7")).looks, { ...first, unit: 7 });
  assert.deepEqual((await view("unit=10&pin=2")).looks, { ...first, unit: 10 });
  assert.deepEqual((await view("unit=11")).looks, first);
  const hidden = { ...first, quantity: "hidden" };
  assert.deepEqual((await view("unit=10&quantity=hidden")).looks, hidden, "there is none of hidden states");
  assert.deepEqual((await view("layer=0")).looks, {
    quantity: "hidden",
    layer: 0,
    unit: null,
    order: "steady",
  });
  assert.deepEqual((await view("unit=99&layer=9&quantity=x&order=y")).looks, first);
  const { text, arrival } = await view("text=Hello&at=2&pin=1&why=1&rows=8&of=5000");
  assert.equal(text, "Hello");
  assert.deepEqual(
    { ...arrival },
    { ...first, memoryless: false, caret: 2, pin: 1, why: true, rows: 8, wrong: "", cut: 5000 },
  );
  const damaged = await view("text=eJzLTUzOyMxLBQALUwLX&at=-1&pin=1e3");
  assert.deepEqual([damaged.text, damaged.arrival.wrong], [null, "damaged"]);
  assert.deepEqual([damaged.arrival.caret, damaged.arrival.pin], [null, null]);
});

test("only the view's values make an address a bookmark", () => {
  assert.ok(isBookmark(new URLSearchParams("text=a")));
  assert.ok(!isBookmark(new URLSearchParams("model=a&lang=zh&present=1")));
});

// ---- what the page writes ----

test("a written network is read again, as it was", () => {
  const { description, tensors: stored } = readNetwork(whole);
  const card = { ...description.card, title: "é “道” 🎈" };
  const written = writeNetwork({ ...description, card }, stored);
  const size = Number(new DataView(written.buffer).getBigUint64(0, true));
  const header = written.subarray(8, 8 + size);
  assert.equal(size % 8, 0);
  assert.ok(header.every((byte) => byte < 128));
  assert.deepEqual(readNetwork(written), { description: { ...description, card }, tensors: stored });
});

test("no network is written with a tensor of another size", () => {
  const { description, tensors: stored } = readNetwork(whole);
  const short = { ...stored, "readout.bias": stored["readout.bias"].slice(1) };
  assert.throws(() => writeNetwork(description, short), /readout.bias/);
});
