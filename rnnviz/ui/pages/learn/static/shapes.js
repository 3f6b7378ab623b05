// What a picture is drawn with: shapes, and the colours and words of values.
//
// How a text looks is said in words, in any order: its size, "600" for its weight, "end" or "middle", "mono",
// "italic", and a colour by its name in the theme or as #rrggbb: "20 end muted". No text is parsed as markup.

import { Numbers, raised } from "../../../browser/static/numbers.js";

/** @import { Attributes, Ramp, SceneTheme, Style } from "./types" */

const SVG = "http://www.w3.org/2000/svg";

export class Shapes {
  svg = document.createElementNS(SVG, "svg");
  /** @type {SceneTheme} */
  theme;
  fonts = { text: "sans-serif", code: "monospace" };
  inks = { dark: "#000000", light: "#ffffff" }; // one of which can be read on any colour
  numbers = new Numbers("en");

  /** @param {string} tag @param {Attributes} attributes @param {Element} into */
  make(tag, attributes, text = "", into = this.svg) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes))
      if (value !== undefined && value !== null && (value || name !== "stands"))
        element.setAttribute(name === "stands" ? "data-stands" : name, String(value));
    if (text) element.textContent = text;
    into.append(element);
    return /** @type {SVGElement} */ (element);
  }

  /** What draws into a group of its own. @param {Attributes} [attributes] @returns {this} */
  group(attributes = {}) {
    return Object.assign(Object.create(this), { svg: this.make("g", attributes) });
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height @param {Attributes} [attributes] */
  rect(x, y, width, height, attributes = {}) {
    return this.make("rect", { x, y, width: Math.max(0, width), height: Math.max(0, height), ...attributes });
  }

  /** @param {number} cx @param {number} cy @param {number} r @param {Attributes} [attributes] */
  circle(cx, cy, r, attributes = {}) {
    return this.make("circle", { cx, cy, r, ...attributes });
  }

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {Attributes} [attributes] */
  line(x1, y1, x2, y2, { stroke = this.theme.axis, width = 1.5, ...more } = {}) {
    return this.make("line", { x1, y1, x2, y2, stroke, "stroke-width": width, ...more });
  }

  /** @param {string} d @param {Attributes} [attributes] */
  path(d, { stroke = this.theme.text, width = 2, fill = "none", ...more } = {}) {
    return this.make("path", { d, stroke, "stroke-width": width, fill, ...more });
  }

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {Attributes & { head?: number }} [attributes] */
  arrow(x1, y1, x2, y2, { stroke = this.theme.text, head = 10, width = 2.5, ...more } = {}) {
    const g = this.group(more);
    const long = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [dx, dy] = [(x2 - x1) / long, (y2 - y1) / long];
    const [bx, by] = [x2 - dx * head, y2 - dy * head];
    g.line(x1, y1, bx, by, { stroke, width });
    const side = head * 0.55;
    const tip = `M${x2},${y2} L${bx - dy * side},${by + dx * side} L${bx + dy * side},${by - dx * side} Z`;
    g.path(tip, { fill: stroke, stroke: "none" });
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

  /** `y` is the line's middle. @param {number} x @param {number} y @param {string} string @param {Style} [style] */
  text(x, y, string, style = "") {
    return this.make("text", { x, y, ...this.look(style) }, string);
  }

  /** A piece of a text. @param {SVGElement} text @param {string} string @param {Attributes} [attributes] */
  span(text, string, attributes = {}) {
    return this.make("tspan", attributes, string, text);
  }

  /**
   * A symbol of the textbook's with its subscript, as in W_xh: board.symbol(x, y, "W", "xh").
   * @param {number} x @param {number} y @param {string} letter @param {string} [below] @param {Style} [style]
   */
  symbol(x, y, letter, below = "", style = "") {
    const look =
      typeof style === "string" ? { style: `24 ${style}` } : { ...style, style: `24 ${style.style ?? ""}` };
    const element = this.text(x, y, "", look);
    element.setAttribute("font-family", "KaTeX_Main, 'Times New Roman', serif");
    const size = Number(element.getAttribute("font-size"));
    // A character is no vector.
    this.span(element, letter, letter === "x" ? { "font-style": "italic" } : { "font-weight": 700 });
    // As mathematics is set: letters slant, digits and signs stand upright.
    (below.match(/[a-z]+|[^a-z]+/gi) ?? []).forEach((part, i) => {
      const slant = /^[a-z]/i.test(part) ? { "font-style": "italic" } : {};
      this.span(element, part, { dy: i ? 0 : size * 0.24, "font-size": size * 0.7, ...slant });
    });
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
    return this.inks[0.2126 * r + 0.7152 * g + 0.0722 * b > 0.26 ? "dark" : "light"];
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
}
