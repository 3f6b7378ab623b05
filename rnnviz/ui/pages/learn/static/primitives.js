// The drawing of a step's picture from the tree of rnnviz/lecture/primitives.py, which has no coordinates.
//
// A step's answer has its controls, and a picture or, before it, a question. Every drawing makes the picture anew, but
// keeps the controls, and restores the focus. Items to pick, bars to drag and matrices to edit ask for another value
// of a control (`changeControls`).

import katex from "../../../browser/katex/katex.mjs";
import { make, makeSvg } from "../../../browser/static/dom.js";
import { drawPlot } from "../../../browser/static/plot.js";
import { subscripted } from "../../../browser/static/subscripts.js";
import { OPTIONS } from "./formula.js";
import { drawAnsweredQuestion, drawQuestion } from "./question.js";

/** @import { Board } from "./board.js" */
/** @import { KitAnswer, KitNode } from "./types" */

const MIN_FONT_EM = 0.66; // the least font size of a picture, in em of the stage's

/** @param {Board} board @param {KitAnswer} data */
export function draw(board, data) {
  board.openPicture = null;
  board.symbolValues = new Map();
  if (board.room) board.room.nextLetter = null; // the picture sets it again if there is a next letter
  board.show(data.controls);
  const pen = new Pen(board);
  const focused = /** @type {HTMLElement | null} */ (board.focused)?.dataset.key;
  board.picture.replaceChildren(data.picture ? pen.draw(data.picture) : pen.ask(data));
  board.questionLine.replaceChildren(
    ...(data.question && data.picture ? drawAnsweredQuestion(board, data) : []),
  );
  board.questionLine.hidden = !board.questionLine.childElementCount;
  fit(board.picture);
  for (const later of pen.later) later();
  // A font that loads later has other widths: draw arrows and fit the picture again.
  if (document.fonts.status === "loading") document.fonts.ready.then(() => board.redraw());
  if (focused) find(board.kit, focused)?.focus();
}

/** @param {HTMLElement} kit @param {string} key @returns {HTMLElement | null} */
const find = (kit, key) => kit.querySelector(`[data-key="${CSS.escape(key)}"]`);

/** @type {Map<string, HTMLElement>} typeset formulas, cached because most are in many pictures */
const typesetting = new Map();

/** Put a formula into an element. @param {string} latex @param {HTMLElement} into */
function typeset(latex, into) {
  let formula = typesetting.get(latex);
  if (!formula) {
    formula = make("span");
    katex.render(latex, formula, { ...OPTIONS, displayMode: false });
    typesetting.set(latex, formula);
  }
  into.replaceChildren(formula.cloneNode(true));
}

/** Shrink the font of a picture that overflows, down to MIN_FONT_EM; then it scrolls. Three turns, as lines break elsewhere after each. @param {HTMLElement} picture */
function fit(picture) {
  picture.style.fontSize = "";
  for (let turn = 0; turn < 3; turn++) {
    const size = shrunkSize(picture, parseFloat(picture.style.fontSize) || 1);
    if (size === null) return;
    picture.style.fontSize = `${size}em`;
  }
}

/** The font size, in em, with which an overflowing picture fits; null if it fits already, or can't shrink. @param {Pick<HTMLElement, "clientWidth" | "clientHeight" | "scrollWidth" | "scrollHeight">} picture @param {number} size its size */
export function shrunkSize({ clientWidth, clientHeight, scrollWidth, scrollHeight }, size) {
  const share = Math.min(clientWidth / scrollWidth, clientHeight / scrollHeight);
  return share >= 1 || size <= MIN_FONT_EM ? null : Math.max(MIN_FONT_EM, size * share * 0.99);
}

// ---- pictures -------------------------------------------------------------------------------------------

