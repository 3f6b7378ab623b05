// A table of n-grams against a network: how many numbers, what was never seen, and who is surprised where.

import { fill } from "../../../browser/static/words.js";
import { compared, kept } from "./rules.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, Counts, Line, Said } from "./types" */

/** @param {Board} board @param {Said<any>} data @param {Ask} ask */
export function draw(board, data, ask) {
  const { step, H } = board;
  if (step === 3) kept(board, data, ask);
  else if (step === 4) compared(board, data, ask);
  else {
    const reading = step >= 2;
    if (reading) rows(board, data, ask);
    else sizes(board, data, ask, H - 150);
    if (step === 1) never(board, data);
  }
}

/** @param {Board} board @param {Said<Counts>} data @param {Ask} ask @param {number} height */
function sizes(board, data, ask, height) {
  const { theme, step, W } = board;
  const { words, n } = data;
  const [x, y] = [96, 44];
  const width = W - x - 500;
  /** @type {Line[]} */
  const fits =
    step >= 1 ? [{ points: data.seen, colour: theme.ngram, dash: "3 7", width: 4, dots: false }] : [];
  const flat = [
    [1, data.parameters],
    [data.longest, data.parameters],
  ];
  if (step >= 1) fits.push({ points: flat, colour: theme.model, width: 5 });
  const ten = Math.ceil(Math.log10(data.sizes[data.longest - 1][1]));
  const { X, Y } = board.chart([x, y, width, height], [1, data.longest], [1, 10 ** ten], {
    log: true,
    xTitle: words.axis,
    yTitle: words.sizes,
    xTicks: data.sizes.map(([k]) => [k, String(k)]),
    yTicks: [0, 6, 12, 18, 24]
      .filter((k) => k <= ten)
      .map((k) => [10 ** k, k ? `10${board.raised(k)}` : "1"]),
    lines: [{ points: data.sizes, colour: theme.ngram, width: 4, dots: true }, ...fits],
  });
  const at = data.sizes[n - 1];
  board.circle(X(n), Y(at[1]), 11, { fill: "none", stroke: theme.pinned, "stroke-width": 4 });
  board.line(X(n), Y(at[1]) + 11, X(n), y + height, {
    stroke: theme.pinned,
    "stroke-dasharray": "4 5",
    width: 2,
  });
  const label = (
    /** @type {number} */ px,
    /** @type {number} */ py,
    /** @type {string} */ text,
    /** @type {string} */ fill,
    anchor = "start",
  ) => board.text(px, py, text, `${fill} ${anchor} 600 22`);
  const table = fill(words["line.table"], { symbols: data.size });
  const far = Math.round(0.8 * data.longest);
  label(X(far) - 16, Y(data.sizes[far - 1][1]) - 6, table, theme.ngram, "end");
  if (step >= 1) {
    const parameters = board.pair(data.network, board.number(data.parameters, 0));
    label(X(data.longest), Y(data.parameters) - 20, parameters, theme.model, "end");
    const mid = Math.round(0.6 * data.longest);
    label(X(mid) + 12, Y(data.seen[mid - 1][1]) + 26, words["line.seen"], theme.ngram);
  }

  const right = W - 440;
  const top = 62;
  steer(board, data, ask, [right, top, 430]);
  const size = data.table.length > 19 ? 30 : 38;
  /** @type {[string, string][]} */
  const lines = [
    [data.table, "ngram big line"],
    [fill(words.table, { n }), "line quiet"],
  ];
  if (step >= 1) lines.push([fill(words.seen, { count: board.number(data.seen[n - 1][1], 0) }), "line"]);
  const said = board.stands(board.say("table", [right, top + 42, 430], lines), "P");
  /** @type {HTMLElement} */ (said.firstChild).style.fontSize = `${size * board.scale}px`;
}

/** @param {Board} board @param {Said<Counts>} data @param {Ask} ask @param {[number, number, number]} area */
function steer(board, { n, longest, words }, ask, area) {
  const slider = board.slider("n", area, words.n, { min: 1, max: longest, value: n }, (v) => ask({ n: v }));
  board.stands(slider, "x_t-n+1");
}

