// A view without Streamlit: in a model's page, in a notebook, and in the app before Streamlit has come.

import { make } from "./dom.js";

/** @import { View } from "../../pages/explore/static/view.js" */
/** @import { BaseView } from "./base.js" */

/**
 * Make a view in a shadow root of `host`; it sends no ask yet.
 * @template {BaseView} V
 * @param {HTMLElement} host @param {new (root: HTMLElement) => V} View
 * @param {{ styles: string, markup: string, height?: number, name?: string }} look the markup is a constant, and the only text parsed as HTML; `name` is the class of its root
 */
export function mount(host, View, { styles, markup, height, name = "rnnviz" }) {
  const root = make("div", `rv ${name}`);
  root.dataset.testid = name === "rnnviz" ? "rnnviz-live" : name;
  if (height) root.dataset.height = String(height);
  root.hidden = true;
  root.innerHTML = markup;
  host.attachShadow({ mode: "open" }).append(make("style", "", styles), root);
  return new View(root);
}

/** Draw a view again after a change of the surrounding page's theme. @param {View} view */
export function again(view) {
  view.recolour();
  view.editor?.resized();
}
