// Steps of the small net as boxes and arrows: one, with what its parts are called, or three adjacent ones.

/** @import { Board } from "./board.js" */
/** @import { RecurrenceSmall, Said } from "./types" */

const CELL = 22;
const WIDE = 36;
const BOX = 118;

/** @param {Board} board @param {Said<RecurrenceSmall>} data */
export function figure(board, data) {
  const { words, t, texts } = data;
  const spare = Math.max(0, board.H - 540);
  const y = 156 + spare * 0.4;
  if (board.step === 4) {
    named(board, data, y);
    return;
  }
  const T = texts[0].length;
  const first = Math.max(1, Math.min(t - 1, T - 2));
  const each = 380;
  for (let k = first; k <= Math.min(first + 2, T); k++)
    step(board, data, { x: 110 + (k - first) * each, y, t: k, last: k === T, first: k === first, gap: each });
  const one = board.pair(words.join, "1 × 7, 1 × 4 → 1 × 11");
  const two = board.pair(words.connected, "11 × 4");
  board.text(board.W / 2, 76 + spare * 0.1, `(i) ${one}      (ii) ${two}`, "22 middle");
}

/**
 * One step: X_t and H_{t-1} side by side, the layer, the state, the output.
 * @param {Board} board @param {Said<RecurrenceSmall>} data
 * @param {{ x: number, y: number, t: number, first: boolean, last: boolean, gap: number, stretch?: number }} at
 */
function step(board, data, { x, y, t, first, last, gap, stretch = 1 }) {
  const { theme } = board;
  const [before, state, output] = [data.states[t - 1][0], data.states[t][0], data.outputs[t - 1][0]];
  const one = [...data.symbols].map((symbol) => (symbol === data.texts[0][t - 1] ? 1 : 0));
  const [units, inputs] = [before.length, one.length];
  const [olive, teal, pinned] = [theme.ngram, theme.model, theme.pinned];
  const frame = { fill: "none", "stroke-width": 3, rx: 3 };
  const thick = { width: 4, head: 15 };

  // (i) the state before, and the input, in one row.
  const height = units * CELL;
  if (first) {
    board.symbol(x - 60, y + height / 2 - 30, "H", String(t - 1), {
      style: "24 middle ngram",
      stands: "H_t-1",
    });
    board.arrow(x - 94, y + height / 2, x - 5, y + height / 2, { stroke: olive, ...thick });
  }
  before.forEach((value, i) =>
    board.rect(x, y + i * CELL, WIDE, CELL - 1, { fill: board.colour(value), stroke: theme.grid }),
  );
  board.rect(x, y, WIDE, height, { ...frame, stroke: olive });
  one.forEach((value, i) => {
    const colour = board.colour(value);
    board.rect(x, y + height + i * CELL, WIDE, CELL - 1, { fill: colour, stroke: theme.grid });
  });
  board.rect(x, y + height, WIDE, inputs * CELL, { ...frame, stroke: teal });
  const bottom = y + (units + inputs) * CELL;
  board.arrow(x + WIDE / 2, bottom + 44, x + WIDE / 2, bottom + 5, { stroke: teal, ...thick });
  board.rect(x + WIDE / 2 - 22, bottom + 46, 44, 38, { ...frame, stroke: teal, rx: 6 });
  board.text(x + WIDE / 2, bottom + 65, data.texts[0][t - 1], "26 middle mono 700");
  board.symbol(x + WIDE / 2 + 34, bottom + 65, "X", String(t), { style: "24 model", stands: "X_t" });
  if (stretch === 1) board.text(x - 8, y + height + 14, "(i)", "22 end 700");

  // (ii) the layer; then the state, at the height of the next step's.
  const box = x + WIDE + 34;
  const wide = BOX * stretch;
  board.arrow(x + WIDE + 4, y + height, box - 3, y + height, { stroke: theme.text, width: 3, head: 13 });
  board.rect(box, y + 12, wide, height * 1.6, { ...frame, stroke: pinned, rx: 12 });
  layer(board, box + wide / 2, y + 12 + height * 0.8, stretch);
  const after = box + wide + 40;
  board.arrow(box + wide + 3, y + height / 2, after - 4, y + height / 2, {
    ...{ stroke: pinned, width: 3, head: 13 },
  });
  state.forEach((value, i) =>
    board.rect(after, y + i * CELL, WIDE, CELL - 1, { fill: board.colour(value), stroke: theme.grid }),
  );
  board.rect(after, y, WIDE, height, { ...frame, stroke: olive });
  const end = last ? after + WIDE + 60 : Math.min(x + gap - 5, board.W - 2);
  board.arrow(after + WIDE + 4, y + height / 2, end, y + height / 2, { stroke: olive, ...thick });
  const named = { style: "24 middle ngram", stands: "H_t" };
  board.symbol(after + WIDE / 2, y + height + 24, "H", String(t), named);

  // The output, above its state.
  const cell = 20;
  const left = after + WIDE / 2 - (output.length * cell) / 2;
  board.arrow(after + WIDE / 2, y - 5, after + WIDE / 2, y - 30, { stroke: theme.came, width: 3, head: 12 });
  output.forEach((value, j) =>
    board.rect(left + j * cell, y - 56, cell - 1, 24, {
      fill: board.colour(value, "diverging", 3),
      stroke: theme.grid,
    }),
  );
  board.rect(left, y - 56, output.length * cell, 24, { ...frame, stroke: theme.came });
  board.symbol(left - 34, y - 44, "O", String(t), { style: "22 middle came", stands: "O_t" });
  board.symbol(after + WIDE / 2 + 12, y - 17, "W", "hq", { style: "20 came", stands: "W_hq" });
  return { box, wide, after, bottom, height };
}

