// The transition between two steps: a part of both moves from its old place to its new one. The browser's own view
// transitions would delay the picture by a frame or two, and most don't reach into a shadow root.

const DURATION_MS = 250; // milliseconds
const STILL = window.matchMedia("(prefers-reduced-motion: reduce)");

/** The centre of each outermost part with a symbol, by the symbol's name, with a ' for each earlier part of that name. @param {HTMLElement} picture */
export function findCentres(picture) {
  /** @type {Map<string, { part: Element, x: number, y: number }>} */
  const centres = new Map();
  if (STILL.matches) return centres;
  for (const part of picture.querySelectorAll("[data-stands]:not([data-stands] [data-stands])")) {
    const { x, y, width, height } = part.getBoundingClientRect();
    let name = String(part.getAttribute("data-stands"));
    while (centres.has(name)) name += "'";
    centres.set(name, { part, x: x + width / 2, y: y + height / 2 });
  }
  return centres;
}

/** Animate parts from the former places of the same names. @param {HTMLElement} picture @param {ReturnType<typeof findCentres>} before */
export function glide(picture, before) {
  for (const [name, { part, x, y }] of before.size ? findCentres(picture) : []) {
    const from = before.get(name);
    if (!from) continue;
    const start = { transform: `translate(${from.x - x}px, ${from.y - y}px)` };
    part.animate([start, { transform: "none" }], { duration: DURATION_MS, easing: "ease-out" });
  }
}
