// Sentences. The server sends them in the session's language; browser modules hold none.

import { put } from "./dom.js";

/** A sentence with its braces filled in; unknown names stay. @param {string} sentence @param {Record<string, unknown>} values */
export function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (brace, name) => (name in values ? String(values[name]) : brace));
}

/** @typedef {(name: string, values?: Record<string, unknown>) => string} Phrase */

/** A function that makes the sentence of a name in `words`; without one, the name itself. @param {Record<string, string>} words */
export function makePhrase(words) {
  /** @type {Phrase} */
  return (name, values = {}) => fill(words[name] ?? name, values);
}

/** Set the words that elements name in data-word, data-label and data-title. @param {ParentNode} root @param {Phrase} phrase */
export function label(root, phrase) {
  /** @param {string} name @param {(element: HTMLElement, text: string) => void} write */
  const setWords = (name, write) => {
    for (const element of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(`[data-${name}]`)))
      write(element, phrase(element.dataset[name] ?? ""));
  };
  setWords("word", put);
  setWords("label", (element, text) => element.setAttribute("aria-label", text));
  setWords("title", (element, text) => (element.title = text));
}
