// Scene 9: the points to take home, each with its number and the way to its step; scores, and what to read.

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Place, Said, Summary } from "./types" */

const BUTTON = 132; // units that a way to a step is wide

/** @param {Board} board @param {Said<Summary>} data */
export function draw(board, data) {
  if (data.rows) points(board, data, data.rows);
  else further(board, data);
}

/** @param {Board} board @param {Said<Summary>} data @param {NonNullable<Summary["rows"]>} rows */
function points(board, data, rows) {
  const each = Math.min(118, (board.H - 12) / rows.length);
  const top = Math.max(0, (board.H - each * rows.length) / 3);
  const side = 260;
  rows.forEach((row, i) => {
    const y = top + i * each;
    if (i) board.line(0, y, board.W, y, { stroke: board.theme.grid });
    const size = Math.min(44, (side - 20) / (row.number.length * 0.56));
    board.text(side - 20, y + each / 2, row.number, `${size} end 700 model`);
    const wide = board.W - side - BUTTON - 24;
    const parts = /** @type {[string, string][]} */ ([
      [row.says, "strong line"],
      [row.of, "quiet line"],
    ]);
    board.say(`point.${i}`, [side, y + each / 2 - 31, wide], parts, { size: 23 });
    way(board, `go.${i}`, board.W - BUTTON - 4, y + each / 2 - 20, row.go, data.words);
  });
}

/** A button that leads to a step. @param {Board} board @param {string} name @param {number} x @param {number} y @param {Place} go @param {Record<string, string>} words */
function way(board, name, x, y, { scene, step }, words) {
  const title = fill(words.to, { scene, step: step + 1 });
  const button = board.button(
    name,
    [x, y, BUTTON],
    `${scene}.${step + 1} ›`,
    () => board.visit(scene, step),
    { title },
  );
  button.setAttribute("aria-label", title);
}

/** @param {Board} board @param {Said<Summary>} data */
function further(board, { score, count = 0, go, reading = [], words }) {
  const side = 330;
  board.text(0, 26, words.score, "24 600");
  if (score && go) {
    const { right, given } = score;
    board.text(0, 96, given ? `${right} / ${given}` : "–", "72 700 model");
    board.text(0, 164, given ? words.right : words.none, "22 muted");
    if (given < count) board.text(0, 196, fill(words.left, { n: count - given }), "22 muted");
    // A dot for every question: right, wrong, open.
    const across = 9;
    for (let i = 0; i < count; i++) {
      const [x, y] = [12 + (i % across) * 31, 240 + Math.floor(i / across) * 34];
      const fillIn = i < right ? board.theme.model : i < given ? board.theme.came : board.theme.background;
      board.circle(x, y, 11, { fill: fillIn, stroke: board.theme.axis, "stroke-width": 2 });
    }
    way(board, "go.score", 0, 300, go, words);
  }
  board.line(side - 30, 6, side - 30, board.H - 20, { stroke: board.theme.grid });
  board.text(side, 26, words.read, "24 600");
  const each = Math.min(84, (board.H - 60) / Math.max(1, reading.length));
  reading.forEach(([authors, year, title], i) => {
    const y = 66 + i * each;
    board.text(side, y, `${authors} ${year}`, "20 muted");
    const size = Math.min(22, (board.W - side) / (title.length * 0.5));
    board.text(side, y + 27, title, `${Math.max(20, size)} 600`);
  });
}
