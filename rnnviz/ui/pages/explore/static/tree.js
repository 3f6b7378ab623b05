// The tree of continuations: the likeliest characters at each of the next steps, and how likely sampling takes each. A
// click writes the text up to a character; what else could have stood there stays in sight, so that one can go back.

import { visible } from "../../../browser/static/characters.js";
import { button, find, make, makeSvg } from "../../../browser/static/dom.js";
import { spokenName } from "../../../browser/static/prediction_bars.js";

/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { Arrays, Answer } from "./types" */
/** @import { View } from "./view.js" */

const PAST = 3; // characters before the caret that stay in sight
const NARROW = 700; // pixels; a narrower view has room for one of them, as in view.css
const CONTEXT_CHARS = 6; // characters before the tree
const ROWS = 8; // of a step, as in scoring/sampling.py
const WIDEST = 14; // pixels of a line that sampling is sure to take

/**
 * A character of the tree: `text` leads from the tree's beginning to it; `here`: it stands before the caret.
 * @typedef {{ parent: number, step: number, row: number, taken: boolean, here: boolean, text: string }} Branch
 */

export class ContinuationTree {
  start = 0; // where the reader opened the tree or moved the caret to
  /** @type {Required<Answer>["tree"]} the place of the tree that is shown */
  place = { at: 0, past: 0 };
  /** @type {Branch[]} */
  branches = [];
  /** @type {HTMLButtonElement[]} */
  buttons = [];
  picks = 0; // branches gone to, which number the undo steps
  keyed = false; // whether a key opened the tree, which then takes the focus

  /** @param {View} view @param {Phrase} phrase */
  constructor(view, phrase) {
    this.view = view;
    this.phrase = phrase;
    const { root } = view;
    this.opener = find(root, "button.rv-branch");
    this.panel = find(root, "section.rv-tree");
    this.steps = find(root, "ol.rv-steps");
    this.opener.onmousedown = (event) => event.preventDefault();
    this.opener.onclick = (event) => {
      this.keyed = event.detail === 0;
      this.show(!this.open);
      view.editor.focusAfter(event);
    };
    find(root, "button.rv-tree-close").onclick = () => this.show(false);
    this.steps.onkeydown = (event) => this.key(event);
  }

  get open() {
    return !this.panel.hidden;
  }

  /** @param {boolean} open */
  show(open) {
    if (!open && this.panel.matches(":focus-within")) this.opener.focus();
    this.panel.hidden = !open;
    this.opener.ariaExpanded = String(open);
    if (!open) return;
    this.begin();
    this.view.viewSocket.ask();
    this.view.editor.area.scrollIntoView({ block: "nearest" }); // a phone has the tree below the text, far above the button
  }

  /** Let the tree begin at the caret. */
  begin() {
    this.start = this.view.editor.caret;
  }

  /** The characters before the caret that an asked tree begins with; null: no tree is asked for. */
  get past() {
    if (!this.open) return null;
    const { editor, root } = this.view;
    this.start = Math.min(this.start, editor.caret);
    return Math.min(editor.caret - this.start, root.clientWidth > NARROW ? PAST : 1);
  }

  /** Draw an answer's tree. @param {Required<Answer>["tree"]} place @param {Arrays} arrays */
  draw(
    place,
    { treeParents = new Uint16Array(), treeIds = new Uint32Array(), treeChances = new Float32Array() },
  ) {
    const { view, phrase } = this;
    const { store, characters, numbers } = view;
    const focused = this.keyed || this.steps.matches(":focus-within");
    const start = place.at - place.past;
    Object.assign(this, { place, branches: [], buttons: [], keyed: false });
    const before = characters
      .slice(Math.max(0, start - CONTEXT_CHARS), start)
      .map(visible)
      .join("");
    /** @type {{ lines: SVGElement, list: HTMLElement }[]} */
    const steps = [];
    treeParents.forEach((parent, i) => {
      const from = this.branches[parent - 1];
      const [step, id] = [from ? from.step + 1 : 0, treeIds[i]];
      const [p, share] = treeChances.subarray(2 * i, 2 * i + 2);
      // A character of the text may be unknown to the network: it stands as it was typed.
      const taken = step < place.past && (from?.taken ?? true) && id === store.ids[start + step];
      const character = taken ? characters[start + step] : store.symbol(id);
      const text = (from?.text ?? "") + character;
      steps[step] ??= {
        lines: makeSvg("svg", {
          viewBox: `0 0 100 ${ROWS}`,
          preserveAspectRatio: "none",
          "aria-hidden": "true",
        }),
        list: make("ol"),
      };
      const { lines, list } = steps[step];
      const branch = {
        parent,
        step,
        row: list.childElementCount,
        taken,
        here: taken && step === place.past - 1,
        text,
      };
      this.branches.push(branch);
      const [y0, y1] = [(from?.row ?? 0) + 0.5, branch.row + 0.5];
      lines.append(
        makeSvg("path", {
          d: `M0 ${y0}C50 ${y0} 50 ${y1} 100 ${y1}`,
          "stroke-width": Math.max(1, WIDEST * share),
          class: share ? "" : "rv-never",
        }),
      );
      const node = button("", () => this.goTo(branch));
      node.append(make("bdi", "", visible(character)), " ", make("span", "", numbers.percent(p)));
      node.className = [taken && "rv-taken", !share && "rv-never"].filter(Boolean).join(" ");
      node.onmousedown = (event) => event.preventDefault(); // keeps the focus in the text
      // A name begins with the words that are seen, for those who say them to the computer.
      const seen = `${visible(character)} ${numbers.percent(p)}`;
      const said = text === character ? spokenName(character, phrase) : Array.from(text, visible).join("");
      node.ariaLabel = phrase(share ? "tree.branch" : "tree.never", { seen, text: said });
      if (branch.here) node.ariaCurrent = "true";
      node.tabIndex = -1;
      list.append(make("li", "", node));
      this.buttons.push(node);
    });
    this.steps.replaceChildren(
      make("li", "rv-before", make("bdi", "", (start > CONTEXT_CHARS ? "…" : "") + before)),
      ...steps.map(({ lines, list }) => make("li", "rv-step", lines, list)),
    );
    // One tab stop for all branches: arrow keys move among them.
    const stop =
      this.buttons[
        Math.max(
          0,
          this.branches.findIndex(({ here }) => here),
        )
      ];
    if (stop) stop.tabIndex = 0;
    if (focused) stop?.focus();
  }

  /** Write the text up to a branch, in place of what followed the tree's beginning. @param {Branch} branch */
  goTo(branch) {
    const { editor, characters, store } = this.view;
    if (editor.characters !== characters) return; // typed meanwhile: the tree of that text is about to come
    const { at, past } = this.place;
    this.picks++;
    editor.write(store.typed(branch.text), at - past, `branch ${this.picks}`, at);
  }

  /** Move the focus: left and right along a path, up and down to the neighbours. @param {KeyboardEvent} event */
  key(event) {
    const at = this.buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const places = {
      ArrowUp: at - 1,
      ArrowDown: at + 1,
      ArrowLeft: this.branches[at].parent - 1,
      ArrowRight: this.branches.findIndex(({ parent }) => parent === at + 1),
    };
    const to = /** @type {Record<string, number>} */ (places)[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (!this.buttons[to]) return;
    this.buttons[at].tabIndex = -1;
    this.buttons[to].tabIndex = 0;
    this.buttons[to].focus();
  }
}
