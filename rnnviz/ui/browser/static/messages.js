// Sentences: the server sends them in the session's language, the browser's modules hold none.

/** Fill the braces of a sentence. @param {string} sentence @param {Record<string, unknown>} values */
export function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (brace, name) => (name in values ? String(values[name]) : brace));
}

/** @typedef {(name: string, values?: Record<string, unknown>) => string} Say */

/** What says a sentence of `words` by its name, or the name where there is none. @param {Record<string, string>} words */
export function sayer(words) {
  /** @type {Say} */
  return (name, values = {}) => fill(words[name] ?? name, values);
}

/** Write the words that elements name: data-word, data-label and data-title. @param {ParentNode} root @param {Say} say */
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
