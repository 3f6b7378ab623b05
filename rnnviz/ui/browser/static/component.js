// The entry of Streamlit's components: one view for each place where a component is mounted.

import { make } from "./dom.js";
import { follow } from "./first_picture.js";

/** @import { Component, Look } from "./types" */
/** @import { BaseView } from "./base.js" */

/** @type {WeakMap<HTMLElement, BaseView>} */
const views = new WeakMap();

/** @type {Map<string, unknown>} the last view's memory, by kind of view */
const memories = new Map();

/** @param {BaseView} view @param {Look} look */
function end(view, look) {
  memories.set(look.root, view.memory());
  view.close();
}

/**
 * Give a component's data to the view at its place, which is made at first. Streamlit calls this, through the loader
 * in component.py and the view's script (views.py), for every answer and every change of theme. Returns a function that ends the view.
 * @param {Component} component
 * @param {new (root: HTMLElement) => BaseView} View
 * @param {Look} look
 */
export function enter(component, View, look) {
  const parent = component.parentElement;
  const root = /** @type {HTMLElement} */ (parent.querySelector(`.${look.root}`));
  let view = views.get(parent);
  if (view?.root !== root) {
    if (view) end(view, look);
    root.innerHTML = look.markup; // a constant, and the only text that is parsed as HTML
    root.hidden = true; // the last view at this place may have shown the element; the new one has no layout yet
    root.before(make("style", "", look.styles));
    view = new View(root);
    view.recall(memories.get(look.root));
    views.set(parent, view);
  }
  const current = view;
  current.component = component;
  current.update(component);
  follow(current, look);
  return () => {
    // After a slow load of modules, Streamlit may end a call when a newer one at the same place has come.
    if (current.component !== component) return;
    end(current, look);
    views.delete(parent);
  };
}
