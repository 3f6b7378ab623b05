// A formula on a phone: text, with parts above and below the line.

import assert from "node:assert/strict";
import { test } from "node:test";

/** @typedef {{ tag: string, inside: (string | Made)[] }} Made */

Object.assign(globalThis, {
  document: {
    createElement: (/** @type {string} */ tag) => {
      /** @type {Made} */
      const made = { tag, inside: [] };
      return Object.assign(made, {
        append: (/** @type {(string | Made)[]} */ ...parts) => made.inside.push(...parts),
      });
    },
  },
});
const { formulaAsText } = await import("../../rnnviz/ui/serving/room/phone/formula.js");

/** @param {string} latex */
function written(latex) {
  const words = (/** @type {any} */ part) =>
    typeof part === "string" ? part : `<${part.tag}>${part.inside.map(words).join("")}</${part.tag}>`;
  return formulaAsText(latex).map(words).join("");
}

test("symbols are bold, and their indices below the line", () => {
  const state =
    "\\htmlData{symbol=H_t}{\\mathbf{H}_t} = \\htmlData{symbol=phi}{\\phi}(\\htmlData{symbol=W_hh}{\\mathbf{W}_{hh}})";
  assert.equal(written(state), "<b>H</b><sub>t</sub> = ϕ(<b>W</b><sub>hh</sub>)");
  assert.equal(
    written("\\boldsymbol{\\delta}_{t+1} \\tilde{\\mathbf{C}}"),
    "<b>δ</b><sub>t+1</sub> <b>C</b><sup>~</sup>",
  );
});

test("a fraction stands on the line, sums in parentheses", () => {
  assert.equal(written("\\tfrac{\\partial L}{\\partial x_t}"), "∂L/∂x<sub>t</sub> ");
  assert.equal(written("-\\tfrac{1}{T - r}"), "−1/(T − r) ");
});

test("functions keep their names, brackets their size", () => {
  assert.equal(written("\\exp\\bigl(\\log P^{1/T}\\bigr)"), "exp(log P<sup>1/T</sup>)");
  assert.equal(written("\\exp(L),\\quad \\max_{i} |x|"), "exp(L),\u2003max<sub>i</sub> |x|");
});

test("what isn't a formula ends, and fails nothing", () => {
  for (const latex of ["", "}", "\\", "{", "_", "\\tfrac{1"]) assert.ok(Array.isArray(formulaAsText(latex)));
});
