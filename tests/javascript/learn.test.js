// The lecture's stage: its size, colours, sliders, arrows and plots.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Numbers } from "../../rnnviz/ui/browser/static/number_format.js";
import * as plot from "../../rnnviz/ui/browser/static/plot.js";
import * as board from "../../rnnviz/ui/pages/learn/static/board.js";
import * as primitives from "../../rnnviz/ui/pages/learn/static/primitives.js";

// Whether motion is reduced is asked once, when the view's modules are read.
Object.assign(globalThis, { window: { matchMedia: () => ({ matches: true }) } });
const view = await import("../../rnnviz/ui/pages/learn/static/view.js");
const { Room } = await import("../../rnnviz/ui/pages/learn/static/room.js");

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

test("a line ends neither before a percent sign nor within an equation", () => {
  assert.equal(view.unbroken("5 % of 10 %, %"), "5\u00a0% of 10\u00a0%,\u00a0%");
  assert.equal(view.unbroken("at k = 4 × 10, so"), "at k\u00a0=\u00a04\u00a0×\u00a010, so");
  assert.equal(view.unbroken("完。 好"), "完。好");
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

test("a slider's values have the decimals of its step", () => {
  assert.deepEqual([1, 0.5, 0.05, 25].map(board.decimals), [0, 1, 2, 0]);
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
  near([plot.widest([]), plot.widest(["ab", "abc", ""]), plot.widest(["abc", "水火"])], [0, 3, 3.6]);
});

/** @param {number[] | undefined} ends @param {(number | null)[]} values */
const axis = (ends, values, log = false, room = 0.04) => new plot.Axis(ends, values, log, room);

test("an axis has room at both ends, also that of a single value, unless its ends are given", () => {
  const ends = (/** @type {plot.Axis} */ { low, high }) => [low, high];
  near(ends(axis(undefined, [3, 1, null, 2])), [0.92, 3.08]);
  near(ends(axis(undefined, [5, 5])), [4.96, 5.04]);
  near(ends(axis([0, 2], [3, 1])), [0, 2]);
  near(ends(axis(undefined, [0, 1, null, 10, 100], true)), [-0.08, 2.08]); // positive values only
  near(ends(axis(undefined, [1, 3], false, 0)), [1, 3]);
});

test("an axis has few round values, a logarithmic one few powers of ten", () => {
  const numbers = new Numbers("en");
  const labels = (/** @type {plot.Axis} */ of) => of.ticks(undefined, 6, numbers).map(([, label]) => label);
  assert.deepEqual(labels(axis([0, 83], [])), ["0", "20", "40", "60", "80"]);
  assert.deepEqual(labels(axis([-0.1, 2.3], [])), ["0", "0.5", "1", "1.5", "2"]);
  assert.deepEqual(labels(axis([0, 100000], [])), ["0", "20,000", "40,000", "60,000", "80,000", "100,000"]);
  assert.deepEqual(labels(axis([1, 1000], [], true)), ["1", "10", "100", "1,000"]);
  assert.deepEqual(labels(axis([1e-6, 1e7], [], true)), ["10⁻⁶", "10⁻³", "1", "10³", "10⁶"]);
  near(
    axis([1, 100], [], true)
      .ticks({ 10: "ten", 100: "hundred" }, 6, numbers)
      .map(([share]) => share),
    [0.5, 1],
  );
});

test("places that are too close are pushed apart, in their order and between the ends", () => {
  near(plot.spreadApart([5, 5], 0.5, 0, 10), [4.75, 5.25]);
  near(plot.spreadApart([8, 2, 5], 3, 0, 10), [8, 2, 5]);
  const crowds = [
    [0, 0.1, 0.05],
    [10, 9.9, 10, 9.8],
    [0, 5, 5.1, 10, 4.9],
  ];
  for (const crowd of crowds) {
    const spread = plot.spreadApart(crowd, 1, 0, 10);
    const order = crowd.map((_, i) => i).sort((i, j) => crowd[i] - crowd[j]);
    for (const i of order) assert.ok(spread[i] >= 0 && spread[i] <= 10);
    order.slice(1).forEach((i, n) => {
      assert.ok(spread[i] - spread[order[n]] > 0.99, String(spread));
    });
  }
});

test("a line begins anew after a gap", () => {
  assert.equal(plot.pathOf([[10, 70], [35, 45.06], null, [85, 20]]), "M10.0,70.0L35.0,45.1M85.0,20.0");
  assert.equal(plot.pathOf([null, [1, 2]]), "M1.0,2.0");
});

test("the room opens with its address, also where an answer to an ask before it is on its way", () => {
  const element = { classList: { toggle() {} } };
  const wishes = /** @type {object[]} */ ([]);
  const ask = (/** @type {object} */ wish) => wishes.push(wish);
  const root = /** @type {any} */ ({ querySelector: () => element });
  const room = new Room(
    root,
    ask,
    () => {},
    () => {},
  );
  room.panel = /** @type {any} */ ({ show() {} });
  room.follow = async () => {};
  const door = /** @type {any} */ ({ url: "http://10.0.0.7:8600" });
  room.press();
  room.takeAnswer({ door: null }, {});
  assert.ok(room.addressShown);
  room.takeAnswer({ door }, {});
  assert.ok(room.addressShown);
  room.closeRoom();
  room.takeAnswer({ door: null }, {});
  assert.ok(!room.addressShown);
  room.press();
  room.takeAnswer({ door: null, trouble: "no port is free" }, {});
  assert.ok(room.addressShown, "the reason stands there");
  room.takeAnswer({ door: null }, {});
  assert.ok(!room.addressShown);
  assert.deepEqual(wishes, [{ open: true }, { open: false }, { open: true }]);
});
