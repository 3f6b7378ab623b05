// The Explore view in a page of its own: an engine in a worker answers in the server's place.

import { servePlotly } from "../browser/static/plotly.js";
import { View } from "../pages/explore/static/view.js";

/** @import { Ask, Made, Parts } from "./types" */

const WORKER = "ui/standalone/worker.js";

/** The view, fed with answers that are objects already. */
class Alone extends View {
  /** @param {any} data @returns {any} */
  decode(data) {
    return data;
  }
}

/**
 * What answers: a worker, so that a long text never stops the page; without workers the page itself.
 * @param {Parts} parts @param {(message: any) => void} hear
 * @returns {Promise<(message: object) => void>} how it is asked
 */
async function engine({ sources, load, begin, made, arrays }, hear) {
  const first = { sources, made, arrays, entry: WORKER };
  try {
    const worker = new Worker(URL.createObjectURL(new Blob([begin], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => hear(data);
    worker.postMessage(first);
    return (message) => worker.postMessage(message);
  } catch {
    const { serve } = await import(load(sources)[WORKER]);
    const answer = serve(made, arrays, hear);
    return (message) => setTimeout(() => answer(message));
  }
}

/** @param {Parts} parts @param {Document} page */
export async function start(parts, page) {
  const { made, markup, styles, plotly } = parts;
  const [host, bar] = [page.querySelector("main"), page.querySelector("progress")];
  if (!host || !bar) return;
  const shadow = host.attachShadow({ mode: "open" });
  const root = page.createElement("div");
  root.className = "rv rnnviz";
  root.dataset.testid = "rnnviz-live";
  root.hidden = true;
  root.innerHTML = markup;
  const style = page.createElement("style");
  style.textContent = styles;
  shadow.append(style, root);

  const script = new Blob([plotly], { type: "text/javascript" });
  servePlotly(async () => URL.createObjectURL(script));
  const view = new Alone(root, Promise.resolve());
  const ask = await engine(parts, (message) => {
    bar.hidden = message.kind !== "progress";
    if (message.kind === "progress") bar.value = message.done / message.length;
    else show(message.answer);
  });
  const setTriggerValue = (/** @type {string} */ _kind, /** @type {unknown} */ wish) =>
    ask(/** @type {Ask} */ (wish));
  const show = (/** @type {any} */ data) => view.update({ parentElement: host, data, setTriggerValue });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    view.recolour();
    view.editor?.resized();
  });
  page.title = `${made.fixed.model} · rnnviz`;
  show(null);
  view.link.ask();
}
