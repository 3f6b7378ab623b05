// What the colours behind the text mean, in a line above it, and what to notice, below.

import { find, make } from "../../../browser/static/dom.js";

/** @import { Say } from "../../../browser/static/words.js" */
/** @import { Fixed, Mode, ViewerTheme } from "./types" */

/** @param {HTMLElement} root @param {Mode} mode @param {Fixed} fixed @param {ViewerTheme} theme @param {Say} say */
export function explain(root, mode, fixed, theme, say) {
  const key = find(root, "span.vw-key");
  if (mode === "rank") {
    const [one, few, some] = fixed.bands;
    const entries = [
      say("key.rank", { from: one }),
      say("key.ranks", { from: one + 1, to: few }),
      say("key.ranks", { from: few + 1, to: some }),
      say("key.beyond", { from: some }),
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
    key.replaceChildren(band, say(`key.${mode}`, { n, a, b }));
  }
  find(root, "span.vw-notice").textContent = say(`notice.${mode}`);
}

/** The style sheet of the colours behind the text, by mode and number. @param {ViewerTheme} theme */
export function rules(theme) {
  const modes = { surprisal: theme.surprisal, rank: theme.bands, versus: theme.versus };
  const all = Object.entries(modes).flatMap(([mode, colours]) =>
    colours.map((colour, n) => `.vw-chunk[data-mode="${mode}"] .vw-${n} { background: ${colour}; }`),
  );
  return all.join("\n");
}
