// Where the browser enters: one Frame for each place the component is mounted at.

import { Frame } from "./frame.js";

// Called by Streamlit for every answer and every change of theme. `shared`: what the live view's modules export.
export function mount(component, base, shared) {
  const make = (root, dressed) => new Frame(root, base, dressed, shared.Link);
  return shared.enter(component, ".rnnviz-learn", base + "/learn.css", make);
}
