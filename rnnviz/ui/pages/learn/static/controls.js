// Controls over a picture: HTML elements, kept from one drawing to the next by name.

import { make, put } from "../../../browser/static/dom.js";
import { Shapes } from "./shapes.js";

/** @import { Untyped } from "../../../browser/static/types" */
/** @import { Area } from "./types" */

export class Controls extends Shapes {
  /** @type {Map<string, Untyped>} controls by name, each with what it calls */
  kept = new Map();
  /** @type {Set<string>} names of the controls that this drawing has asked for */
  used = new Set();
  scale = 1; // pixels of a unit

  /** @param {HTMLElement} root */
  constructor(root) {
    super();
    this.root = root;
  }

  get focused() {
    return /** @type {ShadowRoot} */ (this.root.getRootNode()).activeElement;
  }

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
