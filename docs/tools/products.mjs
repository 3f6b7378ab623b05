// Writes rnnviz/page/products.wat, and its bytes into products.js: `node docs/tools/products.mjs`, after `npm ci`.

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import wabt from "wabt";

const FOLDER = new URL("../../rnnviz/page/", import.meta.url);
const BYTES = /(const BYTES =\s*")[^"]*"/;
const VECTORS = 4; // of four columns each: a strip of 16, one cache line
const range = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => i);

/**
 * A product C += A B in blocks of `rows` rows and a strip's columns, whose sums stay in registers. Strips are the outer
 * loop: one of B, 16 k numbers in a row, stays in the first cache while all rows of A are multiplied with it. A's steps are
 * free, so that its transpose needs no copy.
 * @param {string} name @param {number} rows
 */
function product(name, rows) {
  const blocks = range(rows).flatMap((r) => range(VECTORS).map((v) => ({ r, v, sum: `$sum${r}_${v}` })));
  const place = (/** @type {string} */ pointer, /** @type {number} */ r, /** @type {string} */ length) => (r ? `(i32.add (local.get ${pointer}) (local.get ${length}))` : `(local.get ${pointer})`);
  const at = (/** @type {{ r: number, v: number }} */ { r, v }) => `offset=${16 * v} ${place("$c", r, "$nBytes")}`;
  return `
  (func (export "${name}") (param $m i32) (param $n i32) (param $k i32) (param $A i32) (param $row i32) (param $term i32) (param $B i32) (param $C i32)
    (local $i i32) (local $j i32) (local $l i32) (local $rows i32) (local $a i32) (local $b i32) (local $c i32)
    (local $nBytes i32) (local $factor v128)
    ${range(VECTORS).map((v) => `(local $b${v} v128)`).join(" ")}
    ${blocks.map(({ sum }) => `(local ${sum} v128)`).join(" ")}
    (local.set $nBytes (i32.shl (local.get $n) (i32.const 2)))
    (loop $strips
      (local.set $rows (local.get $A))
      (local.set $c (i32.add (local.get $C) (i32.shl (local.get $j) (i32.const 2))))
      (local.set $i (i32.const 0))
      (loop $rows
        (local.set $a (local.get $rows))
        (local.set $b (local.get $B))
        ${blocks.map((block) => `(local.set ${block.sum} (v128.load ${at(block)}))`).join("\n        ")}
        (local.set $l (local.get $k))
        (loop $terms
          ${range(VECTORS).map((v) => `(local.set $b${v} (v128.load offset=${16 * v} (local.get $b)))`).join("\n          ")}
          ${range(rows).map((r) => [`(local.set $factor (v128.load32_splat ${place("$a", r, "$row")}))`, ...range(VECTORS).map((v) => `(local.set $sum${r}_${v} (f32x4.add (local.get $sum${r}_${v}) (f32x4.mul (local.get $factor) (local.get $b${v}))))`)].join("\n          ")).join("\n          ")}
          (local.set $a (i32.add (local.get $a) (local.get $term)))
          (local.set $b (i32.add (local.get $b) (i32.const ${16 * VECTORS})))
          (br_if $terms (local.tee $l (i32.sub (local.get $l) (i32.const 1)))))
        ${blocks.map((block) => `(v128.store ${at(block)} (local.get ${block.sum}))`).join("\n        ")}
        ${range(rows).map(() => "(local.set $rows (i32.add (local.get $rows) (local.get $row)))").join(" ")}
        ${range(rows).map(() => "(local.set $c (i32.add (local.get $c) (local.get $nBytes)))").join(" ")}
        (br_if $rows (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const ${rows}))) (local.get $m))))
      (local.set $B (local.get $b))
      (br_if $strips (i32.lt_u (local.tee $j (i32.add (local.get $j) (i32.const ${4 * VECTORS}))) (local.get $n)))))`;
}

// Expressions of four float32 each.
const get = (/** @type {string} */ name) => `(local.get ${name})`;
const set = (/** @type {string} */ name, /** @type {string} */ value) => `(local.set ${name} ${value})`;
const number = (/** @type {number} */ value) => `(v128.const f32x4${` ${value}`.repeat(4)})`;
const whole = (/** @type {number} */ value) => `(v128.const i32x4${` ${value}`.repeat(4)})`;
const [add, sub, mul, div, min, max, less] = ["add", "sub", "mul", "div", "min", "max", "lt"].map(
  (operation) => (/** @type {string} */ a, /** @type {string} */ b) => `(f32x4.${operation} ${a} ${b})`,
);
const select = (/** @type {string} */ mask, /** @type {string} */ yes, /** @type {string} */ no) => `(v128.bitselect ${yes} ${no} ${mask})`;
const X = get("$x");

