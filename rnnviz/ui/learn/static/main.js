// Where the browser enters: one Frame for each place the component is mounted at.

import { Frame } from "./frame.js";

const frames = new WeakMap();

function loadStyle(root, base) {
  return new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = base + "/learn.css";
    link.onload = link.onerror = resolve;
    root.before(link);
  });
}

// Called by Streamlit for every answer and every change of theme.
export function mount(component, base, Link) {
  const parent = component.parentElement;
  const root = parent.querySelector(".rnnviz-learn");
  let frame = frames.get(parent);
  if (frame?.root !== root) {
    frame?.close();
    frame = new Frame(root, base, loadStyle(root, base), Link);
    frames.set(parent, frame);
  }
  frame.update(component);
  return () => {
    frame.close();
    frames.delete(parent);
  };
}
