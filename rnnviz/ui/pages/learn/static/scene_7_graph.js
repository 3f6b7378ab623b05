// The dependency graph of a few time steps: boxes are variables and parameters, circles are operators. Grey
// arrows point the way there; where the way back has been they are turned round.

import { still } from "../../../browser/static/dom.js";
import { fill } from "../../../browser/static/words.js";
import { maths } from "./maths.js";

/** @import { Board } from "./board.js" */
/** @import { Ask, BackwardsWord, Said } from "./types" */

const [BOX, HIGH, RADIUS, WIDE] = [50, 36, 17, 92];

/** @param {Board} board @param {Said<BackwardsWord>} data @param {Ask} ask @param {number[]} area */
export function graph(board, data, ask, [left, top, width, height]) {
  const { theme } = board;
  const { steps, walked, recurrent } = data;
  const now = steps + 1 - walked; // the step that the way back has reached
  const first = left + 122;
  const each = (width - 152) / steps;
  const x = (/** @type {number} */ t) => first + t * each;
  const rows = ["L", "loss", "O", "read", "H", "phi", "X"];
  const y = Object.fromEntries(
    rows.map((name, i) => [name, top + 20 + (i * (height - 66)) / (rows.length - 1)]),
  );

  const walk = walker(board, data);
  /** An edge, there in grey, or back in the gradient's colour. @param {number[]} from @param {number[]} to @param {number} [t] the step that walks it, 0 for none */
  const edge = (from, to, t = 0) => {
    const back = t >= now && t > 0;
    const [[x1, y1], [x2, y2]] = back ? [to, from] : [from, to];
    const stroke = back ? theme.came : theme.axis;
    const look = { stroke, head: back ? 13 : 10, width: back ? (t === now ? 5 : 3.5) : 2 };
    const drawn = board.arrow(x1, y1, x2, y2, look);
    if (t === now) walk(drawn.svg, x1 - x2, y1 - y2);
  };
  parameters(board, data, { x, y, left });
  for (let t = 1; t <= steps; t++) {
    const at = x(t);
    edge([at, y.X - HIGH / 2], [at, y.phi + RADIUS]);
    edge([at, y.phi - RADIUS], [at, y.H + HIGH / 2], t);
    edge([at, y.H - HIGH / 2], [at, y.read + RADIUS], t);
    edge([at, y.read - RADIUS], [at, y.O + HIGH / 2], t);
    edge([at, y.O - HIGH / 2], [at, y.loss + RADIUS], t);
    const middle = x((steps + 1) / 2);
    edge(
      [at, y.loss - RADIUS],
      [middle + (at - middle) * Math.min(1, 20 / Math.max(1, Math.abs(at - middle))), y.L + HIGH / 2],
      t,
    );
    if (!recurrent) continue;
    const [dx, dy] = [each, y.phi - y.H];
    const long = Math.hypot(dx, dy);
    const begin = [x(t - 1) + (BOX / 2) * (t > 1 ? 1 : 0.8), y.H + ((BOX / 2) * dy) / dx];
    edge(begin, [at - (RADIUS * dx) / long, y.phi - (RADIUS * dy) / long], t > 1 ? t - 1 : 0);
  }
  if (recurrent) box(board, x(0), y.H, "H_{0}", theme.axis, 40);
  for (let t = 1; t <= steps; t++) {
    const at = x(t);
    const mark = t === now ? theme.pinned : theme.text;
    for (const [name, source] of [
      ["loss", `ℓ_{${t}}`],
      ["read", "·"],
      ["phi", "φ"],
    ])
      circle(board, at, y[name], source);
    board.stands(box(board, at, y.O, `O_{${t}}`, mark), ...(t === now ? ["O_t"] : []));
    const state = box(board, at, y.H, `H_{${t}}`, mark);
    if (t === now) board.stands(state, "H_t");
    if (t === now - 1) board.stands(state, "H_t-1");
    box(board, at, y.X, `X_{${t}}`, theme.text);
    board.on(state, `state.${t}`, { click: () => ask({ walked: steps + 1 - t }), label: `H${t}` });
    board.text(
      at,
      y.X + 34,
      `“${data.inputs[t - 1]}”`,
      `22 middle mono ${t === now ? "700 pinned" : "text"}`,
    );
  }
  board.stands(box(board, x((steps + 1) / 2), y.L, "L", theme.text), "L");
  legend(board, data, left, top);
  board.text(
    x((steps + 1) / 2) + 38,
    y.L,
    fill(data.words.mean, { loss: board.number(data.loss) }),
    "20 muted",
  );
}