/** How often there are no counts at all, by n. @param {Board} board @param {Said<Counts>} data */
function never(board, data) {
  const { theme, W, H } = board;
  const { words, n, never: shares } = data;
  const [x, y, width] = [W - 440, 268, 430];
  const height = H - y - 74;
  const each = width / shares.length;
  board.text(x, y - 22, words.never, "20 600");
  board.line(x, y + height, x + width, y + height, { width: 2 });
  shares.forEach((share, i) => {
    const here = i + 1 === n;
    const high = share * height;
    const colour = here ? theme.pinned : theme.ngram;
    board.rect(x + (i + 0.15) * each, y + height - high, each * 0.7, high, { fill: colour, rx: 3 });
    const weight = here ? "700 pinned" : "muted";
    board.text(x + (i + 0.5) * each, y + height + 18, String(i + 1), `20 middle ${weight}`);
    if (here || i === shares.length - 1) {
      const said = board.percent(share);
      board.text(x + (i + 0.5) * each, y + height - high - 16, said, `20 middle ${weight}`);
    }
  });
}

/** @param {Board} board @param {Said<Counts>} data @param {Ask} ask */
function rows(board, data, ask) {
  const { theme, W, H, local } = board;
  const { words } = data;
  const characters = [...data.text];
  const field = { label: words.text, limit: data.limit };
  board.field("text", [0, 2, 720], data.text, field, (text) => text && ask({ text }));
  steer(board, data, ask, [760, 4, W - 760]);
  const [left, right] = [110, 220];
  const each = Math.min(30, (W - left - right) / characters.length);
  const [top, high] = [128, Math.min(92, (H - 210) / 4)];
  const over = local.over < characters.length ? local.over : undefined;
  const size = Math.min(24, Math.max(20, each * 1.1));
  const unseen = data.known.filter((known) => !known).length;
  board.text(left, top - 22, words.alone, "20 muted");
  board.text(W - 110, top - 22, words.bits, "20 end muted");
  board.text(W, top - 22, words.held, "20 end muted");
  const point = (/** @type {number | undefined} */ t) => {
    local.over = t;
    board.redraw();
  };
  // Pointed at, a character has its probabilities below; by keys too.
  const keys = board.rect(left - 3, top - 5, each * characters.length + 5, data.rows.length * high + 2, {
    fill: "transparent",
    rx: 6,
  });
  const range = { value: (over ?? 0) + 1, min: 1, max: characters.length, step: 1 };
  const said = characters[over ?? 0];
  board.on(keys, "characters", {
    label: words.each,
    slide: { ...range, said, change: (/** @type {number} */ t) => point(t - 1) },
  });
  data.rows.forEach((row, i) => {
    const at = top + i * high;
    const colour = theme.cells[row.kind];
    board.text(left - 16, at + high / 2 - 4, row.name, `24 end 600 ${colour}`);
    characters.forEach((character, t) => {
      const background = row.bits
        ? board.colour(Math.min(row.bits[t], data.full), "surprisal", data.full)
        : "none";
      const cell = board.group({});
      const framed = row.kind === "ngram" && !data.known[t];
      const pointed = t === over;
      const stroke = pointed ? theme.pinned : framed ? theme.text : row.bits ? "none" : theme.grid;
      cell.rect(left + t * each, at + (framed ? 1 : 0), each - 1, high - 8, {
        fill: background,
        rx: 3,
        stroke,
        "stroke-width": pointed || framed ? 3 : 1,
        "stroke-dasharray": framed && !pointed ? "5 3" : null,
      });
      const mark = character === " " ? "·" : character;
      cell.text(left + (t + 0.5) * each, at + high / 2 - 4, mark, `${size} middle mono`);
      board.stands(cell.svg, "P", "x_t");
      board.on(cell.svg, `${i}.${t}`, { enter: () => over !== t && point(t), leave: () => point(undefined) });
    });
    const middle = at + high / 2 - 4;
    if (row.mean !== undefined)
      board.text(W - 110, middle, board.number(row.mean, 2), `28 end 700 ${colour}`);
    if (row.held !== null) board.text(W, middle, board.number(row.held, 2), `28 end 700 ${colour}`);
  });
  const foot = top + data.rows.length * high + 34;
  if (over === undefined) {
    const said = data.n > data.order ? fill(words.uncounted, { n: data.order }) : "";
    const count = fill(words.framed, { count: unseen, all: characters.length });
    board.say("framed", [left, foot - 18, W - left], [[said || count, "strong"]], { size: 24 });
    return;
  }
  const line = board.text(left, foot, "", "24");
  board.span(line, `P(${characters[over] === " " ? "·" : characters[over]}):  `, { fill: theme.muted });
  for (const row of data.rows)
    if (row.chances)
      board.span(line, `${board.percent(row.chances[over])}   `, {
        fill: theme.cells[row.kind],
        "font-weight": 600,
      });
}
