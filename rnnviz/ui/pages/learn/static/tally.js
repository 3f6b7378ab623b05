// A revealed question's answers on the board: a bar behind each option, or beside it.

/** @import { Board } from "./board.js" */
/** @import { Shapes } from "./shapes.js" */

/**
 * The answers to a question by their indices, once the lecturer has revealed them; else null.
 * @param {Board} board @param {string} key
 */
export function tally(board, key) {
  const found = board.room?.revealed(key);
  if (!found) return null;
  const { counts, answered } = found;
  const share = (/** @type {number} */ i) => (answered ? counts[i] / answered : 0);
  return {
    answered,
    share,
    /** "12 · 48 %" @param {number} i */
    said: (i) => `${counts[i]} · ${Math.round(share(i) * 100)} %`,
    /**
     * A bar as long as its share of `width`.
     * @param {Shapes} on the board, or a group of it @param {number} i
     * @param {[x: number, y: number, width: number, height: number]} area
     */
    bar(on, i, [x, y, width, height]) {
      const long = Math.max(2, share(i) * width);
      on.rect(x, y, long, height, { fill: board.theme.came, opacity: 0.28, rx: 8 });
    },
  };
}
