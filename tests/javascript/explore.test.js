// What Explore knows of a text: windows put together from answers, running perplexity, and where colours stand; and
// what it says of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { makePhrase } from "../../rnnviz/ui/browser/static/messages.js";
import { Numbers } from "../../rnnviz/ui/browser/static/number_format.js";
import * as controls from "../../rnnviz/ui/pages/explore/static/controls.js";
import { edges } from "../../rnnviz/ui/pages/explore/static/editor.js";
import { axisDecades } from "../../rnnviz/ui/pages/explore/static/lines.js";
import { assemble, Column, Running, Store } from "../../rnnviz/ui/pages/explore/static/store.js";
import { countSpared, REWRITINGS } from "../../rnnviz/ui/pages/explore/static/suggestions.js";
import { TextBackground } from "../../rnnviz/ui/pages/explore/static/text_background.js";
import { windowWithin } from "../../rnnviz/ui/pages/explore/static/view.js";
import { windowAround } from "../../rnnviz/ui/pages/explore/static/visible_range.js";

/** @import { Answer, Arrays } from "../../rnnviz/ui/pages/explore/static/types" */

test("a column grows, and what follows a place is replaced", () => {
  const column = new Column(Float32Array);
  column.put(0, new Float32Array(3000).fill(1));
  column.put(10, [2, 3]);
  assert.equal(column.length, 12);
  assert.deepEqual([...column.data.subarray(8, 12)], [1, 1, 2, 3]);
});

test("running perplexity goes on from where it was", () => {
  const [whole, parts] = [new Running(), new Running()];
  const costs = [1, 2, 0.5, 3];
  whole.put(0, costs);
  parts.put(0, [1, 2, 9]);
  parts.put(2, costs.slice(2));
  for (let t = 0; t < 4; t++) assert.equal(parts.perplexity(t), whole.perplexity(t));
  assert.ok(Math.abs(whole.perplexity(3) - Math.exp(6.5 / 4)) < 1e-12);
});

test("a window is put together from old rows and fresh ones, wherever it moves", () => {
  const row = (/** @type {number} */ t) => [t, 100 + t];
  const rows = (/** @type {number[]} */ places) => Uint8Array.from(places.flatMap(row));
  const range = (/** @type {number} */ a, /** @type {number} */ b) =>
    Array.from({ length: b - a }, (_, i) => a + i);
  for (const [origin, stop, start, end] of [
    [0, 10, 4, 14],
    [6, 16, 2, 12],
    [3, 6, 0, 20],
    [0, 5, 0, 5],
    [0, 4, 9, 12],
  ]) {
    const [low, high] = [Math.max(origin, start), Math.min(stop, end)];
    const oldRows = high > low ? [low, high] : [0, 0];
    const fresh = range(start, end).filter((t) => t < oldRows[0] || t >= oldRows[1]);
    const assembled = assemble(
      rows(range(origin, stop)),
      origin,
      rows(fresh),
      2,
      start,
      end,
      oldRows[0],
      oldRows[1],
    );
    assert.deepEqual([...assembled], [...rows(range(start, end))]);
  }
});

/** An answer about "ab", two units, two known symbols. @param {Partial<Answer>} header @param {Partial<Arrays>} arrays */
function answer(header = {}, arrays = {}) {
  const themes = { light: { diverging: Array(255).fill("#000000") } };
  const fixed = {
    themes,
    units: 2,
    listedNext: 2,
    steadyUnits: 2,
    named: [],
    unnamed: "",
    symbols: ["a", "b"],
    quantities: { hidden: { kind: "diverging", low: -1, high: 1 } },
  };
  const head = {
    fixed,
    digest: "d",
    heldRows: 0,
    length: 2,
    revision: 1,
    start: 0,
    stop: 2,
    heldColumns: [0, 0],
    heldUnitRows: 0,
    quantity: "hidden",
  };
  const usual = {
    ids: Uint32Array.of(1, 0),
    nll: Float32Array.of(Math.LN2, 2 * Math.LN2),
    states: Uint8Array.of(0, 127, 254, 127),
    next: Uint32Array.of(1, 2, 2, 1, 1, 0),
    chances: Float32Array.of(0.5, 0.25, 0.75, 0.125, 0.5, 0.5),
    entropy: Float32Array.of(Math.LN2, 0, 0),
  };
  return /** @type {[Answer, Arrays]} */ (
    /** @type {unknown} */ ([
      { ...head, ...header },
      { ...usual, ...arrays },
    ])
  );
}

