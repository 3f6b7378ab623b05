// The header: the line of scenes, below it the step's title, and beside both the formula, as large as fits.

import { find, put } from "../../../browser/static/dom.js";
import { Formula } from "./formula.js";
import { SymbolHighlight } from "./highlight.js";

/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { Board } from "./board.js" */
/** @import { Answer } from "./types" */

export class Header {
  /** @param {HTMLElement} root the view's @param {Board} board */
  constructor(root, board) {
    this.root = find(root, "header.ln-head");
    this.title = find(root, "h1.ln-title");
    this.where = find(root, "div.ln-where");
    this.highlight = new SymbolHighlight(root);
    this.formula = new Formula(find(root, "div.ln-formula"), this.highlight);
    this.highlight.join(this.formula, board);
  }

  /** @param {Answer} answer @param {Phrase} phrase */
  show({ note, formula, symbols, words }, phrase) {
    put(this.title, note.title);
    this.formula.show(formula, phrase("symbols"), (name) => symbols[name]?.is ?? name);
    Object.assign(this.highlight, { symbols, words });
  }

  fit() {
    const { paddingLeft, paddingRight, columnGap, flexWrap } = getComputedStyle(this.root);
    const gaps = [paddingLeft, paddingRight, columnGap].reduce((sum, length) => sum + parseFloat(length), 0);
    const alone = flexWrap === "wrap"; // on a phone the formula is below the title
    this.formula.fit(this.root.clientWidth - (alone ? 0 : gaps + this.where.offsetWidth));
  }
}
