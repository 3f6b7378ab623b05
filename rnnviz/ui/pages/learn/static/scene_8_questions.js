// Scene 8: a question, a prediction, and then what really happens.

import { fill } from "../../../browser/static/words.js";
import { tally } from "./tally.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, Measured, Questions, Said } from "./types" */

/** @param {Board} board @param {Said<Questions>} data @param {Ask} ask */
export function draw(board, data, ask) {
  const { theme } = board;
  const { words } = data;
  const open = data.pick === null;
  const half = open ? board.W : board.W * 0.46;
  const number = { n: data.number, count: data.count, exercise: data.exercise ?? 0 };
  board.text(0, 20, fill(data.exercise ? words.chapter : words.own, number), "20 muted");
  if (data.score.given) board.text(board.W, 20, fill(words.score, data.score), "20 end 600 model");
  board.say("question", [0, 48, open ? board.W * 0.86 : half], [[data.question, "strong"]], {
    size: open ? 34 : 27,
  });
  if (open) board.text(0, 208, words.predict, "24 came 600");

  const votes = tally(board, `question.${data.key}`);
  const top = open ? 240 : 212;
  const row = open ? 70 : 62;
  data.options.forEach((option, i) => {
    const y = top + i * row;
    const right = !open && i === data.answer;
    const wrong = !open && i === data.pick && !right;
    const g = board.group({ opacity: open || right || wrong ? 1 : 0.45 });
    const wide = open ? Math.min(board.W, 860) : half;
    const edge = right ? theme.model : wrong ? theme.came : theme.axis;
    g.rect(1, y, wide - 2, row - 12, {
      fill: theme.background,
      stroke: edge,
      "stroke-width": right || wrong ? 4 : 2,
      rx: 10,
    });
    votes?.bar(g, i, [3, y + 2, wide - 6, row - 16]);
    if (votes) g.text(wide - 14, y + (row - 12) / 2, votes.said(i), `${open ? 27 : 21} end 600 came`);
    const mark = right ? "✓" : wrong ? "✗" : "ABCD"[i];
    g.text(28, y + (row - 12) / 2, mark, `26 middle 700 ${edge === theme.axis ? "muted" : edge}`);
    const size = Math.min(open ? 27 : 23, (wide - (votes ? 186 : 66)) / (width(option) * 0.54));
    g.text(56, y + (row - 12) / 2, option, `${size} ${right ? 700 : 400}`);
    if (open)
      board.on(g.svg, `option.${i}`, { click: () => ask({ question: data.key, pick: i }), label: option });
  });
  if (open || !data.settings || !data.rows) return;

  const good = data.pick === data.answer;
  const below = top + data.options.length * row + 4;
  board.button("again", [0, below], words.again, () => ask({ question: data.key, again: true }));

  // What was computed, and a control to try it with.
  const x = half + 56;
  const side = board.W - x;
  board.text(x, 62, good ? words.right : words.wrong, `36 700 ${good ? "model" : "came"}`);
  board.line(x - 28, 48, x - 28, 520, { stroke: theme.grid });
  board.text(x, 113, board.pair(words.try, data.dial ?? ""), "20 muted");
  board.choice(
    "setting",
    [x, 136],
    data.dial ?? "",
    data.settings.map((s, i) => [i, s]),
    data.setting,
    (setting) => ask({ question: data.key, setting }),
  );
  let y = 212;
  for (const { label, value, share } of data.rows) {
    const long = value.length > 40;
    board.text(x, y, label, "21 muted");
    if (long) {
      board.say("long", [x, y + 20, side, 150], [[value, "mono"]], { size: 20 });
      y += data.table ? 126 : 170;
      continue;
    }
    if ((width(label) * 21 + width(value) * 28) * 0.54 > side) y += 34;
    board.text(x + side, y, value, "28 end 700");
    if (share !== null) {
      board.rect(x, y + 20, side, 12, { fill: theme.grid, rx: 4 });
      board.rect(x, y + 20, Math.max(2, side * Math.min(1, share)), 12, { fill: theme.model, rx: 4 });
      y += 24;
    }
    y += 46;
  }
  if (data.table) measurements(board, data.table, x, y, side);
}

/**
 * A row for each measure, a column for each condition.
 * @param {Board} board @param {Measured} table @param {number} x @param {number} y @param {number} side
 */
function measurements(board, { title, columns, column, rows, measured }, x, y, side) {
  const { theme } = board;
  const each = side / columns.length;
  const high = 32 + rows.length * 49;
  const lit = (/** @type {number} */ i, /** @type {number} */ middle) => {
    if (i === column) board.rect(x + i * each + 6, middle - 14, each - 2, 28, { fill: theme.grid, rx: 6 });
  };
  board.text(x, y, title, "20 muted");
  columns.forEach((name, i) => {
    lit(i, y + 28);
    board.text(x + (i + 1) * each - 4, y + 28, name, `20 end 600 ${i === column ? "text" : "muted"}`);
  });
  rows.forEach(({ label, values }, n) => {
    const middle = y + 56 + n * 49;
    board.text(x, middle, label, "20 muted");
    values.forEach((value, i) => {
      lit(i, middle + 24);
      board.text(x + (i + 1) * each - 4, middle + 24, value, `20 end ${i === column ? 700 : 400}`);
    });
  });
  board.text(x, y + high + 22, measured, "20 muted");
}

/** A line's width in halves of a Chinese character. @param {string} text */
function width(text) {
  return [...text].reduce((sum, c) => sum + (c > "\u2e80" ? 1.9 : 1), 0);
}