test("an answer is taken in, and one that continues what never arrived is not", () => {
  const store = new Store();
  assert.ok(!store.apply(...answer({ heldRows: 1 })));
  assert.ok(!store.apply(...answer({ fixed: undefined })));
  assert.ok(store.apply(...answer()));
  assert.ok(!store.apply(...answer({ fixed: undefined, digest: "other" })));
  assert.deepEqual(
    [Math.round(store.bits(0)), store.isUnknown(1), store.symbol(2), store.symbol(0)],
    [1, true, "b", ""],
  );
  assert.deepEqual(store.expected(1), [
    { id: 2, p: 0.75 },
    { id: 1, p: 0.125 },
  ]);
  assert.deepEqual(
    [Math.round(store.entropy(0)), store.value(0, 0), store.value(1, 0), store.value(0, 1)],
    [1, -1, 1, 0],
  );
  assert.ok(store.holds(2) && !store.holds(3));
});

test("a value is told exactly where the answer has it, and as a bound where the colours end before it", () => {
  const store = new Store();
  const [header, arrays] = answer({ unit: 1, step: { at: 0, cell: 1.855 }, quantity: "cell", layer: 0 });
  store.apply(header, arrays);
  store.fixed.reach = { cell: [[[1, 2]], [[1.5, 2]]] };
  store.fixed.quantities.cell = { kind: "diverging", low: -3, high: 3 };
  const describe = (/** @type {number} */ t, /** @type {number} */ unit) =>
    store.describeValue(t, unit, String);
  assert.deepEqual(
    [describe(0, 0), describe(1, 0), describe(0, 1), describe(1, 1)],
    ["≤ -1", "≥ 1.5", "1.855", "0"],
  );
  store.header.quantity = "hidden"; // of these ±1 is the end itself
  assert.deepEqual([describe(0, 0), describe(1, 0)], ["-1", "1"]);
});

test("an answer that continues another than the last one is not taken in", () => {
  const store = new Store();
  const next = { fixed: undefined, heldRows: 1 };
  store.apply(...answer({ revision: 4 }));
  assert.ok(!store.apply(...answer({ ...next, revision: 4 })));
  assert.ok(!store.apply(...answer({ ...next, revision: 6 })));
  assert.ok(store.apply(...answer({ ...next, revision: 5 })));
  assert.ok(store.apply(...answer({ ...next, heldRows: 0, revision: 9 }))); // whole
  store.revision = 0; // all of it was asked anew
  assert.ok(!store.apply(...answer({ ...next, revision: 1 })));
});

test("units and rows are each other's inverse in any order", () => {
  const store = new Store();
  store.apply(...answer({}, { unitOfRow: Uint16Array.of(1, 0) }));
  assert.deepEqual(
    [0, 1].map((row) => store.unitRow(store.unitAt(row))),
    [0, 1],
  );
  assert.equal(store.unitAt(0), 1);
});

test("what was typed leaves the colours before and behind it where they are", () => {
  assert.deepEqual(edges([..."the cat"], [..."the fat cat"]), [4, 3]);
  assert.deepEqual(edges([..."same"], [..."same"]), [4, 0]);
});

