// Scene 7: gates that look at the input alone: all steps at once, what is left of each letter, and the price.

import { fill } from "../../../browser/static/words.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, Attributes, BackwardsLinear, Said } from "./types" */

const LEFT = 590; // the scan; right of it what is left, and the price
const NAMES = 92;
const RIGHT = 614;
const TOP = 74;
const [SHORTEST, LONGEST] = [3, 12]; // characters of the word

/** @param {Board} board @param {Said<BackwardsLinear>} data @param {Ask} ask */
export function linear(board, data, ask) {
  const { words } = data;
  typing(board, data, ask);
  for (const [name, x, options] of /** @type {const} */ ([
    ["against", 340, ["same", "other"]],
    ["learned", 890, ["trained", "untrained"]],
  ])) {
    board.text(x, 20, words[name], "20 muted");
    board.choice(
      name,
      [x + (name === "learned" ? 90 : 110), 3],
      words[name],
      options.map((key) => [key, words[`${name}.${key}`]]),
      data[name],
      (key) => ask({ [name]: key }),
    );
  }
  scan(board, data, ask);
  left(board, data);
  price(board, data, ask);
}

/** The word, and what it shows; a word that is too short is only said to be. @param {Board} board @param {Said<BackwardsLinear>} data @param {Ask} ask */
function typing(board, data, ask) {
  const { words, word } = data;
  const options = { label: words.word, limit: LONGEST, size: 22 };
  const { own } = board.field("cued", [0, 2, 300], word, options, (cued) => {
    if ([...cued].length >= SHORTEST) ask({ cued });
    board.redraw();
  });
  const tooShort = [...(own ?? word)].length < SHORTEST;
  const gained = fill(words.scan, { rounds: words["rounds.n"], steps: words["steps.n"] });
  board.text(0, TOP, tooShort ? words.length : gained, `22 600${tooShort ? " came" : ""}`);
}

/** Round by round; a click on a letter looks at its step. @param {Board} board @param {Said<BackwardsLinear>} data @param {Ask} ask */
function scan(board, data, ask) {
  const { theme } = board;
  const { words, marks, rounds, t, s } = data;
  const each = (LEFT - NAMES) / marks.length;
  const X = (/** @type {number} */ i) => NAMES + (i + 0.5) * each;
  marks.forEach((mark, i) => {
    const now = i === t - 1 || i === s - 1;
    const letter = board.group(i === t - 1 ? { stands: "X_t" } : {});
    const colour = i === t - 1 ? theme.pinned : theme.grid;
    letter.rect(X(i) - 20, 98, 40, 34, {
      fill: colour,
      rx: 4,
      stroke: now ? theme.pinned : colour,
      "stroke-width": 3,
    });
    const ink = i === t - 1 ? board.ink(theme.pinned) : "text";
    letter.text(X(i), 115, mark, `22 middle mono 700 ${ink}`);
    letter.text(X(i), 148, String(i + 1), "20 middle muted");
    board.on(letter.svg, `letter.${i}`, {
      click: () => ask({ place: i + 1 }),
      label: fill(words.press, { t: i + 1, letter: mark }),
    });
  });
  const first = 184;
  const row = (board.H - 72 - first) / rounds.length;
  const Y = (/** @type {number} */ n) => first + (n + 0.5) * row;
  const joins = board.group();
  rounds.forEach((values, n) => {
    board.text(0, Y(n), n ? fill(words.round, { n }) : words.written, "20 muted");
    const apart = 2 ** (n - 1);
    const reached = board.group();
    values.forEach((value, i) => {
      const done = i < 2 ** n;
      if (n && i >= apart)
        joins.line(X(i - apart), Y(n - 1) + 17, X(i), Y(n) - 17, { stroke: theme.came, width: 2 });
      if (n) joins.line(X(i), Y(n - 1) + 17, X(i), Y(n) - 17, { stroke: theme.axis, width: 2 });
      const box = reached.group(i === t - 1 && n === rounds.length - 1 ? { stands: "H_t" } : {});
      box.rect(X(i) - each / 2 + 2, Y(n) - 17, each - 4, 34, {
        fill: done ? theme.model : theme.background,
        stroke: done ? theme.model : theme.axis,
        rx: 4,
      });
      box.text(X(i), Y(n), short(board, value), `20 middle ${done ? `600 ${board.ink(theme.model)}` : ""}`);
    });
    board.on(reached.svg, `round.${n}`, {
      label: board.pair(
        n ? fill(words.round, { n }) : words.written,
        values.map((v) => board.number(v)).join(", "),
      ),
    });
  });
  const difference = board.power(data.difference);
  const said = { unit: data.unit + 1, joins: data.joins, steps: marks.length - 1, difference };
  board.say("joined", [0, board.H - 56, LEFT], fill(words.joined, said), { size: 20 });
}

