// The focus: in the text when the page opens, and back in its element after a dialog.

const DIALOG = "[role='dialog']";

/** Streamlit's navigation, which still has the focus of the click that opened the page. */
const NAVIGATION = "[data-testid='stSidebarNav']";

/**
 * Focus an element of a page that has just opened, so that typing can begin. Not in a notebook, which has other cells;
 * not on a touch screen, whose keyboard would open; and not if another element has the focus.
 * @param {HTMLElement} root the view @param {HTMLElement} element
 */
export function focusOnArrival(root, element) {
  const { activeElement: active, body } = document;
  const elsewhere = active && active !== body && !active.closest(NAVIGATION);
  if (elsewhere || root.dataset.height || !window.matchMedia("(hover: hover)").matches) return;
  element.focus({ preventScroll: true });
}

/** Restores the focus after a dialog: Streamlit opens one while its server is away. */
export class FocusRestorer {
  /** @type {HTMLElement | null} */
  lastFocus = null;
  observer = new MutationObserver(() => this.look());

  /** @param {HTMLElement} root */
  constructor(root) {
    root.addEventListener("focusout", ({ target, relatedTarget: to }) => {
      if (!(to instanceof Element) || !to.closest(DIALOG)) return;
      this.lastFocus = /** @type {HTMLElement} */ (target);
      this.observer.observe(document.body, { childList: true, subtree: true });
    });
  }

  look() {
    if (document.querySelector(DIALOG)) return;
    this.observer.disconnect();
    const { activeElement: active, body } = document;
    if (!active || active === body) this.lastFocus?.focus({ preventScroll: true });
    this.lastFocus = null;
  }

  close() {
    this.observer.disconnect();
  }
}