/** A text area of lines of ten characters, each 8 × 20 pixels, of which five lines can be seen; how often it was asked. */
function tinted() {
  const measured = { count: 0 };
  let data = "\u200b";
  /** @type {number} */
  let at;
  const rect = (/** @type {number} */ i) => {
    const [left, top] = [(i % 10) * 8, Math.floor(i / 10) * 20];
    return { left, top, right: left + 8, bottom: top + 20 };
  };
  const range = {
    setStart: (/** @type {unknown} */ _, /** @type {number} */ i) => {
      at = i;
    },
    setEnd() {},
    getBoundingClientRect: () => {
      measured.count++;
      return rect(at);
    },
  };
  const node = {
    replaceData: (/** @type {number} */ from, /** @type {number} */ count, /** @type {string} */ text) => {
      data = data.slice(0, from) + text + data.slice(from + count);
    },
  };
  Object.assign(globalThis, { document: { createTextNode: () => node, createRange: () => range } });
  const area = { scrollTop: 0, clientWidth: 80, clientHeight: 100 };
  const mirror = { replaceChildren() {}, getBoundingClientRect: () => rect(0), clientLeft: 0, clientTop: 0 };
  const marks = { hover: { hidden: true }, pin: { hidden: true } };
  const parts =
    /** @type {[HTMLTextAreaElement, HTMLElement, HTMLCanvasElement, Record<"hover" | "pin", HTMLElement>]} */ (
      /** @type {unknown} */ ([area, mirror, {}, marks])
    );
  const tint = new TextBackground(...parts);
  const type = (/** @type {string} */ text) => {
    const points = [...text];
    const astral = points.length !== text.length;
    tint.follow(text, points, astral, ...edges(tint.characters, points));
    tint.measure();
  };
  tint.reset();
  return { tint, type, asked: measured, text: () => data };
}

test("the mirror holds the text, also with pairs of UTF-16 units", () => {
  const { type, text } = tinted();
  for (const typed of ["a", "a👩b", "x👩b", "x👩b🇫🇷!", "👩", ""]) {
    type(typed);
    assert.equal(text(), `${typed}\u200b`);
  }
});

test("only what can be seen is measured, and one more key asks for a line or two", () => {
  const { tint, type, asked: measured } = tinted();
  type("x".repeat(5000));
  assert.ok(measured.count < 90, `${measured.count}`);
  type("x".repeat(40));
  measured.count = 0;
  type("x".repeat(41));
  assert.ok(measured.count <= 21, `${measured.count}`);
  assert.equal(tint.boxes.length, 41);
});

test("after scrolling far the first character in sight is found by halving", () => {
  const { tint, type, asked: measured } = tinted();
  type("x".repeat(5000));
  measured.count = 0;
  tint.scroll = 4000;
  tint.measure();
  assert.ok(measured.count < 150, `${measured.count}`);
  assert.ok(tint.first <= 2000 && tint.first > 1900);
  assert.ok(tint.boxes[0][1] <= 4000 && (tint.boxes.at(-1)?.[3] ?? 0) >= 4100);
});

test("a window stands still while the caret is in sight, and shows it wherever it goes", () => {
  assert.equal(windowAround(0, 20, 10, 3), 0);
  assert.equal(windowAround(30, 20, 100, 40), 30);
  assert.equal(windowAround(30, 20, 100, 100), 80);
  for (let caret = 0; caret <= 100; caret++)
    for (const start of [0, 30, 80]) {
      const first = windowAround(start, 20, 100, caret);
      assert.ok(first >= 0 && first <= 80);
      assert.ok(caret >= first && caret <= first + 20);
    }
});

test("a window begins where it is asked to, or as near as there is text", () => {
  assert.deepEqual(
    [-3, 0, 5, 80, 81].map((start) => windowWithin(start, 20, 0, 100)),
    [0, 0, 5, 80, 80],
  );
  assert.equal(windowWithin(5, 20, 0, 10), 0); // all of a short text
  assert.equal(windowWithin(5, 20, 30, 100), 30);
});

const numbers = new Numbers("en");
const words = (/** @type {string} */ name, values = {}) => [name, ...Object.values(values)].join(" ");

