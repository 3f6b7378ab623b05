// The focus: in the text when the page opens, and back where it was when the dialog that took it is gone.

const DIALOG = "[role='dialog']";

/** The navigation keeps the focus of a click that has opened the page. */
const NAVIGATION = "[data-testid='stSidebarNav']";

/**
 * Give the focus to an element of a page that has just opened, where typing can begin at once: but a notebook has
 * other cells, a finger would call up its keyboard, and whoever is elsewhere stays there.
 * @param {HTMLElement} root the view @param {HTMLElement} element
 */
export function greet(root, element) {
  const { activeElement: active, body } = document;
  const elsewhere = active && active !== body && !active.closest(NAVIGATION);
  if (elsewhere || root.dataset.height || !window.matchMedia("(hover: hover)").matches) return;
  element.focus({ preventScroll: true });
}

/** Streamlit opens a dialog while its server is away: bring the focus back after it. */
export class Returning {
  /** @type {HTMLElement | null} */
  lost = null;
  observer = new MutationObserver(() => this.look());

  /** @param {HTMLElement} root */
  constructor(root) {
    root.addEventListener("focusout", ({ target, relatedTarget: to }) => {
      if (!(to instanceof Element) || !to.closest(DIALOG)) return;
      this.lost = /** @type {HTMLElement} */ (target);
      this.observer.observe(document.body, { childList: true, subtree: true });
    });
  }

  look() {
    if (document.querySelector(DIALOG)) return;
    this.observer.disconnect();
    const { activeElement: active, body } = document;
    if (!active || active === body) this.lost?.focus({ preventScroll: true });
    this.lost = null;
  }

  close() {
    this.observer.disconnect();
  }
}
