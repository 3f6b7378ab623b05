// The board that every scene draws on, and what can be put on it.
//
// A scene exports `draw(board, data, ask)`, called for every answer, every step and every `board.redraw()`.
// It draws everything anew; what it doesn't draw again is gone. Lengths are units: a line of type is 22 of
// them, and a board is at least 1240 wide and 540 high (board.W, board.H), whatever the screen.
//
//   board.step, board.local    the step; an object of the scene's own for what the server needn't know
//   ask({name: value})         change what the server remembers; it answers with new data
//   board.redraw()             draw again, with another `local`
//
//   shapes       rect, line, path, circle, text, group → SVG elements, for `into` or the picture itself
//   pictures     matrix, bars, chart, strip
//   controls     field, slider, button, choice, say → HTML elements, kept from one drawing to the next by name
//   colours      board.theme (figures/themes.py), board.colour(value), board.ink(colour)
//
// How a text looks is said in words, in any order: its size, "600" for its weight, "end" or "middle", "mono",
// "italic", and a colour by its name in the theme or as #rrggbb: "20 end muted". No text is parsed as markup.

import { make, put } from "../../../browser/static/dom.js";
import { Numbers, raised } from "../../../browser/static/numbers.js";
import { chart } from "./chart.js";
import { matrix } from "./matrix.js";

/** @import { Untyped } from "../../../browser/static/types" */
/** @import { Answers, Area, Ask, Attributes, ChartOptions, Into, MatrixOptions, Ramp, Range, Scene, SceneTheme, Style } from "./types" */

const SVG = "http://www.w3.org/2000/svg";
const INK = ["#12191e", "#ffffff"]; // what can be read on any colour: both themes' darkest and lightest

/** The element under the pointer that answers, by key. @param {Event} event */
function under(event) {
  const target = /** @type {Element} */ (event.target);
  return target.closest("[data-hit]")?.getAttribute("data-hit") ?? "";
}

export class Board {
  /** @type {Untyped} what the scene that is shown remembers in the browser alone */
  local = {};
  /** @type {Map<string, Untyped>} controls by name, each with what it calls */
  kept = new Map();
  /** @type {Map<string, Answers>} what answers the pointer, by key */
  hits = new Map();
  /** @type {Set<string>} names of the controls that this drawing has asked for */
  used = new Set();
  /** @type {SceneTheme} */
  theme;
  numbers = new Numbers("en");
  /** @type {Record<string, string>} the words around every scene */
  said = {};
  fonts = { text: "sans-serif", code: "monospace" };
  step = 0;
  W = 1240;
  H = 540;
  scale = 1; // pixels of a unit
  over = "";
  grabbed = "";