test("network and counts are compared only where one is clearly ahead", () => {
  /** @param {number} ratio of the perplexities @param {{ cell?: string, foreign?: string, length?: number }} [more] */
  const sentence = (ratio, { cell = "gru", foreign = "", length = 2 } = {}) => {
    const [networkRunning, ngramRunning] = [new Running(), new Running()];
    networkRunning.put(0, [1, 2]);
    ngramRunning.put(0, [1 + Math.log(ratio) / 2, 2 + 1.5 * Math.log(ratio)]);
    const store = { fixed: { cell, order: 6 }, header: { foreign }, length, ngramRunning, networkRunning };
    return controls.compareWithCounts(/** @type {any} */ (store), words);
  };
  assert.equal(sentence(1.06), "notice.ahead 6 5");
  assert.deepEqual([sentence(1.04), sentence(1), sentence(1 / 1.04)], ["", "", ""]);
  assert.equal(sentence(1 / 1.06), "notice.behind 6 5");
  assert.equal(sentence(1 / 1.06, { cell: "mlp" }), "notice.behind.mlp 6 5");
  assert.deepEqual(
    [sentence(2, { cell: "mlp" }), sentence(2, { length: 1 })],
    ["notice.ahead 6 5", "notice.ahead 6 5"],
  );
  assert.deepEqual([sentence(2, { foreign: "unknown" }), sentence(2, { length: 0 })], ["", ""]);
});

test("another writing is offered by the unknown characters that it spares", () => {
  const symbols = [..." aeitscf'\"-.é"];
  /** @param {string} text @param {string} [folded] characters that the network reads as others */
  const offered = (text, folded = "") => {
    const list = Array.from(text);
    const isUnknown = (/** @type {number} */ t) => !symbols.includes(list[t]) && !folded.includes(list[t]);
    return countSpared(list, isUnknown, symbols).map(({ name, n }) => `${name} ${n}`);
  };
  assert.deepEqual(offered("it's a cafe"), []);
  assert.deepEqual(offered("“it’s” — a cat…"), ["straight 3", "plain 2"]);
  assert.deepEqual(offered("“it’s”", "“”’"), []);
  assert.deepEqual(offered("cafe\u0301 “s”", "“”"), ["composed 1"]);
  assert.deepEqual(offered("e\u0308 i\u0308 道"), []); // unknown in either writing
  assert.equal(REWRITINGS.plain("a\u00a0— …–"), "a -- ...-");
});

test("what a character rests on is the earlier one without which it costs most", () => {
  /** @param {number[] | null} bits of the earlier characters @param {number} [at] */
  const sentence = (bits, at) =>
    controls.whySentence(
      /** @type {any} */ ({ header: { occlusionAt: at }, occlusion: bits && Float32Array.from(bits) }),
      [..."at the cat"],
      numbers,
      makePhrase({ "why.most": "{c}: {most}, {bits}", "why.none": "{c}: none", "why.first": "{c}: first" }),
    );
  assert.equal(sentence([0.5, 2, -3], 9), "t: c, 2.00");
  assert.equal(sentence([1, 1, 0.2, 1], 6), "·: ·, 1.00"); // the first of equals: the space before "the"
  assert.equal(sentence([0.0051], 1), "t: a, 0.01");
  assert.equal(sentence([0.0049], 1), "t: none");
  assert.equal(sentence([-1, -2], 2), "·: none");
  assert.equal(sentence([], 0), "a: first");
  assert.deepEqual([sentence(null, 3), sentence([1])], ["why.help", "why.help"]);
});

