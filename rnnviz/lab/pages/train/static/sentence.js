// The sentence to watch: each character above its column of the heat map, coloured by its surprisal.

import { visible } from "../../../../ui/browser/static/characters.js";
import { make, put } from "../../../../ui/browser/static/dom.js";

/** @import { Frame } from "./types" */

/**
 * @param {HTMLElement} element @param {string[]} list its characters @param {Frame} frame
 * @param {string[]} colours from 0 bits to `full` @param {number} full bits @param {number} largest pixels of the font, at most
 */
export function drawSentence(element, list, frame, colours, full, largest) {
  while (element.childElementCount < list.length) element.append(make("span"));
  while (element.childElementCount > list.length) element.lastElementChild?.remove();
  element.ariaLabel = list.join("");
  const last = colours.length - 1;
  const room = element.clientWidth / Math.max(1, list.length);
  element.style.fontSize = `${Math.min(largest, 1.5 * room)}px`;
  for (const [t, span] of /** @type {HTMLElement[]} */ ([...element.children]).entries()) {
    const bits = frame.nll[t] / Math.LN2;
    put(span, visible(list[t]));
    span.style.backgroundColor = colours[Math.min(last, Math.round((bits / full) * last))];
    span.classList.toggle("rt-mark", visible(list[t]) !== list[t]);
    span.classList.toggle("rt-unknown", frame.actual[t] === 0);
  }
}
