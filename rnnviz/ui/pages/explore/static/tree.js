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
const WIDEST = 14; // pixels of a line that sampling is sure to take
const LINES = { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }; // 8 rows

export class ContinuationTree {
  start = 0; // where the reader opened the tree or moved the caret to
  parents = new Uint16Array(); // of each branch, counted from 1
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
    const { editor, viewSocket } = this.view;
    this.start = editor.caret;
    viewSocket.ask();
    editor.area.scrollIntoView({ block: "nearest" }); // a phone has the tree below the text, far above the button
  }

  /** The characters before the caret that an asked tree begins with; null: no tree is asked for. */
  get past() {
    if (!this.open) return null;
    const { editor, root } = this.view;
    this.start = Math.min(this.start, editor.caret);
    return Math.min(editor.caret - this.start, root.clientWidth > NARROW ? PAST : 1);
  }

  /** Draw an answer's tree. @param {Required<Answer>["tree"]} place @param {Required<Arrays>} arrays */
  draw({ at, past }, { treeParents, treeIds, treeChances }) {
    const { store, characters, numbers } = this.view;
    const focused = this.keyed || this.steps.matches(":focus-within");
    Object.assign(this, { parents: treeParents, buttons: [], keyed: false });
    const start = at - past;
    const before = characters.slice(Math.max(0, start - CONTEXT_CHARS), start);
    /** @type {HTMLElement[]} */
    const steps = [];
    const branches = [{ step: -1, row: 0, taken: true, text: "" }]; // the root, then the branches from 1
    treeParents.forEach((parent, i) => {
      const [from, id] = [branches[parent], treeIds[i]];
      const [p, share] = treeChances.subarray(2 * i, 2 * i + 2);
      const step = from.step + 1;
      // A character of the text may be unknown to the network: it stands as it was typed.
      const taken = step < past && from.taken && id === store.ids[start + step];
      const character = taken ? characters[start + step] : store.symbol(id);
      steps[step] ??= make("li", "rv-step", makeSvg("svg", LINES), make("ol"));
      const [lines, list] = steps[step].children;
      const branch = { step, row: list.childElementCount, taken, text: from.text + character };
      branches.push(branch);
      const [y0, y1] = [from.row + 0.5, branch.row + 0.5];
      const [d, width] = [`M0 ${y0}C50 ${y0} 50 ${y1} 100 ${y1}`, Math.max(1, WIDEST * share)];
      lines.append(makeSvg("path", { d, "stroke-width": width, class: share ? "" : "rv-never" }));
      const node = button("", () => this.goTo(branch.text, start, at), share ? "" : "rv-never");
      node.append(make("bdi", "", visible(character)), " ", make("span", "", numbers.percent(p)));
      node.classList.toggle("rv-taken", taken);
      if (taken && step === past - 1) node.ariaCurrent = "true";
      node.ariaLabel = this.label(node.textContent, branch.text, share);
      node.onmousedown = (event) => event.preventDefault(); // keeps the focus in the text
      node.tabIndex = -1;
      list.append(make("li", "", node));
      this.buttons.push(node);
    });
    this.steps.replaceChildren(make("li", "rv-before", before.map(visible).join("")), ...steps);
    // One tab stop for all branches: arrow keys move among them.
    const stop = this.buttons.find(({ ariaCurrent }) => ariaCurrent) ?? this.buttons[0];
    if (stop) stop.tabIndex = 0;
    if (focused) stop?.focus();
  }

  /** A branch's name. It begins with the words `seen`, for those who say them to the computer. @param {string} seen @param {string} text @param {number} share */
  label(seen, text, share) {
    const letters = Array.from(text);
    const said = letters.length > 1 ? letters.map(visible).join("") : spokenName(text, this.phrase);
    return this.phrase(share ? "tree.branch" : "tree.never", { seen, text: said });
  }

  /** Put a branch's text in place of characters start … end - 1. @param {string} text @param {number} start @param {number} end */
  goTo(text, start, end) {
    const { editor, characters, store } = this.view;
    if (editor.characters !== characters) return; // typed meanwhile: the tree of that text is about to come
    editor.write(store.typed(text), start, `branch ${this.picks++}`, end);
  }

  /** Move the focus: left and right along a path, up and down to the neighbours. @param {KeyboardEvent} event */
  key(event) {
    const { buttons, parents } = this;
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const [ArrowLeft, ArrowRight] = [parents[at] - 1, parents.indexOf(at + 1)];
    const places = { ArrowLeft, ArrowRight, ArrowUp: at - 1, ArrowDown: at + 1 };
    const to = /** @type {Record<string, number>} */ (places)[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (!buttons[to]) return;
    buttons[at].tabIndex = -1;
    buttons[to].tabIndex = 0;
    buttons[to].focus();
  }
}
