// Sentences. The server sends them in the session's language; browser modules hold none.

/** A sentence with its braces filled in; unknown names stay. @param {string} sentence @param {Record<string, unknown>} values */
export function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (brace, name) => (name in values ? String(values[name]) : brace));
}

/** @typedef {(name: string, values?: Record<string, unknown>) => string} Say */

/** A function that makes the sentence of a name in `words`; without one, the name itself. @param {Record<string, string>} words */
export function sayer(words) {
  /** @type {Say} */
  return (name, values = {}) => fill(words[name] ?? name, values);
}

/** Set the words that elements name in data-word, data-label and data-title. @param {ParentNode} root @param {Say} say */
export function label(root, say) {
  /** @param {string} name @param {(element: HTMLElement, text: string) => void} write */
  const each = (name, write) => {
    for (const element of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(`[data-${name}]`)))
      write(element, say(element.dataset[name] ?? ""));
  };
  each("word", (element, text) => (element.textContent = text));
  each("label", (element, text) => element.setAttribute("aria-label", text));
  each("title", (element, text) => (element.title = text));
}
