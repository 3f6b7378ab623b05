// The kit's logic: text as code points, numbers, words, the wire and the conversation.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameLimiter } from "../../rnnviz/ui/browser/static/animation_frames.js";
import * as characters from "../../rnnviz/ui/browser/static/characters.js";
import { enter } from "../../rnnviz/ui/browser/static/component.js";
import { columnAt, Heat, rowAt } from "../../rnnviz/ui/browser/static/heat.js";
import { fill, makePhrase } from "../../rnnviz/ui/browser/static/messages.js";
import { Numbers, raised } from "../../rnnviz/ui/browser/static/number_format.js";
import { unpack } from "../../rnnviz/ui/browser/static/payload.js";
import { luma } from "../../rnnviz/ui/browser/static/theme.js";

test("a place in UTF-16 units and one in characters are each other's inverse", () => {
  for (const text of ["", "abc", "a👩‍👩‍👧b", "水🇫🇷é", "\ud83d lone"]) {
    const points = Array.from(text);
    const astral = points.length !== text.length;
    for (let t = 0; t <= points.length; t++) {
      const unit = points.slice(0, t).join("").length;
      assert.equal(characters.toUtf16Index(text, t, astral), unit);
      assert.equal(characters.toCharacterIndex(text, unit, astral), t);
    }
  }
});

test("a text is what the server would make of it", () => {
  assert.equal(characters.clean("a\r\nb\rc\nd"), "a\nb\nc\nd");
  assert.equal(characters.clean("\ud83d!"), "\ufffd!");
});

test("every character can be seen where it stands alone", () => {
  const marks = {
    " ": "·",
    "\n": "⏎",
    "\t": "⇥",
    "\u0001": "\u2401",
    "\u0301": "\u25cc\u0301",
    "\u200b": "U+200B",
    a: "a",
    "": "",
  };
  for (const [character, mark] of Object.entries(marks)) assert.equal(characters.visible(character), mark);
});

test("in running text a line break breaks, what turns letters round is named, and emoji stay whole", () => {
  const texts = {
    10: "⏎\n",
    9: "\t",
    1: "\u2401",
    65: "A",
    160: "\u00a0",
    173: "‹00AD›",
    8238: "‹202E›",
    8205: "\u200d",
  };
  for (const [code, text] of Object.entries(texts)) assert.equal(characters.runningMark(Number(code)), text);
});

test("what two texts share at their ends never overlaps", () => {
  const [short, long] = ["aaa", "aaaa"].map((text) => Array.from(text));
  const start = characters.commonPrefix(short, long);
  assert.deepEqual([start, characters.commonSuffix(short, long, start)], [3, 0]);
  assert.equal(characters.commonSuffix([..."the cat"], [..."the fat"], 4), 2);
});

test("numbers follow the app's language, not the browser's", () => {
  const [english, german] = [new Numbers("en"), new Numbers("de")];
  assert.equal(english.whole(1234567), "1,234,567");
  assert.equal(german.whole(1234567), "1.234.567");
  assert.equal(german.fixed(-0.5), "−0,50");
  assert.deepEqual(
    [4.184, 134.23, 12345.6, 98_712_345].map((x) => english.number(x)),
    ["4.18", "134.2", "12,346", "98.7 million"],
  );
  assert.equal(english.rough(0.0012345), "0.00123");
});

test("a minus is a minus, zero has none, and what isn't there is a dash", () => {
  const numbers = new Numbers("en");
  assert.deepEqual(
    [-1.5, -0.001, 0].map((x) => numbers.fixed(x)),
    ["−1.50", "0.00", "0.00"],
  );
  assert.deepEqual(
    [null, undefined, Number.NaN].map((x) => numbers.number(x)),
    ["–", "–", "–"],
  );
  assert.equal(numbers.number(Infinity), "–");
  assert.equal(numbers.rough(null), "–");
});

