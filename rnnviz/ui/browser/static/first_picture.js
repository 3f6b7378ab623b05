// The first picture: a page's own view in a layer over the page, until the app's view stands below. Its document is
// made by rnnviz/ui/serving/first_picture.py. Typing goes on through the change: the app's view takes over the text with
// its history and the caret, while no key is pressed and nothing is composed.

import { mount } from "./embedded.js";

/** @import { BaseView } from "./base.js" */
/** @import { Look } from "./types" */

const LOOK_EVERY_MS = 30; // milliseconds between two looks whether the app's view stands
const UNPAINTED_MS = 200; // milliseconds after which nobody waits for a paint
const REST_MS = 300; // milliseconds without a key until the layer may go
const [TEXT_FONT, CODE_FONT] = ['15px "Source Sans"', '16px "Source Code Pro"'];
const PATIENCE_MS = 60000; // milliseconds from the paint after which a layer in which nobody has typed goes anyway

/** The bytes of an answer in the document. @param {string} packed */
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Resolves after the next paint; soon in a tab in the background, which paints nothing. */
function afterPaint() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, UNPAINTED_MS);
  });
}

/**
 * Whether Streamlit shows something else than the view: an error, or a page with a heading, where the layer's stands.
 * The page's style comes after its heading, which then moves.
 * @param {HTMLElement} layer
 */
function showsOther(layer) {
  const find = (/** @type {string} */ selector) =>
    /** @type {HTMLElement | null} */ (document.querySelector(`#root ${selector}`));
  const isRunning = find("[data-testid='stApp']")?.dataset.testScriptState !== "notRunning";
  const isDone = !isRunning && !find("[data-testid='stSkeleton']");
  const [heading, own] = [find("[data-testid='stMain'] h1"), layer.querySelector("h1")];
  const top = heading?.getBoundingClientRect().top ?? NaN;
  const stands = own ? Math.abs(top - own.getBoundingClientRect().top) < 1 : heading !== null;
  return stands || (isDone && (heading || !find(`.st-key-${layer.dataset.key}`)));
}

class FirstPicture {
  /** @type {BaseView | undefined} the layer's */
  view;
  /** @type {BaseView | undefined} the app's view */
  successor;
  touched = false; // whether the reader has done anything
  restsFrom = -Infinity; // the time of the last key
  patientUntil = Infinity; // on a busy machine the paint may take long, and Streamlit begins after it
  busy = false; // whether a pointer is held, or an input method composes
  ending = new AbortController();

  /** @param {HTMLElement} layer @param {new (root: HTMLElement) => BaseView} View @param {Look} look */
  constructor(layer, View, look) {
    this.layer = layer;
    this.kind = look.root;
    this.painted = this.draw(View, look).then(afterPaint);
    const { signal } = this.ending;
    const listen = (/** @type {string} */ kinds, /** @type {(event: Event) => void} */ act) => {
      for (const kind of kinds.split(" ")) window.addEventListener(kind, act, { capture: true, signal });
    };
    listen("keydown keyup input pointerup", ({ timeStamp }) => {
      this.touched = true;
      this.restsFrom = timeStamp;
    });
    listen("compositionstart pointerdown", () => {
      this.busy = true;
    });
    listen("compositionend pointerup pointercancel", () => {
      this.busy = false;
    });
    // Between two compositions is the best moment, once this one is in the text: after the event's other listeners.
    listen("compositionend", () => {
      this.restsFrom = -Infinity;
      setTimeout(() => this.look());
    });
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS);
  }

  /** @param {new (root: HTMLElement) => BaseView} View @param {Look} look */
  async draw(View, look) {
    const packed = this.layer.querySelector("script")?.textContent;
    if (!packed) return;
    // In another font lines would break elsewhere, and all that is below would move once the page's own is here.
    const fonts = [TEXT_FONT, CODE_FONT].map((font) => document.fonts.load(font));
    const [answer] = await Promise.all([unpack(packed), Promise.allSettled(fonts)]);
    if (this.ending.signal.aborted) return;
    const main = /** @type {HTMLElement} */ (this.layer.querySelector("main"));
    const view = mount(main, View, { ...look, name: look.root });
    this.view = view;
    delete view.root.dataset.testid; // the app's view has it
    // No page answers here: an ask waits for the connection.
    view.viewSocket.sendToPage = (ask) => {
      view.viewSocket.askInFlight = ask;
    };
    await view.takeFirstAnswer(answer);
  }

  look() {
    const { successor, layer, ending } = this;
    if (ending.signal.aborted) return; // it has gone between a composition's end and this look
    const now = performance.now();
    const rests = !this.busy && now - this.restsFrom >= REST_MS;
    const stands = successor?.root.isConnected && successor.isDrawn;
    if ((stands && rests) || (now > this.patientUntil && !this.touched) || (!successor && showsOther(layer)))
      this.leave();
  }

  leave() {
    const { layer, view, successor, touched } = this;
    picture = undefined;
    clearInterval(this.timer);
    this.ending.abort();
    const focused = document.activeElement === layer.querySelector("main");
    layer.remove();
    if (view && successor && touched) successor.takeOver(view);
    if (focused) successor?.focusText();
    view?.close();
  }
}

/** @type {FirstPicture | undefined} */
let picture;

/**
 * Draw the view of the page in the layer. Resolves once it is painted.
 * @param {new (root: HTMLElement) => BaseView} View @param {Look} look
 */
export async function show(View, look) {
  const layer = document.getElementById("first-picture");
  if (!layer) return;
  const first = new FirstPicture(layer, View, look);
  picture = first;
  try {
    await first.painted;
  } finally {
    first.patientUntil = performance.now() + PATIENCE_MS;
  }
}

/** Tell the layer of the app's view. @param {BaseView} view @param {Look} look */
export function follow(view, { root }) {
  if (picture?.kind === root) picture.successor = view;
}
