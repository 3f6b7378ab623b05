// Scene 7, step 1: the word's way back, one time step at a time: the graph, and the numbers of a step.

import { fill } from "../../../browser/static/words.js";
import { low, maths } from "./maths.js";
import { graph } from "./scene_7_graph.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, BackwardsWord, Said } from "./types" */

const CELL = [58, 31];
const X = 738; // where the numbers of four units begin

/** @param {Board} board @param {Said<BackwardsWord>} data @param {Ask} ask */
export function word(board, data, ask) {
  const { words, steps, walked } = data;
  const { W } = board;
  board.slider("steps", [0, 6, 280], words.steps, { min: 2, max: 6, value: steps }, (to) =>
    ask({ steps: to, walked: 0 }),
  );
  board.slider("walked", [310, 6, 300], words.walked, { min: 0, max: steps, value: walked }, (to) =>
    ask({ walked: to }),
  );
  const done = walked === steps;
  board.button(
    "back",
    [640, 2],
    done ? words.again : words.back,
    () => ask({ walked: done ? 0 : walked + 1 }),
    { strong: true },
  );
  board.choice(
    "net",
    [W - 250, 2],
    words.kind,
    [
      ["state", words.with],
      ["memoryless", words.without],
    ],
    data.recurrent ? "state" : "memoryless",
    (net) => ask({ net }),
  );
  graph(board, data, ask, [0, 62, 566, 396 + board.spare]);
  kept(board, data);
  const t = steps + 1 - walked;
  if (walked === 0) there(board, data);
  else numbers(board, data, t);
}

/** What the way back needs. @param {Board} board @param {Said<BackwardsWord>} data */
function kept(board, data) {
  const { words, cached, steps } = data;
  const said = { X: "X_{t}", H: "H_{t}", slope: "tanh′", P: "P_{t}" };
  const y = 492 + board.spare;
  const each = Object.entries(cached.each)
    .map(([name, count]) => `${said[/** @type {keyof typeof said} */ (name)]} ${count}`)
    .join(" + ");
  const sum = Object.values(cached.each).reduce((a, b) => a + b, 0);
  maths(board, 0, y, `${each} = ${sum}`, "22");
  board.text(360, y, words.kept, "20 muted");
  const total = {
    steps,
    numbers: board.numbers.whole(cached.numbers),
    bytes: board.numbers.whole(cached.bytes),
  };
  board.text(0, y + 32, fill(words.total, total), "22 600 model");
}

/** What the way there has left. @param {Board} board @param {Said<BackwardsWord>} data */
function there(board, data) {
  const { words } = data;
  const x = 644;
  board.text(x, 84, words.start, "24 600");
  data.losses.forEach((loss, i) => {
    const said = {
      t: i + 1,
      input: data.inputs[i],
      label: data.labels[i],
      p: board.number(data.chances[i]),
      low: low(i + 1),
      loss: board.number(loss),
    };
    board.text(x, 132 + i * (40 + board.spare / 12), fill(words.there, said), "22");
  });
}

/** Every number of a step back. @param {Board} board @param {Said<BackwardsWord>} data @param {number} t */
function numbers(board, data, t) {
  const { theme } = board;
  const { words, recurrent, steps } = data;
  const i = t - 1;
  const last = t === steps;
  const top = 66 + board.spare * 0.2;
  const reads = { t, input: data.inputs[i], label: data.labels[i] };
  board.text(board.W, top, fill(words.step, reads), "22 end 700 pinned");
  const row = CELL[1] + 9 + board.spare * 0.03;
  const y = top + 16;
  data.alphabet.forEach((symbol, k) => {
    board.text(
      X + (k + 0.5) * CELL[0],
      y + 10,
      symbol,
      `20 middle mono ${k === data.alphabet.indexOf(reads.label) ? "700 pinned" : "muted"}`,
    );
  });
  const next = recurrent && !last;
  const handed = next ? fill(words.hands, { t: t + 1 }) : last ? words.none : words.nothing;
  /** @type {[string, string, number[]][]} */
  const lines = [
    [`∂L/∂O_{${t}}`, "", data.output[i]],
    [`∂L/∂O_{${t}} W_{hq}^{⊤}`, fill(words.asks, { t: low(t) }), data.fromLoss[i]],
    [next ? `+ δ_{${t + 1}} W_{hh}^{⊤}` : "+ 0", handed, data.fromNext[i]],
    [`= ∂L/∂H_{${t}}`, words.sum, data.state[i]],
    [`⊙ tanh′(A_{${t}})`, words.slope, data.slope[i]],
    [`= δ_{${t}}`, "", data.delta[i]],
  ];
  lines.forEach(([label, said, values], k) => {
    const at = y + 24 + k * row;
    maths(board, X - 12, at + CELL[1] / 2, label, "24 end");
    const stands = label.startsWith("= δ") ? "delta_t" : "";
    board.matrix({ x: X, y: at, values: [values], cell: CELL, full: 1, stands });
    if (said)
      board.text(
        X + 4 * CELL[0] + 16,
        at + CELL[1] / 2,
        said,
        `20 ${label.startsWith("+") ? "came 600" : "muted"}`,
      );
  });
  if (!recurrent) return;
  const under = y + 24 + lines.length * row + 34;
  const sum = X + 4 * CELL[0] + 18;
  maths(board, X - 46, under - 20, `H_{${t - 1}}^{⊤}`, "24 middle");
  board.matrix({ x: X - 46 - CELL[0] / 2, y: under, values: data.before[i].map((v) => [v]), cell: CELL });
  maths(board, X + 2 * CELL[0], under - 20, `H_{${t - 1}}^{⊤} δ_{${t}}`, "24 middle");
  board.matrix({ x: X, y: under, values: data.terms[i], cell: CELL, full: 1 });
  board.text(sum + 2 * CELL[0], under - 20, words.added, "20 middle 600 model");
  board.matrix({ x: sum, y: under, values: data.added[i], cell: CELL, full: 1, colour: theme.model });
}
