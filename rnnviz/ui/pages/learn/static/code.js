// The panel with the step's code, over its picture, and a button that copies it.

import { find, make, put } from "../../../browser/static/dom.js";

/** @import { Say } from "../../../browser/static/messages.js" */
/** @import { StepCode } from "./types" */

export class CodePanel {
  wanted = false; // whether the panel opens at every step with code
  open = false;
  fresh = false; // whether its code has changed since the last layout
  /** @type {StepCode | null} */
  cell = null;
  /** @type {Say} */
  say = (name) => name;

  /** @param {HTMLElement} root the view's @param {() => void} asked called when `wanted` changes */
  constructor(root, asked) {
    this.asked = asked;
    this.panel = find(root, "aside.ln-code");
    this.opener = find(root, "button.ln-opens-code");
    this.title = make("b");
    this.copier = Object.assign(make("button", "ln-copy"), { type: "button" });
    this.closer = Object.assign(make("button", "ln-close", "✕"), { type: "button" });
    this.code = scrolling("ln-cell");
    this.panel.append(make("header", "", this.title, this.copier, this.closer));
    this.panel.append(this.code);
    this.opener.onclick = () => this.toggle();
    this.closer.onclick = () => this.toggle(false);
    this.copier.onclick = () => this.copy();
  }

  /** Open or close the panel, if the step has code. */
  toggle(open = !this.wanted) {
    if (!this.cell) return;
    this.wanted = open;
    this.asked();
  }

  /** Take a step's code. @param {StepCode | null} cell @param {Say} say */
  show(cell, say) {
    const { code = "" } = cell ?? {};
    const another = code !== this.code.textContent;
    Object.assign(this, { cell, open: this.wanted && cell !== null, say });
    this.opener.hidden = cell === null;
    name(this.opener, say("code"), say("code.help"));
    this.opener.setAttribute("aria-expanded", String(this.open));
    this.panel.hidden = !this.open;
    if (!this.open) return;
    put(this.title, say("code.label"));
    name(this.closer, "✕", say("code.close"));
    this.panel.setAttribute("aria-label", say("code"));
    this.code.setAttribute("aria-label", say("code.label"));
    if (!another) return;
    put(this.copier, say("copy"));
    put(this.code, code);
    this.fresh = true;
  }

  /** Scroll new code to its end after the layout: its first lines are only numbers. */
  placed() {
    if (this.fresh && this.open) this.code.scrollTop = this.code.scrollHeight;
    this.fresh = false;
  }

  async copy() {
    const { code = "" } = this.cell ?? {};
    // Browsers give only https pages and localhost a clipboard; elsewhere the code is selected, to copy by keyboard.
    const copied = await Promise.resolve(navigator.clipboard?.writeText(code)).then(
      () => Boolean(navigator.clipboard),
      () => false,
    );
    if (!copied) getSelection()?.selectAllChildren(this.code);
    put(this.copier, this.say(copied ? "copied" : "copy.failed"));
  }
}

/** A text element that keys can scroll too. @param {string} className */
function scrolling(className) {
  return Object.assign(make("pre", className), { tabIndex: 0, role: "region" });
}

/** @param {HTMLElement} button @param {string} text @param {string} help */
function name(button, text, help) {
  put(button, text);
  button.title = help;
  if (text === "✕") button.setAttribute("aria-label", help);
}