/**
 * Lets the arrows of the step just walked to come one after another, unless less motion is asked for.
 * @param {Board} board @param {Said<BackwardsWord>} data
 * @returns {(arrow: Element, x: number, y: number) => void}
 */
function walker(board, { walked }) {
  const fresh = walked === (board.local.walked ?? walked) + 1 && !still();
  board.local.walked = walked;
  return (arrow, x, y) => {
    if (!fresh) return;
    const from = { opacity: 0, transform: `translate(${x * 0.7}px, ${y * 0.7}px)` };
    arrow.animate([from, { opacity: 1, transform: "none" }], { duration: 500, easing: "ease-out" });
  };
}

/** What boxes and circles are. @param {Board} board @param {Said<BackwardsWord>} data @param {number} left @param {number} top */
function legend(board, { words }, left, top) {
  const { theme } = board;
  [words.variable, words.parameter, words.operator].forEach((said, i) => {
    const y = top + 14 + i * 30;
    const look = { stroke: theme.axis, "stroke-width": 1.5 };
    if (i < 2) board.rect(left, y - 10, 28, 20, { fill: i ? theme.grid : theme.background, ...look });
    else board.circle(left + 14, y, 11, { fill: theme.background, stroke: theme.model, "stroke-width": 2 });
    board.text(left + 38, y, said, "20 muted");
  });
}

/** @param {Board} board @param {Said<BackwardsWord>} data @param {{ x: (t: number) => number, y: Record<string, number>, left: number }} place */
function parameters(board, data, { x, y, left }) {
  const { theme } = board;
  const one = (/** @type {string} */ source, /** @type {number} */ at) => {
    const look = { fill: theme.grid, stroke: theme.axis, "stroke-width": 1.5 };
    const made = board.rect(left, at - HIGH / 2, WIDE, HIGH, look);
    maths(board, left + WIDE / 2, at, source, "22 middle").style.pointerEvents = "none";
    return made;
  };
  /** From a parameter to the operator of every step. */
  const rail = (/** @type {number} */ at, /** @type {number} */ to) => {
    board.line(left + WIDE, at, x(data.steps) - 30, at, { stroke: theme.grid, width: 2.5 });
    for (let t = 1; t <= data.steps; t++)
      board.arrow(x(t) - 30, at, x(t) - RADIUS * 0.72, to + RADIUS * 0.7, {
        stroke: theme.grid,
        width: 2.5,
        head: 9,
      });
  };
  const under = y.phi + (y.X - y.phi) / 2;
  rail(y.read + (y.H - y.read) / 2, y.read);
  rail(under, y.phi);
  board.stands(one("W_{hq}, b_{q}", y.read + (y.H - y.read) / 2), "W_hq");
  one("W_{xh}, b_{h}", under);
  if (!data.recurrent) return;
  const above = under - HIGH - 10;
  board.path(`M${left + WIDE},${above} h10 V${under}`, { stroke: theme.grid, width: 2.5 });
  board.stands(one("W_{hh}", above), "W_hh");
}

/** @param {Board} board @param {number} x @param {number} y @param {string} source @param {string} stroke @param {number} [wide] */
function box(board, x, y, source, stroke, wide = BOX) {
  const { theme } = board;
  const made = board.rect(x - wide / 2, y - HIGH / 2, wide, HIGH, {
    fill: theme.background,
    stroke,
    "stroke-width": stroke === theme.pinned ? 4 : 2,
  });
  maths(board, x, y, source, "22 middle").style.pointerEvents = "none";
  return made;
}

/** @param {Board} board @param {number} x @param {number} y @param {string} source */
function circle(board, x, y, source) {
  const { theme } = board;
  board.circle(x, y, RADIUS, { fill: theme.background, stroke: theme.model, "stroke-width": 2 });
  maths(board, x, y, source, "20 middle");
}
