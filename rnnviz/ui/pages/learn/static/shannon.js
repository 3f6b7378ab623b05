// Shannon's game, the last step of scene 6: guess the next letter, and how many bits that says it has.

import { fill } from "../../../browser/static/words.js";
import { letters } from "./room_letters.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, PerplexityShannon, Said } from "./types" */

const KEYS = ["abcdefghijklmn", "opqrstuvwxyz "];

/** @param {Board} board @param {Said<PerplexityShannon>} data @param {Ask} ask */
export function shannon(board, data, ask) {
  const { theme, local } = board;
  const { words } = data;
  if (local.sentence !== data.sentence) Object.assign(local, { sentence: data.sentence, wish: null });
  if (local.wish === data.history) local.wish = null;
  // A guess is added to all that were made: an ask that is dropped loses none.
  const guess = (/** @type {string} */ c) => {
    const history = (local.wish ?? data.history) + c;
    if (history.length > data.limit) return;
    local.wish = history;
    ask({ history });
  };
  const size = 27;
  const step = size * 0.605;
  const put = (/** @type {string} */ text, /** @type {number} */ y, /** @type {string} */ colour) =>
    [...text].forEach((c, i) => board.text(3 + i * step, y, c, `${size} mono ${colour} 600`));
  put(data.given, 26, theme.muted);
  put(data.shown, 66, theme.model);
  const at = data.shown.length;
  if (data.left) {
    board.rect(2 + at * step, 48, step + 2, 36, {
      fill: "none",
      stroke: theme.came,
      "stroke-width": 3,
      rx: 4,
    });
    for (let i = 1; i < data.left; i++)
      board.line((at + i) * step + 3, 80, (at + i + 1) * step - 3, 80, { stroke: theme.axis, width: 2 });
  }
  if (letters(board, data, ask, [2 + at * step, step])) return;
  const key = 42;
  KEYS.forEach((row, r) =>
    [...row].forEach((c, i) => {
      const tried = data.tried.includes(c);
      const wide = c === " " ? key * 2 + 4 : key;
      const [x, y] = [1 + i * (key + 4), 112 + r * 52];
      const g = board.group({ opacity: tried ? 0.3 : 1 });
      g.rect(x, y, wide, 46, {
        fill: tried ? theme.grid : theme.background,
        stroke: theme.axis,
        "stroke-width": 1.5,
        rx: 6,
      });
      g.text(
        x + wide / 2,
        y + 23,
        c === " " ? words.space : c,
        `${c === " " ? 20 : 24} middle ${c !== " " ? "mono" : ""}`,
      );
      if (data.left)
        board.on(g.svg, `key.${c}`, { click: () => guess(c), label: c === " " ? words.space : c });
    }),
  );
  const { input } = board.field(
    "guess",
    [0, 224, 250],
    "",
    { label: words.guess, limit: 2, size: 24 },
    (text) => {
      const c = text.at(-1)?.toLowerCase();
      input.value = "";
      if (c && /[a-z ]/.test(c) && data.left) guess(c);
    },
  );
  input.value = "";
  board.button("give-up", [268, 226], words.pass, () => guess("?"), { off: !data.left });
  const other = () => ask({ sentence: (data.sentence + 1) % data.sentences, history: "" });
  board.button("other", [420, 226], words.other, other);

  const names = ["1", "2", "3", "4", "5", "6+"];
  const most = Math.max(4, ...data.ranks);
  board.text(0, 300, words.ranks, "20 muted");
  const share = board.text(640, 300, "", { style: "20 end muted", stands: "q_i" });
  board.span(share, "q", { "font-style": "italic", "font-size": 22 });
  board.span(share, "i", { "font-style": "italic", dy: 6 });
  board.span(share, board.pair("", words.share), { dy: -6 });
  board
    .group({ stands: "q_i i_guess" })
    .bars({
      x: 0,
      y: 316,
      width: 640,
      row: 34 + board.spare / 9,
      labels: 44,
      numbers: 60,
      max: most,
      rows: data.ranks.map((n, i) => ({
        label: names[i],
        value: n,
        text: data.found ? board.number(n / data.found) : "0",
        colour: i ? theme.bar : theme.model,
      })),
    });

  const x = 700;
  if (!data.found) {
    board.say("note", [x, 130, board.W - x], words.begin, { size: 32 });
    return;
  }
  const axis = x + 130;
  const room = board.W - axis - 20;
  const X = (/** @type {number} */ bits) => axis + (bits / 5) * room;
  const [top, tall] = [190, 280 + board.spare * 0.66];
  for (let b = 0; b <= 5; b++) {
    board.line(X(b), top, X(b), top + tall, { stroke: theme.grid });
    board.text(X(b), top + tall + 18, String(b), "20 middle muted");
  }
  board.text(board.W, top + tall + 46, words.bits, "20 end muted");
  const blind = X(data.uniform);
  board.line(blind, top, blind, top + tall, { stroke: theme.uniform, width: 2, "stroke-dasharray": "6 6" });
  board.text(board.W, top - 16, `${words.blind} ${board.number(data.uniform)}`, "20 end uniform");
  const own = data.class ? [{ kind: "class", bits: undefined, bounds: data.class }] : [];
  const rows = [...own, ...data.models];
  rows.forEach((row, i) => {
    const y = top + tall * (0.13 + i * 0.245);
    const own = row.kind === "class";
    const colour = own ? theme.came : theme.model;
    board.text(axis - 14, y, words[row.kind], `22 end ${own ? 700 : 400} ${own ? "came" : "text"}`);
    if (row.bounds) {
      const { lower, upper, interval } = row.bounds;
      board.line(X(interval[0]), y, X(interval[1]), y, { stroke: colour, width: 3 });
      board.rect(X(lower), y - 15, Math.max(4, X(upper) - X(lower)), 30, {
        fill: colour,
        opacity: own ? 0.85 : 0.45,
        stands: "F",
        rx: 5,
      });
    }
    if (row.bits !== undefined)
      board.circle(X(row.bits), y, 9, { fill: colour, stroke: theme.background, "stroke-width": 2.5 });
    const said =
      row.bits === undefined
        ? `${board.number(row.bounds?.lower, 1)} – ${board.number(row.bounds?.upper, 1)}`
        : board.number(row.bits, 1);
    board.text(
      Math.min(X(Math.max(row.bounds?.interval[1] ?? 0, row.bits ?? 0)) + 14, board.W - 70),
      y,
      said,
      `20 600 ${colour}`,
    );
  });
  const note = data.class
    ? fill(words.exact, { n: data.found })
    : fill(words.few, { n: data.found, least: data.least });
  board.say("note", [axis, 90, board.W - axis], [[note, "quiet"]], { size: 20 });
}
