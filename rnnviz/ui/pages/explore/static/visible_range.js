// Which part of a text the picture shows, and how high it is.

import { find } from "../../../browser/static/dom.js";

const SHORTEST = 390; // pixels of the picture's height
const TALLEST = 900;
const BELOW = 34; // room for what stands under it

/**
 * The window's first character, so that the caret is in sight; a window that begins at `start` moves only if it must.
 * @param {number} start @param {number} columns how many characters it shows
 * @param {number} length of the text @param {number} caret
 */
export function around(start, columns, length, caret) {
  const last = Math.max(0, length - columns);
  if (caret >= length - 1) return last;
  const inSight = caret >= start + 2 && caret <= start + columns - 2;
  return Math.max(0, Math.min(last, inSight ? start : caret - Math.floor(columns * 0.7)));
}

/**
 * As high as the window allows, so that nothing has to be scrolled; or as the picture's place says.
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
