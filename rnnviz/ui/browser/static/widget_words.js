// Streamlit's own words (of an upload field, a table, the menu), which it has in English alone, in the session's language.

const ATTRIBUTES = ["aria-label", "title", "placeholder"];
const WATCHED = {
  childList: true,
  subtree: true,
  characterData: true,
  attributes: true,
  attributeFilter: ATTRIBUTES,
};
// What the app has put into words, and a reader's file names and texts. An upload field's button is Streamlit's alone.
const UNTRANSLATED =
  ':not([data-testid="stFileUploader"] button *)[data-testid="stMarkdownContainer"], [data-testid="stFileChipName"], canvas, pre, script, style';

/** @typedef {{ english: string, shown: string }} Translated */

let language = "en";
/** @type {Map<string, string>} by the English */
let words = new Map();
/** @type {[RegExp, string][]} of words with {x} in them */
let patterns = [];
/** @type {WeakMap<Node, Record<string, Translated>>} what was translated, to find it again in another language */
const before = new WeakMap();
const observer = new MutationObserver((records) => {
  for (const { type, target, addedNodes } of records) {
    if (type === "childList") addedNodes.forEach(visit);
    else if (target instanceof Element) attributes(target);
    else visit(target);
  }
});

/** Speak a language from now on. @param {string} name @param {Record<string, string>} translations words by Streamlit's English ones */
export function setLanguage(name, translations) {
  if (name === language) return;
  language = name;
  words = new Map(Object.entries(translations));
  patterns = [...words]
    .filter(([english]) => english.includes("{x}"))
    .map(([english, translation]) => [pattern(english), translation]);
  observer.disconnect();
  visit(document.body);
  if (words.size) observer.observe(document.body, WATCHED);
}

/** @param {string} english */
function pattern(english) {
  const parts = english.split("{x}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("(.+)")}$`);
}

/** @param {string} english */
function translate(english) {
  const translation = words.get(english.trim());
  if (translation !== undefined) return translation;
  for (const [form, translation] of patterns) {
    const match = form.exec(english);
    if (match) return translation.replace("{x}", () => words.get(match[1]) ?? match[1]);
  }
  return english;
}

/** @param {Node} node @param {string} name of an attribute, or "" @param {string} current @param {(shown: string) => void} write */
function replace(node, name, current, write) {
  const record = before.get(node)?.[name];
  const english = record?.shown === current ? record.english : current;
  const translation = translate(english);
  if (translation === current) return;
  before.set(node, { ...before.get(node), [name]: { english, shown: translation } });
  write(translation);
}

/** @param {Element} element */
function attributes(element) {
  for (const name of ATTRIBUTES) {
    const current = element.getAttribute(name);
    if (current) replace(element, name, current, (translation) => element.setAttribute(name, translation));
  }
}

/** @param {Node} root */
function visit(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = /** @type {Node | null} */ (root); node; node = walker.nextNode()) {
    const text = node;
    if (text instanceof Element) attributes(text);
    else if (text instanceof Text && !text.parentElement?.closest(UNTRANSLATED))
      replace(text, "", text.data, (translation) => {
        text.data = translation;
      });
  }
}
