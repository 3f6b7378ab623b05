// The board that every scene draws on, and what can be put on it.
//
// A scene exports `draw(board, data, ask)`, called for every answer, every step and every `board.redraw()`.
// It draws everything anew; what it doesn't draw again is gone. Lengths are units: a line of type is 22 of
// them, and a board is at least 1240 wide and 540 high (board.W, board.H), whatever the screen.
//
//   board.step, board.local    the step; an object of the scene's own for what the server needn't know
//   ask({name: value})         change what the server remembers; it answers with new data
//   board.redraw()             draw again, with another `local`
//   board.visit(scene, step)   go there
//
//   shapes       rect, line, path, circle, text, group → SVG elements; a group draws into itself: shapes.js
//   pictures     matrix, bars, chart, strip
//   motion       move(element, from): on entering a step it comes from there: motion.js
//   symbols      stands: "H_t t" among a shape's, a text's or a matrix's options, or board.stands(element, "H_t"):
//                the symbols of the formula that it is; each lights the other
//   controls     field, slider, button, choice, say → HTML elements, kept by name: controls.js
//   colours      board.theme (figures/themes.py), board.colour(value), board.ink(colour)

import { make } from "../../../browser/static/dom.js";
import { fill } from "../../../browser/static/words.js";
import { chart } from "./chart.js";
import { Controls } from "./controls.js";
import { edges, matrix } from "./matrix.js";
import { Mover } from "./motion.js";

/** @import { Room } from "./room.js" */
/** @import { Untyped } from "../../../browser/static/types" */
/** @import { Answers, Area, Ask, ChartOptions, MatrixOptions, Motion, MotionTimes, Range, Scene, Slide, Standing } from "./types" */

/** The element under the pointer that answers, by key. @param {Event} event */
function under(event) {
  const target = /** @type {Element} */ (event.target);
  return target.closest("[data-hit]")?.getAttribute("data-hit") ?? "";
}

/** Where a key takes a slider. Page keys stay the lecture's. @param {string} key @param {Slide} slide @returns {number | undefined} */
export function slid(key, { value, min, max, step }) {
  const by = { ArrowRight: step, ArrowUp: step, ArrowLeft: -step, ArrowDown: -step };
  const to = { Home: min, End: max }[key] ?? value + /** @type {Record<string, number>} */ (by)[key];
  return Number.isNaN(to) ? undefined : Math.max(min, Math.min(max, Math.round(to / step) * step));
}

export class Board extends Controls {
  /** @type {Untyped} what the scene that is shown remembers in the browser alone */
  local = {};
  /** @type {Map<string, Answers>} what answers the pointer, by key */
  hits = new Map();
  /** @type {Room | undefined} the class, if it answers */
  room;
  /** @type {Record<string, string>} the words around every scene */
  said = {};
  mover = new Mover();
  /** Go to a step of any scene. @type {(scene: number, step: number) => void} */
  visit = () => {};
  /** @type {Map<string, Standing>} what symbols are in this picture: their shapes and values */
  standing = new Map();
  step = 0;
  W = 1240;
  H = 540;
  over = "";
  grabbed = "";

  /** @param {HTMLElement} root @param {Ask} ask @param {() => void} redraw */
  constructor(root, ask, redraw) {
    super(root);
    this.ask = ask;
    this.redraw = redraw;
    this.svg.setAttribute("class", "ln-picture");
    this.svg.setAttribute("role", "group"); // its parts have names of their own
    this.svg.addEventListener("pointermove", (event) => this.point(under(event)));
    this.svg.addEventListener("pointerleave", () => this.point(""));
    this.svg.addEventListener("click", (event) => this.hits.get(under(event))?.click?.());
    this.svg.addEventListener("keydown", (event) => {
      const { click, slide } = this.hits.get(under(event)) ?? {};
      const to = slide && slid(event.key, slide);
      const press = event.key === "Enter" || event.key === " " ? click : undefined;
      if (to === undefined && !press) return;
      event.preventDefault();
      event.stopPropagation();
      if (to === undefined) press?.();
      else slide?.change(to);
    });
    this.svg.addEventListener("pointerdown", (event) => this.grab(under(event), event));
  }

  /** What a screen has in height beyond the lowest that a board can be. */
  get spare() {
    return Math.max(0, this.H - 560);
  }

  close() {
    this.root.replaceChildren();
  }

  /** @param {number} width @param {number} height @param {number} scale */
  measure(width, height, scale) {
    [this.W, this.H, this.scale] = [width, height, scale];
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }

  /** Another scene begins. @param {object} local */
  empty(local) {
    this.local = local;
    this.over = "";
    this.kept.clear();
    this.root.replaceChildren(this.svg);
  }

  /** @param {Scene} scene @param {Untyped} data @param {number} step */
  draw(scene, data, step) {
    if (!this.svg.isConnected) this.empty(this.local);
    const focused = this.focused?.closest("[data-hit]")?.getAttribute("data-hit");
    this.step = step;
    if (this.room) this.room.next = null; // the scene says, where there is one
    this.used.clear();
    this.hits.clear();
    this.standing = new Map(Object.entries(data?.here ?? {}));
    this.svg.replaceChildren();
    scene.draw(this, data, this.ask);
    for (const [name, element] of this.kept)
      if (!this.used.has(name)) {
        element.remove();
        this.kept.delete(name);
      }
    if (!focused) return;
    const again = /** @type {SVGElement | null} */ (
      this.svg.querySelector(`[data-hit="${CSS.escape(focused)}"]`)
    );
    again?.focus();
  }

