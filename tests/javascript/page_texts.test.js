// A text on the page without a server: its file's encoding, and what is shown of its costs.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { FileError } from "../../rnnviz/page/safetensors.js";
import { MAX_TEXT_BYTES, mixLines, readText } from "../../rnnviz/page/text_file.js";
import { keepPasted, keptPasted, TextPage } from "../../rnnviz/page/text_page.js";
import { TextRecord } from "../../rnnviz/page/text_record.js";
import { ViewerAnswers } from "../../rnnviz/page/viewer_answers.js";
import { Numbers } from "../../rnnviz/ui/browser/static/number_format.js";
import { chunks } from "../../rnnviz/ui/pages/perplexity/static/chunks.js";

// ---- files ----

const bytes = (/** @type {(string | number[])[]} */ ...parts) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(/** @type {any} */ (part)))));
const chinese = bytes([0xc8, 0xcb, 0xd6, 0xae, 0xb3, 0xf5, 0xa3, 0xac, 0xd0, 0xd4, 0xb1, 0xbe, 0xc9, 0xc6]); // 人之初，性本善

/** @type {Record<string, [Uint8Array, string, string, string]>} */
const TEXTS = {
  "UTF-8": [bytes("Fräulein, 人之初"), "Fräulein, 人之初", "utf-8", "verified"],
  ASCII: [bytes("plain"), "plain", "utf-8", "verified"],
  "UTF-8 with a mark": [bytes([0xef, 0xbb, 0xbf], "é"), "é", "utf-8", "declared"],
  "UTF-16 little-endian": [bytes([0xff, 0xfe, 0x41, 0, 0xba, 0x4e]), "A人", "utf-16le", "declared"],
  "UTF-16 big-endian": [bytes([0xfe, 0xff, 0, 0x41, 0x4e, 0xba]), "A人", "utf-16be", "declared"],
  "GB18030 without a mark": [chinese, "人之初，性本善", "gb18030", "guessed"],
  "Windows-1252": [
    bytes("Caf", [0xe9], " na", [0xef], "ve"), // Node reads 0x80 to 0x9F as Latin-1, which no browser does
    "Café naïve",
    "windows-1252",
    "guessed",
  ],
  "accents before letters": [
    bytes("G", [0xe9], "t", [0xe9], ", na", [0xef], "f, p", [0xe8], "re"),
    "Gété, naïf, père",
    "windows-1252",
    "guessed",
  ],
  "letters like a picture's": [bytes("GIF89a is a format."), "GIF89a is a format.", "utf-8", "verified"],
};

for (const [kind, [content, text, encoding, certainty]] of Object.entries(TEXTS))
  test(`a file: ${kind}`, () => assert.deepEqual(readText(content), { text, encoding, certainty }));

test("the reader's choice of an encoding wins", () => {
  const { text, encoding, certainty } = readText(chinese, "windows-1252");
  assert.deepEqual([text.slice(0, 2), encoding, certainty], ["ÈË", "windows-1252", "declared"]);
});

/** @type {Record<string, [Uint8Array, string, Record<string, unknown>, string?]>} */
const REFUSED = {
  empty: [bytes(), "text.empty", {}],
  large: [new Uint8Array(MAX_TEXT_BYTES + 1), "text.large", { n: MAX_TEXT_BYTES + 1, most: MAX_TEXT_BYTES }],
  picture: [bytes([0x89], "PNG\r\n", [0x1a]), "text.data", { format: "PNG" }],
  photo: [bytes([0xff, 0xd8, 0xff, 0xe0, 0, 16]), "text.data", { format: "JPG" }],
  PDF: [bytes("%PDF-1.7 …"), "text.document", { format: "PDF" }],
  Word: [bytes("PK", [3, 4], " ".repeat(40), "word/document.xml"), "text.document", { format: "Office" }],
  archive: [bytes("PK", [3, 4], "a.txt"), "text.archive", { format: "ZIP" }],
  NUL: [bytes("abc", [0], "def"), "text.binary", { position: 3 }],
  "damaged UTF-8": [bytes("äöüß".repeat(9), [0xff], "äöü"), "text.damaged", { position: 72, byte: "FF" }],
  "cut-off UTF-8": [bytes("äöüß".repeat(9), [0xc3]), "text.damaged", { position: 72, byte: "C3" }],
  "another encoding than chosen": [
    bytes("caf", [0xe9]),
    "text.encoding",
    { encoding: "utf-8", position: 3, byte: "E9" },
    "utf-8",
  ],
};

