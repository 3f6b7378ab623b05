// The presentation: the page shows only its view, large enough for a projector. The address has `present=1`, as on
// the Learn page. P begins and ends it, Escape ends it. component.py beside this folder has its style.

import { find, put } from "./dom.js";

/** @import { Phrase } from "./messages.js" */

const MARK = "data-rv-presenting"; // the document's attribute, with which the page's CSS hides all but the view
const TEXT_INPUTS = "input, textarea, select, [contenteditable=true], [role=listbox]"; // elements where P is a letter

/** @type {Presenting | undefined} the newest one: an older one's end must not end its presentation */
let latest;

export class Presenting {
  /** @type {Phrase} */
  phrase = (name) => name;
  onKey = (/** @type {KeyboardEvent} */ event) => this.key(event);

  /**
   * @param {HTMLElement} root with a button.rv-present
   * @param {() => void} onChange called when the view's room changes
   * @param {boolean} alone whether Escape has no other use in this view
   */
  constructor(root, onChange, alone = true) {
    this.alone = alone;
    latest = this;
    this.root = root;
    this.onChange = onChange;
    this.button = find(root, "button.rv-present");
    this.button.onclick = () => this.set(!this.on);
    window.addEventListener("keydown", this.onKey);
    this.on = new URLSearchParams(window.location.search).get("present") === "1";
    this.show();
  }

  /** Set the button's words. @param {Phrase} phrase */
  setWords(phrase) {
    this.phrase = phrase;
    this.show();
  }

  /** @param {boolean} on */
  set(on) {
    if (on === this.on) return;
    this.on = on;
    const address = new URL(window.location.href);
    if (on) address.searchParams.set("present", "1");
    else address.searchParams.delete("present");
    window.history.replaceState(window.history.state, "", address);
    this.show();
    this.onChange();
  }

  show() {
    const { on, root, button, phrase } = this;
    document.documentElement.toggleAttribute(MARK, on);
    root.classList.toggle("rv-presenting", on);
    put(button, on ? "✕" : phrase("present"));
    button.title = phrase(on ? "leave" : "present.help");
    if (on) button.setAttribute("aria-label", button.title);
    else button.removeAttribute("aria-label");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && this.alone) return this.set(false);
    const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
    if (event.key.toLowerCase() !== "p" || target.closest?.(TEXT_INPUTS)) return;
    event.preventDefault();
    this.set(!this.on);
  }

  close() {
    window.removeEventListener("keydown", this.onKey);
    if (latest === this) document.documentElement.removeAttribute(MARK);
  }
}
