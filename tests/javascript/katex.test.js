// KaTeX is shipped as its package has it, in the version that package.json names, with the fonts that are used.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import katex from "../../rnnviz/ui/browser/katex/katex.mjs";
import { FACES, OPTIONS } from "../../rnnviz/ui/pages/learn/static/formula.js";

const SHIPPED = new URL("../../rnnviz/ui/browser/katex/", import.meta.url);
const PACKAGE = new URL("../../node_modules/katex/", import.meta.url);
const skip = existsSync(PACKAGE) ? false : "npm ci fetches the package";

test("the shipped files are the package's", { skip }, () => {
  const files = ["katex.mjs", "katex.min.css", ...FACES.map(([, file]) => `fonts/KaTeX_${file}.woff2`)];
  for (const file of files)
    assert.ok(
      readFileSync(new URL(file, SHIPPED)).equals(readFileSync(new URL(`dist/${file}`, PACKAGE))),
      file,
    );
  assert.deepEqual(readFileSync(new URL("LICENSE", SHIPPED)), readFileSync(new URL("LICENSE", PACKAGE)));
  assert.equal(readdirSync(new URL("fonts/", SHIPPED)).length, FACES.length);
});

test("its version is the pinned one, and its faces are those of its style sheet", () => {
  const { devDependencies } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  assert.equal(devDependencies.katex, katex.version);
  const css = readFileSync(new URL("katex.min.css", SHIPPED), "utf8");
  for (const [family, file, { weight = "400", style = "normal" } = {}] of FACES) {
    const face = `font-family:${family};font-style:${style};font-weight:${weight};src:url(fonts/KaTeX_${file}.woff2)`;
    assert.ok(css.includes(face), face);
  }
});

test("a formula may name its symbols, and nothing else that HTML can do", () => {
  const set = (/** @type {string} */ tex) => katex.renderToString(tex, { ...OPTIONS, throwOnError: true });
  const formula = set(String.raw`\htmlData{symbol=W_xh}{\mathbf{W}_{xh}}`);
  assert.match(formula, /<span class="enclosing" data-symbol="W_xh">/);
  assert.match(formula, /<math /); // for screen readers
  for (const tex of [
    String.raw`\href{javascript:alert(1)}{x}`,
    String.raw`\htmlClass{a}{x}`,
    String.raw`\includegraphics{a.png}`,
  ])
    assert.doesNotMatch(set(tex), /<a |<img|class="enclosing a"/);
});