for (const [kind, [content, reason, values, encoding]] of Object.entries(REFUSED))
  test(`a file that is refused: ${kind}`, () =>
    assert.throws(
      () => readText(content, encoding),
      (error) => {
        assert.ok(error instanceof FileError);
        assert.deepEqual([error.reason, error.values], [reason, values]);
        return true;
      },
    ));

test("lines are mixed each time alike, empty ones left out, equal ones together", () => {
  const lines = Array.from({ length: 40 }, (_, i) => `line ${i % 20}`);
  const mixed = mixLines(`${lines.slice(0, 20).join("\r\n")}\n\n${lines.slice(20).join("\r")}`);
  const found = mixed.split("\n");
  assert.equal(found.pop(), "", "each ends");
  assert.deepEqual(found.toSorted(), lines.toSorted());
  assert.notDeepEqual(found.slice(0, 3), lines.slice(0, 3));
  for (let i = 0; i < 40; i += 2) assert.equal(found[i], found[i + 1]);
  assert.equal(mixLines(lines.join("\n")), mixed);
  assert.equal(mixLines("a\u0003b"), "a\ufffdb\n", "the end of a text stands in none");
  assert.equal(mixLines("\n\n"), "");
});

// ---- costs ----

const golden = JSON.parse(
  execFileSync("python", ["-m", "tests.javascript.golden_records"], { encoding: "utf8", maxBuffer: 1 << 28 }),
);

/** @param {any} columns */
const recordOf = ({ codes, nll, rank, entropy }) =>
  new TextRecord({
    codes: Uint32Array.from(codes),
    nll: Float32Array.from(nll),
    rank: Int32Array.from(rank),
    entropy: Float32Array.from(entropy),
  });

/** @param {ArrayLike<number>} values @param {number[]} expected */
function assertClose(values, expected) {
  assert.equal(values.length, expected.length);
  expected.forEach((value, i) => assert.ok(Math.abs(values[i] - value) <= 2e-6 * Math.abs(value), `${i}`));
}

golden.forEach((/** @type {any} */ { columns, ...expected }, /** @type {number} */ n) => {
  const record = recordOf(columns);

  test(`text ${n}: the curve is the core's`, () => {
    const { position, running, rolling, window } = record.curve();
    assert.deepEqual([[...position], window], [expected.curve.position, expected.curve.window]);
    assertClose(running, expected.curve.running);
    assertClose(rolling, expected.curve.rolling);
  });

  test(`text ${n}: the most surprising passages are the core's`, () => {
    const passages = record.passages(20, 80);
    assert.deepEqual(
      passages.map(({ start, stop }) => [start, stop]),
      expected.passages.map((/** @type {number[]} */ passage) => passage.slice(0, 2)),
    );
    assertClose(
      passages.map(({ mean }) => mean),
      expected.passages.map((/** @type {number[]} */ passage) => passage[2]),
    );
  });

  test(`text ${n}: chunks, unknown characters and the table are the core's`, () => {
    const borders = Array.from({ length: record.count + 1 }, (_, i) => record.border(i));
    assert.deepEqual(borders, expected.borders);
    expected.chunks.forEach((/** @type {number} */ index, /** @type {number} */ i) =>
      assert.equal(record.chunkOf(97 * i), index),
    );
    assert.deepEqual(record.unknown(), expected.unknown);
    // As many digits restore a float32; of two such numbers each writes the one that it takes for nearer.
    const rows = (/** @type {string} */ csv) =>
      csv
        .split("\n")
        .map((row) => row.replace(/\d+\.\d+(?=,)/g, (digits) => String(Math.fround(Number(digits)))));
    assert.deepEqual(rows(record.csv().join("")), rows(expected.csv));
  });
});

