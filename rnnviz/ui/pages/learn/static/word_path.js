// What one step's output rests on: the characters up to it, through the states; and its loss, on its label too.

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, Said, WordPath } from "./types" */

const LEFT = 118;
const EACH = 126;
const FADED = 0.45;

/** @param {Board} board @param {Said<WordPath>} data @param {Ask} ask */
export function path(board, data, ask) {
  const { theme, spare } = board;
  const { words, letters, symbols, at } = data;
  const T = letters.length - 1;
  const X = (/** @type {number} */ t) => LEFT + (t - 0.5) * EACH;
  const [top, grid, row] = [54, 112, Math.min(44, 32 + spare / 12)];
  const bottom = grid + symbols.length * row;
  const state = Math.max(408 + spare * 0.6, bottom + 44);
  const input = state + 84;
  board.text(100, top, words.label, "22 end muted");
  board.text(100, state + 6, words.state, "22 end muted");
  board.text(100, input, words.input, "22 end muted");
  board.text(100, input + 36, "t", "20 end muted");
  const [hot, path] = [theme.came, theme.pinned];
  for (let t = 1; t <= T; t++) {
    const x = X(t);
    const on = t <= at; // on the way to the output
    const g = board.group({ opacity: on ? 1 : FADED });
    const look = { stroke: on ? path : theme.axis, width: on ? 5 : 2, head: on ? 15 : 9 };
    g.arrow(x, input - 26, x, state + 28, look);
    g.strip({ x: x - 40, y: state - 12, width: 80, height: 36, values: data.hidden[t - 1] });
    if (t < T) {
      const next = board.group({ opacity: t < at ? 1 : FADED });
      const look = { stroke: t < at ? path : theme.axis, width: t < at ? 5 : 2, head: t < at ? 15 : 9 };
      next.arrow(x + 42, state + 6, X(t + 1) - 43, state + 6, look);
    }
    g.text(x, input + 36, String(t), "20 middle muted");
    const faded = board.group({ opacity: t === at ? 1 : FADED });
    faded.text(x, top, letters[t], `32 middle mono 700 ${hot}`);
    const thick = t === at ? { stroke: path, width: 5, head: 15 } : { stroke: theme.axis, width: 2, head: 9 };
    faded.arrow(x, state - 16, x, t === at ? bottom + 6 : top + 24, thick);
    key(board, data, ask, t, x, input);
  }
  const x = X(at);
  const column = board.group({ stands: "P" });
  symbols.forEach((symbol, v) => {
    const colour = board.colour(data.p[v], "sequential");
    const y = grid + v * row;
    column.rect(x - 42, y + 1, 84, row - 2, { fill: colour, rx: 3 });
    column.text(x - 26, y + row / 2, symbol, `20 middle mono ${board.ink(colour)}`);
    column.text(x + 12, y + row / 2, board.number(data.p[v]), `20 middle ${board.ink(colour)}`);
    if (symbol !== letters[at]) return;
    board.rect(x - 43, y, 86, row, { fill: "none", stroke: hot, "stroke-width": 4, rx: 4 });
  });
  board.text(x - 50, grid + 15, words.softmax, { style: "20 end 600 pinned", stands: "softmax" });
  const beside = (bottom + state) / 2 - 4;
  board.symbol(x + 34, beside, "O", String(at), { style: "24 middle pinned", stands: "O_t" });
  board.arrow(x, top + 22, x, grid - 5, { stroke: hot, width: 3, head: 12 });
  changed(board, data, ask, LEFT + T * EACH + 34, 96 + spare * 0.3);
}

/** A character to press: the next of the symbols. @param {Board} board @param {Said<WordPath>} data @param {Ask} ask @param {number} t @param {number} x @param {number} y */
function key(board, data, ask, t, x, y) {
  const { theme } = board;
  const { letters, usual, symbols, words } = data;
  const character = letters[t - 1];
  const other = character !== usual[t - 1];
  const next = symbols[(symbols.indexOf(character) + 1) % symbols.length];
  const g = board.group();
  const stroke = other ? theme.came : theme.axis;
  g.rect(x - 26, y - 22, 52, 44, { fill: theme.background, stroke, "stroke-width": other ? 4 : 2, rx: 8 });
  g.text(x, y, character, `30 middle mono 700 ${other ? "came" : "text"}`);
  board.on(g.svg, `letter.${t}`, {
    click: () => ask({ letters: letters.slice(0, t - 1) + next + letters.slice(t) }),
    label: fill(words.press, { t, character }),
  });
}

/** What has become of the output and its loss. @param {Board} board @param {Said<WordPath>} data @param {Ask} ask @param {number} x @param {number} y */
function changed(board, data, ask, x, y) {
  const { words, change, losses, letters, usual } = data;
  const width = board.W - x;
  const same = change === 0;
  board.text(x, y, words.change, "22");
  board.symbol(x + width - 20, y, "O", String(data.at), "26 end");
  board.text(x, y + 50, board.number(change), `48 700 ${same ? "model" : "came"}`);
  board.text(x + width - 20, y + 50, same ? "=" : "≠", `48 end 700 ${same ? "model" : "came"}`);
  board.text(x, y + 136, words.loss, "22");
  board.symbol(x + width - 20, y + 136, "ℓ", String(data.at), "26 end");
  const rows = [
    [words.usual, losses[0]],
    [words.here, losses[1]],
  ];
  rows.forEach(([said, loss], i) => {
    const moved = i > 0 && losses[0] !== losses[1];
    board.text(x, y + 180 + i * 42, String(said), "22 muted");
    const style = `32 end 700 ${moved ? "came" : "model"}`;
    board.text(x + width - 20, y + 180 + i * 42, board.number(Number(loss)), style);
  });
  const off = letters === usual;
  board.button("again", [x, y + 270, 220], words.again, () => ask({ letters: usual }), { off });
}
