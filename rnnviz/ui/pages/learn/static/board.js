// What a step is drawn on: the stage's colours and numbers, its controls, and what lights lie over.
//
// Controls are HTML elements that are made once and kept by name as long as every drawing asks for them, so
// that what is typed or pulled is not lost; pictures are drawn anew (primitives.js).

import { make, put } from "../../../browser/static/dom.js";
import { Numbers } from "../../../browser/static/number_format.js";

/** @import { Untyped } from "../../../browser/static/types" */
/** @import { Room } from "./room.js" */
/** @import { Ask, KitControl, Ramp, SceneTheme, Standing } from "./types" */

export class Board {
  /** @type {SceneTheme} */
  theme;
  fonts = { text: "sans-serif", code: "monospace" };
  inks = { dark: "#000000", light: "#ffffff" }; // one of which can be read on any colour
  numbers = new Numbers("en");
  /** @type {Record<string, string>} the words around every step */
  said = {};
  /** @type {Room | undefined} the class, if it answers */
  room;
  /** @type {((pick?: number) => void) | null} shows the picture, where a question stands before it: an option is predicted */
  open = null;
  /** @type {Map<string, Standing>} what symbols are in this picture: their shapes and values */
  standing = new Map();
  /** @type {HTMLElement[]} primitives.js's plots: Plotly changes one faster than it makes one */
  plots = [];
  /** @type {Map<string, Untyped>} controls by name */
  kept = new Map();
  /** Go to a step by its name, and ask for something there. @type {(name: string, ask?: object) => void} */
  visit = () => {};

  /** @param {HTMLElement} root @param {Ask} ask @param {() => void} redraw */
  constructor(root, ask, redraw) {
    this.root = root;
    this.ask = ask;
    this.redraw = redraw;
    this.answers = make("div", "kit-answers");
    this.controls = make("div", "kit-controls");
    this.picture = make("div", "kit-picture");
    this.picture.setAttribute("role", "group"); // named by what is to be noticed
    this.lights = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.lights.setAttribute("class", "ln-lights");
    this.kit = make("div", "kit", this.answers, this.controls, this.picture);
    this.kit.append(this.lights);
    root.replaceChildren(this.kit);
  }

  get focused() {
    return /** @type {ShadowRoot} */ (this.root.getRootNode()).activeElement;
  }

  close() {
    this.root.replaceChildren();
  }

  /** A step can't be shown: why. @param {string} sentence */
  trouble(sentence) {
    this.show([]);
    this.answers.hidden = true;
    this.picture.replaceChildren(make("p", "ln-trouble", sentence));
  }

  // ---- colours and numbers ------------------------------------------------------------------------------

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

  /**
   * Say which symbols of symbols.py an element of the picture stands for: each lights the other.
   * @param {Element} element @param {string} names apart by spaces
   * @param {unknown} [value] what it is here, if it is one @param {string} [shape]
   */
  stands(element, names, value, shape = "") {
    element.setAttribute("data-stands", names);
    if (value !== undefined && !names.includes(" "))
      this.standing.set(names, { value: /** @type {number} */ (value), shape });
  }

  // ---- controls -----------------------------------------------------------------------------------------

  /** The controls of a step, those of another gone. @param {KitControl[]} controls */
  show(controls) {
    const names = new Set(controls.map(({ name }) => name));
    for (const [name, { element }] of this.kept)
      if (!names.has(name)) {
        element.remove();
        this.kept.delete(name);
      }
    for (const control of controls) {
      const { name, kind, value, stands } = control;
      if (this.kept.get(name)?.kind !== kind) {
        this.kept.get(name)?.element.remove();
        this.kept.set(name, { kind, ...MAKE[kind]((to) => this.ask({ [name]: to })) });
      }
      const { element, update } = this.kept.get(name);
      element.dataset.name = name;
      update(control, this);
      if (element.parentNode !== this.controls) this.controls.append(element);
      if (stands) this.stands(element, stands, value);
    }
    this.controls.hidden = controls.length === 0;
  }
}

/** @typedef {(to: unknown) => void} Change */
/** @typedef {{ element: HTMLElement, update: (control: KitControl, board: Board) => void }} Made */

