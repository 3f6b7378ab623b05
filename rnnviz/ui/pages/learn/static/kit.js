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
// No text is ever parsed as markup.

import { chart } from "./chart.js";
import { matrix } from "./matrix.js";

const SVG = "http://www.w3.org/2000/svg";

export class Board {
  constructor(root, ask, redraw) {
    this.root = root;
    this.ask = ask;
    this.redraw = redraw;
    this.local = {};
    this.kept = new Map(); // controls by name
    this.hits = new Map(); // what answers the pointer, by key
    this.composing = false;
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("class", "ln-picture");
    this.over = null;
    const under = (event) => event.target.closest?.("[data-hit]")?.dataset.hit ?? null;
    this.svg.addEventListener("pointermove", (event) => this.point(under(event), event));
    this.svg.addEventListener("pointerleave", (event) => this.point(null, event));
    this.svg.addEventListener("click", (event) => this.hits.get(under(event))?.click?.(event));
    this.svg.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      const hit = this.hits.get(under(event));
      if (!hit?.click) return;
      event.preventDefault();
      event.stopPropagation();
      hit.click(event);
    });
    this.svg.addEventListener("pointerdown", (event) => this.grab(under(event), event));
  }

  close() {
    this.root.replaceChildren();
  }

  measure(width, height, scale) {
    [this.W, this.H, this.scale] = [width, height, scale];
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }

  // Another scene begins.
  empty(local) {
    this.local = local;
    this.over = null;
    this.kept.clear();
    this.root.replaceChildren(this.svg);
    this.fresh = true;
  }

  draw(module, data, step) {
    if (!this.svg.isConnected) this.empty(this.local);
    const focused = this.root.getRootNode().activeElement?.closest?.("[data-hit]")?.dataset.hit;
    this.step = step;
    this.module = module;
    this.used = new Set();
    this.hits.clear();
    this.svg.replaceChildren();
    module.draw(this, data, this.ask);
    for (const [name, element] of this.kept)
      if (!this.used.has(name)) {
        element.remove();
        this.kept.delete(name);
      }
    if (focused) this.svg.querySelector(`[data-hit="${CSS.escape(focused)}"]`)?.focus();
    this.fresh = false;
  }

  // The scene can't be shown: why.
  trouble(sentence) {
    this.kept.clear();
    const words = document.createElement("p");
    words.className = "ln-trouble";
    words.textContent = sentence;
    this.root.replaceChildren(words);
  }

  // ---- the pointer --------------------------------------------------------------------------------

  point(key, event) {
    if (key === this.over || this.grabbed) return;
    this.hits.get(this.over)?.leave?.(event);
    this.over = key;
    this.hits.get(key)?.enter?.(event);
  }

  // A place in the picture, in units.
  where(event) {
    const box = this.svg.getBoundingClientRect();
    return [((event.clientX - box.left) * this.W) / box.width, ((event.clientY - box.top) * this.H) / box.height];
  }

  grab(key, event) {
    const hit = this.hits.get(key);
    if (!hit?.drag) return;
    this.grabbed = key;
    this.svg.setPointerCapture(event.pointerId);
    const move = (moved) => this.hits.get(key)?.drag?.(...this.where(moved));
    const stop = () => {
      this.grabbed = null;
      this.svg.removeEventListener("pointermove", move);
    };
    this.svg.addEventListener("pointermove", move);
    this.svg.addEventListener("pointerup", stop, { once: true });
    this.svg.addEventListener("pointercancel", stop, { once: true });
    move(event);
  }

  // Let an element answer: {enter, leave, click, drag(x, y), label}. `key` names it from drawing to drawing.
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

  make(tag, attributes = {}, into = this.svg) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes))
      if (value !== undefined && value !== null) element.setAttribute(name, value);
    into.append(element);
    return element;
  }

  group(attributes, into) {
    return this.make("g", attributes, into);
  }

  rect(x, y, width, height, attributes = {}, into) {
    return this.make("rect", { x, y, width: Math.max(0, width), height: Math.max(0, height), ...attributes }, into);
  }

  circle(cx, cy, r, attributes = {}, into) {
    return this.make("circle", { cx, cy, r, ...attributes }, into);
  }

  line(x1, y1, x2, y2, attributes = {}, into) {
    const { stroke = this.theme.axis, width = 1.5, ...rest } = attributes;
    return this.make("line", { x1, y1, x2, y2, stroke, "stroke-width": width, ...rest }, into);
  }

  path(d, attributes = {}, into) {
    const { stroke = this.theme.text, width = 2, fill = "none", ...rest } = attributes;
    return this.make("path", { d, stroke, "stroke-width": width, fill, ...rest }, into);
  }

  arrow(x1, y1, x2, y2, attributes = {}, into) {
    const { stroke = this.theme.text, head = 10, width = 2.5, ...rest } = attributes;
    const g = this.group(rest, into);
    const long = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [dx, dy] = [(x2 - x1) / long, (y2 - y1) / long];
    const [bx, by] = [x2 - dx * head, y2 - dy * head];
    this.line(x1, y1, bx, by, { stroke, width }, g);
    const side = head * 0.55;
    const tip = `M${x2},${y2} L${bx - dy * side},${by + dx * side} L${bx + dy * side},${by - dx * side} Z`;
    this.path(tip, { fill: stroke, stroke: "none" }, g);
    return g;
  }

  // `anchor` start, middle or end; `y` is the line's middle.
  text(x, y, string, attributes = {}, into) {
    const { size = 22, anchor = "start", weight = 400, fill = this.theme.text, mono = false, italic = false, ...rest } =
      attributes;
    const element = this.make(
      "text",
      {
        x,
        y,
        "font-size": size,
        "text-anchor": anchor,
        "font-weight": weight,
        "font-family": mono ? this.mono : this.font,
        "font-style": italic ? "italic" : undefined,
        "dominant-baseline": "central",
        fill,
        ...rest,
      },
      into,
    );
    element.textContent = string;
    return element;
  }

  // A symbol of the textbook's with its subscript, as in W_xh: board.symbol(x, y, "W", "xh").
  symbol(x, y, letter, below = "", attributes = {}, into) {
    const { size = 24, ...rest } = attributes;
    const element = this.text(x, y, "", { size, ...rest }, into);
    element.setAttribute("font-family", "KaTeX_Main, " + "'Times New Roman', serif");
    const head = this.make("tspan", { "font-weight": 700 }, element);
    head.textContent = letter;
    if (below) {
      const sub = this.make("tspan", { dy: size * 0.24, "font-size": size * 0.7, "font-style": "italic" }, element);
      sub.textContent = below;
    }
    return element;
  }

  // ---- values -------------------------------------------------------------------------------------

  // A value's colour on one of the theme's scales; ±`full` has the ends' colours.
  colour(value, scale = "diverging", full = 1) {
    const ramp = this.theme[scale];
    const share = scale === "diverging" ? (value / full + 1) / 2 : value / full;
    const at = Number.isFinite(share) ? Math.max(0, Math.min(1, share)) : 0.5;
    return ramp[Math.round(at * (ramp.length - 1))];
  }

  // What can be read on a colour: the darker or the lighter of the two theme colours.
  ink(colour) {
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16) / 255);
    const bright = 0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2;
    return bright > 0.26 ? "#12191e" : "#ffffff";
  }

  // A number with so many decimals and a real minus sign; never "−0.00".
  number(value, digits = 2) {
    if (value === null || value === undefined) return "–";
    const text = Math.abs(value).toFixed(digits);
    return (value < 0 && Number(text) !== 0 ? "−" : "") + text;
  }

  // A large or tiny number as 1.2 × 10⁻¹⁶.
  power(value, digits = 1) {
    if (value === 0) return "0";
    const ten = Math.floor(Math.log10(Math.abs(value)));
    if (ten >= -3 && ten < 6) return this.grouped(value);
    return `${this.number(value / 10 ** ten, digits)} × 10${raised(ten)}`;
  }

  grouped(value) {
    return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en-GB") : String(Number(value.toPrecision(3)));
  }

  percent(p) {
    if (p >= 0.9995) return "100 %";
    return p < 0.001 ? "< 0.1 %" : `${(100 * p).toFixed(p < 0.1 ? 1 : 0)} %`;
  }

  raised(n) {
    return raised(n);
  }

  // ---- pictures -----------------------------------------------------------------------------------

  // Numbers in a grid: see matrix.js. Returns {x, y, width, height}.
  matrix(options) {
    return matrix(this, options);
  }

  // Axes and lines: see chart.js. Returns {X, Y}, from values to units.
  chart(options) {
    return chart(this, options);
  }

  // Bars beneath one another: rows of {label, value, text, colour, strong}; `max` is a whole bar.
  bars({ x, y, width, row = 34, labels = 40, numbers = 84, rows, max = 1, size = 22, mono = true, into }) {
    const track = width - labels - numbers - 16;
    rows.forEach(({ label, value, text, colour = this.theme.bar, strong = false }, i) => {
      const middle = y + (i + 0.5) * row;
      const weight = strong ? 700 : 400;
      this.text(x + labels, middle, label, { size, anchor: "end", mono, weight }, into);
      const long = (Math.max(0, Math.min(1, value / max)) || 0) * track;
      this.rect(x + labels + 10, middle - row * 0.34, Math.max(1.5, long), row * 0.68, { fill: colour, rx: 3 }, into);
      if (text) this.text(x + width, middle, text, { size: size * 0.92, anchor: "end", weight }, into);
    });
  }

  // One row of coloured cells; `hit(i)` names what answers the pointer there.
  strip({ x, y, width, height, values, scale = "diverging", full = 1, gap = 0, hit, into }) {
    const each = width / values.length;
    values.forEach((value, i) => {
      const cell = this.rect(
        x + i * each,
        y,
        each - gap + (gap ? 0 : 0.4),
        height,
        { fill: this.colour(value, scale, full) },
        into,
      );
      if (hit) this.on(cell, ...hit(i));
    });
    this.rect(x, y, width - gap, height, { fill: "none", stroke: this.theme.axis, "stroke-width": 1 }, into);
  }

  // ---- controls -----------------------------------------------------------------------------------

  // An element made once, as long as every drawing asks for it; `update` runs each time.
  keep(name, make, { x, y, width, height }) {
    this.used.add(name);
    let element = this.kept.get(name);
    if (!element) {
      element = make();
      element.dataset.name = name;
      this.kept.set(name, element);
      this.root.append(element);
    }
    const style = element.style;
    const px = (units) => (units === undefined ? "" : units * this.scale + "px");
    [style.position, style.left, style.top, style.width, style.height] = ["absolute", px(x), px(y), px(width), px(height)];
    return element;
  }

  // A line of text to write in. `change(text)` comes with every character, but never within a composition.
  field(name, { x, y, width, label, value, change, limit = 60, size = 22 }) {
    const wrap = this.keep(name, () => {
      const made = document.createElement("label");
      made.className = "ln-field";
      made.append(document.createElement("span"), document.createElement("input"));
      const input = made.lastChild;
      Object.assign(input, { type: "text", spellcheck: false, autocomplete: "off" });
      input.addEventListener("input", (event) => {
        if (!event.isComposing) made.change(input.value);
      });
      input.addEventListener("compositionend", () => made.change(input.value));
      input.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && !event.isComposing) input.blur(); // the keys are the lecture's again
      });
      return made;
    }, { x, y, width });
    const [caption, input] = wrap.children;
    wrap.change = (text) => {
      wrap.own = text;
      change(text);
    };
    caption.textContent = label ?? "";
    caption.hidden = !label;
    input.maxLength = limit;
    input.setAttribute("aria-label", label || name);
    input.style.fontSize = size * this.scale + "px";
    const focused = this.root.getRootNode().activeElement === input;
    if (!focused || (wrap.own === undefined && input.value !== value)) input.value = value;
    if (!focused) wrap.own = undefined;
    return wrap;
  }

  // A slider. `change(value)` comes while it moves; `say(value)` is what stands beside it.
  slider(name, { x, y, width, label, min, max, step = 1, value, change, say = String }) {
    const wrap = this.keep(name, () => {
      const made = document.createElement("label");
      made.className = "ln-slider";
      made.append(...["span", "input", "output"].map((tag) => document.createElement(tag)));
      const input = made.children[1];
      input.type = "range";
      input.addEventListener("input", () => {
        made.children[2].textContent = made.say(Number(input.value));
        made.change(Number(input.value));
      });
      return made;
    }, { x, y, width });
    const [caption, input, output] = wrap.children;
    Object.assign(wrap, { change, say });
    caption.textContent = label;
    Object.assign(input, { min, max, step });
    input.setAttribute("aria-label", label);
    if (this.root.getRootNode().activeElement !== input) input.value = value;
    output.textContent = say(Number(input.value));
    return wrap;
  }

  button(name, { x, y, width, label, press, strong = false, off = false, title }) {
    const button = this.keep(name, () => {
      const made = document.createElement("button");
      made.type = "button";
      made.onclick = () => made.press();
      return made;
    }, { x, y, width });
    button.className = strong ? "ln-button ln-strong" : "ln-button";
    button.textContent = label;
    button.title = title ?? "";
    button.disabled = off;
    button.press = press;
    return button;
  }

  // One of a few: options [[key, label], …].
  choice(name, { x, y, width, label, options, value, pick }) {
    const group = this.keep(name, () => {
      const made = document.createElement("div");
      made.className = "ln-choice";
      made.setAttribute("role", "radiogroup");
      return made;
    }, { x, y, width });
    group.setAttribute("aria-label", label ?? name);
    const keys = options.map(([key]) => String(key)).join("\n");
    if (group.dataset.keys !== keys) {
      group.dataset.keys = keys;
      group.replaceChildren(
        ...options.map(() => {
          const button = document.createElement("button");
          button.type = "button";
          button.setAttribute("role", "radio");
          return button;
        }),
      );
    }
    options.forEach(([key, said], i) => {
      const button = group.children[i];
      button.textContent = said;
      button.setAttribute("aria-checked", String(key === value));
      button.onclick = () => pick(key);
    });
    return group;
  }

  // A paragraph: plain text, or a list of strings and [text, class] pairs (strong, quiet, big, a theme colour).
  say(name, parts, { x, y, width, height, size = 22, align = "left" }) {
    const words = this.keep(name, () => document.createElement("p"), { x, y, width, height });
    words.className = "ln-say";
    words.style.fontSize = size * this.scale + "px";
    words.style.textAlign = align;
    words.replaceChildren(
      ...[parts].flat(1).map((part) => {
        if (typeof part === "string") return part;
        const span = document.createElement("span");
        span.textContent = part[0];
        for (const name of part[1].split(" ")) {
          if (typeof this.theme[name] === "string") span.style.color = this.theme[name];
          else span.classList.add("ln-" + name);
        }
        return span;
      }),
    );
    return words;
  }
}

const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

function raised(n) {
  return [...String(n)].map((c) => SUPERSCRIPTS[c] ?? c).join("");
}

// Fill the braces of a sentence.
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}