/** A number of at most four characters. @param {Board} board @param {number} value */
function short(board, value) {
  return board.number(value, value < 0 || value >= 9.995 ? 1 : 2);
}

/** What the state still has of each letter. @param {Board} board @param {Said<BackwardsLinear>} data */
function left(board, { words, marks, shares, t }) {
  const { theme } = board;
  const each = Math.min(72, (board.W - RIGHT) / marks.length);
  board.text(RIGHT, TOP, fill(words.left, { t }), "22 600");
  const [ground, high] = [204 + board.spare / 4, 76 + board.spare / 4];
  const bars = board.group();
  marks.slice(0, t).forEach((mark, i) => {
    const x = RIGHT + (i + 0.5) * each;
    const tall = Math.max(1.5, shares[i] * high);
    bars.rect(x - each * 0.36, ground - tall, each * 0.72, tall, { fill: theme.model, rx: 3 });
    bars.text(x, ground - tall - 14, board.number(100 * shares[i], 0), "20 middle 600");
    bars.text(x, ground + 18, mark, `22 middle mono ${i === t - 1 ? 700 : 400}`);
  });
  const said = shares.map((share, i) =>
    fill(words.share, { letter: marks[i], value: board.number(100 * share, 0) }),
  );
  board.on(bars.svg, "left", { label: board.pair(fill(words.left, { t }), said.join(", ")) });
}

/** Both networks at two places: a row of what is kept and one of what is written. @param {Board} board @param {Said<BackwardsLinear>} data @param {Ask} ask */
function price(board, data, ask) {
  const { words, rows, marks } = data;
  const [cell, high] = [49, 42];
  const top = 262 + board.spare / 2;
  const wide = 4 * cell;
  const columns = [board.W - 2 * wide - 84, board.W - wide];
  board.text(RIGHT, top, words.lost, "22 600");
  [data.s, data.t].forEach((at, i) => {
    const said = fill(words.at, { letter: marks[at - 1], t: at });
    board.text(columns[i] + wide / 2, top + 36, said, `20 middle ${i ? "700" : "600"}`);
  });
  rows.forEach((row, n) => {
    const y = top + 58 + n * (2 * high + 16);
    board.text(RIGHT, y + high / 2, row.name, `22 700 ${n ? "text" : "model"}`);
    [row.keep, row.write].forEach((both, k) => {
      const middle = y + (k + 0.5) * high;
      board.text(columns[0] - 8, middle, k ? words.writes : words.keeps, "20 end muted");
      both.forEach((values, i) => {
        const standing = !n && !k && i ? { stands: "Z_t" } : {};
        units(board, data, ask, {
          values,
          x: columns[i],
          middle,
          cell,
          high,
          key: `${n}.${k}.${i}`,
          standing,
        });
      });
      const same = row.apart[k] === 0;
      const sign = same ? "=" : `≠ ${board.number(row.apart[k])}`;
      board.text(
        board.W - wide - 42,
        middle,
        sign,
        `${same ? 30 : 20} middle 700 ${same ? "model" : "came"}`,
      );
    });
  });
  const [minimal, whole] = rows.map(({ perplexity }) => board.number(perplexity));
  const y = top + 58 + 4 * high + 16 + 22;
  board.text(RIGHT, y, fill(words.perplexity, { minimal, whole }), "20 muted");
}

/**
 * A number for each unit; a click follows that unit.
 * @param {Board} board @param {Said<BackwardsLinear>} data @param {Ask} ask
 * @param {{ values: number[], x: number, middle: number, cell: number, high: number, key: string, standing: Attributes }} place
 */
function units(board, { words, unit }, ask, { values, x, middle, cell, high, key, standing }) {
  const { theme } = board;
  const all = board.group(standing);
  values.forEach((value, j) => {
    const fillWith = board.colour(value, "diverging", 2);
    const one = all.group();
    one.rect(x + j * cell + 1.5, middle - high / 2 + 2, cell - 3, high - 4, {
      fill: fillWith,
      rx: 4,
      stroke: j === unit ? theme.pinned : theme.grid,
      "stroke-width": j === unit ? 3.5 : 1,
    });
    const said = short(board, value);
    one.text(x + (j + 0.5) * cell, middle, said, `20 middle 500 ${board.ink(fillWith)}`);
    board.on(one.svg, `unit.${key}.${j}`, {
      click: () => ask({ cued_unit: j + 1 }),
      label: fill(words.pick, { unit: j + 1, value: said }),
    });
  });
}
