// The live view in a notebook, where a kernel answers in place of the server. anywidget calls `render`.

import { again, mount } from "../ui/browser/static/embedded.js";
import { View } from "../ui/pages/explore/static/view.js";

const HEIGHT = 560; // pixels of the picture: a notebook's cell has no height to fill
const THEME = ["data-jp-theme-light", "data-vscode-theme-kind", "class"]; // attributes of <body> that follow the notebook's theme

// The notebook's colours and fonts, under the names of Streamlit's CSS variables.
const COLOURS = `
:host { display: block; }
.rv {
  --st-background-color: var(--jp-layout-color1, var(--vscode-editor-background, #ffffff));
  --st-secondary-background-color: var(--jp-layout-color2, var(--vscode-sideBar-background, #eef2f4));
  --st-text-color: var(--jp-ui-font-color1, var(--vscode-editor-foreground, #1c2a33));
  --st-border-color: var(--jp-border-color1, #b4c2ca);
  --st-primary-color: var(--jp-brand-color1, #0b6a88);
  --st-link-color: var(--jp-content-link-color, #0b6a88);
  --st-font: var(--jp-ui-font-family, sans-serif);
  --st-code-font: var(--jp-code-font-family, monospace);
  --st-base-radius: 6px;
  padding: 4px 8px; background: var(--st-background-color);
}`;

/**
 * @typedef {object} Model anywidget's model, which sends messages to the kernel
 * @property {(message: object) => void} send
 * @property {(event: string, hear: (message: { kind: string, client?: string }, buffers: DataView[]) => void) => void} on
 * @property {(event: string, hear: Function) => void} off
 */

/** @param {DataView} view */
const bytes = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** @param {string} styles @param {string} markup constant, and the only text that is parsed */
export function widget(styles, markup) {
  /** @param {{ model: Model, el: HTMLElement }} place */
  function render({ model, el }) {
    // Without this attribute, JupyterLab treats typed letters as its commands.
    el.setAttribute("data-lm-suppress-shortcuts", "true");
    const host = el.appendChild(document.createElement("div"));
    const look = { styles: COLOURS + styles, markup, height: HEIGHT };
    const view = mount(host, View, look);
    view.viewSocket.sendToPage = (ask) => model.send({ kind: "ask", ask });
    /** @param {{ kind: string, client?: string }} message @param {DataView[]} buffers */
    const onMessage = ({ kind, client }, buffers) => {
      if (kind === "answer" && client === view.viewSocket.client) view.takeAnswer(bytes(buffers[0]));
    };
    model.on("msg:custom", onMessage);
    const themes = new MutationObserver(() => again(view));
    themes.observe(document.body, { attributeFilter: THEME });
    // JupyterLab hides all cells while it changes its theme, and a hidden letter has no box: measure again once shown.
    const visibility = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && again(view),
    );
    visibility.observe(host);
    view.viewSocket.ask();
    return () => {
      model.off("msg:custom", onMessage);
      themes.disconnect();
      visibility.disconnect();
      view.close();
    };
  }
  return { render };
}
