// Where the browser enters: one view for each place a component is mounted at.

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

/** @type {Map<string, unknown>} what each kind of view left behind */
const memories = new Map();

/** @param {BaseView} view @param {About} about */
function end(view, about) {
  memories.set(about.root, view.memory());
  view.close();
}

/**
 * Hand a component's data to the view at its place, made the first time. Called by Streamlit, through the
 * loader of component.py, for every answer and every change of theme.
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
    root.innerHTML = about.markup; // constant, and the only text that is parsed
    root.hidden = true; // Streamlit may mount again where a view was shown: the new one isn't laid out yet
    const styles = [`${about.kit}/shared.css`, `${about.base}/view.css`];
    view = new View(root, Promise.all(styles.map((style) => loadStyle(root, style))));
    view.recall(memories.get(about.root));
    views.set(parent, view);
  }
  const shown = view;
  shown.component = component;
  shown.update(component);
  return () => {
    // Where modules took long to load, Streamlit ends a call after a newer one has come, at the same place.
    if (shown.component !== component) return;
    end(shown, about);
    views.delete(parent);
  };
}
