// Notes below the text, a line each, shown while they are true.

import { button, find, make, put } from "../../../browser/static/dom.js";

export class Notes {
  /** @type {Record<string, HTMLElement>} */
  lines = {};

  /** @param {HTMLElement} root @param {() => void} onChange called when the number of lines may have changed */
  constructor(root, onChange) {
    this.place = find(root, "div.rv-notes");
    this.onChange = onChange;
    this.place.replaceChildren();
  }

  /**
   * Show a sentence in the line of this name, "" for none, with an optional button after it.
   * @param {string} name @param {string} sentence @param {{ text: string, act: () => void }} [offer]
   */
  show(name, sentence, offer) {
    if (!sentence && !this.lines[name]) return;
    this.lines[name] ??= this.place.appendChild(make("p", `rv-note rv-note-${name}`, make("span")));
    const line = this.lines[name];
    const [text, oldButton] = line.children;
    if (text.textContent === sentence && (oldButton?.textContent ?? "") === (offer?.text ?? "")) return;
    put(text, sentence);
    oldButton?.remove();
    if (offer) line.append(button(offer.text, offer.act));
    line.hidden = !sentence;
    this.onChange();
  }
}
