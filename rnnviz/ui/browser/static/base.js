// What every view does with an answer, and with a change of theme or of screen.

import { unpack } from "./payload.js";
import { ViewSocket } from "./view_socket.js";

/** @import { Component, Untyped } from "./types" */

/**
 * Tell of other pixels, as on another screen: nothing else does where all sizes stay. Returns what ends it.
 * @param {() => void} tell
 */
function onPixels(tell) {
  const ending = new AbortController();
  const watch = () => {
    const now = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    const changed = () => {
      watch();
      tell();
    };
    now.addEventListener("change", changed, { once: true, signal: ending.signal });
  };
  watch();
  return () => ending.abort();
}

export class BaseView {
  /** @type {Uint8Array | undefined} */
  data;
  /** @type {Component | undefined} Streamlit's newest call */
  component;
  /** @type {ResizeObserver | undefined} */
  observer;
  /** @type {Untyped} the memory of the view that stood here before */
  before;

  /** @param {HTMLElement} root @param {Promise<unknown>} styled resolves when the view can be shown */
  constructor(root, styled) {
    this.root = root;
    this.styled = styled;
    this.link = new ViewSocket({
      wish: () => this.wish(),
      hear: (data) => this.hear(data),
      late: (is) => this.late(is),
    });
    this.unwatch = onPixels(() => this.recolour());
  }

  /** A new answer, or the same one in new colours. @param {Component} component */
  update(component) {
    this.link.send = (ask) => component.setTriggerValue("ask", ask);
    const { data } = component;
    if (!data) return;
    if (data === this.data) return this.recolour();
    this.data = data;
    this.hear(data);
  }

  /** An answer, by whatever way it came. @param {Uint8Array} data */
  hear(data) {
    const { header, arrays } = this.decode(data);
    if (!this.link.outdated(header)) this.receive(header, arrays);
    if (header.session) this.link.open(header.session); // after it: a new session's ask has to go to the page
  }

  /** @param {Uint8Array} data @returns {{ header: Untyped, arrays: Untyped }} what the page's Python sent */
  decode(data) {
    return unpack(data);
  }

  close() {
    this.link.close();
    this.unwatch();
    this.observer?.disconnect();
  }

  /** What a view that is made anew in this one's place will want to know. @returns {Untyped} */
  memory() {}

  /** @param {Untyped} memory */
  recall(memory) {
    this.before = memory;
  }

  /** What is wanted of the server now. @returns {object} */
  wish() {
    return {};
  }

  /** An answer takes too long, or doesn't any more. @param {boolean} _is */
  late(_is) {}

  /** The page has other colours, or the screen other pixels. */
  recolour() {}

  /** Take an answer in: see the page's types.d.ts. @param {Untyped} _header @param {Untyped} _arrays */
  receive(_header, _arrays) {}
}
