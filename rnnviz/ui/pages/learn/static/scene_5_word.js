// Scene 5: a word, its labels, what the network makes of them, and its training. What one output rests on:
// word_path.js; why characters, and several places of a text at once: word_tokens.js.

import { visible } from "../../../browser/static/characters.js";
import { fill } from "../../../browser/static/words.js";
import { path } from "./word_path.js";
import { batch, why } from "./word_tokens.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, Said, Word, WordBatch, WordPath, WordWhy } from "./types" */

const [TRAIN, WRITES] = [5, 6]; // steps

/** @param {Board} board @param {Said<Word | WordPath | WordWhy | WordBatch>} data @param {Ask} ask */
export function draw(board, data, ask) {
  if (board.step < TRAIN) board.local.playing = false;
  if (data.show === "path") path(board, data, ask);
  else if (data.show === "why") why(board, data);
  else if (data.show === "batch") batch(board, data, ask);
  else learned(board, data, ask);
}

/** @param {Board} board @param {Said<Word>} data @param {Ask} ask */
function learned(board, data, ask) {
  const { theme, step } = board;
  const { words } = data;
  const T = data.labels.length;
  const V = data.symbols.length;

  const left = 118;
  const right = step >= TRAIN ? 838 : board.W - 10;
  const each = Math.min(step >= TRAIN ? 116 : 180, (right - left) / T);
  const X = (/** @type {number} */ t) => left + (t + 0.5) * each;
  const name = (/** @type {number} */ y, /** @type {string} */ text, symbol = "", below = "") => {
    board.text(100, y, text, "20 end muted");
    if (symbol) board.symbol(100, y + 26, symbol, below, "22 end muted");
  };
  const { spare } = board;
  const row = Math.min(27 + spare / 10, (216 + spare) / V);
  const grid = 172;
  const bottom = grid + row * V;
  const state = Math.max(414 + spare * 0.6, bottom + 36);
  const input = state + 78;
  const deep = step >= 1;
  const hot = theme.came;

  // From the bottom to the top, as the textbook draws it: input, state, softmax, label.
  board.text(74, input, words.input, "20 end muted");
  board.symbol(100, input, "x", "t", "22 end muted");
  board.text(100, input + 30, "t", "20 end muted");
  name(state - 2, words.state, "H", "t");
  name(64, words.label, "x", "t+1");
  if (deep) {
    name(120, words.loss);
    data.symbols.forEach((symbol, v) =>
      board.text(100, grid + (v + 0.5) * row, visible(symbol), `${Math.min(20, row * 0.95)} end mono muted`),
    );
  }
  const worst = Math.max(Math.log(V) * 1.35, ...data.losses);
  for (let t = 0; t < T; t++) {
    const x = X(t);
    board.text(x, 64, visible(data.labels[t]), { style: `32 middle mono 700 ${hot}`, stands: "x_t+1" });
    const style = "32 middle mono 700";
    board.text(x, input, visible(data.inputs[t]), { style, stands: "x_t X_t" });
    board.text(x, input + 30, String(t + 1), "20 middle muted");
    // The same character: the label of one step is the input of the next.
    if (!deep && t + 1 < T) {
      const bend = x + each / 2;
      const d = `M${x + 20},${66} C${bend},${66} ${bend},${input} ${X(t + 1) - 32},${input}`;
      board.path(d, { stroke: hot, width: 2.5, "stroke-dasharray": "7 6", opacity: 0.75 });
      board.arrow(X(t + 1) - 33, input, X(t + 1) - 20, input, { stroke: hot, head: 12 });
    }
    const into = { stroke: theme.axis, head: 8, width: 2 };
    board.arrow(x, input - 22, x, state + 28, { ...into, stands: "W_xh" });
    const wide = Math.min(each - 26, 92);
    const strip = board.group({ stands: "H_t" });
    strip.strip({ x: x - wide / 2, y: state - 12, width: wide, height: 36, values: data.hidden[t] });
    if (t + 1 < T)
      board.arrow(x + wide / 2 + 1, state + 6, X(t + 1) - wide / 2 - 2, state + 6, {
        stroke: theme.model,
        head: 8,
        stands: "W_hh H_t-1",
      });
    board.arrow(x, state - 16, x, deep ? bottom + 5 : 90, { ...into, stands: "W_hq" });
    if (!deep) continue;
    const column = board.group({ stands: "softmax P O_t" });
    data.p[t].forEach((p, v) => {
      const colour = board.colour(p, "sequential");
      column.rect(x - each / 2 + 3, grid + v * row + 1, each - 6, row - 2, { fill: colour, rx: 3 });
      if (row >= 19 && each >= 56)
        column.text(
          x,
          grid + (v + 0.5) * row,
          board.number(p).replace(/^0/, ""),
          `20 middle ${board.ink(colour)}`,
        );
    });
    const v = data.targets[t];
    board.rect(x - each / 2 + 2, grid + v * row, each - 4, row, {
      fill: "none",
      stroke: hot,
      "stroke-width": 3.5,
      rx: 4,
    });
    const high = (data.losses[t] / worst) * 44;
    board.rect(x - 15, 158 - high, 30, Math.max(1.5, high), { fill: hot, rx: 2 });
    const cost = { style: `20 middle ${hot} 600`, stands: "l_t" };
    board.text(x, 146 - high, board.number(data.losses[t], 2), cost);
  }
  if (step < TRAIN) return;
  typing(board, data, ask);
  training(board, data, ask, board.W - 338);
}

