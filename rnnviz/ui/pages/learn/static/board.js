// The board of a step: its colours, number format, controls and picture, and the highlight over them.
//
// A control's elements are kept by name while every drawing has that control, so that typing and dragging go on.
// Pictures are made anew at each drawing (primitives.js).

import { make, makeSvg, put } from "../../../browser/static/dom.js";
import { Numbers } from "../../../browser/static/number_format.js";

/** @import { Untyped } from "../../../browser/static/types" */
/** @import { Room } from "./room.js" */
/** @import { ChangeControls, KitControl, Ramp, SceneTheme, Standing } from "./types" */

export class Board {
  /** @type {SceneTheme} */
  theme;
  fonts = { text: "sans-serif", code: "monospace" };
  inks = { dark: "#000000", light: "#ffffff" }; // two letter colours, one of which is readable on any background
  numbers = new Numbers("en");
  /** @type {Record<string, string>} the words around every step */
  words = {};
  /** @type {Room | undefined} the class, if it answers */
  room;
  /** @type {((pick?: number) => void) | null} shows the picture behind a question, with an option as prediction; null without */
  openPicture = null;
  /** @type {Map<string, Standing>} the picture's symbols: their shapes and values */
  symbolValues = new Map();
  /** @type {Map<string, Untyped>} controls by name */
  entries = new Map();
  /** Go to a step by its name, with changes of its controls. @type {(name: string, changes?: object) => void} */
  visit = () => {};

  /** @param {HTMLElement} root @param {ChangeControls} changeControls @param {() => void} redraw */
  constructor(root, changeControls, redraw) {
    this.root = root;
    this.changeControls = changeControls;
    this.redraw = redraw;
    this.questionLine = make("div", "kit-answers");
    this.controls = make("div", "kit-controls");
    this.picture = make("div", "kit-picture");
    this.picture.setAttribute("role", "group"); // view.js labels it with the step's notice
    this.highlightLayer = makeSvg("svg", { class: "ln-lights" });
    this.kit = make("div", "kit", this.questionLine, this.controls, this.picture);
    this.kit.append(this.highlightLayer);
    root.replaceChildren(this.kit);
  }

  get focused() {
    return /** @type {ShadowRoot} */ (this.root.getRootNode()).activeElement;
  }

  close() {
    this.root.replaceChildren();
  }

  /** Show the error that prevents a step. @param {string} sentence */
  showError(sentence) {
    this.show([]);
    this.questionLine.hidden = true;
    this.picture.replaceChildren(make("p", "ln-trouble", sentence));
  }

  // ---- colours and numbers ------------------------------------------------------------------------------

  /** A value's colour on one of the theme's scales, whose ends are at ±`full`. @param {number} value @param {Ramp} [scale] */
  colour(value, scale = "diverging", full = 1) {
    return shade(this.theme[scale], value, full, scale === "diverging");
  }

  /** The readable letter colour on a background. @param {string} colour */
  ink(colour) {
    return this.inks[inkOn(colour)];
  }

  /** @param {number | null | undefined} value */
  number(value, digits = 2) {
    return this.numbers.fixed(value, digits);
  }

  /**
   * Tie an element of the picture to symbols of symbols.py: each highlights the other.
   * @param {Element} element @param {string} names separated by spaces
   * @param {unknown} [value] the symbol's value here, if there is one symbol @param {string} [shape]
   */
  tieSymbols(element, names, value, shape = "") {
    element.setAttribute("data-stands", names);
    if (value !== undefined && !names.includes(" "))
      this.symbolValues.set(names, { value: /** @type {number} */ (value), shape });
  }

  // ---- controls -----------------------------------------------------------------------------------------

  /** Show a step's controls, and remove all others. @param {KitControl[]} controls */
  show(controls) {
    const names = new Set(controls.map(({ name }) => name));
    for (const [name, { element }] of this.entries)
      if (!names.has(name)) {
        element.remove();
        this.entries.delete(name);
      }
    for (const control of controls) {
      const { name, kind, value, stands } = control;
      if (this.entries.get(name)?.kind !== kind) {
        this.entries.get(name)?.element.remove();
        this.entries.set(name, { kind, ...CONTROLS[kind]((to) => this.changeControls({ [name]: to })) });
      }
      const { element, update } = this.entries.get(name);
      element.dataset.name = name;
      update(control, this);
      if (element.parentNode !== this.controls) this.controls.append(element);
      if (stands) this.tieSymbols(element, stands, value);
    }
    this.controls.hidden = controls.length === 0;
  }
}

