// The footer below the picture has the scene's steps; the line above the title has the scenes.

import { find, make } from "../../../browser/static/dom.js";

/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { View } from "./view.js" */

/** @param {View} view @param {Phrase} phrase */
export function showFooter(view, phrase) {
  const { steps, scene } = view.answer;
  const step = view.stepByScene[scene] ?? view.answer.step;
  const dots = button("", phrase("step", { n: step + 1, count: steps }), "ln-dots", () =>
    view.goToStep(view.at + 1),
  );
  // More dots would leave no room for the notice.
  for (let i = 0; i < steps && steps <= 10; i++) dots.append(make("i", i <= step ? "ln-done" : ""));
  const position = step < steps ? `${step + 1}/${steps}` : phrase("appendix");
  dots.append(make("span", "", position));
  dots.title = phrase("next");
  dots.setAttribute("aria-label", `${position}: ${dots.getAttribute("aria-label")}`); // begins with what is seen
  const back = button("↑", phrase("back"), "", () => view.goToStep(view.at - 1), step === 0);
  find(view.root, "div.ln-steps").replaceChildren(...(steps > 1 ? [back, dots] : []));
  showScenes(view);
}

/** The line of scenes, with the title of the present one: where the lecture is. @param {View} view */
function showScenes(view) {
  const { titles, scene } = view.answer;
  const scenes = titles.map((title, i) => {
    const present = i + 1 === scene;
    const name = `${i + 1} · ${title}`;
    const number = button(present ? name : String(i + 1), name, "ln-number", () => view.goToScene(i + 1));
    if (present) number.setAttribute("aria-current", "step");
    return number;
  });
  find(view.root, "nav.ln-scenes").replaceChildren(...scenes);
}

/** @param {string} text @param {string} title @param {string} name its class @param {() => void} press */
function button(text, title, name, press, off = false) {
  const element = Object.assign(make("button", name, text), { title, onclick: press, disabled: off });
  element.setAttribute("aria-label", title);
  return element;
}
