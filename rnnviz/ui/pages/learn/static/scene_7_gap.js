// Scene 7: a letter is to be remembered over a gap, by three kinds of cells.

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, BackwardsGap, Line, Said } from "./types" */

const LEFT = 560; // the task and the way there; where everything stands in the end is right of it

/** @param {Board} board @param {Said<BackwardsGap>} data @param {Ask} ask */
export function gap(board, data, ask) {
  const { words } = data;
  board.text(0, 22, words.gates, "20 muted");
  const gates = board.choice(
    "gates",
    [136, 2],
    words.gates,
    [
      ["open", words["gates.open"]],
      ["usual", words["gates.usual"]],
    ],
    data.gates,
    (chosen) => ask({ gates: chosen }),
  );
  board.stands(gates, "Z_t", "F_t");
  board.slider(
    "updates",
    [LEFT + 60, 4, board.W - LEFT - 60],
    words.updates,
    { min: 0, max: data.last, value: data.updates, say: (v) => String(v * data.every) },
    (updates) => ask({ updates }),
  );
  task(board, data);
  curves(board, data);
  grid(board, data, ask);
}

/** What is read, and what is to be said. @param {Board} board @param {Said<BackwardsGap>} data */
function task(board, { words, gap: k, sequence }) {
  const { theme } = board;
  board.text(0, 70, fill(words.task, { k }), "21");
  const each = Math.min(34, (LEFT - 90) / sequence.length);
  [...sequence].forEach((c, i) => {
    const ends = i === 0 || i === sequence.length - 1;
    const [wide, x] = [ends ? 34 : each, i === 0 ? 0 : 38 + (i - 1) * each];
    board.rect(x, 90, wide - 2, 34, { fill: ends ? theme.model : theme.grid, rx: 4 });
    if (ends || each > 18)
      board.text(
        x + wide / 2 - 1,
        107,
        c,
        `21 middle mono ${ends ? `700 ${board.ink(theme.model)}` : "muted"}`,
      );
  });
  const end = 38 + (sequence.length - 2) * each + 40;
  board.arrow(end, 107, end + 30, 107, { stroke: theme.muted });
  board.text(end + 42, 107, sequence[0], "24 mono 700");
}

/** Every network's way, and each cell's mean. @param {Board} board @param {Said<BackwardsGap>} data */
function curves(board, data) {
  const { words, rows, updates, every, last, chance } = data;
  /** @type {Line[]} */
  const lines = [];
  for (const { cell, curves } of rows) {
    if (cell === "orthogonal" || cell === "mlp") continue;
    const colour = colourOf(board, cell);
    const shown = curves.map((values) => values.slice(0, updates + 1));
    for (const values of shown)
      lines.push({ points: values.map((v, i) => [i * every, v]), colour: `${colour}66`, width: 2 });
    const mean = shown[0].map((_, i) => shown.reduce((sum, values) => sum + values[i], 0) / shown.length);
    lines.push({ points: mean.map((v, i) => [i * every, v]), colour, width: 5 });
  }
  const { Y } = board.chart([64, 184, LEFT - 84, 214 + board.spare], [0, last * every], [0, 100], {
    xTitle: words.updates,
    yTitle: words.right,
    lines: [
      {
        points: [
          [0, chance],
          [last * every, chance],
        ],
        colour: board.theme.muted,
        dash: "7 6",
        width: 2,
      },
      ...lines,
    ],
  });
  board.text(LEFT - 24, Y(chance) + 14, words.chance, "20 end muted");
  board.say("what", [0, 472 + board.spare, LEFT - 10], words.what, { size: 20 });
}

/** A row for each cell, a column for each gap. @param {Board} board @param {Said<BackwardsGap>} data @param {Ask} ask */
function grid(board, data, ask) {
  const { theme } = board;
  const { words, rows, gaps } = data;
  const left = LEFT + 60;
  const names = 116;
  const each = (board.W - left - names) / gaps.length;
  const high = 56 + board.spare / 5;
  const top = 126;
  board.text(left, 70, fill(words.grid, { n: words["grid.n"] }), "20");
  board.text(left, 106, words.gap, "20 muted");
  gaps.forEach((k, i) => {
    const x = left + names + i * each;
    const now = k === data.gap;
    board.text(x + each / 2, 106, String(k), `21 middle ${now ? 700 : 400}`);
    if (now)
      board.rect(x + 2, 90, each - 4, 40 + rows.length * high, {
        fill: "none",
        stroke: theme.text,
        "stroke-width": 3,
        rx: 8,
      });
  });
  rows.forEach(({ cell, ranges }, n) => {
    const y = top + n * high;
    board.text(left, y + high / 2, words[cell] ?? cell.toUpperCase(), `21 700 ${colourOf(board, cell)}`);
    gaps.forEach((k, i) => {
      const x = left + names + i * each;
      const range = ranges[k];
      if (!range) return;
      const fillColour = board.colour((range[0] + range[1]) / 200, "sequential");
      board.rect(x + 4, y + 2, each - 8, high - 4, { fill: fillColour, rx: 5 });
      const [low, most] = range.map((v) => board.number(v, 0));
      const text = low === most ? low : `${low}–${most}`;
      board.text(
        x + each / 2,
        y + high / 2,
        text,
        `${text.length > 5 ? 20 : 22} middle 600 ${board.ink(fillColour)}`,
      );
    });
  });
  gaps.forEach((k, i) => {
    const area = board.rect(left + names + i * each, 90, each, 40 + rows.length * high, {
      fill: "transparent",
    });
    board.on(area, `gap.${k}`, { click: () => ask({ gap: k }), label: `${words.gap} ${k}` });
  });
  const below = top + rows.length * high + 20;
  if (data.clipping) {
    board.text(left, below + 14, words.clipping, "20 muted");
    board.choice(
      "clipping",
      [left + names, below - 6],
      words.clipping,
      [
        ["on", words["clipping.on"]],
        ["off", words["clipping.off"]],
      ],
      data.clipping,
      (clipping) => ask({ clipping }),
    );
  }
  board.say("note", [left, 472 + board.spare, board.W - left], fill(words.note, { n: words["note.n"] }), {
    size: 20,
  });
}

/** @param {Board} board @param {string} cell @returns {string} */
function colourOf({ theme }, cell) {
  if (cell === "orthogonal") return theme.came;
  return /** @type {Record<string, string>} */ (theme.cells)[cell];
}
