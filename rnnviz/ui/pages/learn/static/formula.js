// The formula beside the title: KaTeX's output, with each symbol's name in data-symbol. For keyboards, each symbol has
// an invisible button in a toolbar: one tab stop, and arrow keys move along it.

import katex from "../../../browser/katex/katex.mjs";
import { make } from "../../../browser/static/dom.js";

/** @import { SymbolHighlight } from "./highlight.js" */

const KATEX = new URL("../../../browser/katex/", import.meta.url);

/** @type {[family: string, file: string, descriptors?: FontFaceDescriptors][]} */
export const FACES = [
  ["KaTeX_Main", "Main-Regular"],
  ["KaTeX_Main", "Main-Bold", { weight: "700" }],
  ["KaTeX_Main", "Main-Italic", { style: "italic" }],
  ["KaTeX_Math", "Math-Italic", { style: "italic" }],
  ["KaTeX_Math", "Math-BoldItalic", { weight: "700", style: "italic" }],
  ["KaTeX_AMS", "AMS-Regular"],
  ["KaTeX_Caligraphic", "Caligraphic-Regular"],
  ...[1, 2, 3, 4].map((n) => /** @type {[string, string]} */ ([`KaTeX_Size${n}`, `Size${n}-Regular`])),
];

/** @type {import("../../../browser/katex/katex.d.mts").Options} */
export const OPTIONS = {
  throwOnError: false,
  strict: (code) => (code === "htmlExtension" ? "ignore" : "error"), // \htmlData sets data-symbol
  trust: ({ command }) => command === "\\htmlData",
};

/** @type {Promise<unknown> | undefined} */
let typefaces;

/** Load KaTeX's fonts into the document: @font-face has no effect in a shadow root. */
export function fonts() {
  typefaces ??= Promise.allSettled(
    FACES.map(([family, file, descriptors]) => {
      const face = new FontFace(family, `url(${new URL(`fonts/KaTeX_${file}.woff2`, KATEX)})`, descriptors);
      document.fonts.add(face);
      return face.load();
    }),
  );
  return typefaces;
}

export class Formula {
  latex = "";

  /** @param {HTMLElement} root @param {SymbolHighlight} lights */
  constructor(root, lights) {
    this.lights = lights;
    this.math = make("div", "ln-math");
    this.row = make("div", "ln-symbols");
    this.row.setAttribute("role", "toolbar");
    root.replaceChildren(this.math, this.row);
    const symbol = (/** @type {Event} */ event) =>
      /** @type {Element} */ (event.target).closest("[data-symbol]")?.getAttribute("data-symbol") ?? "";
    this.math.addEventListener("pointermove", (event) => lights.point(symbol(event)));
    this.math.addEventListener("pointerleave", () => lights.point(""));
    this.math.addEventListener("click", (event) => lights.pin(symbol(event)));
    this.row.addEventListener("focusin", (event) => lights.focus(symbol(event)));
    this.row.addEventListener("focusout", () => lights.focus(""));
    this.row.addEventListener("keydown", (event) => this.key(event));
  }

  /** @returns {HTMLElement[]} each symbol's buttons, in order */
  get buttons() {
    return /** @type {HTMLElement[]} */ ([...this.row.children]);
  }

  /** @param {string} latex @param {string} label @param {(name: string) => string} describe makes a symbol's description */
  show(latex, label, describe) {
    this.row.setAttribute("aria-label", label);
    if (latex !== this.latex) {
      this.latex = latex;
      katex.render(latex, this.math, OPTIONS);
      const names = new Set(this.symbols().map((element) => String(element.dataset.symbol)));
      this.row.replaceChildren(
        ...[...names].map((name, i) => {
          const button = Object.assign(make("button"), { tabIndex: i ? -1 : 0 });
          button.dataset.symbol = name;
          button.onclick = () => this.lights.pin(name);
          return button;
        }),
      );
    }
    for (const button of this.buttons)
      button.setAttribute("aria-label", describe(button.dataset.symbol ?? ""));
  }

  /** The elements of a symbol, or of all. @returns {HTMLElement[]} */
  symbols(name = "") {
    const selector = name ? `[data-symbol="${CSS.escape(name)}"]` : "[data-symbol]";
    return [...this.math.querySelectorAll(`.katex-html ${selector}`)].map(
      (element) => /** @type {HTMLElement} */ (element),
    );
  }

  /** @param {string} name the highlighted symbol, or "" */
  highlight(name) {
    for (const element of this.symbols())
      element.classList.toggle("ln-lit", name !== "" && element.dataset.symbol === name);
  }

  /** Shrink the formula to the room there is, to 0.6 of its size at least. @param {number} room in pixels */
  fit(room) {
    this.math.style.fontSize = "";
    const { width } = this.math.getBoundingClientRect();
    if (width > room) this.math.style.fontSize = `${Math.max(0.6, room / width)}em`;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const all = this.buttons;
    const at = all.indexOf(/** @type {HTMLElement} */ (event.target));
    /** @type {Record<string, number>} */
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 };
    if (event.key === "Escape") {
      this.lights.pin("");
      all[at].blur();
    } else if (event.key in to) {
      const next = all[(to[event.key] + all.length) % all.length];
      all.forEach((button) => (button.tabIndex = button === next ? 0 : -1));
      next.focus();
    } else return;
    event.preventDefault(); // else these keys change the lecture's step
    event.stopPropagation();
  }
}
