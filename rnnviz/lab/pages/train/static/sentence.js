// The sentence to watch: each character above its column of the heat map, coloured by its surprisal, or by the
// first named row.

import { visible } from "../../../../ui/browser/static/characters.js";
import { make, put } from "../../../../ui/browser/static/dom.js";

/** @import { Frame } from "./types" */

/**
 * @param {HTMLElement} element @param {string[]} list its characters @param {Frame} frame
 * @param {(t: number) => string} colour of a character's background @param {number} largest pixels of the font, at most
 */
export function drawSentence(element, list, frame, colour, largest) {
  while (element.childElementCount < list.length) element.append(make("span"));
  while (element.childElementCount > list.length) element.lastElementChild?.remove();
  element.ariaLabel = list.join("");
  const room = element.clientWidth / Math.max(1, list.length);
  element.style.fontSize = `${Math.min(largest, 1.5 * room)}px`;
  for (const [t, span] of /** @type {HTMLElement[]} */ ([...element.children]).entries()) {
    put(span, visible(list[t]));
    span.style.backgroundColor = colour(t);
    span.classList.toggle("rt-mark", visible(list[t]) !== list[t]);
    span.classList.toggle("rt-unknown", frame.actual[t] === 0);
  }
}
