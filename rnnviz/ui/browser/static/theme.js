// The theme of a view, light or dark as the page behind it.

/** @import { Theme, Themes } from "./types" */

/** A colour's luma, 0 to 1, with the weights of ITU-R BT.601. @param {string} colour #rrggbb */
export function luma(colour) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16) / 255);
  return 0.299 * r + 0.587 * g + 0.114 * b;
}

/** @param {Element} root @returns {"light" | "dark"} */
export function appearance(root) {
  const background = getComputedStyle(root).getPropertyValue("--st-background-color").trim();
  const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  pen.fillStyle = background || "#ffffff"; // a canvas converts any CSS colour: it reads back as #rrggbb
  return luma(String(pen.fillStyle)) < 0.5 ? "dark" : "light";
}

/**
 * Set a view's colours as CSS variables --rv-…, and return the page's theme.
 * @template {object} T
 * @param {HTMLElement} root
 * @param {Themes<T>} themes
 * @returns {T}
 */
export function dress(root, themes) {
  const name = appearance(root);
  for (const [key, colour] of Object.entries(themes[name]))
    if (typeof colour === "string") root.style.setProperty(`--rv-${key}`, colour);
  root.dataset.theme = name;
  return themes[name];
}

/** The page's fonts, for canvases and SVG. @param {Element} root */
export function fonts(root) {
  const style = getComputedStyle(root);
  const font = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  return { text: font("--st-font") || "sans-serif", code: font("--st-code-font") || "monospace" };
}
