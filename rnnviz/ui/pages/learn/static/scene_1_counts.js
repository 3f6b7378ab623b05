// A table of n-grams against a network: how many numbers, and who is surprised where.

import { fill } from "../../../browser/static/words.js";

export function draw(board, data, ask) {
  const { step } = board;
  const reading = step >= 2;
  // The tables keep the upper part once the text is there.
  sizes(board, data, ask, reading ? 150 + (board.H - 540) * 0.5 : board.H - 150);
  if (reading) rows(board, data, ask, board.H - 285);
}

function sizes(board, data, ask, height) {
  const { theme, step, W } = board;
  const { words, n } = data;
  const [x, y] = [96, 44];
  const width = W - x - 500;
  const fits =
    step >= 1 ? [{ points: data.seen, colour: theme.ngram, dash: "3 7", width: 4, dots: false }] : [];
  const flat = [
    [1, data.parameters],
    [data.longest, data.parameters],
  ];
  if (step >= 1) fits.push({ points: flat, colour: theme.model, width: 5 });
  const { X, Y } = board.chart({
    x,
    y,
    width,
    height,
    xs: [1, data.longest],
    ys: [1, 1e19],
    log: true,
    xTicks: data.sizes.map(([k]) => [k, String(k)]),
    yTicks: [0, 6, 12, 18].map((k) => [10 ** k, k ? `10${board.raised(k)}` : "1"]),
    xTitle: step < 2 ? words.axis : undefined,
    yTitle: words.sizes,
    lines: [{ points: data.sizes, colour: theme.ngram, width: 4, dots: true }, ...fits],
  });
  const at = data.sizes[n - 1];
  board.circle(X(n), Y(at[1]), 11, { fill: "none", stroke: theme.pinned, "stroke-width": 4 });
  board.line(X(n), Y(at[1]) + 11, X(n), y + height, {
    stroke: theme.pinned,
    "stroke-dasharray": "4 5",
    width: 2,
  });
  const label = (px, py, text, fill, anchor = "start") =>
    board.text(px, py, text, `${fill} ${anchor} 600 20`);
  label(
    X(8) - 16,
    Y(data.sizes[7][1]) - 6,
    fill(words["line.table"], { symbols: data.symbols }),
    theme.ngram,
    "end",
  );
  if (step >= 1) {
    label(
      X(data.longest),
      Y(data.parameters) - 20,
      `RNN: ${data.parameters.toLocaleString("en-GB")}`,
      theme.model,
      "end",
    );
    label(X(6) + 12, Y(data.seen[5][1]) + (height > 200 ? 24 : 18), words["line.seen"], theme.ngram);
  }

  const right = W - 440;
  const top = step >= 2 ? 22 : 70;
  board.slider("n", {
    x: right,
    y: top,
    width: 430,
    label: words.n,
    min: 1,
    max: data.longest,
    value: n,
    change: (v) => ask({ n: v }),
  });
  const size = data.table.length > 19 ? 30 : 38;
  const lines = [
    [data.table, "ngram big line"],
    [fill(words.table, { n }), "line quiet"],
  ];
  const digits = board.say("table", lines, { x: right, y: top + 42, width: 430 });
  digits.firstChild.style.fontSize = size * board.scale + "px";
  if (step < 1) return;
  const seen = data.seenNow ? fill(words.seen, { count: data.seenNow }) : words["seen.unknown"];
  board.say("seen", [[seen, "line quiet"]], { x: right, y: top + 116, width: 430 });
  if (step < 2)
    board.say(
      "parameters",
      [
        [data.parameters.toLocaleString("en-GB"), "model big line"],
        [words.parameters, "line quiet"],
      ],
      { x: right, y: top + 180, width: 430 },
    );
}

function rows(board, data, ask, y) {
  const { theme, step, W, local } = board;
  const { words } = data;
  const characters = [...data.text];
  const shown = data.rows.filter(({ kind }) => step >= 3 || kind === "mlp" || kind === "ngram");
  board.field("text", {
    x: 0,
    y,
    width: 700,
    label: words.text,
    value: data.text,
    limit: data.limit,
    change: (text) => text && ask({ text }),
  });
  const [left, right] = [110, 96];
  const each = Math.min(30, (W - left - right) / characters.length);
  const [top, high] = [y + 76, 46];
  const over = local.over < characters.length ? local.over : undefined;
  board.text(W, top - 22, words.bits, "18 end muted");
  shown.forEach((row, i) => {
    const at = top + i * high;
    board.text(left - 16, at + high / 2 - 3, row.name, `end 600 ${theme.cells[row.kind]}`);
    characters.forEach((character, t) => {
      const colour = board.colour(Math.min(row.bits[t], data.full), "surprisal", data.full);
      const cell = board.group({});
      board.rect(
        left + t * each,
        at,
        each - 1,
        high - 6,
        { fill: colour, rx: 3, stroke: t === over ? theme.pinned : "none", "stroke-width": 3 },
        cell,
      );
      const mark = character === " " ? "·" : character;
      board.text(
        left + (t + 0.5) * each,
        at + high / 2 - 3,
        mark,
        `${Math.min(24, each * 1.1)} middle mono`,
        cell,
      );
      board.on(cell, `${i}.${t}`, {
        enter: () => over !== t && ((local.over = t), board.redraw()),
        leave: () => ((local.over = undefined), board.redraw()),
      });
    });
    board.text(W, at + high / 2 - 3, board.number(row.mean, 2), `end 700 ${theme.cells[row.kind]}`);
  });
  if (over === undefined) return;
  const line = board.text(720, y + 20, "", "22");
  const head = board.make("tspan", { fill: theme.muted }, line);
  head.textContent = `P(${characters[over] === " " ? "·" : characters[over]}):  `;
  for (const row of shown) {
    const part = board.make("tspan", { fill: theme.cells[row.kind], "font-weight": 600 }, line);
    part.textContent = `${board.percent(row.chances[over])}   `;
  }
}
