// Two texts that end alike: what a network without a state makes of them, and one with. Its layers: layers.js.

import { fill } from "../../../browser/static/words.js";
import { layers } from "./layers.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, Memoryless, MemorylessLayers, Said } from "./types" */

/** @param {Board} board @param {Said<Memoryless | MemorylessLayers>} data @param {Ask} ask */
export function draw(board, data, ask) {
  if (data.show === "layers") layers(board, data, ask);
  else texts(board, data, ask);
}

/** @param {Board} board @param {Said<Memoryless>} data @param {Ask} ask */
function texts(board, data, ask) {
  const { theme, step, W, H } = board;
  const { words } = data;
  const column = 500;
  const sides = { left: 0, right: W - column - 2 };
  const spare = Math.max(0, H - 540);
  const top = 66 + spare * 0.15;
  board.choice("model", [W / 2 - 100, 4, 200], words.network, data.kinds, data.kind, (model) =>
    ask({ model }),
  );
  for (const name of /** @type {const} */ (["left", "right"])) {
    const [side, x] = [data[name], sides[name]];
    board.field(
      name,
      [x, top, column],
      side.text,
      { label: words[name], limit: data.limit, size: 20 },
      (text) => text && ask({ [name]: text }),
    );
    seen(board, side.marks, data.kind !== "mlp", x, top + 66, column, words.sees);
    if (step >= 1) {
      board.text(x, top + 156, fill(words.units, { n: side.state.length }), "20 muted");
      const state = board.group({ stands: "H_t" });
      state.strip({ x, y: top + 174, width: column, height: 46, values: side.state });
    }
    const from = top + (step >= 1 ? 262 : 172);
    board.text(x, from - 14, words.next, "20 muted");
    board.bars({
      x,
      y: from + 4,
      width: column,
      row: Math.min(46, (H - from - 8) / data.symbols.length),
      labels: 72,
      rows: data.symbols.map((label, i) => ({
        label,
        value: side.chances[i],
        text: board.percent(side.chances[i]),
        colour: theme.bar,
        strong: side.chances[i] > 0.5,
      })),
    });
  }
  // Between them: the same, or not.
  const middle = top + (step >= 1 ? 262 : 172) + 100 + spare * 0.2;
  const sign = (/** @type {number} */ y, /** @type {number} */ difference) => {
    const same = difference === 0;
    board.text(W / 2, y, same ? "=" : "≠", `72 middle 700 ${same ? "model" : "came"}`);
    board.text(W / 2, y + 52, board.number(difference, 2), "22 middle 600");
  };
  sign(middle - 20, data.prediction);
  board
    .say("largest", [W / 2 - 95, middle + 50, 190], words.largest, { size: 20, align: "center" })
    .classList.add("ln-quiet");
  if (step >= 1) {
    const same = data.state === 0;
    board.text(W / 2, top + 197, same ? "=" : "≠", `48 middle 700 ${same ? "model" : "came"}`);
  }
  if (!data.alike)
    board.say("unlike", [W / 2 - 95, top + 54, 190], [[words.unlike, "strong"]], {
      size: 20,
      align: "center",
    });
}

/**
 * The text's characters: those that reach the network are lit.
 * @param {Board} board @param {string[]} marks @param {boolean} all
 * @param {number} x @param {number} y @param {number} width @param {string} caption
 */
function seen(board, marks, all, x, y, width, caption) {
  const { theme } = board;
  board.text(x, y, caption, "20 muted");
  const each = Math.min(30, width / marks.length);
  marks.forEach((mark, t) => {
    const last = t === marks.length - 1;
    const lit = all || last;
    const box = board.group(last ? { stands: "X_t" } : {});
    box.rect(x + t * each, y + 18, each - 2, 38, {
      fill: lit ? theme.model : "none",
      stroke: lit ? theme.model : theme.grid,
      rx: 4,
    });
    box.text(
      x + (t + 0.5) * each - 1,
      y + 37,
      mark,
      `${Math.max(20, Math.min(23, each * 1.05))} middle mono ${lit ? 700 : 400} ${lit ? "background" : "axis"}`,
    );
  });
}
