// Where the browser enters: one view for each place a component is mounted at.

import { Direct } from "./direct.js";

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

/** @type {WeakMap<BaseView, Direct>} */
const directs = new WeakMap();

/** @type {Map<string, unknown>} what each kind of view left behind */
const memories = new Map();

/** @param {BaseView} view @param {About} about */
function end(view, about) {
  memories.set(about.root, view.memory());
  directs.get(view)?.close();
  view.close();
}

/** Have a view ask on its own connection where it has one. @param {BaseView} view @param {Component} component */
function connect(view, { parentElement, data, setTriggerValue }) {
  const direct = directs.get(view) ?? new Direct((answer) => view.hear(answer));
  directs.set(view, direct);
  direct.page = (ask) => setTriggerValue("ask", ask);
  view.update({
    parentElement,
    data,
    setTriggerValue: (_name, ask) => direct.send(/** @type {object} */ (ask)),
  });
  direct.open(view.token);
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
    const styles = [`${about.kit}/kit.css`, `${about.base}/view.css`];
    view = new View(root, Promise.all(styles.map((style) => loadStyle(root, style))));
    view.recall(memories.get(about.root));
    views.set(parent, view);
  }
  const shown = view;
  connect(shown, component);
  return () => {
    end(shown, about);
    views.delete(parent);
  };
}