/** Draws one picture. */
class Pen {
  /** @type {(() => void)[]} functions to call once the picture is on the page, as they measure it */
  later = [];

  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    this.changeControls = board.changeControls;
  }

  /** @param {KitNode} node @returns {HTMLElement} */
  draw(node) {
    const kind = /** @type {"text"} all take a node */ (node.kind);
    const element = this[kind](node);
    if (node.stands && !element.dataset.stands) this.board.tieSymbols(element, node.stands, node.here);
    return element;
  }

  /** The question, below what it is about. @param {KitAnswer} data */
  ask(data) {
    const question = drawQuestion(this.board, data);
    return data.exhibit ? make("div", "kit-column", this.draw(data.exhibit), question) : question;
  }

  /** A theme's colour by its name. @param {string} name */
  theme(name) {
    const { theme } = this.board;
    return String(theme[name] ?? theme.model);
  }

  /** Make an element a button, for click, Enter and Space. @param {HTMLElement | SVGElement} element @param {string} key @param {string} label @param {() => void} press */
  press(element, key, label, press) {
    element.dataset.key = key;
    element.dataset.pick = "";
    element.tabIndex = 0;
    element.setAttribute("role", "button");
    element.setAttribute("aria-label", label);
    element.onclick = press;
    element.onkeydown = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      press();
    };
  }

  // ---- containers ---------------------------------------------------------------------------------------

  /** @param {KitNode} node */
  row({ parts, sizes }) {
    const row = make("div", "kit-row", ...parts.map((part) => this.draw(part)));
    row.style.setProperty("--sizes", sizes.map((size) => `minmax(0, ${size}fr)`).join(" "));
    return row;
  }

  /** @param {KitNode} node */
  inline({ parts, look }) {
    return make("div", classNames("kit-inline", look), ...parts.map((part) => this.draw(part)));
  }

  /** @param {KitNode} node */
  column({ parts, look }) {
    return make("div", classNames("kit-column", look), ...parts.map((part) => this.draw(part)));
  }

  /** @param {KitNode} node */
  graph({ parts, arrows, columns, look }) {
    const graph = make("div", classNames("kit-graph", look));
    graph.style.setProperty("--columns", columns);
    /** @type {Record<string, HTMLElement>} */
    const elements = {};
    for (const part of parts) {
      const [i, j] = part.place;
      elements[part.name] = this.draw(part);
      elements[part.name].dataset.part = part.name;
      Object.assign(elements[part.name].style, { gridRow: String(i), gridColumn: String(j) });
      graph.append(elements[part.name]);
    }
    const lines = makeSvg("svg");
    graph.append(lines);
    this.later.push(() => {
      const from = graph.getBoundingClientRect();
      // Measure all before any addition: each addition would force another layout.
      const ends = arrows.map((/** @type {string[]} */ [start, end]) => [
        this.edge(elements[start], elements[end]),
        this.edge(elements[end], elements[start]),
      ]);
      const names = arrows.map((/** @type {string[]} */ [start, end]) => `${start}>${end}`);
      arrows.forEach((/** @type {string[]} */ [start, end, look, latex], /** @type {number} */ i) => {
        const [a, b] = ends[i];
        const aside = names.includes(`${end}>${start}`) ? 7 : 0; // two arrows between the same parts
        const line = lines.appendChild(this.arrow(from, a, b, look, aside));
        line.dataset.part = names[i];
        if (!latex) return;
        const name = graph.appendChild(this.nameArrow(from, a, b, look, latex));
        name.dataset.part = `name ${[start, end].sort().join(" ")}`;
      });
    });
    return graph;
  }

  /** The box of a part at which an arrow ends: its numbers alone from the side, with the title from above or below. @param {Element} part @param {Element} otherPart */
  edge(part, otherPart) {
    const [box, otherBox] = [part.getBoundingClientRect(), otherPart.getBoundingClientRect()];
    const inner = part.querySelectorAll(":scope > :is(.kit-entries, .kit-strip)");
    const beside = otherBox.left > box.right || otherBox.right < box.left;
    return beside && inner.length === 1 ? inner[0].getBoundingClientRect() : box;
  }

  /** An arrow's name, over its middle, or beside an upright arrow. @param {DOMRect} area @param {DOMRect} a @param {DOMRect} b @param {string} look @param {string} latex */
  nameArrow(area, a, b, look, latex) {
    const name = make("span", classNames("kit-arrow", look));
    typeset(latex, name);
    const { upright, left, top } = arrowNamePlace(a, b);
    Object.assign(name.style, { left: `${left - area.x}px`, top: `${top - area.y}px` });
    name.style.transform = upright ? "translate(0.3em, -50%)" : "translate(-50%, -115%)";
    return name;
  }

  /** An arrow from the edge of one box to that of another. @param {DOMRect} area @param {DOMRect} a @param {DOMRect} b @param {string} look @param {number} aside */
  arrow(area, a, b, look, aside) {
    const { theme } = this.board;
    const paths = arrowPaths(area, a, b, aside);
    const colour =
      {
        "": theme.muted,
        dashed: theme.muted,
        faded: theme.grid,
        cut: theme.muted,
        lit: theme.model,
        back: theme.pinned,
      }[look] ?? this.theme(look);
    const strong = look && !["faded", "cut", "dashed"].includes(look);
    const style = { stroke: String(colour), "stroke-width": strong ? 4 : 2.5, fill: "none" };
    const dash = look === "cut" || look === "dashed" ? "3 8" : "none";
    const group = makeSvg("g");
    group.append(makeSvg("path", { d: paths.line, ...style, "stroke-dasharray": dash }));
    group.append(makeSvg("path", { d: paths.tip, fill: String(colour) }));
    return group;
  }

  /** The picture of the room's answers, from which Space goes on; a prompt before them. @param {KitNode} node */
  room({ key, parts: [without, prompt] }) {
    const { room } = this.board;
    if (!room?.door) return this.draw(without);
    const answers = room.revealed(key)?.answers;
    if (!answers) return this.draw(prompt);
    room.nextLetter = () => this.changeControls(answers.changes);
    return this.draw(answers.picture);
  }

  // ---- words --------------------------------------------------------------------------------------------

  /** @param {KitNode} node */
  text({ words, look }) {
    const parts = look?.includes("mono") ? [words] : subscripted(words); // code has underscores of its own
    return make("p", classNames("kit-text", look), ...parts);
  }

  /** @param {KitNode} node */
  tex({ latex, look }) {
    const element = make("div", classNames("kit-tex", look));
    typeset(latex, element);
    return element;
  }

  /** @param {KitNode} node */
  button({ words, changes, look, step }) {
    const button = make("button", classNames("ln-button", look), words);
    button.dataset.key = `button.${words}`;
    button.onclick = () => (step ? this.board.visit(step, changes) : this.changeControls(changes));
    return button;
  }

  /** @param {KitNode} node */
  table({ head, rows, look, lit }) {
    const table = make("table", classNames("kit-table", look));
    const litEntries = new Set(lit.map(String));
    if (head.length) {
      const line = table.createTHead().insertRow();
      for (const words of head)
        line.append(words ? Object.assign(make("th", "", words), { scope: "col" }) : make("td"));
    }
    const body = table.createTBody();
    rows.forEach((/** @type {string[]} */ row, /** @type {number} */ i) => {
      const line = body.insertRow();
      row.forEach((words, j) => {
        line.append(make(j ? "td" : "th", litEntries.has(`${i},${j}`) ? "kit-lit" : "", words));
      });
    });
    return table;
  }

  // ---- numbers ------------------------------------------------------------------------------------------

  /** @param {KitNode} node */
  matrix({ values, stands, title, rows, columns, lit, faded, scale, full, digits, pick, edit, look }) {
    const { board } = this;
    const entries = make("div", classNames("kit-entries", look));
    const shape = `${values.length} × ${values[0].length}`;
    entries.style.gridTemplateColumns = `${rows ? "auto " : ""}repeat(${values[0].length}, auto)`;
    const [framed, weak] = [new Set(lit.map(String)), new Set(faded.map(String))];
    const name = (/** @type {string} */ words) => {
      const span = make("span", "kit-name", words);
      if (words.includes("\\")) typeset(words, span);
      entries.append(span);
    };
    if (columns) for (const words of rows ? ["", ...columns] : columns) name(words);
    values.forEach((/** @type {(number | null)[]} */ row, /** @type {number} */ i) => {
      if (rows) name(rows[i]);
      row.forEach((value, j) => {
        const cell = make("span", "", board.number(value, digits));
        const colour = board.colour(Number(value), scale, full);
        Object.assign(cell.style, { background: colour, color: board.ink(colour) });
        if (value === null) cell.style.visibility = "hidden";
        cell.classList.toggle("kit-lit", framed.has(`${i},${j}`));
        cell.classList.toggle("kit-faded", weak.has(`${i},${j}`));
        const key = `${edit?.slice(0, 2) ?? pick}.${i}.${j}`;
        const label = this.entry(i, j, cell);
        if (edit) this.press(cell, key, label, () => this.type(cell, edit, i, j, digits));
        else if (pick)
          this.press(cell, key, label, () => this.changeControls({ [pick]: i * row.length + j }));
        entries.append(cell);
      });
    });
    const element = make("figure", classNames("kit-matrix", look));
    if (title) {
      const caption = make("figcaption", "kit-title");
      typeset(title, caption);
      if (shape !== "1 × 1") caption.append(make("small", "", shape));
      element.append(caption);
    }
    element.append(entries);
    if (stands) board.tieSymbols(entries, stands, values, shape);
    return element;
  }

  /** @param {number} i @param {number} j @param {HTMLElement} cell */
  entry(i, j, cell) {
    const { edit = "" } = this.board.words;
    return edit
      .replace("{i}", String(i + 1))
      .replace("{j}", String(j + 1))
      .replace("{value}", cell.textContent);
  }

  /** Edit an entry in a field: Enter and blur keep the number, Escape doesn't. @param {HTMLElement} cell @param {[name: string, at: number, all: number[][][]]} edit @param {number} i @param {number} j @param {number} digits */
  type(cell, [name, at, all], i, j, digits) {
    const values = all[at];
    const input = Object.assign(make("input"), {
      value: String(values[i][j]),
      inputMode: "decimal",
      maxLength: 7,
    });
    const before = cell.textContent;
    let done = false;
    const finish = (/** @type {boolean} */ keep) => {
      if (done) return;
      done = true;
      cell.textContent = before;
      const typed = keep ? enteredNumber(input.value, values[i][j], digits) : null;
      if (typed === null) return;
      const to = values.map((row) => [...row]);
      to[i][j] = typed;
      this.changeControls({ [name]: all.map((matrix, n) => (n === at ? to : matrix)) });
    };
    input.onkeydown = (event) => {
      event.stopPropagation();
      if (event.key !== "Enter" && event.key !== "Escape") return;
      finish(event.key === "Enter");
      cell.focus();
    };
    input.onblur = () => finish(true);
    input.onclick = (event) => event.stopPropagation();
    cell.replaceChildren(input);
    input.focus();
    input.select();
  }

  /** @param {KitNode} node */
  strip({ values, scale, look }) {
    const strip = make("div", classNames("kit-strip", look));
    strip.style.setProperty("--cells", String(values.length));
    strip.style.gridTemplateColumns = `repeat(${values.length}, 1fr)`;
    for (const value of values) {
      const cell = make("i");
      cell.style.background = this.board.colour(value, scale);
      strip.append(cell);
    }
    return strip;
  }

  /** @param {KitNode} node */
  cells({ marks, values, scale, full, below, lit, framed, pick, title, look }) {
    const { board } = this;
    const line = make("div");
    marks.forEach((/** @type {string} */ mark, /** @type {number} */ i) => {
      const cell = make("span", "kit-cell", mark);
      const value = values?.[i];
      if (typeof value === "number") {
        const colour = board.colour(value, scale, full);
        Object.assign(cell.style, { background: colour, color: board.ink(colour) });
      }
      cell.classList.toggle("kit-lit", lit.includes(i));
      cell.classList.toggle("kit-framed", framed.includes(i));
      if (pick)
        this.press(cell, `${pick}.${i}`, `${mark}: ${i + 1}`, () => this.changeControls({ [pick]: i + 1 }));
      line.append(below ? make("span", "kit-pair", cell, make("small", "", below[i])) : cell);
    });
    return make(
      "div",
      classNames("kit-cells", look),
      ...(title ? [make("p", "kit-text kit-quiet", title)] : []),
      line,
    );
  }

  /** @param {KitNode} node */
  bars({ rows, top, lit, colours, title, edit }) {
    const element = make("div", "kit-bars", ...(title ? [make("p", "kit-title", title)] : []));
    rows.forEach(([name, value, text], /** @type {number} */ i) => {
      const bar = make("i");
      const share = shareOf(Number(value), top);
      bar.style.setProperty("--share", `${100 * share}%`);
      bar.style.setProperty("--colour", this.theme(colours?.[i] ?? "bar"));
      const strong = lit.includes(i) ? "kit-lit" : "";
      element.append(make("b", strong, ...subscripted(name)), bar, make("span", strong, text));
      if (edit)
        this.pull(bar, `${edit}.${i}`, name, share, (to) =>
          this.changeControls({
            [edit]: rows.map(([, old], /** @type {number} */ n) => (n === i ? to * top : old)),
          }),
        );
    });
    return element;
  }

  /** Make a bar a slider, for the pointer and arrow keys. @param {HTMLElement} bar @param {string} key @param {string} name @param {number} share @param {(share: number) => void} change */
  pull(bar, key, name, share, change) {
    const aria = { valuenow: share, valuemin: 0, valuemax: 1, label: name };
    for (const [part, value] of Object.entries(aria)) bar.setAttribute(`aria-${part}`, String(value));
    Object.assign(bar, { tabIndex: 0, role: "slider" });
    bar.dataset.key = key;
    bar.onkeydown = (event) => {
      const to = pulledShare(event.key, share);
      if (to === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      change(to);
    };
    this.drag(bar, () => {
      const { x, width } = bar.getBoundingClientRect();
      return (event) => change(shareOf(event.clientX - x, width));
    });
  }

  /**
   * Follow a drag of an element, even if a drawing replaces it meanwhile: the listeners are on the window.
   * @param {Element} element @param {() => (event: PointerEvent) => void} begin measures the element at the drag's start
   */
  drag(element, begin) {
    element.addEventListener("pointerdown", (down) => {
      const move = begin();
      const listeners = new AbortController();
      const { signal } = listeners;
      window.addEventListener("pointermove", move, { signal });
      for (const end of /** @type {const} */ (["pointerup", "pointercancel"]))
        window.addEventListener(end, () => listeners.abort(), { signal });
      move(/** @type {PointerEvent} */ (down));
      down.preventDefault();
    });
  }

  /** @param {KitNode} node */
  plane({ points, arrows, circles, reach, drag, x, stands }) {
    const plane = makeSvg("svg", { class: "kit-plane", viewBox: "-1.1 -1.1 2.2 2.3" });
    /** @param {"path" | "circle" | "text"} tag @param {Record<string, string | number>} attributes */
    const put = (tag, attributes, words = "") => plane.appendChild(makeSvg(tag, attributes, words));
    const at = (/** @type {number} */ v) => onPlane(v, reach);
    put("path", { d: "M-1,0H1M0,-1V1", class: "kit-grid" });
    for (const [radius, name] of circles) {
      put("circle", { r: radius / reach, class: name ? "kit-ring" : "kit-ring kit-dashed" });
      if (name) put("text", { x: 0.02, y: -radius / reach - 0.02 }, name);
    }
    for (const [px, py, name, colour] of arrows) {
      put("path", { d: `M0,0L${at(px)},${-at(py)}`, class: "kit-ray", stroke: this.theme(colour) });
      put("circle", { cx: at(px), cy: -at(py), r: 0.045, fill: this.theme(colour) });
      const side = py < 0 ? -0.04 : 0.1; // on the inner side of the tip, away from a longer arrow in the same direction
      put("text", { x: at(px) + 0.06, y: side - at(py) }, name);
    }
    for (const [px, py] of points) {
      const dot = put("circle", { cx: at(px), cy: -at(py), r: 0.05, class: "kit-point" });
      if (stands) this.board.tieSymbols(dot, stands);
    }
    if (x) put("text", { x: 0, y: 1.16, "text-anchor": "middle" }, x);
    this.later.push(() => {
      const { width, height } = plane.getBoundingClientRect();
      const type = parseFloat(getComputedStyle(/** @type {Element} */ (plane.parentElement)).fontSize);
      plane.style.fontSize = `${(0.9 * type) / Math.min(width / 2.2, height / 2.3)}px`;
    });
    if (drag) {
      plane.style.cursor = "grab";
      const inside = (/** @type {number} */ v) => coordinate(v, reach);
      const [px, py, label] = arrows[0];
      plane.dataset.key = `plane.${drag}`;
      plane.tabIndex = 0;
      plane.setAttribute("role", "slider");
      const aria = { label, valuenow: px, valuetext: `${px}, ${py}` };
      for (const [name, value] of Object.entries(aria)) plane.setAttribute(`aria-${name}`, String(value));
      plane.addEventListener("keydown", (event) => {
        const to = nudgedPoint(event.key, px, py, reach);
        if (!to) return;
        event.preventDefault();
        event.stopPropagation();
        this.changeControls({ [drag]: to });
      });
      this.drag(plane, () => {
        const inverse = plane.getScreenCTM()?.inverse();
        return (event) => {
          const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(inverse);
          this.changeControls({ [drag]: [inside(at.x), inside(-at.y)] });
        };
      });
    }
    return /** @type {HTMLElement} */ (/** @type {unknown} */ (plane));
  }

  /** @param {KitNode} node */
  plot(node) {
    const element = make("div", "kit-plot");
    this.later.push(() => {
      const size = parseFloat(getComputedStyle(element).fontSize) * 0.88;
      const { width, height } = element.getBoundingClientRect();
      element.append(drawPlot(node, this.board.numbers, size, { width, height }));
    });
    return element;
  }
}