/** What makes each kind of control. @type {Record<string, (change: Change) => Made>} */
const MAKE = {
  /** With `play` it has a button that moves it to its end, in longer steps as it gets further. */
  slider(change) {
    const [caption, input, output] = [make("span"), make("input"), make("output")];
    const plays = Object.assign(make("button", "ln-button ln-strong"), { type: "button" });
    input.type = "range";
    /** @type {(v: number) => string} */
    let say = String;
    let on = false;
    let timer = 0;
    input.oninput = () => {
      put(output, say(Number(input.value)));
      change(Number(input.value));
    };
    const element = make("div", "ln-slider", make("label", "", caption, input, output), plays);
    return {
      element,
      update({ label, value, range: [min, max, step], play, stop }, board) {
        const now = Number(value);
        const onward = now + Math.max(step, Math.round((0.08 * now) / step) * step);
        const move = () => change(now < max ? Math.min(max, onward) : min);
        clearTimeout(timer);
        on &&= now < max;
        if (on) timer = window.setTimeout(move, 40);
        plays.hidden = !play;
        put(plays, (on ? stop : play) ?? "");
        plays.onclick = () => {
          on = !on;
          clearTimeout(timer);
          if (on) move();
          else put(plays, play);
        };
        const digits = (String(step).split(".")[1] ?? "").length;
        say = (v) => board.number(Number(v), digits);
        put(caption, label);
        Object.assign(input, { min, max, step });
        input.setAttribute("aria-label", label);
        if (board.focused !== input) input.value = String(value);
        put(output, say(Number(input.value)));
      },
    };
  },

  /** A line of text: every character is asked, but never within a composition. */
  field(change) {
    const [caption, input] = [make("span"), make("input")];
    Object.assign(input, { type: "text", spellcheck: false, autocomplete: "off" });
    /** @type {string | undefined} what was typed since it has the focus */
    let own;
    const typed = () => {
      own = input.value;
      change(own);
    };
    input.addEventListener("input", (event) => {
      if (!(/** @type {InputEvent} */ (event).isComposing)) typed();
    });
    input.addEventListener("compositionend", typed);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) input.blur(); // the keys are the lecture's again
    });
    const element = make("label", "ln-field", caption, input);
    return {
      element,
      update({ label, value, limit }, board) {
        put(caption, label);
        input.maxLength = limit;
        element.style.maxWidth = `max(34em, ${0.68 * limit}em)`;
        input.setAttribute("aria-label", label);
        const focused = board.focused === input;
        if (!focused || (own === undefined && input.value !== value)) input.value = String(value);
        if (!focused) own = undefined;
      },
    };
  },

  choice(change) {
    const element = make("div", "ln-choice");
    element.setAttribute("role", "radiogroup");
    return {
      element,
      update({ name, label, value, options }) {
        element.setAttribute("aria-label", label || name);
        if (label) element.dataset.label = label;
        const there = /** @type {HTMLButtonElement[]} */ ([...element.children]);
        options.forEach((/** @type {[string, string]} */ [key, words], /** @type {number} */ i) => {
          const button = there[i] ?? Object.assign(make("button"), { type: "button" });
          button.setAttribute("role", "radio");
          button.setAttribute("aria-checked", String(key === String(value)));
          button.onclick = () => change(key);
          put(button, words);
          if (!there[i]) element.append(button);
        });
        for (const button of there.slice(options.length)) button.remove();
      },
    };
  },

  again(change) {
    const element = Object.assign(make("button", "ln-button"), { type: "button" });
    return {
      element,
      update({ label, value }) {
        put(element, label);
        element.onclick = () => change((Number(value) * 7 + 3) % 997);
      },
    };
  },

  /** Without words for while it is on, it is gone then: what it shows is there. */
  toggle(change) {
    const element = Object.assign(make("button", "ln-button"), { type: "button" });
    return {
      element,
      update({ label, off, value }) {
        put(element, (value && off) || label);
        element.hidden = Boolean(value && !off);
        element.onclick = () => change(value ? 0 : 1);
      },
    };
  },
};
