// Where the browser enters: one View for each place the component is mounted at.

import { enter } from "./entry.js";
import { View } from "./view.js";

// Called by Streamlit for every answer and every change of theme.
export function mount(component, base) {
  return enter(component, ".rnnviz", base + "/live.css", (...parts) => new View(...parts));
}
