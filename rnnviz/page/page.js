// The live view in a model's page, where an engine answers in place of the server.

import { again, mount } from "../ui/pages/explore/static/embedded.js";
import { View } from "../ui/pages/explore/static/view.js";
import { answers } from "./model.js";
import { Reader } from "./reader.js";

/** @import { Ask, Parts, PageAnswer } from "./types" */

/** The live view with answers that are objects, not bytes. */
class Alone extends View {
  /** @param {any} data @returns {any} */
  decode(data) {
    return data;
  }
}

/** @param {Parts} parts @param {Document} page */
export function start(parts, page) {
  const { model, arrays, markup, styles, plotly, showError } = parts;
  const [host, bar] = [page.querySelector("main"), page.querySelector("progress")];
  if (!host || !bar) return;
  const library = async () => URL.createObjectURL(new Blob([await plotly()], { type: "text/javascript" }));
  const view = mount(host, Alone, { styles, markup }, library);
  const { link } = view;
  const showAnswer = (/** @type {PageAnswer} */ data) => {
    link.long = false;
    bar.hidden = true;
    view.takeAnswer(/** @type {any} */ (data));
  };
  const reader = new Reader(answers(model, arrays), showAnswer, (done, length) => {
    link.long = true; // a newer text may replace this one
    link.wait();
    bar.hidden = false;
    bar.value = done / length;
  });
  link.send = (ask) => void reader.ask(/** @type {Ask} */ (ask)).catch(showError);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => again(view));
  page.title = `${model.fixed.model} · rnnviz`;
  link.ask();
}
