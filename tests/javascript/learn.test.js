// The lecture's stage: its size, colours, sliders, arrows and plots.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as board from "../../rnnviz/ui/pages/learn/static/board.js";
import * as primitives from "../../rnnviz/ui/pages/learn/static/primitives.js";
import { pieces } from "../../rnnviz/ui/pages/learn/static/sketch.js";

// Whether motion is reduced is asked once, when the view's modules are read.
Object.assign(globalThis, { window: { matchMedia: () => ({ matches: true }) } });
const view = await import("../../rnnviz/ui/pages/learn/static/view.js");

/** @param {ArrayLike<number>} values @param {number[]} expected */
function near(values, expected) {
  assert.equal(values.length, expected.length);
  expected.forEach((value, i) => {
    assert.ok(Math.abs(values[i] - value) < 1e-9, `${Array.from(values)} for ${expected}`);
  });
}

test("letters are as large as both sides of the stage allow, and never too small", () => {
  const sizes = [view.typeSize(1240, 540), view.typeSize(2480, 810), view.typeSize(1860, 9999)];
  near([...sizes, view.typeSize(620, 540), view.typeSize(1240, 5)], [22, 33, 33, 14.96, 14.96]);
});

test("no line begins with a percent sign", () => {
  assert.equal(view.unbroken("5 % of 10 %, %"), "5\u00a0% of 10\u00a0%,\u00a0%");
});

test("a value has its colour, and what is beyond the scale that of its end", () => {
  const ramp = [..."abcde"];
  const colours = (
    /** @type {number[]} */ values,
    /** @type {number} */ full,
    /** @type {boolean} */ centred,
  ) => values.map((value) => board.shade(ramp, value, full, centred)).join("");
  assert.equal(colours([-9, -2, -1, 0, 1, 2, 9, NaN], 2, true), "aabcdeec");
  assert.equal(colours([-1, 0, 1, 2, 3, 4, 9, NaN], 4, false), "aabcdeec");
  assert.equal(colours([-1.2, -0.8, 0.8, 1.2], 2, true), "bbdd");
  assert.equal(board.shade([..."abcdefghijk"], NaN, 1, true), "f");
});

test("letters are dark on light colours and light on dark ones, as the eye sees them", () => {
  const [dark, light] = [
    ["#ffffff", "#00ff00", "#ff00ff", "#8c8c8c"],
    ["#000000", "#ff0000", "#0000ff", "#8a8a8a"],
  ];
  for (const colour of dark) assert.equal(board.inkOn(colour), "dark", colour);
  for (const colour of light) assert.equal(board.inkOn(colour), "light", colour);
});

test("a playing slider goes on in growing steps, ends at its end, and begins again", () => {
  const steps = [0, 10, 50, 98, 99, 100].map((value) => board.nextValue(value, -3, 100, 1));
  assert.deepEqual(steps, [1, 11, 54, 100, 100, -3]);
  near(
    [board.nextValue(20, 0, 100, 5), board.nextValue(100, 0, 200, 1), board.nextValue(10, 0, 100, 0.5)],
    [25, 108, 11],
  );
});

test("a slider's values have the decimals of its step", () => {
  assert.deepEqual([1, 0.5, 0.05, 25].map(board.decimals), [0, 1, 2, 0]);
});

test("another seed is one that has not been there", () => {
  assert.deepEqual([0, 3, 996].map(board.nextSeed), [3, 24, 993]);
  const seen = new Set();
  for (let seed = 0, i = 0; i < 100; i++, seed = board.nextSeed(seed)) seen.add(seed);
  assert.equal(seen.size, 100);
});

test("a picture that overflows shrinks until it fits, down to a least size", () => {
  const shrunk = (/** @type {number} */ scrollWidth, /** @type {number} */ scrollHeight, size = 1) =>
    primitives.shrunkSize({ clientWidth: 100, clientHeight: 200, scrollWidth, scrollHeight }, size);
  assert.deepEqual([shrunk(100, 200), shrunk(125, 200, 0.66)], [null, null]);
  near([shrunk(125, 200), shrunk(100, 250, 0.9), shrunk(300, 200)].map(Number), [0.792, 0.7128, 0.66]);
});

/** @param {number} x @param {number} y @param {number} width @param {number} height */
function box(x, y, width, height) {
  return /** @type {DOMRect} */ ({ x, y, width, height, right: x + width, bottom: y + height });
}

/** The numbers of an SVG path. @param {string} path */
const places = (path) => (path.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);