test("a probability is said however small it is", () => {
  const numbers = new Numbers("en");
  const percents = [1, 0.9996, 0.5, 0.012, 0.0004, 3e-7, 0].map((p) => numbers.percent(p));
  assert.deepEqual(percents, ["100 %", "100 %", "50.0 %", "1.2 %", "0.04 %", "≈ 10⁻⁷", "0 %"]);
  assert.deepEqual(
    [1, 0.5, 0.05, 0.0004].map((p) => numbers.share(p)),
    ["100 %", "50 %", "5.0 %", "< 0.1 %"],
  );
});

test("large and tiny numbers are powers of ten", () => {
  const numbers = new Numbers("en");
  assert.deepEqual(
    [0, 12345, 0.25, 1.25e-16, -3e9].map((x) => numbers.power(x)),
    ["0", "12,345", "0.25", "1.3 × 10⁻¹⁶", "−3.0 × 10⁹"],
  );
  assert.equal(raised(-120), "⁻¹²⁰");
});

test("braces are filled, and those that nobody knows are left", () => {
  assert.equal(fill("{a} of {b}, {c}", { a: 1, b: "{a}" }), "1 of {a}, {c}");
  const phrase = makePhrase({ at: "character {n}" });
  assert.equal(phrase("at", { n: 3 }), "character 3");
  assert.equal(phrase("nothing"), "nothing");
});

test("a background is light or dark as the eye sees it", () => {
  assert.ok(
    luma("#ffffff") > 0.99 && luma("#12191e") < 0.1 && luma("#ffff00") > 0.5 && luma("#0000ff") < 0.5,
  );
});

/** A block as rnnviz/page/payload.py packs it. @param {object} header @param {Uint8Array[]} parts */
function pack(header, parts) {
  let text = JSON.stringify(header);
  while ((new TextEncoder().encode(text).length + 4) % 8) text += " ";
  const head = new TextEncoder().encode(text);
  const length = new Uint8Array(Uint32Array.of(head.length).buffer);
  return Uint8Array.from([length, head, ...parts].flatMap((part) => [...part]));
}

test("the wire's arrays arrive with their types and shapes, wherever the block lies in memory", () => {
  const floats = new Uint8Array(Float32Array.of(1.5, -2).buffer);
  const directory = { x: ["f4", [2, 1], 0], y: ["u1", [3], 8] };
  const block = pack({ said: "é", arrays: directory }, [floats, Uint8Array.of(7, 8, 9)]);
  const moved = new Uint8Array([0, ...block]).subarray(1); // at an odd address
  const { header, arrays } = unpack(moved);
  assert.deepEqual(header, { said: "é" });
  assert.deepEqual([...arrays.x], [1.5, -2]);
  assert.deepEqual(arrays.x.shape, [2, 1]);
  assert.ok(arrays.x instanceof Float32Array && arrays.y instanceof Uint8Array);
  assert.deepEqual([...arrays.y], [7, 8, 9]);
});