/** What the layer holds. @param {Board} board @param {number} x @param {number} y @param {number} stretch */
function layer(board, x, y, stretch) {
  if (stretch === 1) board.text(x, y - 42, "(ii)", "22 middle 700");
  board.symbol(x - 24, y - 10, "W", "xh", { style: "22 middle", stands: "W_xh" });
  board.symbol(x + 30, y - 10, "W", "hh", { style: "22 middle", stands: "W_hh" });
  board.symbol(x - 20, y + 28, "b", "h", { style: "22 middle", stands: "b_h" });
  board.text(x + 26, y + 26, "φ", { style: "28 middle italic 700 pinned", stands: "phi" });
}

/** One step, large: the layer is between input and output, the state comes from the step before. @param {Board} board @param {Said<RecurrenceSmall>} data @param {number} y */
function named(board, data, y) {
  const { words, t } = data;
  const at = { x: 470, y, t, first: true, last: true, gap: 0, stretch: 1.7 };
  const { box, wide, after, bottom } = step(board, data, at);
  board.say("state", [0, y - 34, 370], [[words.state, "ngram bold"], ["", "line"], words["state.is"]], {
    size: 24,
  });
  const right = after + WIDE + 80;
  board.say(
    "layer",
    [right, y + 130, board.W - right],
    [[words.layer, "pinned bold"], ["", "line"], words["layer.is"]],
    { size: 24 },
  );
  const low = y + 12 + 4 * CELL * 1.6;
  const bend = `M${right - 12},${y + 190} C${box + wide},${y + 190} ${box + wide / 2},${y + 200} ${box + wide / 2},${low + 12}`;
  board.path(bend, { stroke: board.theme.pinned, width: 2.5, "stroke-dasharray": "6 6" });
  board.arrow(box + wide / 2, low + 13, box + wide / 2, low + 2, { stroke: board.theme.pinned, head: 12 });
  board.text(after + WIDE / 2 + 88, y - 44, words.output, "24 came");
  board.text(at.x + WIDE / 2 + 80, bottom + 65, words.input, "24 model");
  board.text(after + WIDE + 70, y + 44, words.next, "24 ngram");
}
