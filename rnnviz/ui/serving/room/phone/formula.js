// A formula of the lecture as text with raised and lowered parts. KaTeX would weigh more than all else a phone gets.

import { make } from "../../../browser/static/dom.js";

// biome-ignore format: a line for each kind of sign
/** @type {Record<string, string>} */
const SIGNS = {
  partial: "∂", sum: "∑", prod: "∏", odot: " ⊙ ", top: "⊤", mid: " | ", sim: " ∼ ", approx: " ≈ ", le: " ≤ ", to: " → ",
  leftarrow: " ← ", Rightarrow: " ⇒ ", ldots: "…", cdots: "⋯", lVert: "‖", rVert: "‖", infty: "∞", ell: "ℓ",
  pi: "π", phi: "ϕ", rho: "ρ", xi: "ξ", theta: "θ", lambda: "λ", delta: "δ",
  quad: "\u2003", qquad: "\u2003", ",": " ", ";": " ", " ": " ", "\\": "; ",
  textstyle: "", bigl: "", bigr: "", Bigl: "", Bigr: "", begin: "", end: "",
};
// A space behind a command only ends it.
const TOKEN = /\\htmlData\{[^}]*\}|\\(?:begin|end)\{\w+\}|\\[A-Za-z]+(?: (?![+=]))?|\\.|[{}_^]|[^\\{}_^]/gu;

/** @param {string} latex @returns {(string | Node)[]} */
export function formulaAsText(latex) {
  const tokens = latex.match(TOKEN) ?? [];
  let at = 0;

  /** What stands up to the next closing brace, or the end. */
  function group() {
    /** @type {(string | Node)[]} */
    const parts = [];
    while (at < tokens.length && tokens[at] !== "}") parts.push(...one());
    at++;
    return parts;
  }

  /** @param {"sub" | "sup" | "b"} name */
  const inside = (name) => [make(name, "", ...one())];

  /** A token, with the group that belongs to it. @returns {(string | Node)[]} */
  function one() {
    const token = tokens[at++] ?? "";
    if (token === "{") return group();
    if (token === "_") return inside("sub");
    if (token === "^") return inside("sup");
    if (token === "-") return ["−"];
    if (!token.startsWith("\\")) return [token];
    const name = token.slice(1).replace(/\{.*|(?<=\w) $/, "");
    if (name === "mathbf" || name === "boldsymbol") return inside("b");
    if (name === "tilde") return [...one(), make("sup", "", "~")]; // many fonts have no tilde to put above it
    if (name === "tfrac") return [...term(), "/", ...term(), " "];
    if (["htmlData", "text", "operatorname", "mathcal"].includes(name)) return one();
    return [SIGNS[name] ?? (/^(?:[({_]|\\[Bb]ig)/.test(tokens[at] ?? "") ? name : `${name} `)]; // exp, or log
  }

  /** A part of a fraction on one line, in parentheses where it has several terms. */
  function term() {
    const part = one();
    return part.some((piece) => typeof piece === "string" && "+−".includes(piece))
      ? ["(", ...part, ")"]
      : part;
  }

  return group();
}