/**
 * A value's colour on a ramp from 0 to `full`, or from -`full` if it is centred on 0; without a value, the middle one.
 * @param {string[]} ramp @param {number} value @param {number} full @param {boolean} centred
 */
export function shade(ramp, value, full, centred) {
  const share = centred ? (value / full + 1) / 2 : value / full;
  const at = Number.isFinite(share) ? Math.max(0, Math.min(1, share)) : 0.5;
  return ramp[Math.round(at * (ramp.length - 1))];
}

/** Which letters can be read on a background, by its relative luminance (WCAG 2). @param {string} colour */
export function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map((i) => (parseInt(colour.slice(i, i + 2), 16) / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.26 ? "dark" : "light";
}

/** The number of decimals that a slider's values have. @param {number} step */
export function decimals(step) {
  return (String(step).split(".")[1] ?? "").length;
}

/** @typedef {(to: unknown) => void} Change */
/** @typedef {{ element: HTMLElement, update: (control: KitControl, board: Board) => void }} ControlElement */

/** Functions that make each kind of control. @type {Record<string, (change: Change) => ControlElement>} */
const CONTROLS = {
  /** A slider. With `play`, a button moves it to its end, in steps that grow with the value. */
  slider(change) {
    const [caption, input, output] = [make("span"), make("input"), make("output")];
    const playButton = make("button", "ln-button ln-strong");
    input.type = "range";
    /** @type {(v: number) => string} */
    let format = String;
    let playing = false;
    let timer = 0;
    input.oninput = () => {
      put(output, format(Number(input.value)));
      change(Number(input.value));
    };
    const element = make("div", "ln-slider", make("label", "", caption, input, output), playButton);
    return {
      element,
      update({ label, value, range: [min, max, step], next, play, stop }, board) {
        const move = () => change(next);
        clearTimeout(timer);
        playing &&= Number(value) < max;
        if (playing) timer = window.setTimeout(move, 40);
        playButton.hidden = !play;
        put(playButton, (playing ? stop : play) ?? "");
        playButton.onclick = () => {
          playing = !playing;
          clearTimeout(timer);
          if (playing) move();
          else put(playButton, play);
        };
        format = (v) => board.number(Number(v), decimals(step));
        put(caption, label);
        Object.assign(input, { min, max, step });
        input.setAttribute("aria-label", label);
        if (board.focused !== input) input.value = String(value);
        put(output, format(Number(input.value)));
      },
    };
  },

  /** A text field, which asks at every character, but not while an input method composes. */
  field(change) {
    const [caption, input] = [make("span"), make("input")];
    Object.assign(input, { type: "text", spellcheck: false, autocomplete: "off" });
    /** @type {string | undefined} the text typed since the field has the focus */
    let typedText;
    const report = () => {
      typedText = input.value;
      change(typedText);
    };
    input.addEventListener("input", (event) => {
      if (!(/** @type {InputEvent} */ (event).isComposing)) report();
    });
    input.addEventListener("compositionend", report);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) input.blur(); // returns the keys to the lecture
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
        if (!focused || (typedText === undefined && input.value !== value)) input.value = String(value);
        if (!focused) typedText = undefined;
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
        const buttons = /** @type {HTMLButtonElement[]} */ ([...element.children]);
        options.forEach((/** @type {[string, string]} */ [key, words], /** @type {number} */ i) => {
          const button = buttons[i] ?? make("button");
          button.setAttribute("role", "radio");
          button.setAttribute("aria-checked", String(key === String(value)));
          button.onclick = () => change(key);
          put(button, words);
          if (!buttons[i]) element.append(button);
        });
        for (const button of buttons.slice(options.length)) button.remove();
      },
    };
  },

  /** A button that sets the value after the present one; without words it is hidden. */
  button(change) {
    const element = make("button", "ln-button");
    return {
      element,
      update({ label, next }) {
        put(element, label);
        element.hidden = !label;
        element.onclick = () => change(next);
      },
    };
  },
};
