// The entry of Streamlit's components: one view for each place where a component is mounted.

/** @import { About, Component } from "./types" */
/** @import { BaseView } from "./base.js" */

/** @param {HTMLElement} root @param {string} address */
function loadStyle(root, address) {
  return new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = address;
    link.onload = link.onerror = resolve;
    root.before(link);
  });
}

/** @type {WeakMap<HTMLElement, BaseView>} */
const views = new WeakMap();

/** @type {Map<string, unknown>} the last view's memory, by kind of view */
const memories = new Map();

/** @param {BaseView} view @param {About} about */
function end(view, about) {
  memories.set(about.root, view.memory());
  view.close();
}

/**
 * Give a component's data to the view at its place, which is made at first. Streamlit calls this, through the loader
 * in component.py, for every answer and every change of theme. Returns a function that ends the view.
 * @param {Component} component
 * @param {new (root: HTMLElement, styled: Promise<unknown>) => BaseView} View
 * @param {About} about
 */
export function enter(component, View, about) {
  const parent = component.parentElement;
  const root = /** @type {HTMLElement} */ (parent.querySelector(`.${about.root}`));
  let view = views.get(parent);
  if (view?.root !== root) {
    if (view) end(view, about);
    root.innerHTML = about.markup; // a constant, and the only text that is parsed as HTML
    root.hidden = true; // the last view at this place may have shown the element; the new one has no layout yet
    const styles = [`${about.kit}/shared.css`, `${about.base}/view.css`];
    view = new View(root, Promise.all(styles.map((style) => loadStyle(root, style))));
    view.recall(memories.get(about.root));
    views.set(parent, view);
  }
  const current = view;
  current.component = component;
  current.update(component);
  return () => {
    // After a slow load of modules, Streamlit may end a call when a newer one at the same place has come.
    if (current.component !== component) return;
    end(current, about);
    views.delete(parent);
  };
}