/** A word that is being typed is asked for as it is; what doesn't fit is only said. @param {Board} board @param {Said<Word>} data @param {Ask} ask */
function typing(board, data, ask) {
  const { local } = board;
  const typed = local.typed ?? data.word;
  const field = { label: data.words.word, limit: 12, size: 24 };
  board.field("word", [0, 2, 350], data.word, field, (text) => {
    local.typed = text;
    local.playing = false;
    if ([...text].length > 1) ask({ word: text, at: 0 });
    board.redraw();
  });
  if ([...typed].length < 2) board.text(370, 24, fill(data.words.length, { n: 12 }), "came 20");
}

/** @param {Board} board @param {Said<Word>} data @param {Ask} ask @param {number} x */
function training(board, data, ask, x) {
  const { theme, local } = board;
  const { words } = data;
  const width = 330;
  const at = data.at;
  if (local.playing && at >= data.steps) local.playing = false;
  if (local.playing && local.asked !== at) {
    local.asked = at;
    ask({ at: Math.min(data.steps, at + 2) });
  }
  const play = () => {
    local.playing = !local.playing;
    local.asked = undefined;
    if (local.playing && at >= data.steps) {
      local.asked = at;
      ask({ at: 0 });
    }
    board.redraw();
  };
  board.button("train", [x, 2, 120], local.playing ? words.stop : words.train, play, { strong: true });
  board.button("again", [x + 132, 2], words.again, () => {
    local.playing = false;
    local.asked = 0;
    ask({ at: 0 });
  });
  const V = data.symbols.length;
  const most = Math.max(10, V * 1.6, data.curve[0] * 1.2);
  board.chart([x + 46, 96, width - 56, 196], [0, data.steps], [1, most], {
    log: true,
    yTitle: words.perplexity,
    xTicks: [0, 25, 50, 75, 100].map((v) => [v, String(v)]),
    yTicks: [1, 2, 5, 10, 20, 50, 100].filter((v) => v <= most).map((v) => [v, String(v)]),
    marks: [{ x: at }],
    lines: [
      {
        points: [
          [0, V],
          [data.steps, V],
        ],
        colour: theme.uniform,
        dash: "6 6",
        width: 2,
        label: `${words.blind} ${V}`,
        at: data.steps,
        anchor: "end",
      },
      {
        points: data.curve.map((v, n) => [n, v]).slice(0, at + 1),
        colour: theme.model,
        stands: "perplexity",
      },
    ],
  });
  board.text(x + width - 10, 336, fill(words.step, { n: at, count: data.steps }), "20 end muted");
  board.text(x + 46, 386, words.perplexity, "22 muted");
  board.text(x + width - 10, 384, board.number(data.perplexity, data.perplexity < 1.1 ? 3 : 2), {
    style: "46 end 700 model",
    stands: "perplexity",
  });
  if (board.step < WRITES) return;
  board.text(x + 46, 446, words.writes, "22 muted");
  const letters = [...data.written];
  const size = Math.min(34, (width - 56) / (letters.length * 0.62));
  const written = board.group({ stands: "argmax x_t+1" });
  letters.forEach((c, i) =>
    written.text(
      x + 46 + i * size * 0.62,
      490,
      visible(c),
      `${size} mono 700 ${c === [...data.word][i] ? "model" : "muted"}`,
    ),
  );
  board.button("seed", [x + 46, 514 - 0], words.seed, () => ask({ seed: (data.seed + 1) % 1000, at: 0 }));
}