test("a unit's step is a sum in words, whose shares and values add up as they are shown", () => {
  /** @param {Record<string, number>} step @param {string} words */
  const equation = (step, words) => makePhrase({ said: words })("said", controls.stepTerms(step, numbers));
  const gru = "keep {update} of {before}, add {rest} of {candidate}: now {hidden}";
  const lstm =
    "keep {forget} of {cell_before}, add {input} of {candidate}: now {cell}; {output} of {tanh}: {hidden}";
  const cell = 0.17 * -1.62 + 0.07 * 0.87;
  const step = { forget: 0.17, cell_before: -1.62, input: 0.07, candidate: 0.87, cell, output: 0.5 };
  assert.equal(
    equation({ ...step, hidden: 0.5 * Math.tanh(cell) }, lstm),
    "keep 17 % of −1.62, add 7 % of 0.87: now −0.21; 50 % of −0.21: −0.11",
  );
  assert.equal(
    equation({ update: 0.2, before: -0.5, candidate: 0.5, hidden: 0.3 }, gru),
    "keep 20 % of −0.50, add 80 % of 0.50: now 0.30",
  );
  const near = { update: 0.9973, before: 0.2956, candidate: -0.98 };
  assert.equal(
    equation({ ...near, hidden: 0.9973 * 0.2956 - 0.0027 * 0.98 }, gru),
    "keep 99.7 % of 0.296, add 0.3 % of −0.980: now 0.292",
  );
  // Whole percents of a large state would not add up.
  const large = {
    forget: 0.994,
    cell_before: 8,
    input: 0.5,
    candidate: 0.1,
    cell: 8.002,
    output: 0,
    hidden: 0,
  };
  assert.match(equation(large, lstm), /^keep 99\.4 % of 8\.00, add 50\.0 % of 0\.10: now 8\.00;/);
  assert.doesNotMatch(equation(large, lstm), /\d [%]|·/); // a number and its sign stay on one line
  assert.equal(
    equation({ before: 0.1, hidden: 0.2 }, "before {before}, now {hidden}"),
    "before 0.10, now 0.20",
  );
});

test("a weighted sum's row has its name in each layer, and its step the units that moved it", () => {
  const store = new Store();
  const [header, arrays] = answer({ layer: 1 }, { states: new Uint8Array(6) });
  const named = { name: "Speech", unit: 2, layer: 0, quantity: "hidden" };
  /** @type {any} */ (header.fixed).named = [named, { ...named, name: "Line", quantity: "cell" }];
  store.apply(header, arrays);
  const phrase = makePhrase({ "colour.unit": "unit {n}" });
  assert.deepEqual(
    [1, 2].map((unit) => store.rowName(unit, phrase)),
    ["unit 1", "Speech"],
  );
  const said = makePhrase({ said: "{name}: {units}, {before} to {now} by {moves}" });
  const step = { at: 3, before: -0.2, hidden: 1.1 };
  assert.equal(
    said(
      "said",
      controls.weightedTerms(
        named,
        1384,
        step,
        [
          [7, 0.456],
          [0, -0.1],
          [9, 0],
        ],
        numbers,
      ),
    ),
    "Speech: 1,384, −0.20 to 1.10 by 7 (+0.46), 0 (−0.10), 9 (0.00)",
  );
});

test("a scale's ends have signs where it has two sides, and no numbers where each unit has its own", () => {
  const ends = (/** @type {number} */ low, /** @type {number} */ high, perUnit = false) =>
    controls.scaleEnds({ low, high }, perUnit, numbers, words);
  assert.deepEqual(ends(-1, 1), ["−1", "+1"]);
  assert.deepEqual(ends(0, 1.5), ["0", "1.5"]);
  assert.deepEqual(ends(-3, 0), ["−3", "0"]);
  assert.deepEqual(ends(-3, 3, true), ["low", "high"]);
});

test("a window's place counts from 1 and ends with the text", () => {
  assert.deepEqual(numbers.window(0, 24, 1000), { from: "1", to: "24", n: "1,000" });
  assert.deepEqual(numbers.window(990, 1014, 1000), { from: "991", to: "1,000", n: "1,000" });
});

test("the axis of perplexities ends above a uniform guess, at ten thousand at least", () => {
  const store = (/** @type {number} */ V) => /** @type {Store} */ ({ fixed: { symbols: Array(V - 1) } });
  assert.equal(axisDecades(store(89)), 4);
  assert.equal(axisDecades(store(10_000)), 5);
});
