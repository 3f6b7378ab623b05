// Where the browser enters: one View for each place the component is mounted at.

import { View } from "./view.js";

const views = new WeakMap();
let plotly;

function loadPlotly() {
  plotly ??= new Promise((resolve) => {
    if (window.Plotly) return resolve(true);
    const script = document.createElement("script");
    script.src = "/plotly/plotly.min.js";
    script.onload = () => resolve(true);
    script.onerror = () => {
      plotly = undefined;
      resolve(false);
    };
    document.head.append(script);
  });
  return plotly;
}

function loadStyle(root, address) {
  return new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = address;
    link.onload = link.onerror = resolve;
    root.before(link);
  });
}

// Called by Streamlit for every answer and every change of theme. `shared`: modules of the live view.
export function mount(component, base, live, shared) {
  const parent = component.parentElement;
  const root = parent.querySelector(".rnnviz-training");
  let view = views.get(parent);
  if (view?.root !== root) {
    view?.close();
    const dressed = Promise.all([loadStyle(root, live + "/live.css"), loadStyle(root, base + "/training.css")]);
    view = new View(root, dressed, loadPlotly, shared);
    views.set(parent, view);
  }
  view.update(component);
  return () => {
    view.close();
    views.delete(parent);
  };
}