test("an arrow goes from edge to edge of two boxes, with its tip at the second", () => {
  const arrow = (/** @type {DOMRect} */ a, /** @type {DOMRect} */ b) => {
    const { line, tip } = primitives.arrowPaths(box(10, 20, 900, 900), a, b);
    return [places(line), places(tip)];
  };
  const [along, right] = arrow(box(10, 20, 20, 30), box(110, 20, 40, 30));
  near(along, [25, 15, 86, 15]);
  near(right, [95, 15, 82, 21, 82, 9]);
  const [upright, up] = arrow(box(10, 120, 20, 20), box(10, 20, 20, 40));
  near(upright, [10, 95, 10, 54]);
  near(up, [10, 45, 16, 58, 4, 58]);
  const [slanted, tip] = arrow(box(5, 15, 10, 10), box(305, 415, 10, 10));
  near(slanted, [7.5, 10, 287.1, 382.8]);
  near(tip, [292.5, 390, 279.9, 383.2, 289.5, 376]);
  near(arrow(box(305, 415, 10, 10), box(5, 15, 10, 10))[0], [292.5, 390, 12.9, 17.2]);
  const same = box(10, 20, 20, 20);
  near(arrow(same, same)[1], [10, 10, 10, 10, 10, 10]);
});

test("an arrow's name stands between its boxes, and beside an upright one", () => {
  const a = box(0, 0, 20, 20);
  assert.deepEqual(primitives.arrowNamePlace(a, box(100, 10, 40, 20)), { upright: false, left: 60, top: 15 });
  assert.deepEqual(primitives.arrowNamePlace(box(100, 0, 40, 20), a), { upright: false, left: 60, top: 10 });
  assert.deepEqual(primitives.arrowNamePlace(a, box(0, 100, 20, 40)), { upright: true, left: 10, top: 60 });
  const upright = [3, 4, -3, -4].map(
    (aside) => primitives.arrowNamePlace(a, box(aside, 100, 20, 20)).upright,
  );
  assert.deepEqual(upright, [true, false, true, false]);
});

test("an entry is what was typed, in any notation and within its limits", () => {
  const entered = (/** @type {string} */ typed) => primitives.enteredNumber(typed, 0.5, 2);
  assert.deepEqual(["−1,5", "1.237", "12", "-12", "0"].map(entered), [-1.5, 1.24, 9.99, -9.99, 0]);
  for (const typed of ["", " ", "x", "0.50", "1e999"]) assert.equal(entered(typed), null, typed);
});

test("a bar is pulled by keys and pointer, from end to end", () => {
  near([primitives.shareOf(1, 4), primitives.shareOf(9, 4), primitives.shareOf(-1, 4)], [0.25, 1, 0]);
  assert.equal(primitives.shareOf(0, 0), 0);
  const keys = ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown", "Home", "End"];
  near(
    keys.map((key) => Number(primitives.pulledShare(key, 0.5))),
    [0.52, 0.52, 0.48, 0.48, 0, 1],
  );
  near(
    keys.map((key) => Number(primitives.pulledShare(key, 1))),
    [1, 1, 0.98, 0.98, 0, 1],
  );
  near(
    keys.map((key) => Number(primitives.pulledShare(key, 0))),
    [0.02, 0.02, 0, 0, 0, 1],
  );
  assert.equal(primitives.pulledShare("x", 0.5), undefined);
});

test("a plane's arrow is moved by keys in its own numbers, and stays on the plane", () => {
  near(
    [0.333, 1.5, -1.5].map((share) => primitives.coordinate(share, 2)),
    [0.67, 2, -2],
  );
  near(
    [1, 9, -9].map((v) => primitives.onPlane(v, 2)),
    [0.5, 1.04, -1.04],
  );
  const to = (/** @type {string} */ key, x = 10, y = -20) => primitives.nudgedPoint(key, x, y, 100) ?? [];
  near(to("ArrowRight"), [12, -20]);
  near(to("ArrowLeft"), [8, -20]);
  near(to("ArrowUp"), [10, -18]);
  near(to("ArrowDown"), [10, -22]);
  near(to("ArrowRight", 99), [100, -20]);
  assert.deepEqual(to("x"), []);
});

test("a look is a class name for each of its words", () => {
  assert.equal(primitives.classNames("kit-row", " soft  big"), "kit-row kit-soft kit-big");
  assert.equal(primitives.classNames("kit-row"), "kit-row");
});

test("names are as long as their letters are wide", () => {
  near(
    [primitives.widest([]), primitives.widest(["ab", "abc", ""]), primitives.widest(["abc", "水火"])],
    [0, 3, 3.6],
  );
});

test("an axis's names are no markup, but their lines break", () => {
  assert.deepEqual(primitives.namedTicks({ 1: "<a> & <b> & c", 20: "two\nlines & more\n" }), {
    tickmode: "array",
    tickvals: [1, 20],
    ticktext: ["&lt;a> &amp; &lt;b> &amp; c", "two<br>lines &amp; more<br>"],
  });
});

test("a range has room at both ends, also that of a single value", () => {
  near(primitives.padRange([3, 1, 2]), [0.92, 3.08]);
  near(primitives.padRange([5, 5]), [4.96, 5.04]);
});