test("the viewer's answers hold the asked chunks, a passage's cost and the difference of two networks", async () => {
  const record = recordOf(golden[3].columns);
  const other = recordOf({
    ...golden[3].columns,
    nll: golden[3].columns.nll.map((/** @type {number} */ cost) => 2 * cost),
  });
  const readings = [
    { name: "a", record },
    { name: "b", record: other },
  ];
  const answers = new ViewerAnswers(/** @type {any} */ ({ words: {} }), "digest", readings, async () => []);
  const first = await answers.answer({ fresh: true, seq: 1 });
  assert.deepEqual(
    [first.header.fixed?.names, first.header.spans[0]],
    [
      ["a", "b"],
      [0, 0, record.border(1)],
    ],
  );
  assert.equal(first.arrays.curveRunning1.length, first.arrays.curveAt.length);
  const { header, arrays } = await answers.answer({
    chunks: [2],
    digest: "digest",
    passage: [10, 30],
    at: 7,
    seq: 2,
  });
  assert.deepEqual(
    [header.fixed, header.expected, header.passage?.nats[1]],
    [undefined, { at: 7, lists: [] }, 2 * record.mean(10, 30)],
  );
  const [chunk] = chunks(header, arrays);
  const place = record.border(2);
  assert.deepEqual(
    [chunk.start, chunk.codes[0], chunk.nll[0]],
    [place, record.columns.codes[place], record.columns.nll[place]],
  );
  assert.equal(chunk.versus?.[0], chunk.nll[0]);
  assert.deepEqual(
    [chunk.rank[0], chunk.otherRank?.[0]],
    [Math.abs(record.columns.rank[place]), Math.abs(record.columns.rank[place])],
  );
});

// ---- sentences ----

/** @type {Record<string, [Record<string, number | null>, string[]]>} */
const SENTENCES = {
  usual: [{}, ["text.hesitated"]],
  stopped: [{ length: 2000 }, ["text.stopped", "text.hesitated"]],
  "unknown alone": [
    { perplexity: 9000, perplexity_known: null },
    ["text.all-unknown", "text.worse-than-guessing"],
  ],
  "some unknown": [{ perplexity: 8, perplexity_known: 5, unknown: 9 }, ["text.some-unknown"]],
  "worse than guessing": [{ perplexity: 99, perplexity_known: 99 }, ["text.worse-than-guessing"]],
  "below usual": [{ perplexity: 3, perplexity_known: 3 }, ["text.hesitated", "text.below-usual"]],
  "below usual, but short": [
    { perplexity: 3, perplexity_known: 3, characters: 99, length: 99 },
    ["text.hesitated"],
  ],
  magnified: [{ unsettled: 9 }, ["text.hesitated", "text.rounding"]],
};

for (const [kind, [given, names]] of Object.entries(SENTENCES))
  test(`the sentences on a text: ${kind}`, () => {
    const { length = 1000, ...figures } = given;
    const usual = { perplexity: 4.5, perplexity_known: 4.5, characters: 1000, unknown: 0, unsettled: 0 };
    const page = { phrase: (/** @type {string} */ name) => name, numbers: new Numbers("en") };
    const result = /** @type {any} */ ({ figures: { ...usual, ...figures }, length });
    const network = /** @type {any} */ ({ vocabularySize: 60, usualPerplexity: 4.24 });
    assert.deepEqual(TextPage.prototype.sentences.call(/** @type {any} */ (page), network, result), names);
  });

// ---- a reload ----

test("a pasted text is kept for a reload, unless it is long, another one is read, or storage is refused", () => {
  const kept = new Map();
  const storage = {
    getItem: (/** @type {string} */ name) => kept.get(name) ?? null,
    setItem: (/** @type {string} */ name, /** @type {string} */ text) => kept.set(name, text),
    removeItem: (/** @type {string} */ name) => kept.delete(name),
  };
  Object.defineProperty(globalThis, "sessionStorage", { configurable: true, value: storage });
  keepPasted("春江潮水");
  assert.equal(keptPasted(), "春江潮水");
  keepPasted("a".repeat(200_000));
  assert.equal(keptPasted().length, 200_000);
  keepPasted("a".repeat(200_001));
  assert.equal(keptPasted(), "");
  keepPasted("a");
  keepPasted("");
  assert.equal(keptPasted(), "");
  const refuse = () => {
    throw new DOMException("refused", "SecurityError");
  };
  Object.defineProperty(globalThis, "sessionStorage", { configurable: true, get: refuse });
  keepPasted("a");
  assert.equal(keptPasted(), "");
});
