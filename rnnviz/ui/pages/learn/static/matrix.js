// A matrix as a grid of numbers: coloured by value, lit by row and column, and, if wished, open to change.
//
//   x, y            its upper left corner, in units
//   values          rows of numbers
//   cell            [width, height] of an entry
//   label           what stands above it: [letter, subscript], or words; `shape` adds its size
//   edges           false: no brackets, as it is a block of a larger one
//   digits, size    decimals, and the size of the numbers
//   full            the value that has the scale's last colour
//   lit(i, j)       0 for faded, 1 for usual, 2 for lit
//   name, hover     with a name and hover(i, j), pointing at an entry says so; hover(null) when it ends
//   edit(i, j, v)   called with a number that was typed, between -`limit` and `limit`
//   stands          the symbol of symbols.py that it is, or several, apart by spaces
//   pick(i, j)      called when an entry is clicked

import { make } from "../../../browser/static/dom.js";
import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Answers, MatrixOptions } from "./types" */

const EDGE = 7; // the length of a bracket's ends

/** @param {Board} board @param {MatrixOptions} options */
export function matrix(board, options) {
  const {
    x,
    y,
    values,
    cell: [w, h] = [58, 42],
    label,
    shape = false,
    edges: bracketed = true,
    digits = 2,
    size = 20,
    full = 2,
  } = options;
  const { scale = "diverging", lit = () => 1, name, hover, edit, pick, colour = "", stands = "" } = options;
  const [rows, columns] = [values.length, values[0].length];
  const g = board.group();
  const { theme } = board;
  if (stands) {
    board.stands(g.svg, stands);
    for (const symbol of stands.split(" "))
      if (!board.standing.has(symbol))
        board.standing.set(symbol, { shape: `${rows} × ${columns}`, value: values });
  }
  if (label) {
    const middle = x + (columns * w) / 2;
    const [letter, below] = [label].flat();
    const above = Array.isArray(label)
      ? g.symbol(middle, y - 22, letter, below, `middle ${colour}`)
      : g.text(middle, y - 22, label, `20 600 middle ${colour}`);
    const look = { "font-size": 17, fill: theme.muted, dy: below ? -5.8 : 0 };
    if (shape) board.span(above, `  ${rows} × ${columns}`, look);
  }
  const place = laid(x, y, columns * w, rows * h);
  if (bracketed) edges(g, place, colour);
  values.forEach((row, i) => {
    row.forEach((value, j) => {
      const state = lit(i, j);
      const background = board.colour(value, scale, full);
      const entry = g.group({ opacity: state === 0 ? 0.28 : 1 });
      const edge =
        state === 2
          ? { stroke: theme.pinned, "stroke-width": 3.5 }
          : { stroke: theme.grid, "stroke-width": 1 };
      entry.rect(x + j * w + 1.5, y + i * h + 1.5, w - 3, h - 3, { fill: background, rx: 4, ...edge });
      const said = board.number(value, digits);
      const fits = size * Math.min(1, (w - 6) / (said.length * size * 0.52)); // as large as its entry allows
      const style = `${fits} middle ${state === 2 ? 700 : 500} ${board.ink(background)}`;
      const number = entry.text(x + (j + 0.5) * w, y + (i + 0.5) * h, said, style);
      number.style.fontVariantNumeric = "tabular-nums";
      if (!name) return;
      /** @type {Answers} */
      const answers = hover ? { enter: () => hover(i, j), leave: () => hover(null, 0) } : {};
      if (pick) answers.click = () => pick(i, j);
      if (edit) {
        answers.click = () => open(board, options, i, j);
        answers.label = board.pair(name, fill(board.said.edit, { i: i + 1, j: j + 1, value: said }));
      }
      board.on(entry.svg, `${name}.${i}.${j}`, answers);
      if (edit) entry.svg.style.cursor = "text";
    });
  });
  return place;
}

/** @param {number} x @param {number} y @param {number} width @param {number} height */
function laid(x, y, width, height) {
  return { x, y, width, height, right: x + width, bottom: y + height };
}

/**
 * A matrix's brackets around a place: also around blocks that make up one.
 * @param {Board} board @param {{ x: number, y: number, width: number, height: number }} place
 */
export function edges(board, { x, y, width, height }, colour = "") {
  for (const side of [-1, 1]) {
    const at = side < 0 ? x - 3 : x + width + 3;
    const d = `M${at - side * EDGE},${y - 3} H${at} V${y + height + 3} H${at - side * EDGE}`;
    board.path(d, { stroke: colour || board.theme.muted, width: 2.2 });
  }
  return laid(x, y, width, height);
}

/**
 * A field over one entry. Enter and leaving it keep the number, Escape doesn't, Tab goes on to the next.
 * @param {Board} board @param {MatrixOptions} options @param {number} i @param {number} j
 */
function open(board, options, i, j) {
  const { x, y, values, cell: [w, h] = [58, 42], digits = 2, size = 20, edit, limit = 9.99 } = options;
  const input = make("input", "ln-entry");
  input.inputMode = "decimal";
  input.maxLength = 7;
  input.value = values[i][j].toFixed(digits).replace(/\.?0+$/, "");
  const units = { left: x + j * w, top: y + i * h, width: w, height: h, "font-size": size };
  for (const [name, length] of Object.entries(units))
    input.style.setProperty(name, `${length * board.scale}px`);
  let done = false;
  const finish = (/** @type {boolean} */ keep) => {
    if (done) return;
    done = true;
    const value = Number(input.value.replace("−", "-").replace(",", "."));
    input.remove();
    if (keep && Number.isFinite(value) && input.value.trim() !== "" && value !== values[i][j])
      edit?.(i, j, Math.max(-limit, Math.min(limit, Number(value.toFixed(digits)))));
  };
  const entry = `[data-hit="${options.name}.${i}.${j}"]`;
  const back = () => /** @type {SVGElement | null} */ (board.root.querySelector(entry))?.focus();
  input.addEventListener("keydown", (event) => {
    if (!["Enter", "Escape", "Tab"].includes(event.key)) return;
    const at = i * values[0].length + j + (event.shiftKey ? -1 : 1);
    const [row, column] = [Math.floor(at / values[0].length), at % values[0].length];
    finish(event.key !== "Escape");
    event.stopPropagation();
    if (event.key !== "Tab") event.preventDefault();
    if (event.key === "Tab" && row >= 0 && row < values.length) {
      event.preventDefault();
      open(board, options, row, column);
    } else back(); // from a matrix's last entry Tab goes on to what follows it
  });
  input.addEventListener("blur", () => finish(true));
  board.root.append(input);
  input.focus();
  input.select();
}