test("a pixel of the heat map belongs to the column and the row that are painted there", () => {
  for (const [W, columns] of [
    [1000, 24],
    [1295, 96],
    [720, 84],
    [200, 24],
    [37, 50],
  ])
    for (let i = 0; i < columns; i++)
      for (let x = Math.round((i * W) / columns); x < Math.round(((i + 1) * W) / columns); x++)
        assert.equal(columnAt(x, W, columns), i);
  const rows = { from: 3, count: 7 };
  const seen = Array.from({ length: 100 }, (_, y) => rowAt(y, 100, rows));
  assert.deepEqual([...new Set(seen)], [3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(seen, seen.toSorted());
});

test("what comes faster than frames is drawn once a frame, the last of it too", (context) => {
  /** @type {(() => void)[]} */
  const waiting = [];
  Object.assign(globalThis, {
    requestAnimationFrame: (/** @type {() => void} */ call) => waiting.push(call),
    cancelAnimationFrame: () => waiting.splice(0),
  });
  context.after(() => Object.assign(globalThis, { requestAnimationFrame: undefined }));
  let [value, painted, draws] = [0, 0, 0];
  const frames = new FrameLimiter(() => {
    painted = value;
    draws++;
  });
  for (value = 1; value < 4; value++) frames.ask();
  value = 3;
  assert.deepEqual([painted, draws], [1, 1]); // at once
  waiting.shift()?.();
  assert.deepEqual([painted, draws], [3, 2]);
  waiting.shift()?.();
  assert.deepEqual([painted, draws, waiting.length], [3, 2, 0]); // nothing new: no frame more
  frames.ask();
  frames.close();
  assert.equal(waiting.length, 0);
});

test("a heat map's pixels are those of their units, and their means where several share one", (context) => {
  /** @type {any} */
  let painted;
  const pen = {
    setTransform: () => {},
    createImageData: (/** @type {number} */ w, /** @type {number} */ h) => ({
      width: w,
      height: h,
      data: new Uint8ClampedArray(4 * w * h),
    }),
    putImageData: (/** @type {any} */ image) => {
      painted = new Uint32Array(image.data.buffer);
    },
  };
  const style = { setProperty: () => {} };
  const canvas = /** @type {any} */ ({ width: 0, height: 0, style, getContext: () => pen });
  Object.assign(globalThis, { window: { devicePixelRatio: 1 } });
  context.after(() => Object.assign(globalThis, { window: undefined }));
  const colours = Array.from({ length: 9 }, (_, i) => `#00000${i}`);
  const states = Uint8Array.from([0, 2, 4, 8, 1, 3, 5, 7, 8, 8, 0, 0]); // 3 characters, 4 units
  const store = /** @type {any} */ ({
    states,
    unitOfRow: Uint16Array.from([3, 2, 1, 0]),
    start: 0,
    units: 4,
  });
  for (const [height, rows] of /** @type {const} */ ([
    [7, { from: 0, count: 4 }],
    [2, { from: 0, count: 4 }],
    [5, { from: 1, count: 2 }],
  ])) {
    const view = { first: 0, last: 3, columns: 4, rows, width: 10, height, strip: 1 };
    new Heat(canvas, canvas).draw(store, view, colours, "#ffffff");
    for (let y = 0; y < height; y++)
      for (let x = 0; x < 10; x++) {
        const t = columnAt(x, 10, 4);
        const from = rowAt(y, height, rows);
        const shared = Math.max(from + 1, rowAt(y + 1, height, rows)) - from;
        const mean =
          [...Array(shared).keys()].reduce((sum, i) => sum + states[4 * t + 3 - from - i], 0) / shared;
        const blue = (painted[10 * y + x] >>> 16) & 255;
        assert.equal(blue, t < 3 ? Math.round(mean) : 255, `${height}: ${x}, ${y}`);
      }
  }
});

test("a view is mounted again where one was shown, hidden until it is laid out; a call that was overtaken ends nothing", (context) => {
  Object.assign(globalThis, { document: { createElement: () => ({ append() {} }) } });
  context.after(() => Object.assign(globalThis, { document: undefined }));
  const root = /** @type {any} */ ({ hidden: true, innerHTML: "", before: () => {} });
  const parent = { querySelector: () => root };
  /** @type {unknown[]} */
  const begun = [];
  let closed = 0;
  class View {
    /** @param {{ hidden: boolean }} place */
    constructor(place) {
      this.root = place;
      begun.push(place.hidden);
    }
    /** @param {unknown} memory */
    recall(memory) {
      begun.push(memory);
    }
    memory = () => "what was here";
    close = () => {
      closed++;
    };
    update() {
      this.root.hidden = false;
    }
  }
  const look = { root: "place", styles: "", markup: "" };
  const mount = () => enter(/** @type {any} */ ({ parentElement: parent }), /** @type {any} */ (View), look);
  mount()();
  const overtaken = mount();
  mount();
  overtaken(); // as Streamlit does once the modules are there
  assert.deepEqual(begun, [true, undefined, true, "what was here"]);
  assert.equal(closed, 1);
});
