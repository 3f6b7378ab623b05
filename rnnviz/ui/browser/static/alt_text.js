// A picture in words: its finding, for who doesn't see it. It is no live region, and it waits until nothing has
// changed for a while, so that no keystroke pays for it.

const PAUSE = 700; // milliseconds without a change
const LONGEST = 4000; // what changes all the time is told now and then

export class AltText {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  /** @type {(() => string) | null} what to say once it is time */
  tell = null;
  since = 0;

  /** @param {Element} element the picture */
  constructor(element) {
    this.element = element;
    element.setAttribute("role", "img");
  }

  /** The picture has changed: `tell` says what it shows, and is called after the pause. @param {() => string} tell */
  later(tell) {
    const now = Date.now();
    if (!this.tell) this.since = now;
    this.tell = tell;
    clearTimeout(this.timer);
    if (!this.element.hasAttribute("aria-label")) return this.write(); // on opening, at once
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

/** Sentences to one text, without those that have nothing to say; Chinese has no space between them. @param {string[]} sentences */
export function together(...sentences) {
  return sentences.filter(Boolean).join(" ").replaceAll("。 ", "。");
}
