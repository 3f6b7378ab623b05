// Where the browser enters: one Viewer for each place the component is mounted at.

import { Viewer } from "./viewer.js";

const viewers = new WeakMap();
let plotly;

// Plotly from the server's own package, once; resolves to an error message's address if it isn't there.
function loadPlotly() {
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

function loadStyle(root, base) {
  return new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = base + "/viewer.css";
    link.onload = link.onerror = resolve;
    root.before(link);
  });
}

// Called by Streamlit for every answer and every change of theme. `shared`: what the live view's modules export.
export function mount(component, base, shared) {
  const parent = component.parentElement;
  const root = parent.querySelector(".rnnviz-viewer");
  let viewer = viewers.get(parent);
  if (viewer?.root !== root) {
    viewer?.close();
    viewer = new Viewer(root, loadStyle(root, base), loadPlotly, shared);
    viewers.set(parent, viewer);
  }
  viewer.update(component);
  return () => {
    viewer.close();
    viewers.delete(parent);
  };
}
