// Where the browser enters: one View for each place the component is mounted at.

import { View } from "./view.js";

const views = new WeakMap();
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
    link.href = base + "/live.css";
    link.onload = link.onerror = resolve;
    root.before(link);
  });
}

// Called by Streamlit for every answer and every change of theme.
export function mount(component, base) {
  const parent = component.parentElement;
  const root = parent.querySelector(".rnnviz");
  let view = views.get(parent);
  if (view?.root !== root) {
    view?.close();
    view = new View(root, loadStyle(root, base), loadPlotly);
    views.set(parent, view);
  }
  view.update(component);
  return () => {
    view.close();
    views.delete(parent);
  };
}
