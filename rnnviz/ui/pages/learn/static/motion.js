// Things that move when a step is entered, once: from where they were to where the scene draws them.
//
//   board.move(element, { x: -200, y: 40 })            slides in from there (units, relative to its place)
//   board.move(element, { scale: 0, opacity: 0 })      grows out of its middle
//   board.move(element, { clipPath: "inset(0 100% 0 0)" }, { to: { clipPath: "inset(0)" } })   is swept open
//
// A scene moves what it draws at every drawing: a drawing in between goes on where the last one was, a later
// one stands still. Nothing moves on a step that an address opened or that one has gone back to, nor where
// the reader asked for less motion: there the end is shown at once. Nobody waits: the picture is complete
// when the animation begins, and what moves has no `transform` attribute of its own (put it into a group).

import { still } from "../../../browser/static/dom.js";

/** @import { Motion, MotionTimes } from "./types" */

const LASTS = 600; // milliseconds

export class Mover {
  /** @type {[scene: number, step: number] | null} */
  at = null;
  began = -Infinity;

  /** A step is shown, the same as before or another. @param {number} scene @param {number} step @param {number} [now] */
  arrive(scene, step, now = performance.now()) {
    const { at } = this;
    this.at = [scene, step];
    if (at?.[0] === scene && at[1] === step) return;
    const forward = at && (scene > at[0] || (scene === at[0] && step > at[1]));
    this.began = forward ? now : -Infinity;
  }

  /**
   * @param {Element} element @param {Motion} from what is other than at the end: x, y, scale, CSS properties
   * @param {MotionTimes} [times]
   */
  move(element, from, { begin = 0, lasts = LASTS, to = {} } = {}) {
    const gone = performance.now() - this.began;
    if (gone >= begin + lasts || still()) return;
    const { x = 0, y = 0, scale = 1, ...more } = from;
    const rests = x === 0 && y === 0 && scale === 1;
    const transform = rests ? {} : { transform: `translate(${x}px, ${y}px) scale(${scale})` };
    if (scale !== 1)
      Object.assign(/** @type {SVGElement} */ (element).style, {
        transformBox: "fill-box",
        transformOrigin: "center",
      });
    const end = rests ? to : { transform: "none", ...to };
    element.animate([{ ...transform, ...more, offset: 0 }, ...(Object.keys(end).length ? [end] : [])], {
      delay: begin - gone,
      duration: lasts,
      easing: "cubic-bezier(0.4, 0, 0.2, 1)",
      fill: "backwards",
    });
  }
}
