// Plotly, from the server's own package. It draws a figure's frame once; views paint changing parts over it.

/** @import { Figure, Untyped } from "./types" */

/** @type {Promise<string> | undefined} */
let plotly;

/** Load the library, once. Resolves to "", or to the address where it is missing. */
export function loadPlotly() {
  plotly ??= window.Plotly ? Promise.resolve("") : loadScript();
  return plotly;
}

/** @returns {Promise<string>} */
function loadScript() {
  return new Promise((resolve) => {
    const script = document.createElement("script");
    script.src = new URL("../../../plotly/plotly.min.js", import.meta.url).href;
    script.onload = () => resolve("");
    script.onerror = () => {
      plotly = undefined;
      resolve(script.src);
    };
    document.head.append(script);
  });
}

/** @param {HTMLElement} place @param {Untyped[]} data @param {Untyped} layout */
export function react(place, data, layout) {
  return window.Plotly?.react(place, data, layout, { staticPlot: true, displayModeBar: false });
}

/** @param {HTMLElement} place */
export function purge(place) {
  window.Plotly?.purge(place);
}

/** Numbers for Plotly, with null, a gap, in place of NaN and infinities. @param {ArrayLike<number>} values */
export function gaps(values) {
  return Array.from(values, (v) => (Number.isFinite(v) ? v : null));
}
