// Writes rnnviz/page/products.wat, and its bytes into products.js: `node docs/tools/products.mjs`, after `npm ci`.

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import wabt from "wabt";

const FOLDER = new URL("../../rnnviz/page/", import.meta.url);
const BYTES = /(const BYTES =\s*")[^"]*"/;
const range = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => i);

/**
 * A product C += A B in blocks of `rows` rows and 4 · `vectors` columns, whose sums stay in registers.
 * @param {string} name @param {number} rows @param {number} vectors
 */
function product(name, rows, vectors) {
  const blocks = range(rows).flatMap((r) => range(vectors).map((v) => ({ r, v, sum: `$sum${r}_${v}` })));
  const place = (/** @type {string} */ pointer, /** @type {number} */ r, /** @type {string} */ length) => `(i32.add (local.get ${pointer}) (i32.mul (i32.const ${r}) (local.get ${length})))`;
  const at = (/** @type {{ r: number, v: number }} */ { r, v }) => `offset=${16 * v} ${place("$c", r, "$nBytes")}`;
  return `
  (func (export "${name}") (param $m i32) (param $n i32) (param $k i32) (param $A i32) (param $B i32) (param $C i32)
    (local $i i32) (local $j i32) (local $l i32) (local $a i32) (local $b i32) (local $c i32)
    (local $nBytes i32) (local $kBytes i32) (local $factor v128)
    ${range(vectors).map((v) => `(local $b${v} v128)`).join(" ")}
    ${blocks.map(({ sum }) => `(local ${sum} v128)`).join(" ")}
    (local.set $nBytes (i32.shl (local.get $n) (i32.const 2)))
    (local.set $kBytes (i32.shl (local.get $k) (i32.const 2)))
    (loop $rows
      (local.set $j (i32.const 0))
      (loop $columns
        (local.set $a (i32.add (local.get $A) (i32.mul (local.get $i) (local.get $kBytes))))
        (local.set $b (i32.add (local.get $B) (i32.shl (local.get $j) (i32.const 2))))
        (local.set $c (i32.add (i32.add (local.get $C) (i32.mul (local.get $i) (local.get $nBytes))) (i32.shl (local.get $j) (i32.const 2))))
        ${blocks.map((block) => `(local.set ${block.sum} (v128.load ${at(block)}))`).join("\n        ")}
        (local.set $l (local.get $k))
        (loop $terms
          ${range(vectors).map((v) => `(local.set $b${v} (v128.load offset=${16 * v} (local.get $b)))`).join("\n          ")}
          ${range(rows).map((r) => [`(local.set $factor (v128.load32_splat ${place("$a", r, "$kBytes")}))`, ...range(vectors).map((v) => `(local.set $sum${r}_${v} (f32x4.add (local.get $sum${r}_${v}) (f32x4.mul (local.get $factor) (local.get $b${v}))))`)].join("\n          ")).join("\n          ")}
          (local.set $a (i32.add (local.get $a) (i32.const 4)))
          (local.set $b (i32.add (local.get $b) (local.get $nBytes)))
          (br_if $terms (local.tee $l (i32.sub (local.get $l) (i32.const 1)))))
        ${blocks.map((block) => `(v128.store ${at(block)} (local.get ${block.sum}))`).join("\n        ")}
        (br_if $columns (i32.lt_u (local.tee $j (i32.add (local.get $j) (i32.const ${4 * vectors}))) (local.get $n))))
      (br_if $rows (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const ${rows}))) (local.get $m)))))`;
}

/** The module's text. `one` serves a single row, as a keystroke has; `four` several. */
export function text() {
  return `;; C += A B in float32, all by rows in one memory: A (m, k), B (k, n), C (m, n). docs/tools/products.mjs writes this file.
;; m is a multiple of the block's rows (1 or 4), n of its columns (32 or 8); A, B, C are places in bytes.
(module
  (import "page" "memory" (memory 1))${product("one", 1, 8)}${product("four", 4, 2)})
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
