// The panel with the step's code, over its picture, and a button that copies it.

import { copyText, find, put } from "../../../browser/static/dom.js";

/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { StepCode } from "./types" */

export class CodePanel {
  enabled = false; // whether the panel opens at every step with code
  open = false;
  codeChanged = false; // whether its code has changed since the last layout
  /** @type {StepCode | null} */
  cell = null;
  /** @type {Phrase} */
  phrase = (labelButton) => labelButton;

  /** @param {HTMLElement} root the view's @param {() => void} onToggle called when `enabled` changes */
  constructor(root, onToggle) {
    this.onToggle = onToggle;
    this.panel = find(root, "aside.ln-code");
    this.opener = find(root, "button.ln-opens-code");
    this.copier = find(root, "button.ln-copy");
    this.code = find(root, "pre.ln-cell");
    this.opener.onclick = () => this.toggle();
    find(root, "button.ln-close").onclick = () => this.toggle(false);
    this.copier.onclick = () => this.copy();
  }

  /** Open or close the panel, if the step has code. */
  toggle(open = !this.enabled) {
    if (!this.cell) return;
    this.enabled = open;
    this.onToggle();
  }

  /** Take a step's code. @param {StepCode | null} cell @param {Phrase} phrase */
  show(cell, phrase) {
    const { code = "" } = cell ?? {};
    Object.assign(this, { cell, open: this.enabled && cell !== null, phrase });
    this.opener.hidden = cell === null;
    this.opener.ariaExpanded = String(this.open);
    this.panel.hidden = !this.open;
    if (!this.open || code === this.code.textContent) return;
    put(this.code, code);
    this.codeChanged = true;
  }

  /** Scroll new code to its end after the layout: its first lines are only numbers. */
  scrollToEnd() {
    if (this.codeChanged && this.open) this.code.scrollTop = this.code.scrollHeight;
    this.codeChanged = false;
  }

  async copy() {
    const { code = "" } = this.cell ?? {};
    const copied = await copyText(code);
    if (!copied) getSelection()?.selectAllChildren(this.code); // to copy by keyboard
    put(this.copier, this.phrase(copied ? "copied" : "copy.failed"));
  }
}
