// Where the browser enters: one Viewer for each place the component is mounted at.

import { Viewer } from "./viewer.js";

// Called by Streamlit for every answer and every change of theme. `shared`: what the live view's modules export.
export function mount(component, base, shared) {
  const make = (...parts) => new Viewer(...parts, shared);
  return shared.enter(component, ".rnnviz-viewer", base + "/viewer.css", make);
}
