// Where the browser enters: one Board for each place the component is mounted at.

import { Board } from "./board.js";

// Called by Streamlit for every answer and every change of theme. `shared`: what the live view's modules export.
export function mount(component, base, shared) {
  const make = (...parts) => new Board(...parts, shared);
  return shared.enter(component, ".rnnviz-board", base + "/board.css", make);
}
