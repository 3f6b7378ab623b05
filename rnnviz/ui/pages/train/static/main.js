// Where the browser enters: one View for each place the component is mounted at.

import { View } from "./view.js";

// Called by Streamlit for every answer and every change of theme. `shared`: what the live view's modules export.
export function mount(component, base, shared) {
  const make = (...parts) => new View(...parts, shared);
  return shared.enter(component, ".rnnviz-training", [shared.LIVE_STYLE, base + "/training.css"], make);
}
