// A picture's text alternative. It is no live region, and its text is made only after a pause in the changes, so
// keystrokes don't pay for it.

const PAUSE = 700; // milliseconds without a change
const LONGEST = 4000; // milliseconds until the text is made though the picture still changes

export class AltText {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  /** @type {(() => string) | null} makes the text after the pause */
  tell = null;
  since = 0;

  /** @param {Element} element the picture */
  constructor(element) {
    this.element = element;
    element.setAttribute("role", "img");
  }

  /** Set the text after a pause in the picture's changes; `tell` makes it then. @param {() => string} tell */
  later(tell) {
    const now = Date.now();
    if (!this.tell) this.since = now;
    this.tell = tell;
    clearTimeout(this.timer);
    if (!this.element.hasAttribute("aria-label")) return this.write(); // the first text: at once
    const wait = Math.max(0, Math.min(PAUSE, this.since + LONGEST - now));
    this.timer = setTimeout(() => this.write(), wait);
  }

  write() {
    const label = this.tell?.() ?? "";
    this.tell = null;
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