/**
 * The place of an arrow's name, between the boxes a and b; `upright` if the arrow is.
 * @param {DOMRect} a @param {DOMRect} b
 */
export function arrowNamePlace(a, b) {
  const [x, y] = [(a.x + a.right + b.x + b.right) / 4, (a.y + a.bottom + b.y + b.bottom) / 4];
  const upright = Math.abs(a.x + a.right - 2 * x) < 4;
  const left = upright ? x : (Math.min(a.right, b.right) + Math.max(a.x, b.x)) / 2;
  const top = upright ? (Math.min(a.bottom, b.bottom) + Math.max(a.y, b.y)) / 2 : y;
  return { upright, left, top };
}

/**
 * The SVG paths of an arrow from the edge of box a to that of box b, in pixels of `area`; `aside` pixels to its left.
 * @param {DOMRect} area @param {DOMRect} a @param {DOMRect} b
 */
export function arrowPaths(area, a, b, aside = 0) {
  const middle = (/** @type {DOMRect} */ box) => [
    box.x + box.width / 2 - area.x,
    box.y + box.height / 2 - area.y,
  ];
  const [[ax, ay], [bx, by]] = [middle(a), middle(b)];
  const [dx, dy] = [bx - ax, by - ay];
  /** The share of the line inside a box, with 5 pixels of room. */
  const share = (/** @type {DOMRect} */ box) =>
    Math.min((box.width / 2 + 5) / Math.abs(dx || 1e-9), (box.height / 2 + 5) / Math.abs(dy || 1e-9));
  const [s, e] = [share(a), 1 - share(b)];
  const long = Math.hypot(dx, dy) || 1;
  const [left, up] = [(aside * dy) / long, (-aside * dx) / long];
  const [x1, y1, x2, y2] = [ax + s * dx + left, ay + s * dy + up, ax + e * dx + left, ay + e * dy + up];
  const turn = e < s ? -1 : 1; // the boxes overlap
  const [ux, uy] = [(turn * dx) / long, (turn * dy) / long];
  const side = `L${x2 - 13 * ux - 6 * uy},${y2 - 13 * uy + 6 * ux}L${x2 - 13 * ux + 6 * uy},${y2 - 13 * uy - 6 * ux}Z`;
  return { line: `M${x1},${y1}L${x2 - 9 * ux},${y2 - 9 * uy}`, tip: `M${x2},${y2}${side}` };
}

