// Scene 7: gradients on their way back, one picture a step.

import { random } from "./random_cut.js";
import { clip } from "./scene_7_clip.js";
import { cost } from "./scene_7_cost.js";
import { cut } from "./scene_7_cut.js";
import { gap } from "./scene_7_gap.js";
import { linear } from "./scene_7_linear.js";
import { dial, flow } from "./scene_7_powers.js";
import { word } from "./scene_7_word.js";

/** @import { Untyped } from "../../../browser/static/types" */
/** @import { Draw } from "./types" */

const SHOWS = { word, flow, dial, clip, cut, random, cost, gap, linear };

/** @type {Draw<{ show: keyof typeof SHOWS }>} */
export function draw(board, data, ask) {
  /** @type {Draw<Untyped>} */ (SHOWS[data.show])(board, data, ask);
}
