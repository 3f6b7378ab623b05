// A line of mathematics in a picture: maths(board, x, y, "∂L/∂W_{hh}", "24 end").
//
// _{…} stands below the line, ^{…} above it; matrices (capital letters), δ and b_… are bold, as in the textbook.

/** @import { Shapes } from "./shapes.js" */
/** @import { Style } from "./types" */

const PIECES = /(_\{[^}]*\}|\^\{[^}]*\}|[A-KM-Zδ]+|b(?=_)|L)/;

/** @param {Shapes} board @param {number} x @param {number} y @param {string} source @param {Style} [style] */
export function maths(board, x, y, source, style = "") {
  const text = board.text(x, y, "", style);
  text.setAttribute("font-family", "KaTeX_Main, 'Times New Roman', serif");
  const size = Number(text.getAttribute("font-size"));
  let shifted = 0; // how far below its line the last piece stood
  for (const piece of source.split(PIECES)) {
    if (!piece) continue;
    const raised = piece[0] === "_" ? 0.22 : piece[0] === "^" ? -0.32 : 0;
    const letter = piece === "L" ? { "font-style": "italic" } : { "font-weight": 700 };
    const look = raised ? { "font-size": size * 0.8 } : /^([A-Zδ]|b$)/.test(piece) ? letter : {};
    const to = raised * size;
    board.span(text, raised ? piece.slice(2, -1) : piece, { ...look, dy: to - shifted });
    shifted = to;
  }
  return text;
}

/** A number as it stands below a letter. @param {number} n */
export const low = (n) => Array.from(String(n), (c) => "₀₁₂₃₄₅₆₇₈₉"[Number(c)]).join("");