/** The number that a reader typed over another one; null to keep that one. @param {string} typed @param {number} before @param {number} digits */
export function enteredNumber(typed, before, digits) {
  const value = Number(typed.replace("−", "-").replace(",", "."));
  if (!Number.isFinite(value) || !typed.trim() || value === before) return null;
  return Math.max(-9.99, Math.min(9.99, Number(value.toFixed(digits))));
}

/** A part's share of a whole, from 0 to 1. @param {number} part @param {number} whole */
export function shareOf(part, whole) {
  return Math.max(0, Math.min(1, part / whole)) || 0;
}

/** The share to which a key pulls a bar; undefined for a key that pulls none. @param {string} key @param {number} share */
export function pulledShare(key, share) {
  const by = { ArrowRight: 0.02, ArrowUp: 0.02, ArrowLeft: -0.02, ArrowDown: -0.02 }[key];
  const to = { Home: 0, End: 1 }[key] ?? (by === undefined ? undefined : share + by);
  return to === undefined ? undefined : Math.max(0, Math.min(1, to));
}

/** The place of a coordinate on a drawn plane, whose edges are at ±1; what lies beyond is just outside. @param {number} v @param {number} reach */
export function onPlane(v, reach) {
  return Math.max(-1.04, Math.min(1.04, v / reach));
}

/** A coordinate of a plane, from its share of the way to the edge. @param {number} share @param {number} reach */
export function coordinate(share, reach) {
  return Math.max(-reach, Math.min(reach, Number((share * reach).toFixed(2))));
}

/** The point to which a key moves a plane's arrow; undefined for a key that moves none. @param {string} key @param {number} x @param {number} y @param {number} reach */
export function nudgedPoint(key, x, y, reach) {
  const by = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key];
  return by && [coordinate(x / reach + by[0] / 50, reach), coordinate(y / reach + by[1] / 50, reach)];
}

/** The class names of a look. @param {string} first @param {string} [look] */
export function classNames(first, look = "") {
  return [
    first,
    ...look
      .split(" ")
      .filter(Boolean)
      .map((name) => `kit-${name}`),
  ].join(" ");
}
