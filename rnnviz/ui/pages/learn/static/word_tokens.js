// Characters or words, by their numbers; and several places of a text, read side by side.

/** @import { Board } from "./board.js" */
/** @import { Ask, Said, WordBatch, WordWhy } from "./types" */

/** @param {Board} board @param {Said<WordWhy>} data */
export function why(board, data) {
  const { theme, W, spare } = board;
  const { words, kinds } = data;
  const [first, second] = [W - 420, W - 60];
  const top = 84 + spare * 0.3;
  board.text(0, 24, words.book, "22 muted");
  board.text(first, top, words.characters, "26 end 700 model");
  board.text(second, top, words.words, "26 end 700 ngram");
  board.line(0, top + 28, W, top + 28, { stroke: theme.muted, width: 2 });
  const rows = [words.symbols, words.readout, words.tokens, words.once];
  const pace = 74 + spare * 0.1;
  rows.forEach((said, i) => {
    const y = top + 70 + i * pace;
    const [few, many] = kinds.map((kind) => kind[i]);
    const better = few < many;
    const stands = said === words.symbols ? "O_t b_q" : said === words.readout ? "W_hq" : "";
    board.text(0, y, said, { style: "24", stands });
    board.text(first, y, board.number(few, 0), `36 end ${better ? "700 model" : "muted"}`);
    board.text(second, y, board.number(many, 0), `36 end ${better ? "muted" : "700 ngram"}`);
  });
  board.text(0, top + 70 + rows.length * pace + 24, words.history, "22");
}

/** @param {Board} board @param {Said<WordBatch>} data @param {Ask} ask */
export function batch(board, data, ask) {
  const { theme, spare } = board;
  const { words, windows, symbols, n, t, T, x } = data;
  board.slider("n", [0, 4, 420], words.n, { min: 1, max: data.most, value: n }, (value) => ask({ n: value }));
  board.slider("t", [470, 4, 420], words.t, { min: 1, max: T, value: t }, (value) => ask({ t: value }));
  const [cell, h] = [42, Math.min(38, 30 + spare / 10)];
  const top = 120 + spare * 0.2;
  const lower = top + data.most * h + 64;
  const texts = (/** @type {number} */ y, /** @type {number} */ from, /** @type {string} */ colour) =>
    windows.forEach((window, i) => {
      for (let k = 0; k < T; k++) {
        const here = k === t - 1;
        const style = `26 middle mono ${here ? `700 ${colour}` : "muted"}`;
        board.text((k + 0.5) * cell, y + (i + 0.5) * h, window[k + from], style);
      }
    });
  texts(top, 0, "model");
  texts(lower, 1, "came");
  board.text(0, top - 28, words.inputs, "22 600 model");
  board.text(0, lower - 24, words.labels, "22 600 came");
  for (const [y, stroke] of /** @type {const} */ ([
    [top, theme.model],
    [lower, theme.came],
  ]))
    board.rect((t - 1) * cell, y - 2, cell, n * h + 4, { fill: "none", stroke, "stroke-width": 3.5, rx: 6 });

  // X_t: a row for each place.
  const w = 29;
  const left = 416;
  board.symbol(left, top - 62, "X", String(t), { style: "28 model", stands: "X_t" });
  board.text(left + 52, top - 62, `n × d = ${n} × ${symbols.length}`, "22 600 muted");
  board.arrow(T * cell + 8, top + (n * h) / 2, left - 12, top + (n * h) / 2, {
    stroke: theme.model,
    head: 14,
  });
  symbols.forEach((symbol, j) => {
    const used = x.some((row) => row[j]);
    const style = `20 middle mono ${used ? "700 model" : "muted"}`;
    board.text(left + (j + 0.5) * w, top - 22, symbol, style);
    x.forEach((row, i) => {
      const colour = row[j] ? theme.model : "none";
      const at = [left + j * w + 1.5, top + i * h + 1.5];
      board.rect(at[0], at[1], w - 3, h - 3, { fill: colour, stroke: theme.grid, rx: 4 });
      const ink = row[j] ? board.ink(colour) : "muted";
      board.text(left + (j + 0.5) * w, top + (i + 0.5) * h, String(row[j]), `20 middle ${ink}`);
    });
  });
  board.text(left + symbols.length * w, top + n * h + 24, words.unknown, "20 end muted");

  // What else has n rows, and what hasn't.
  const shapes = /** @type {const} */ ([
    ["H", "n × h", data.units],
    ["O", "n × q", symbols.length],
  ]);
  shapes.forEach(([letter, named, columns], i) => {
    const y = lower + 18 + i * 46;
    board.symbol(left + 60, y, letter, String(t), { style: "28", stands: `${letter}_t` });
    board.text(left + 112, y, `${named} = ${n} × ${columns}`, "24 600 muted");
  });
  board.text(left + 60, lower + 18 + shapes.length * 46, words.weights, "22 muted");
}
