// The colours behind the text: scales from a character's cost, and the legend.

import { find, make } from "../../../browser/static/dom.js";

/** @import { Scale } from "../../../browser/static/coloured.js" */
/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { Chunk, Fixed, Mode, ViewerTheme } from "./types" */

/** The scale of each mode. @param {Fixed} fixed @returns {Record<Mode, Scale<Chunk>>} */
export function scales({ bands, surprisalFull, surprisalSteps, versusFull, versusSteps }) {
  const [top, half] = [surprisalSteps - 1, versusSteps >> 1];
  const bits = (/** @type {number} */ nats) => nats / Math.LN2;
  const scale = (
    /** @type {Mode} */ name,
    /** @type {number} */ neutral,
    /** @type {"nll" | "rank" | "versus"} */ by,
    /** @type {(value: number) => number} */ number,
  ) => ({
    name,
    neutral,
    level: (/** @type {Chunk} */ chunk) => Uint8ClampedArray.from(chunk[by] ?? [], number),
  });
  return {
    surprisal: scale("surprisal", 0, "nll", (nats) =>
      Math.min(top, Math.round((bits(nats) / surprisalFull) * top)),
    ),
    rank: scale("rank", 0, "rank", (rank) => bands.filter((band) => rank > band).length),
    versus: scale("versus", half, "versus", (nats) =>
      Math.min(2 * half, Math.round(half + (bits(nats) / versusFull) * half)),
    ),
  };
}

/** The colours of each mode. @param {ViewerTheme} theme @returns {Record<Mode, string[]>} */
export function colours({ surprisal, bands, versus }) {
  return { surprisal, rank: bands, versus };
}

/** Draw the legend of a mode, and its notice. @param {HTMLElement} root @param {Mode} mode @param {Fixed} fixed @param {ViewerTheme} theme @param {Phrase} phrase */
export function drawLegend(root, mode, fixed, theme, phrase) {
  const key = find(root, "span.vw-key");
  if (mode === "rank") {
    const [first, second, third] = fixed.bands;
    const entries = [
      phrase("key.rank", { from: first }),
      phrase("key.ranks", { from: first + 1, to: second }),
      phrase("key.ranks", { from: second + 1, to: third }),
      phrase("key.beyond", { from: third }),
    ].map((text, n) => {
      const sample = make("i", "vw-sample");
      sample.style.background = theme.bands[n];
      return make("span", "", sample, text);
    });
    key.replaceChildren(...entries);
  } else {
    const band = make("i", "vw-band");
    band.style.background = `linear-gradient(90deg, ${theme[mode].join(",")})`;
    const [a, b] = fixed.names;
    const n = mode === "versus" ? fixed.versusFull : fixed.surprisalFull;
    key.replaceChildren(band, phrase(`key.${mode}`, { n, a, b }));
  }
  find(root, "span.vw-notice").textContent = phrase(`notice.${mode}`);
}
