// The figure's window on the text, and its height.

import { find } from "../../../browser/static/dom.js";

const SHORTEST = 390; // pixels of the figure's height, at least
const TALLEST = 900; // pixels of the figure's height, at most
const BELOW = 34; // pixels for the elements below it

/**
 * The first character of a window that shows the caret; it is `start` if that window does.
 * @param {number} start @param {number} columns characters in the window
 * @param {number} length of the text @param {number} caret
 */
export function windowAround(start, columns, length, caret) {
  const last = Math.max(0, length - columns);
  if (caret >= length - 1) return last;
  const inSight = caret >= start + 2 && caret <= start + columns - 2;
  return Math.max(0, Math.min(last, inSight ? start : caret - Math.floor(columns * 0.7)));
}

/**
 * The figure's height in pixels: all that the browser's window leaves, so that nothing scrolls; or its fixed height.
 * @param {HTMLElement} root @param {boolean} presenting
 */
export function heightFor(root, presenting) {
  if (root.dataset.height) return Number(root.dataset.height);
  const { host } = /** @type {ShadowRoot} */ (root.getRootNode());
  const scrolled = host?.closest("[data-testid='stMain']")?.scrollTop ?? window.scrollY;
  const top = find(root, "div.rv-stage").getBoundingClientRect().top;
  const [tallest, below] = presenting ? [Infinity, 6] : [TALLEST, BELOW];
  return Math.round(Math.max(SHORTEST, Math.min(tallest, window.innerHeight - top - scrolled - below)));
}
