// The live view without Streamlit: in a model's page, and in a notebook.

import { make } from "../../../browser/static/dom.js";

/** @import { View } from "./view.js" */

/**
 * Make a view in a shadow root of `host`; it sends no ask yet.
 * @template {View} V
 * @param {HTMLElement} host @param {new (root: HTMLElement, styled: Promise<unknown>) => V} View
 * @param {{ styles: string, markup: string, height?: number }} look the markup is a constant, and the only text parsed as HTML
 */
export function mount(host, View, { styles, markup, height }) {
  const root = make("div", "rv rnnviz");
  root.dataset.testid = "rnnviz-live";
  if (height) root.dataset.height = String(height);
  root.hidden = true;
  root.innerHTML = markup;
  host.attachShadow({ mode: "open" }).append(make("style", "", styles), root);
  return new View(root, Promise.resolve());
}

/** Draw a view again after a change of the surrounding page's theme. @param {View} view */
export function again(view) {
  view.recolour();
  view.editor?.resized();
}
