// Notes on the text, below it: where to look in an example, what another writing would gain, and a hint if the text is
// foreign to the model.

import { together } from "../../../browser/static/alt_text.js";

/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { Suggestion, Example } from "./types" */
/** @import { View } from "./view.js" */

const SEARCH_CHARS = 500; // characters whose change starts a new search: FIRST_CHARS of rnnviz/ui/jobs/model_suggestion.py
const SEARCH_PAUSE_MS = 600; // milliseconds without a key before the search begins
const POLL_MS = 250; // milliseconds between two asks for its result

/** @type {Record<string, (text: string) => string>} changes of the text itself: REWRITINGS of rnnviz/text/characters.py */
export const REWRITINGS = {
  composed: (text) => text.normalize("NFC"),
  straight: (text) => text.replace(/[“”„‟]/g, '"').replace(/[‘’‚‛]/g, "'"),
  plain: (text) =>
    text
      .replace(/—/g, "--")
      .replace(/…/g, "...")
      .replace(/[‐‑‒–−]/g, "-")
      .replace(/[\u00a0\u2002\u2003\u2009\u202f]/g, " "),
};

/**
 * The number of unknown characters that a rewriting spares the text, by its name; the largest first.
 * @param {string[]} text @param {(t: number) => boolean} isUnknown @param {string[]} symbols the network's
 */
export function countSpared(text, isUnknown, symbols) {
  const characters = new Set(text);
  // The network may read a character as another, so what it knows of this text is asked of its answer.
  const unknown = new Set(text.filter((_, t) => isUnknown(t)));
  const readable = new Set([...characters, ...symbols].filter((character) => !unknown.has(character)));
  const left = (/** @type {Iterable<string>} */ list) =>
    Array.from(list).filter((c) => !readable.has(c)).length;
  return Object.entries(REWRITINGS)
    .map(([name, rewrite]) => ({ name, n: left(text) - left(rewrite(text.join(""))) }))
    .filter(({ n }) => n > 0)
    .sort((first, second) => second.n - first.n);
}

export class Suggestions {
  /** @type {Suggestion | null} */
  suggestion = null;
  /** @type {string | null} the text's beginning that `suggestion` belongs to */
  suggestionText = null;
  searchedText = ""; // the text's beginning of the last search
  /** The search's and the model's part of the next ask. */
  pending = { model: "", suggest: false };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;

  /** @param {View} view @param {Phrase} phrase */
  constructor(view, phrase) {
    this.view = view;
    this.phrase = phrase;
  }

  /** The part of the next ask, once. */
  takePending() {
    const { pending: wants } = this;
    this.pending = { model: "", suggest: false };
    return wants;
  }

  /** Put an example into the text, with the model that it was made for. @param {Example} example */
  loadExample(example) {
    const { bookmark, editor } = this.view;
    this.pending.model = example.model ?? "";
    bookmark.changeInNewEntry(this.pending.model, () => {
      bookmark.example = example;
      this.view.pin = null;
      editor.replaceAll(example.text);
    });
  }

  /** Let another model read the text. @param {string} model */
  changeModel(model) {
    this.pending.model = model;
    this.view.bookmark.changeInNewEntry(model, () => this.view.viewSocket.ask());
  }

  draw() {
    const { bookmark, editor, store } = this.view;
    const { example, notes } = bookmark;
    if (example && editor.text !== example.text) bookmark.example = null;
    notes.show("notice", bookmark.example?.notice ?? "");
    if (this.timer !== undefined) clearTimeout(this.timer);
    this.timer = undefined;
    const hasNotice = Boolean(bookmark.example?.notice); // such an example may be meant to surprise
    this.offerRewriting(hasNotice || !store.header.numbers.unknown);
    if (hasNotice || !store.header.foreign || !store.fixed.suggests) {
      notes.show("foreign", "");
      return;
    }
    const beginning = this.view.characters.slice(0, SEARCH_CHARS).join("");
    const { suggestion } = store.header;
    const soon = suggestion?.state === "pending";
    if (suggestion && !soon && beginning === this.searchedText) {
      this.suggestion = suggestion.state === "done" ? suggestion : null;
      this.suggestionText = beginning;
    }
    if (beginning !== this.suggestionText)
      this.timer = setTimeout(() => this.searchSuggestion(beginning), soon ? POLL_MS : SEARCH_PAUSE_MS);
    if (this.suggestion) this.showSuggestion(this.suggestion);
    else notes.show("foreign", "");
  }

  /** Offer the text in the writing that spares it most unknown characters. @param {boolean} none whether none is offered */
  offerRewriting(none) {
    const { phrase, view } = this;
    const { bookmark, characters, editor, store } = view;
    const [best] = none ? [] : countSpared(characters, (t) => store.isUnknown(t), store.fixed.symbols);
    const act = () => editor.replaceAll(REWRITINGS[best.name](editor.text));
    const button = best && { text: phrase(`rewrite.${best.name}`), act };
    bookmark.notes.show("rewriting", best ? phrase(`rewriting.${best.name}`, { n: best.n }) : "", button);
  }

  /** @param {string} beginning */
  searchSuggestion(beginning) {
    this.searchedText = beginning;
    this.pending.suggest = true;
    this.view.viewSocket.ask();
  }

  /** @param {Suggestion} suggestion */
  showSuggestion({ name }) {
    const { phrase, view } = this;
    const { model, titles } = view.store.fixed;
    const reason = phrase("foreign", { model: titles[model] ?? model });
    const text = name && phrase("foreign.turn", { name: titles[name] ?? name });
    const button = name && text ? { text, act: () => this.changeModel(name) } : undefined;
    view.bookmark.notes.show("foreign", together(reason, button ? "" : phrase("foreign.none")), button);
  }
}
