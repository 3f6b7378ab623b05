// Shannon's game with the whole class: each phone names the next letter; the class beside the models.

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, PerplexityShannon, Said, ToldLetters } from "./types" */

const KEYS = [..."abcdefghijklmnopqrstuvwxyz "];
const [LEFT, EACH, TOP, ROW, HIGH] = [112, 30, 132, 76, 50];

/**
 * Draw what the room is asked, in place of the keyboard. Returns whether it is asked anything.
 * @param {Board} board @param {Said<PerplexityShannon>} data @param {Ask} ask
 * @param {[x: number, width: number]} place of the next letter
 */
export function letters(board, data, ask, [x, width]) {
  const { room, theme } = board;
  const { words } = data;
  if (!room?.door || !data.left) return false;
  const question = room.revealed(`shannon.${data.sentence}.${data.found}`);
  const other = () => ask({ sentence: (data.sentence + 1) % data.sentences, history: "" });
  board.button("other", [board.W - 250, 4, 250], words.other, other);
  const told = /** @type {ToldLetters | undefined} */ (question?.told);
  const letter = !told ? "?" : told.truth === " " ? "␣" : told.truth;
  board.stands(board.text(x + width / 2, 66, letter, "27 middle mono came 700"), "x_t");
  if (!question || !told) {
    board.say("prompt", [0, 180, board.W * 0.8], [[words["room.prompt"], "strong"]], { size: 44 });
    return true;
  }
  const history = data.history + told.moves;
  if (history.length <= data.limit) room.next = () => ask({ history });

  const most = Math.max(...told.rows.flatMap((row) => row.p));
  const right = KEYS.indexOf(told.truth);
  const bottom = TOP + told.rows.length * ROW;
  board.rect(LEFT + right * EACH, TOP - 24, EACH, bottom - TOP + 46, { fill: theme.grid, rx: 6 });
  const [first, second] = [board.W - 170, board.W];
  board.text(first, TOP - 18, words["room.letter"], "20 end muted");
  const mean = fill(words["room.mean"], { n: told.letters });
  board.stands(board.text(second, TOP - 18, mean, "20 end muted"), "T");
  told.rows.forEach((row, r) => {
    const own = row.kind === "class";
    const base = TOP + r * ROW + HIGH + 22;
    const colour = own ? theme.came : theme.model;
    board.text(LEFT - 12, base - 14, words[row.kind], `22 end ${own ? "700 came" : "400"}`);
    board.line(LEFT, base, LEFT + KEYS.length * EACH, base, { stroke: theme.axis });
    const best = row.p.indexOf(Math.max(...row.p));
    row.p.forEach((p, i) => {
      const [at, high] = [LEFT + i * EACH, (p / most) * HIGH];
      board.rect(at + 4, base - high, EACH - 8, high, { fill: colour, rx: 3 });
      const said = `${Math.round(p * 100)} %`;
      const ink = own ? "came" : "muted";
      if (i === best) board.text(at + EACH / 2, base - high - 11, said, `20 middle ${ink}`);
    });
    board.text(first, base - 14, board.number(row.bits, 2), `26 end 600 ${own ? "came" : "text"}`);
    board.text(second, base - 14, board.number(row.mean, 2), `34 end 700 ${own ? "came" : "text"}`);
  });
  KEYS.forEach((c, i) =>
    board.text(LEFT + (i + 0.5) * EACH, bottom + 10, c === " " ? "␣" : c, "20 middle mono"),
  );
  board.stands(board.text(second, bottom + 10, words.bits, "20 end muted"), "bits");
  board.say(
    "note",
    [0, bottom + 26, board.W],
    [[fill(words["room.note"], { n: question.answered }), "quiet"]],
    { size: 20 },
  );
  return true;
}
