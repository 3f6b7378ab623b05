// Plotly from the server's own package: a figure's frame, drawn once; what moves is painted over it.

/** @import { Figure, Untyped } from "./types" */

/** @type {Promise<string> | undefined} */
let plotly;

/** Fetch the library, once. Resolves to "", or to the address where it isn't. */
export function loadPlotly() {
  plotly ??= new Promise((resolve) => {
    if (window.Plotly) return resolve("");
    const script = document.createElement("script");
    script.src = "/plotly/plotly.min.js";
    script.onload = () => resolve("");
    script.onerror = () => {
      plotly = undefined;
      resolve(script.src);
    };
    document.head.append(script);
  });
  return plotly;
}

/** @param {HTMLElement} place @param {Untyped[]} data @param {Untyped} layout */
export function react(place, data, layout) {
  return window.Plotly?.react(place, data, layout, { staticPlot: true, displayModeBar: false });
}

/** @param {HTMLElement} place */
export function purge(place) {
  window.Plotly?.purge(place);
}

/** Numbers for Plotly: gaps where there are none. @param {ArrayLike<number>} values */
export function gaps(values) {
  return Array.from(values, (v) => (Number.isFinite(v) ? v : null));
}
