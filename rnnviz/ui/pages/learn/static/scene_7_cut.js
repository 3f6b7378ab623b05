// Scene 7: the word's gradient by its losses and steps, and a cut that can be dragged.

import { fill } from "../../../browser/static/words.js";
import { maths } from "./maths.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, BackwardsCut, Said } from "./types" */

const LEFT = 64;

/** @param {Board} board @param {Said<BackwardsCut>} data @param {Ask} ask */
export function cut(board, data, ask) {
  const { words, steps } = data;
  board.slider("steps", [0, 6, 300], words.steps, { min: 2, max: 6, value: steps }, (to) =>
    ask({ length: to }),
  );
  const length = { min: 1, max: steps, value: data.tau };
  board.stands(
    board.slider("tau", [340, 6, 380], words.tau, length, (tau) => ask({ tau })),
    "tau",
  );
  board.text(770, 24, `${words.forward} →`, "22 600 model");
  board.text(board.W, 24, `← ${words.backward}`, "22 end 600 came");
  const each = (780 - LEFT) / steps;
  chain(board, data, each);
  terms(board, data, each);
  knives(board, data, ask, each);
  sums(board, data, 830);
}

/** The states: values go on, gradients stop. @param {Board} board @param {Said<BackwardsCut>} data @param {number} each */
function chain(board, data, each) {
  const { theme } = board;
  const { steps } = data;
  const y = 66;
  const wide = Math.min(84, each - 44);
  for (let t = 1; t <= steps; t++) {
    const x = LEFT + (t - 0.5) * each;
    const values = data.states[t - 1];
    values.forEach((value, i) => {
      board.rect(x - wide / 2 + (i * wide) / values.length, y, wide / values.length, 30, {
        fill: board.colour(value),
      });
    });
    board.rect(x - wide / 2, y, wide, 30, { fill: "none", stroke: theme.axis, "stroke-width": 1.5 });
    maths(board, x, y + 50, `H_{${t}} “${data.inputs[t - 1]}”`, { style: "22 middle", stands: "H_s-1" });
    if (t === steps) continue;
    const [from, to] = [x + wide / 2 + 4, x + each - wide / 2 - 4];
    board.arrow(from, y + 8, to, y + 8, { stroke: theme.model, width: 3.5, head: 12 });
    if (data.heard[t][t - 1])
      board.arrow(to, y + 24, from, y + 24, { stroke: theme.came, width: 3.5, head: 12 });
  }
}

/** How large each pair's term is. @param {Board} board @param {Said<BackwardsCut>} data @param {number} each */
function terms(board, data, each) {
  const { theme } = board;
  const { steps, sizes, heard } = data;
  const top = 142;
  const row = (board.H - 8 - top) / steps;
  const most = Math.max(...sizes.flat());
  for (let t = 1; t <= steps; t++) {
    const y = top + (t - 1) * row;
    maths(board, 30, y + row / 2, `ℓ_{${t}}`, { style: "26 middle", stands: "l_t" });
    for (let s = 1; s <= t; s++) {
      const x = LEFT + (s - 1) * each;
      const [value, there] = [sizes[t - 1][s - 1], heard[t - 1][s - 1]];
      const fillWith = there ? board.colour(value, "sequential", most * 1.25) : theme.background;
      board.rect(x + 8, y + 4, each - 16, row - 8, {
        fill: fillWith,
        stroke: there ? theme.axis : theme.grid,
        "stroke-width": 1.5,
        "stroke-dasharray": there ? undefined : "6 5",
        rx: 5,
      });
      if (!there)
        board.line(x + 20, y + row - 12, x + each - 20, y + 12, { stroke: theme.muted, width: 1.5 });
      const ink = there ? board.ink(fillWith) : theme.muted;
      const style = `22 middle ${ink} ${there ? 600 : 400}`;
      board.text(x + each / 2, y + row / 2, board.number(value), {
        style,
        stands: "delta_ts",
        ...(!there && behind(board)),
      });
    }
  }
}

/** The cuts, the last of which can be moved. @param {Board} board @param {Said<BackwardsCut>} data @param {Ask} ask @param {number} each */
function knives(board, data, ask, each) {
  const { theme } = board;
  const { steps, tau, words } = data;
  const top = 52;
  for (let after = steps - tau; after > 0; after -= tau) {
    const knife = board.line(LEFT + after * each, top, LEFT + after * each, board.H - 4, {
      stroke: theme.pinned,
      width: after === steps - tau ? 5 : 2.5,
      "stroke-dasharray": "10 7",
    });
    board.move(knife, { x: LEFT + steps * each - (LEFT + after * each) });
  }
  const x = LEFT + (steps - tau) * each;
  const handle = board.rect(x - 22, top, 44, board.H - 4 - top, { fill: "transparent" });
  const to = (/** @type {number} */ wished) => {
    const now = Math.max(1, Math.min(steps, wished));
    if (now !== tau) ask({ tau: now });
  };
  board.on(handle, "cut", {
    label: words.drag,
    drag: (px) => to(steps - Math.round((px - LEFT) / each)),
    slide: { value: tau, min: 1, max: steps, step: 1, change: to },
  });
}

/** Words that stand before a line, not under it. @param {Board} board */
const behind = ({ theme }) => ({ "paint-order": "stroke", stroke: theme.background, "stroke-width": 10 });

/** The gradient with and without the cut. @param {Board} board @param {Said<BackwardsCut>} data @param {number} x */
function sums(board, data, x) {
  const { theme } = board;
  const { words } = data;
  const cell = [60, 36];
  const right = board.W - 4 * cell[0] - 6;
  const gap = 218 + board.spare / 2;
  /** @type {[string, number[][], number, string][]} */
  const both = [
    [words.full, data.full, data.norms[0], theme.text],
    [words.left, data.left, data.norms[1], theme.came],
  ];
  both.forEach(([said, values, norm, colour], i) => {
    const y = 58 + i * gap;
    board.text(x, y + 20, said, `22 600 ${colour}`);
    maths(board, x, y + 56, "‖∂L/∂W_{hh}‖", { style: "24", stands: "L W_hh" });
    board.text(x, y + 102, board.number(norm), `38 700 ${colour}`);
    board.matrix({ x: right, y, values, cell, full: 1, colour });
  });
  // What a square of the left is: among the squares it would stand on a cut.
  [words.pairs, words.zero].forEach((said, i) => {
    board.text(x, 58 + gap - 46 + i * 26, i ? said : `← ${said}`, "20 muted");
  });
  const [all, left] = data.kept;
  board.text(x, 58 + gap * 2 - 12, board.pair(words.out, board.number(data.norms[2])), "22 muted");
  board.text(x, 58 + gap * 2 + 22, fill(words.kept, { left, all }), "22 600 model");
}
