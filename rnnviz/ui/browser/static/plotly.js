// Plotly, from the server's own package. It draws a figure's frame once; views paint changing parts over it.

/** @import { Figure, Untyped } from "./types" */

/** @type {Promise<string> | undefined} */
let plotly;

let plotlyAddress = async () => new URL("../../../plotly/plotly.min.js", import.meta.url).href;

/** Set another source of the library. @param {() => Promise<string>} from its address, or "" if there is none */
export function servePlotly(from) {
  plotlyAddress = from;
}

/** Load the library, once. Resolves to "", or to the address where it is missing. */
export function loadPlotly() {
  plotly ??= window.Plotly ? Promise.resolve("") : plotlyAddress().then(loadScript);
  return plotly;
}

/** @param {string} address @returns {Promise<string>} */
function loadScript(address) {
  return new Promise((resolve) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve("");
    script.onerror = () => {
      plotly = undefined;
      resolve(script.src);
    };
    if (address) document.head.append(script);
    else resolve("plotly.min.js");
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
