// A picture's text alternative. It is no live region, and its text is made only after a pause in the changes, so
// keystrokes don't pay for it.

const PAUSE_MS = 700; // milliseconds without a change
const MAX_WAIT_MS = 4000; // milliseconds until the text is made though the picture still changes

export class AltText {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  /** @type {(() => string) | null} makes the text after the pause */
  makeText = null;
  since = 0;

  /** @param {Element} element the picture */
  constructor(element) {
    this.element = element;
    element.setAttribute("role", "img");
  }

  /** Set the text after a pause in the picture's changes; `makeText` makes it then. @param {() => string} makeText */
  later(makeText) {
    const now = Date.now();
    if (!this.makeText) this.since = now;
    this.makeText = makeText;
    clearTimeout(this.timer);
    if (!this.element.hasAttribute("aria-label")) return this.write(); // the first text: at once
    const wait = Math.max(0, Math.min(PAUSE_MS, this.since + MAX_WAIT_MS - now));
    this.timer = setTimeout(() => this.write(), wait);
  }

  write() {
    const label = this.makeText?.() ?? "";
    this.makeText = null;
    if (this.element.getAttribute("aria-label") !== label) this.element.setAttribute("aria-label", label);
  }

  close() {
    clearTimeout(this.timer);
  }
}

/** Sentences joined, without empty ones; Chinese has no space between sentences. @param {string[]} sentences */
export function together(...sentences) {
  return sentences.filter(Boolean).join(" ").replaceAll("。 ", "。");
}