  /** The scene can't be shown: why. @param {string} sentence */
  trouble(sentence) {
    this.kept.clear();
    this.root.replaceChildren(make("p", "ln-trouble", sentence));
  }

  // ---- the pointer --------------------------------------------------------------------------------

  /** @param {string} key */
  point(key) {
    if (key === this.over || this.grabbed) return;
    this.hits.get(this.over)?.leave?.();
    this.over = key;
    this.hits.get(key)?.enter?.();
  }

  /** A place in the picture, in units. @param {PointerEvent} event @returns {[x: number, y: number]} */
  where(event) {
    const box = this.svg.getBoundingClientRect();
    return [
      ((event.clientX - box.left) * this.W) / box.width,
      ((event.clientY - box.top) * this.H) / box.height,
    ];
  }

  /** @param {string} key @param {PointerEvent} event */
  grab(key, event) {
    if (!this.hits.get(key)?.drag) return;
    this.grabbed = key;
    this.svg.setPointerCapture(event.pointerId);
    const held = new AbortController();
    const { signal } = held;
    const move = (/** @type {PointerEvent} */ moved) => this.hits.get(key)?.drag?.(...this.where(moved));
    const stop = () => {
      this.grabbed = "";
      held.abort();
    };
    this.svg.addEventListener("pointermove", move, { signal });
    this.svg.addEventListener("pointerup", stop, { signal });
    this.svg.addEventListener("pointercancel", stop, { signal });
    move(event);
  }

  /** Let an element answer. `key` names it from drawing to drawing. @param {SVGElement} element @param {string} key @param {Answers} answers */
  on(element, key, answers) {
    element.dataset.hit = key;
    this.hits.set(key, answers);
    if (answers.click) {
      element.setAttribute("tabindex", "0");
      element.setAttribute("role", "button");
      element.style.cursor = "pointer";
    }
    if (answers.drag) element.style.cursor = "grab";
    if (answers.slide) {
      const { value, min, max, said = String(value) } = answers.slide;
      const named = { valuenow: value, valuemin: min, valuemax: max, valuetext: said };
      for (const [name, is] of Object.entries(named)) element.setAttribute(`aria-${name}`, String(is));
      element.setAttribute("tabindex", "0");
      element.setAttribute("role", "slider");
    }
    if (answers.label) {
      element.setAttribute("aria-label", answers.label);
      if (!answers.click && !answers.slide) element.setAttribute("role", "img"); // a name needs something that it names
    }
    return element;
  }

  /**
   * Say which symbols of symbols.py an element of the picture stands for: each lights the other.
   * @template {Element} E
   * @param {E} element @param {...string} names
   */
  stands(element, ...names) {
    const said = names.filter(Boolean).join(" ");
    if (said) element.setAttribute("data-stands", said);
    return element;
  }

  // ---- pictures -----------------------------------------------------------------------------------

  /** Let what was drawn come from elsewhere when the step is entered: see motion.js. @param {Element} element @param {Motion} from @param {MotionTimes} [times] */
  move(element, from, times) {
    this.mover.move(element, from, times);
  }

  /** Numbers in a grid: see matrix.js. Returns {x, y, width, height}. @param {MatrixOptions} options */
  matrix(options) {
    return matrix(this, options);
  }

  /** A matrix's brackets. @param {{ x: number, y: number, width: number, height: number }} place */
  edges(place, colour = "") {
    return edges(this, place, colour);
  }

  /** What something is, and its name before it. @param {string} name @param {string} value */
  pair(name, value) {
    return fill(this.said.pair ?? "", { name, value });
  }

  /**
   * Axes and lines: see chart.js. Returns {X, Y}, from values to units.
   * @param {Area} area the plot itself @param {Range} xs @param {Range} ys @param {ChartOptions} options
   */
  chart(area, xs, ys, options) {
    return chart(this, area, xs, ys, options);
  }

  /**
   * Bars beneath one another; `max` is a whole bar.
   * @param {{ x: number, y: number, width: number, row?: number, labels?: number, numbers?: number, max?: number,
   *   rows: { label: string, value: number, text?: string, colour?: string, strong?: boolean }[] }} options
   */
  bars({ x, y, width, row = 34, labels = 40, numbers = 84, rows, max = 1 }) {
    const track = width - labels - numbers - 16;
    rows.forEach(({ label, value, text, colour = this.theme.bar, strong = false }, i) => {
      const middle = y + (i + 0.5) * row;
      const weight = strong ? "700" : "";
      this.text(x + labels, middle, label, `end mono ${weight}`);
      const long = (Math.max(0, Math.min(1, value / max)) || 0) * track;
      this.rect(x + labels + 10, middle - row * 0.34, Math.max(1.5, long), row * 0.68, {
        fill: colour,
        rx: 3,
      });
      if (text) this.text(x + width, middle, text, `20.24 end ${weight}`);
    });
  }

  /** One row of coloured cells. @param {{ x: number, y: number, width: number, height: number, values: number[] }} options */
  strip({ x, y, width, height, values }) {
    const each = width / values.length;
    values.forEach((value, i) => {
      this.rect(x + i * each, y, each + 0.4, height, { fill: this.colour(value) });
    });
    this.rect(x, y, width, height, { fill: "none", stroke: this.theme.axis, "stroke-width": 1 });
  }
}
