// Scene 7: what the way back costs, measured when asked for, and why one cuts.

import { fill } from "../../../browser/static/words.js";
import { beside } from "./scene_7_powers.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, BackwardsCost, Line, Said } from "./types" */

/** @param {Board} board @param {Said<BackwardsCost>} data @param {Ask} ask */
export function cost(board, data, ask) {
  const { words, local } = { ...data, local: board.local };
  const done = data.measured.length;
  board.button(
    "measure",
    [0, 2],
    words.measure,
    () => {
      local.measuring = true;
      ask({ measure: 0 });
    },
    { strong: true },
  );
  const pieces = board.choice(
    "piece",
    [board.W - 210, 2],
    words.cut,
    data.cuts.map((c) => [c, String(c)]),
    data.cut,
    (piece) => {
      local.measuring = done > 0;
      ask({ piece, ...(done && { measure: 0 }) });
    },
  );
  board.stands(pieces, "tau");
  board.text(board.W - 226, 22, words.cut, "20 end muted");
  times(board, data);
  memory(board, data);
  reasons(board, data);
  // One length an answer, so that no answer takes long; the next is asked for when this one is drawn.
  if (!local.measuring || done === 0) return;
  if (done < data.lengths.length && local.asked !== done) ask({ measure: done });
  else if (done === data.lengths.length) local.measuring = false;
  local.asked = done;
}

/** Lines with their names at their ends. @param {Board} board @param {number} x @param {number} width @param {string} title @param {Said<BackwardsCost>} data @param {Line[]} lines */
function chart(board, x, width, title, data, lines) {
  const values = lines.flatMap((line) => line.points.map(([, v]) => Number(v)));
  const longest = data.lengths[data.lengths.length - 1];
  board.text(x - 60, 74, title, "20 600");
  const bare = lines.map((line) => ({ ...line, label: undefined })); // names are kept apart below
  const { Y } = board.chart(
    [x, 104, width, 190 + board.spare * 0.8],
    [0, longest],
    [0, Math.max(1e-9, ...values) * 1.05],
    { xTitle: data.words.length, lines: bare, size: 20, ...(!lines.length && { yTicks: [] }) },
  );
  const names = lines.map(({ label = "", colour = "", points }) => {
    return { label, colour, y: Y(Number(points[points.length - 1][1])) };
  });
  const whole = lines.every(({ points }) => points[points.length - 1][0] === longest);
  if (whole && names.length) beside(board, names, x + width + 12, 25, 290 + board.spare * 0.8, 20);
}

/** @param {Board} board @param {Said<BackwardsCost>} data */
function times(board, data) {
  const { theme } = board;
  const { words, measured, lengths } = data;
  const looks = [
    { label: words.forward, colour: theme.model },
    { label: words.both, colour: theme.came },
    { label: fill(words.update, { n: data.cut }), colour: theme.pinned, dash: "9 6" },
  ];
  const lines = measured.length
    ? looks.map((look, k) => ({
        ...look,
        points: measured.map((row, i) => [lengths[i], row[k]]).filter(([T]) => k < 2 || T >= data.cut),
        dots: true,
        width: 4,
      }))
    : [];
  chart(
    board,
    64,
    400,
    words.time,
    data,
    lines.filter((line) => line.points.length),
  );
  if (!measured.length) board.text(264, 196 + board.spare * 0.4, words.press, "22 middle muted");
}

/** @param {Board} board @param {Said<BackwardsCost>} data */
function memory(board, data) {
  const { theme } = board;
  const { words, kept, lengths } = data;
  chart(board, 760, 300, words.kept, data, [
    {
      points: kept.map(([all], i) => [lengths[i], all]),
      colour: theme.came,
      label: words.both,
      width: 4,
      dots: true,
    },
    {
      points: kept.map(([, left], i) => [lengths[i], left]).filter(([T]) => T >= data.cut),
      colour: theme.pinned,
      label: fill(words.update, { n: data.cut }),
      width: 4,
      dash: "9 6",
      dots: true,
    },
    {
      points: lengths.map((T) => [T, data.alone]),
      colour: theme.model,
      label: words.forward,
      width: 4,
      dots: true,
    },
  ]);
}

/** @param {Board} board @param {Said<BackwardsCost>} data */
function reasons(board, data) {
  const { words } = data;
  const [state, without] = data.flows.map((flow) => board.number(flow, flow ? 1 : 0));
  const y = 366 + board.spare * 0.85;
  board.text(0, y, words.why, "24 700 came");
  const steps = data.lengths[data.lengths.length - 1];
  const [time, size] = [data.measured[data.lengths.length - 1], data.kept[data.kept.length - 1]];
  const times = time && { steps, left: board.number(time[2], 1), all: board.number(time[1], 1) };
  const sizes = { steps, left: board.number(size[1], 0), all: board.number(size[0], 0) };
  const reasons = [
    fill(words.both_said, { first: words.cost, second: times ? fill(words.times, times) : "" }),
    fill(words.both_said, { first: words.cached, second: fill(words.sizes, sizes) }),
    fill(words.stable, { factors: data.cut - 1 }),
    fill(words.state, { state, without }),
  ];
  reasons.forEach((reason, i) => {
    board.text(0, y + 38 + i * 34, reason, "22");
  });
}
