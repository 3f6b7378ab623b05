// What every component needs where the browser enters: its style, Plotly, and one view for each place.

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

function loadStyle(root, address) {
  return new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = address;
    link.onload = link.onerror = resolve;
    root.before(link);
  });
}

// The live view's style, for those who borrow its parts.
export const LIVE_STYLE = new URL("./live.css", import.meta.url).href;

const views = new WeakMap();

// Hand a component's data to the view at its place, which is made by `make(root, ready, loadPlotly)` the first time.
// `styles`: the address of a style sheet, or several in their order.
export function enter(component, selector, styles, make) {
  const parent = component.parentElement;
  const root = parent.querySelector(selector);
  let view = views.get(parent);
  if (view?.root !== root) {
    view?.close();
    view = make(root, Promise.all([styles].flat().map((style) => loadStyle(root, style))), loadPlotly);
    views.set(parent, view);
  }
  view.update(component);
  return () => {
    view.close();
    views.delete(parent);
  };
}