/** A polynomial by Horner's scheme. @param {string} x @param {number[]} coefficients the highest power's first */
const polynomial = (x, coefficients) => coefficients.slice(1).reduce((sum, c) => add(mul(sum, x), number(c)), number(coefficients[0]));

/**
 * e^y = 2^k e^r with a whole k and |r| ≤ ln 2 / 2: e^r by Taylor's polynomial to r^7, whose first term left out is 5e-9; 2^k by
 * its bits. y is cut at −87 and 88, where 2^k still is a normal number. ln 2 is taken away in two parts: the
 * first has few bits, so its product with k is exact.
 * @param {string} y
 */
const exponential = (y) => [
  set("$y", max(min(y, number(88)), number(-87))),
  set("$k", `(f32x4.nearest ${mul(get("$y"), number(Math.LOG2E))})`),
  set("$y", sub(sub(get("$y"), mul(get("$k"), number(0.693359375))), mul(get("$k"), number(Math.LN2 - 0.693359375)))),
  set("$y", mul(
    polynomial(get("$y"), [1 / 5040, 1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1, 1]),
    `(i32x4.shl (i32x4.add (i32x4.trunc_sat_f32x4_s ${get("$k")}) ${whole(127)}) (i32.const 23))`,
  )),
];

/** A function of n numbers in place; n is a multiple of 4. @param {string} name @param {string[]} steps the last one is the value */
function elementwise(name, steps) {
  return `
  (func (export "${name}") (param $at i32) (param $n i32)
    (local $end i32) (local $x v128) (local $y v128) (local $k v128)
    (local.set $end (i32.add (local.get $at) (i32.shl (local.get $n) (i32.const 2))))
    (loop $numbers
      (local.set $x (v128.load (local.get $at)))
      ${steps.slice(0, -1).join("\n      ")}
      (v128.store (local.get $at) ${steps.at(-1)})
      (br_if $numbers (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $end)))))`;
}

/** Numbers added to others; n is a multiple of 4. */
const sum = `
  (func (export "add") (param $to i32) (param $from i32) (param $n i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $to) (i32.shl (local.get $n) (i32.const 2))))
    (loop $numbers
      (v128.store (local.get $to) ${add("(v128.load (local.get $to))", "(v128.load (local.get $from))")})
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (br_if $numbers (i32.lt_u (local.tee $to (i32.add (local.get $to) (i32.const 16))) (local.get $end)))))`;

/**
 * From 0.75 on tanh|x| = (e^2|x| − 1) / (e^2|x| + 1), which would lose digits below: there it is Lambert's continued fraction
 * x / (1 + x² / (3 + x² / (5 + x² / (7 + x² / 9)))), as one fraction; it is 6e-9 off at most. Both are chosen before the division.
 */
function tanh() {
  const [y, square] = [get("$y"), get("$k")];
  const small = less(`(f32x4.abs ${X})`, number(0.75));
  const signed = (/** @type {string} */ value) => `(v128.or ${value} (v128.and ${X} ${whole(-(2 ** 31))}))`;
  return [
    ...exponential(mul(`(f32x4.abs ${X})`, number(2))),
    set("$k", mul(X, X)),
    div(
      select(small, mul(X, polynomial(square, [1, 105, 945])), signed(sub(y, number(1)))),
      select(small, polynomial(square, [15, 420, 945]), add(y, number(1))),
    ),
  ];
}

/** The module's text. `one` serves a single row, as a keystroke has; `two` an even number. */
export function text() {
  return `;; C += A B in float32: A (m, k) with $row bytes between rows and $term between the terms of one, C (m, n) by rows, B (k, n) in
;; strips of 16 columns, each by rows. m is even for "two", n a multiple of 16. And functions of n numbers in place. All in one memory, by places in bytes. docs/tools/products.mjs writes this file.
(module
  (import "page" "memory" (memory 1))${product("one", 1)}${product("two", 2)}${elementwise("exp", [...exponential(X), get("$y")])}${elementwise("sigmoid", [...exponential(`(f32x4.neg ${X})`), div(number(1), add(number(1), get("$y")))])}${elementwise("tanh", tanh())}${sum})
`;
}

/** The module's bytes in base64. @param {string} wat */
export async function base64(wat) {
  const module = (await wabt()).parseWat("products.wat", wat, { simd: true });
  return Buffer.from(module.toBinary({}).buffer).toString("base64");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(new URL("products.wat", FOLDER), text());
  const script = new URL("products.js", FOLDER);
  writeFileSync(script, readFileSync(script, "utf8").replace(BYTES, `$1${await base64(text())}"`));
}
