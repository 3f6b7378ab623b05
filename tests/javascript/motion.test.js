// What moves in the lecture when a step is entered: once, forward, and not for those who asked for less.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Mover } from "../../rnnviz/ui/pages/learn/static/motion.js";

const reduced = { matches: false };
let now = 1000;

beforeEach(() => {
  reduced.matches = false;
  now = 1000;
  Object.assign(globalThis, { window: { matchMedia: () => reduced } });
  mock.method(performance, "now", () => now);
});

/** An element that notes what it is asked to animate. @returns {any} */
const element = () => ({
  asked: /** @type {any[]} */ ([]),
  style: {},
  animate(/** @type {any} */ frames, /** @type {any} */ timing) {
    this.asked.push({ frames, timing });
  },
});

/** Milliseconds of motion that the last of these steps begins with. @param {[number, number][]} steps */
function left(...steps) {
  const mover = new Mover();
  for (const [scene, step] of steps) mover.arrive(scene, step);
  const moved = element();
  mover.move(moved, { x: 5 });
  const [asked] = moved.asked;
  return asked ? asked.timing.duration + asked.timing.delay : 0;
}

test("a step that is walked to moves, one that is opened or gone back to doesn't", () => {
  assert.equal(left([4, 1]), 0);
  assert.equal(left([4, 1], [4, 2]), 600);
  assert.equal(left([4, 1], [4, 2], [4, 2]), 600);
  assert.equal(left([4, 2], [4, 1]), 0);
  assert.equal(left([4, 3], [5, 0]), 600);
  assert.equal(left([5, 0], [4, 3]), 0);
});

test("a drawing in between goes on, a later one stands still", () => {
  const mover = new Mover();
  mover.arrive(4, 0);
  mover.arrive(4, 1);
  now += 250;
  mover.arrive(4, 1);
  const going = element();
  mover.move(going, { x: 30, y: -4 });
  const [{ frames, timing }] = going.asked;
  assert.equal(timing.delay, -250);
  assert.equal(frames[0].transform, "translate(30px, -4px) scale(1)");
  assert.equal(frames.at(-1).transform, "none");
  now += 350;
  const still = element();
  mover.move(still, { x: 30 });
  assert.deepEqual(still.asked, []);
  mover.move(still, { opacity: 0 }, { begin: 200 });
  assert.equal(still.asked[0].timing.delay, -400);
});

test("where less motion is asked for nothing moves", () => {
  reduced.matches = true;
  assert.equal(left([4, 1], [4, 2]), 0);
});