test("places that are too close are pushed apart, in their order and between the ends", () => {
  near(primitives.spreadApart([5, 5], 0.5, 0, 10), [4.75, 5.25]);
  near(primitives.spreadApart([8, 2, 5], 3, 0, 10), [8, 2, 5]);
  const crowds = [
    [0, 0.1, 0.05],
    [10, 9.9, 10, 9.8],
    [0, 5, 5.1, 10, 4.9],
  ];
  for (const crowd of crowds) {
    const spread = primitives.spreadApart(crowd, 1, 0, 10);
    const order = crowd.map((_, i) => i).sort((i, j) => crowd[i] - crowd[j]);
    for (const i of order) assert.ok(spread[i] >= 0 && spread[i] <= 10);
    order.slice(1).forEach((i, n) => {
      assert.ok(spread[i] - spread[order[n]] > 0.99, String(spread));
    });
  }
});

/** A plot's figure at a font of 10 pixels, in a box with 200 for its lines. @param {object} node */
function plotted(node) {
  const theme = { grid: "#1", muted: "#2", axis: "#3", pinned: "#4", model: "#5" };
  const look = /** @type {any} */ ({ theme, fonts: { text: "serif" } });
  const plot = /** @type {any} */ ({ x: "t", y: "p", ...node });
  return primitives.figure(look, plot, 10, { width: 400, height: 242 });
}

test("a sketch's line ends where its values are, and has a piece for each part without a gap", () => {
  const box = { x: 10, y: 20, width: 100, height: 50 };
  const line = /** @type {any} */ ({ x: [0, 1, 2, 3], y: [0, 5, null, 10] });
  const plain = { x: false, y: false };
  assert.deepEqual(pieces(line, [0, 4], [0, 10], box, plain), ["10.0,70.0 35.0,45.0", "85.0,20.0"]);
  const steep = /** @type {any} */ ({ x: [1, 10], y: [1, 100] });
  assert.deepEqual(pieces(steep, [0, 1], [0, 2], box, { x: true, y: true }), ["10.0,70.0 110.0,20.0"]);
  assert.deepEqual(pieces(steep, [0, 1], [0, 2], box, { x: true, y: false }), ["10.0,45.0 110.0,-2430.0"]);
});

test("a plot's lines have their colours, their ends and their names", () => {
  const lines = [
    { name: "up", ys: [0, 1, 2], colour: "model", width: 2 },
    { name: "gone", ys: [2, 1.99, null], xs: [3, 4, 5], colour: "unheard of", dots: true },
    { name: "", ys: [1, 1, 1], colour: "grid" },
  ];
  const { data, layout } = plotted({ lines, mark: 1, xs: [0, 5] });
  assert.deepEqual(
    data.map(({ x, mode, line }) => [x, mode, line.color]),
    [
      [[0, 1, 2], "lines", "#5"],
      [[3, 4, 5], "lines+markers", "#2"],
      [[0, 1, 2], "lines", "#1"],
    ],
  );
  near(layout.yaxis.range, [-0.08, 2.08]);
  assert.deepEqual(layout.xaxis.range, [0, 5]);
  const [{ x0, x1, y0, y1 }] = layout.shapes;
  assert.deepEqual([x0, x1, y0, y1], [1, 1, 0, 1]); // from the bottom to the top
  assert.deepEqual([layout.width, layout.height, data[0].line.width], [400, 242, 2]);
  near([layout.margin.l, layout.margin.r, layout.margin.t, layout.margin.b], [39, 8 + 4 * 5.6, 9, 31]);
  assert.deepEqual(
    layout.annotations.map(({ x, text }) => [x, text]),
    [
      [1, " up"],
      [1, " gone"],
    ],
  );
  const [up, absent] = layout.annotations.map(({ y }) => y);
  near([up - absent, (up + absent) / 2], [(2.16 * 12.5) / 200, 1.995]); // a line of letters apart
});

test("a logarithmic plot takes positive values only, and has few powers of ten", () => {
  const lines = [{ name: "loss", ys: [0, 1, null, 10, 100, null], colour: "model" }];
  const { layout } = plotted({ lines, log: true, log_x: true, xs: [1, 1000] });
  assert.deepEqual([layout.yaxis.type, layout.xaxis.type, layout.shapes], ["log", "log", []]);
  near(layout.yaxis.range, [-0.08, 2.08]);
  near(layout.xaxis.range, [0, 3]);
  near([layout.annotations[0].y, layout.margin.l, layout.yaxis.dtick, layout.xaxis.dtick], [2, 45, 1, 1]);
  const wide = plotted({ lines, log: true, ys: [1e-6, 1e7] }).layout.yaxis;
  near(wide.range, [-6, 7]);
  assert.equal(wide.dtick, 3);
});

test("an axis with names has the room and the ticks for them", () => {
  const lines = [{ name: "", ys: [1, 2], colour: "model" }];
  const { layout } = plotted({ lines, levels: { 1: "low", 2: "higher" }, ticks: { 0: "a", 1: "b" } });
  near([layout.margin.l, layout.margin.r], [22 + 6 * 5.6, 8]);
  assert.deepEqual(
    [layout.yaxis.ticktext, layout.xaxis.tickvals],
    [
      ["low", "higher"],
      [0, 1],
    ],
  );
});