  /** @param {HTMLElement} root @param {Ask} ask @param {() => void} redraw */
  constructor(root, ask, redraw) {
    this.root = root;
    this.ask = ask;
    this.redraw = redraw;
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("class", "ln-picture");
    this.svg.addEventListener("pointermove", (event) => this.point(under(event)));
    this.svg.addEventListener("pointerleave", () => this.point(""));
    this.svg.addEventListener("click", (event) => this.hits.get(under(event))?.click?.());
    this.svg.addEventListener("keydown", (event) => {
      const hit = this.hits.get(under(event));
      if ((event.key !== "Enter" && event.key !== " ") || !hit?.click) return;
      event.preventDefault();
      event.stopPropagation();
      hit.click();
    });
    this.svg.addEventListener("pointerdown", (event) => this.grab(under(event), event));
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
    this.used.clear();
    this.hits.clear();
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

  get focused() {
    return /** @type {ShadowRoot} */ (this.root.getRootNode()).activeElement;
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
    const move = (/** @type {PointerEvent} */ moved) => this.hits.get(key)?.drag?.(...this.where(moved));
    const stop = () => {
      this.grabbed = "";
      this.svg.removeEventListener("pointermove", move);
    };
    this.svg.addEventListener("pointermove", move);
    this.svg.addEventListener("pointerup", stop, { once: true });
    this.svg.addEventListener("pointercancel", stop, { once: true });
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
    if (answers.label) element.setAttribute("aria-label", answers.label);
    return element;
  }

  // ---- shapes -------------------------------------------------------------------------------------

  /** @param {string} tag @param {Attributes} attributes @param {Into} into */
  make(tag, attributes, into = this.svg, text = "") {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes))
      if (value !== undefined && value !== null) element.setAttribute(name, String(value));
    if (text) element.textContent = text;
    into.append(element);
    return /** @type {SVGElement} */ (element);
  }

  /** @param {Attributes} [attributes] @param {Into} [into] */
  group(attributes = {}, into) {
    return this.make("g", attributes, into);
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height @param {Attributes} [attributes] @param {Into} [into] */
  rect(x, y, width, height, attributes = {}, into) {
    return this.make(
      "rect",
      { x, y, width: Math.max(0, width), height: Math.max(0, height), ...attributes },
      into,
    );
  }

  /** @param {number} cx @param {number} cy @param {number} r @param {Attributes} [attributes] @param {Into} [into] */
  circle(cx, cy, r, attributes = {}, into) {
    return this.make("circle", { cx, cy, r, ...attributes }, into);
  }

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {Attributes} [attributes] @param {Into} [into] */
  line(x1, y1, x2, y2, { stroke = this.theme.axis, width = 1.5, ...more } = {}, into) {
    return this.make("line", { x1, y1, x2, y2, stroke, "stroke-width": width, ...more }, into);
  }

  /** @param {string} d @param {Attributes} [attributes] @param {Into} [into] */
  path(d, { stroke = this.theme.text, width = 2, fill = "none", ...more } = {}, into) {
    return this.make("path", { d, stroke, "stroke-width": width, fill, ...more }, into);
  }

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {Attributes & { head?: number }} [attributes] @param {Into} [into] */
  arrow(x1, y1, x2, y2, { stroke = this.theme.text, head = 10, width = 2.5, ...more } = {}, into) {
    const g = this.group(more, into);
    const long = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [dx, dy] = [(x2 - x1) / long, (y2 - y1) / long];
    const [bx, by] = [x2 - dx * head, y2 - dy * head];
    this.line(x1, y1, bx, by, { stroke, width }, g);
    const side = head * 0.55;
    const tip = `M${x2},${y2} L${bx - dy * side},${by + dx * side} L${bx + dy * side},${by - dx * side} Z`;
    this.path(tip, { fill: stroke, stroke: "none" }, g);
    return g;
  }

  /** The attributes that a text's style stands for. @param {Style} style @returns {Attributes} */
  look(style) {
    const { style: words = "", ...more } = typeof style === "string" ? { style } : style;
    /** @type {Attributes} */
    const found = { "font-size": 22, "font-weight": 400, "text-anchor": "start", fill: this.theme.text };
    for (const word of words.split(" ")) {
      if (Number(word)) found[Number(word) < 100 ? "font-size" : "font-weight"] = word;
      else if (["start", "middle", "end"].includes(word)) found["text-anchor"] = word;
      else if (word === "mono") found["font-family"] = this.fonts.code;
      else if (word === "italic") found["font-style"] = word;
      else if (word[0] === "#") found.fill = word;
      else if (typeof this.theme[word] === "string") found.fill = this.theme[word];
    }
    return { "font-family": this.fonts.text, "dominant-baseline": "central", ...found, ...more };
  }

  /** `y` is the line's middle. @param {number} x @param {number} y @param {string} string @param {Style} [style] @param {Into} [into] */
  text(x, y, string, style = "", into) {
    return this.make("text", { x, y, ...this.look(style) }, into, string);
  }

  /** A piece of a text. @param {SVGElement} text @param {string} string @param {Attributes} [attributes] */
  span(text, string, attributes = {}) {
    return this.make("tspan", attributes, text, string);
  }

  /**
   * A symbol of the textbook's with its subscript, as in W_xh: board.symbol(x, y, "W", "xh").
   * @param {number} x @param {number} y @param {string} letter @param {string} [below] @param {Style} [style] @param {Into} [into]
   */
  symbol(x, y, letter, below = "", style = "", into) {
    const look =
      typeof style === "string" ? { style: `24 ${style}` } : { ...style, style: `24 ${style.style ?? ""}` };
    const element = this.text(x, y, "", look, into);
    element.setAttribute("font-family", "KaTeX_Main, 'Times New Roman', serif");
    const size = Number(element.getAttribute("font-size"));
    this.span(element, letter, { "font-weight": 700 });
    if (below)
      this.span(element, below, { dy: size * 0.24, "font-size": size * 0.7, "font-style": "italic" });
    return element;
  }

  // ---- values -------------------------------------------------------------------------------------

  /** A value's colour on one of the theme's scales; ±`full` has the ends' colours. @param {number} value @param {Ramp} [scale] */
  colour(value, scale = "diverging", full = 1) {
    const ramp = this.theme[scale];
    const share = scale === "diverging" ? (value / full + 1) / 2 : value / full;
    const at = Number.isFinite(share) ? Math.max(0, Math.min(1, share)) : 0.5;
    return ramp[Math.round(at * (ramp.length - 1))];
  }

  /** What can be read on a colour. @param {string} colour */
  ink(colour) {
    const [r, g, b] = [1, 3, 5].map((i) => (parseInt(colour.slice(i, i + 2), 16) / 255) ** 2.2);
    return INK[0.2126 * r + 0.7152 * g + 0.0722 * b > 0.26 ? 0 : 1];
  }

  /** @param {number | null | undefined} value */
  number(value, digits = 2) {
    return this.numbers.fixed(value, digits);
  }

  /** @param {number} p */
  percent(p) {
    return this.numbers.share(p);
  }

  /** @param {number} value */
  power(value, digits = 1) {
    return this.numbers.power(value, digits);
  }

  /** @param {number} n */
  raised(n) {
    return raised(n);
  }

  // ---- pictures -----------------------------------------------------------------------------------

  /** Numbers in a grid: see matrix.js. Returns {x, y, width, height}. @param {MatrixOptions} options @param {Into} [into] */
  matrix(options, into) {
    return matrix(this, options, into);
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

  // ---- controls -----------------------------------------------------------------------------------

  /**
   * An element made once, as long as every drawing asks for it.
   * @template {HTMLElement} E
   * @param {string} name @param {() => E} create @param {Area} area
   * @returns {E}
   */
  keep(name, create, area) {
    this.used.add(name);
    let element = this.kept.get(name);
    if (!element) {
      element = create();
      element.dataset.name = name;
      this.kept.set(name, element);
      this.root.append(element);
    }
    const [left, top, width, height] = [0, 1, 2, 3].map((i) =>
      i in area ? `${Number(area[i]) * this.scale}px` : "",
    );
    Object.assign(element.style, { position: "absolute", left, top, width, height });
    return element;
  }

  /**
   * A line of text to write in. `change(text)` comes with every character, but never within a composition.
   * @param {string} name @param {Area} area @param {string} value
   * @param {{ label?: string, limit?: number, size?: number }} options
   * @param {(text: string) => void} change
   */
  field(name, area, value, { label = "", limit = 60, size = 22 }, change) {
    const create = () => {
      const input = Object.assign(make("input"), { type: "text", spellcheck: false, autocomplete: "off" });
      const own = /** @type {string | undefined} */ (undefined); // what was typed since it has the focus
      const made = Object.assign(make("label", "ln-field", make("span"), input), { input, own, change });
      const typed = () => {
        made.own = input.value;
        made.change(input.value);
      };
      input.addEventListener("input", (event) => {
        if (!(/** @type {InputEvent} */ (event).isComposing)) typed();
      });
      input.addEventListener("compositionend", typed);
      input.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && !event.isComposing) input.blur(); // the keys are the lecture's again
      });
      return made;
    };
    const wrap = this.keep(name, create, area);
    const { input } = wrap;
    const caption = /** @type {HTMLElement} */ (wrap.firstChild);
    wrap.change = change;
    put(caption, label);
    caption.hidden = !label;
    input.maxLength = limit;
    input.setAttribute("aria-label", label || name);
    input.style.fontSize = `${size * this.scale}px`;
    const focused = this.focused === input;
    if (!focused || (wrap.own === undefined && input.value !== value)) input.value = value;
    if (!focused) wrap.own = undefined;
    return wrap;
  }

  /**
   * A slider. `change(value)` comes while it moves; `say(value)` is what stands beside it.
   * @param {string} name @param {Area} area @param {string} label
   * @param {{ min: number, max: number, step?: number, value: number, say?: (value: number) => string }} options
   * @param {(value: number) => void} change
   */
  slider(name, area, label, { min, max, step = 1, value, say = String }, change) {
    const create = () => {
      const [caption, input, output] = [make("span"), make("input"), make("output")];
      const made = Object.assign(make("label", "ln-slider", caption, input, output), { input, change, say });
      input.type = "range";
      input.addEventListener("input", () => {
        output.textContent = made.say(Number(input.value));
        made.change(Number(input.value));
      });
      return made;
    };
    const wrap = this.keep(name, create, area);
    const { input } = wrap;
    Object.assign(wrap, { change, say });
    put(wrap.children[0], label);
    Object.assign(input, { min, max, step });
    input.setAttribute("aria-label", label);
    if (this.focused !== input) input.value = String(value);
    put(wrap.children[2], say(Number(input.value)));
    return wrap;
  }

  /**
   * @param {string} name @param {Area} area @param {string} label @param {() => void} press
   * @param {{ strong?: boolean, off?: boolean, title?: string }} [options]
   */
  button(name, area, label, press, { strong = false, off = false, title = "" } = {}) {
    const button = this.keep(name, () => Object.assign(make("button"), { type: "button" }), area);
    const className = strong ? "ln-button ln-strong" : "ln-button";
    return Object.assign(button, { className, textContent: label, title, disabled: off, onclick: press });
  }

  /**
   * One of a few.
   * @template {string | number | null | undefined} K
   * @param {string} name @param {Area} area @param {string} label @param {[key: K, label: string][]} options
   * @param {K} value @param {(key: K) => void} pick
   */
  choice(name, area, label, options, value, pick) {
    const group = this.keep(name, () => make("div", "ln-choice"), area);
    group.setAttribute("role", "radiogroup");
    group.setAttribute("aria-label", label || name);
    while (group.childElementCount > options.length) group.lastChild?.remove();
    options.forEach(([key, said], i) => {
      const button = /** @type {HTMLButtonElement} */ (group.children[i]) ?? make("button");
      button.type = "button";
      button.setAttribute("role", "radio");
      button.setAttribute("aria-checked", String(key === value));
      button.onclick = () => pick(key);
      put(button, said);
      if (!button.parentNode) group.append(button);
    });
    return group;
  }

  /**
   * A paragraph: plain text, or a list of strings and [text, class] pairs (strong, quiet, big, a theme colour).
   * @param {string} name @param {Area} area @param {string | (string | [text: string, classes: string])[]} parts
   * @param {{ size?: number, align?: string }} [options]
   */
  say(name, area, parts, { size = 22, align = "left" } = {}) {
    const words = this.keep(name, () => make("p", "ln-say"), area);
    words.style.fontSize = `${size * this.scale}px`;
    words.style.textAlign = align;
    const list = typeof parts === "string" ? [parts] : parts;
    const spans = list.map((part) => {
      if (typeof part === "string") return part;
      const span = make("span", "", part[0]);
      for (const word of part[1].split(" ")) {
        const colour = this.theme[word];
        if (typeof colour === "string") span.style.color = colour;
        else span.classList.add(`ln-${word}`);
      }
      return span;
    });
    words.replaceChildren(...spans);
    return words;
  }
}
