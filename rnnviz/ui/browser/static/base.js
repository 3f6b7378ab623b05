// The base class of all views: answers, and changes of theme or screen.

import { unpack } from "./payload.js";
import { ViewSocket } from "./view_socket.js";

/** @import { Component, Untyped } from "./types" */

/**
 * Call `onChange` when the screen's pixel ratio changes, as on another screen: no resize event comes if all sizes stay.
 * Returns a function that ends it. A media query matches one ratio, so each change needs a new query.
 * @param {() => void} onChange
 */
function watchPixelRatio(onChange) {
  const ending = new AbortController();
  const watch = () => {
    const query = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    const handleChange = () => {
      watch();
      onChange();
    };
    query.addEventListener("change", handleChange, { once: true, signal: ending.signal });
  };
  watch();
  return () => ending.abort();
}

export class BaseView {
  /** @type {Uint8Array | undefined} */
  data;
  /** @type {Component | undefined} the argument of Streamlit's newest call */
  component;
  /** @type {ResizeObserver | undefined} */
  observer;
  /** @type {Untyped} the memory of the view that this one replaces */
  remembered;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.viewSocket = new ViewSocket({
      makeAsk: () => this.makeAsk(),
      takeAnswer: (data) => this.takeAnswer(data),
      showDelay: (isLate) => this.showDelay(isLate),
    });
    this.unwatch = watchPixelRatio(() => this.recolour());
  }

  /** Take Streamlit's call: a new answer, or the same one after a change of theme. @param {Component} component */
  update(component) {
    this.viewSocket.sendToPage = (ask) => component.setTriggerValue("ask", ask);
    const { data } = component;
    if (!data) return;
    // Streamlit gives the last data again at each change of theme: by identity, as equal bytes may be a new answer.
    if (data === this.data) return this.recolour();
    this.data = data;
    this.takeAnswer(data);
  }

  /** Take an answer, from Streamlit or from the view's own connection. @param {Uint8Array} data */
  takeAnswer(data) {
    const { header, arrays } = this.decode(data);
    if (!this.viewSocket.isOutdated(header)) this.receive(header, arrays);
    if (header.session) this.viewSocket.connect(header.session); // after `receive`, whose asks to a new session must go to the page
  }

  /** @param {Uint8Array} data @returns {{ header: Untyped, arrays: Untyped }} the answer's header and arrays */
  decode(data) {
    return unpack(data);
  }

  close() {
    this.viewSocket.close();
    this.unwatch();
    this.observer?.disconnect();
  }

  /** The state that a new view in this one's place will `recall`. @returns {Untyped} */
  memory() {}

  /** @param {Untyped} memory */
  recall(memory) {
    this.remembered = memory;
  }

  /** Whether the reader sees the newest answer. */
  get isDrawn() {
    return !this.root.hidden;
  }

  /** Take the answer of the first picture, which may have but a part of what the view needs later. @param {Uint8Array} data @returns {Untyped} resolves once it is drawn */
  takeFirstAnswer(data) {
    this.takeAnswer(data);
  }

  /** Take over what the reader has done in the first picture's view. @param {Untyped} _first */
  takeOver(_first) {}

  /** Put the focus into the text. */
  focusText() {}

  /** The whole wish of the server, for the next ask. @returns {object} */
  makeAsk() {
    return {};
  }

  /** Show or hide the hint that an answer takes too long. @param {boolean} _isLate */
  showDelay(_isLate) {}

  /** Draw again: the page's colours or the screen's pixels have changed. */
  recolour() {}

  /** Take an answer's parts, see the page's types.d.ts. @param {Untyped} _header @param {Untyped} _arrays */
  receive(_header, _arrays) {}
}
