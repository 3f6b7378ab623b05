// A logarithmic line of perplexities, from 1 to the largest mark. scale.css places the marks by their values.

import { make } from "./dom.js";

/** @typedef {{ at: number, label: string, kind?: string }} Mark */

/**
 * @param {HTMLElement} root @param {string} about the text alternative @param {string} first the label at 1
 * @param {Mark} here @param {Mark[]} marks each has a row of its own, so that labels never overlap
 */
export function drawScale(root, about, first, here, marks) {
  const values = [here, ...marks].map(({ at }) => at).filter(Number.isFinite);
  const end = Math.max(2, ...values);
  const placed = (/** @type {HTMLElement} */ element, /** @type {number} */ at) => {
    element.style.setProperty("--at", String(Math.min(Math.max(at, 1), end)));
    return element;
  };
  const row = (/** @type {Mark} */ { at, label, kind = "here" }, arrow = "▲") => {
    const after = Math.log(at) < Math.log(end) / 2; // the label is on the side with more room
    const text = after ? `${arrow} ${label}` : `${label} ${arrow}`;
    return make("div", "row", placed(make("span", `${kind} ${after ? "after" : "before"}`, text), at));
  };
  const ticks = [...marks, { ...here, kind: "here" }].map(({ at, kind }) => placed(make("i", kind), at));
  const last = marks.filter(({ at }) => at === end);
  root.style.setProperty("--end", String(end));
  root.setAttribute("aria-label", about);
  root.replaceChildren(
    row(here, "▼"),
    make("div", "line", placed(make("b"), here.at), ...ticks),
    ...marks.filter(({ at }) => at < end).map((mark) => row(mark)),
    make("div", "ends", make("span", "", first), make("span", "", last.map(({ label }) => label).join(", "))),
  );
}
