// Notes on the text, below it: where to look in an example, what another writing would gain, and a hint if the text is
// foreign to the model.

import { together } from "../../../browser/static/alt_text.js";

/** @import { Say } from "../../../browser/static/messages.js" */
/** @import { Better, Example } from "./types" */
/** @import { View } from "./view.js" */

const READ = 500; // characters whose change starts a new search: FIRST of rnnviz/ui/jobs/model_suggestion.py
const REST = 600; // milliseconds without a key before the search begins
const SOON = 250; // milliseconds between two asks for its result

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
export function spared(text, isUnknown, symbols) {
  const seen = new Set(text);
  // The network may read a character as another, so what it knows of this text is asked of its answer.
  const unknown = new Set(text.filter((_, t) => isUnknown(t)));
  const known = new Set([...seen, ...symbols].filter((character) => !unknown.has(character)));
  const left = (/** @type {Iterable<string>} */ list) => Array.from(list).filter((c) => !known.has(c)).length;
  return Object.entries(REWRITINGS)
    .map(([name, rewrite]) => ({ name, n: left(text) - left(rewrite(text.join(""))) }))
    .filter(({ n }) => n > 0)
    .sort((one, other) => other.n - one.n);
}

export class Advice {
  /** @type {Better | null} */
  found = null;
  /** @type {string | null} the text's beginning that `found` belongs to */
  of = null;
  asked = ""; // the text's beginning of the last search
  /** The search's and the model's part of the next ask. */
  wants = { model: "", glance: false };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;

  /** @param {View} view @param {Say} say */
  constructor(view, say) {
    this.view = view;
    this.say = say;
  }

  /** The part of the next ask, once. */
  wishes() {
    const { wants } = this;
    this.wants = { model: "", glance: false };
    return wants;
  }

  /** Put an example into the text, with the model that it was made for. @param {Example} example */
  show(example) {
    const { bookmark, editor } = this.view;
    this.wants.model = example.model ?? "";
    bookmark.turn(this.wants.model, () => {
      bookmark.example = example;
      this.view.pin = null;
      editor.replace(example.text);
    });
  }

  /** Let another model read the text. @param {string} model */
  turn(model) {
    this.wants.model = model;
    this.view.bookmark.turn(model, () => this.view.link.ask());
  }

  draw() {
    const { bookmark, editor, store } = this.view;
    const { example, notes } = bookmark;
    if (example && editor.text !== example.text) bookmark.example = null;
    notes.tell("notice", bookmark.example?.notice ?? "");
    if (this.timer !== undefined) clearTimeout(this.timer);
    this.timer = undefined;
    const said = Boolean(bookmark.example?.notice); // such an example may be meant to surprise
    this.rewriting(said || !store.head.numbers.unknown);
    if (said || !store.head.foreign || !store.fixed.advises) {
      notes.tell("foreign", "");
      return;
    }
    const beginning = this.view.drawn.slice(0, READ).join("");
    const { better } = store.head;
    const soon = better?.state === "pending";
    if (better && !soon && beginning === this.asked) {
      this.found = better.state === "done" ? better : null;
      this.of = beginning;
    }
    if (beginning !== this.of) this.timer = setTimeout(() => this.glance(beginning), soon ? SOON : REST);
    if (this.found) this.tell(this.found);
    else notes.tell("foreign", "");
  }

  /** Offer the text in the writing that spares it most unknown characters. @param {boolean} none whether none is offered */
  rewriting(none) {
    const { say, view } = this;
    const { bookmark, drawn, editor, store } = view;
    const [best] = none ? [] : spared(drawn, (t) => store.isUnknown(t), store.fixed.symbols);
    const act = () => editor.replace(REWRITINGS[best.name](editor.text));
    const button = best && { text: say(`rewrite.${best.name}`), act };
    bookmark.notes.tell("rewriting", best ? say(`rewriting.${best.name}`, { n: best.n }) : "", button);
  }

  /** @param {string} beginning */
  glance(beginning) {
    this.asked = beginning;
    this.wants.glance = true;
    this.view.link.ask();
  }

  /** @param {Better} found */
  tell({ name }) {
    const { say, view } = this;
    const { model, titles } = view.store.fixed;
    const why = say("foreign", { model: titles[model] ?? model });
    const text = name && say("foreign.turn", { name: titles[name] ?? name });
    const button = name && text ? { text, act: () => this.turn(name) } : undefined;
    view.bookmark.notes.tell("foreign", together(why, button ? "" : say("foreign.none")), button);
  }
}
