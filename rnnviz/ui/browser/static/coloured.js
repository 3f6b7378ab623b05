// Coloured text of any length: a plain text node for each chunk, under CSS custom highlights. Colours need no
// elements, so the browser's selection, scroll bar, search and reading aloud all work.
//
// A chunk far from the visible part is an empty box of a guessed height: a text of millions of characters costs a
// thousand elements. Highlights belong to the document, so all texts share those of a name. A browser without
// highlights shows the text without colours, and coloured.css shows a sentence that says so.

import { countLeading, runningMark } from "./characters.js";

/** @typedef {{ index: number, start: number, codes: Uint32Array, unknown?: ArrayLike<number> }} Chunk */
/** @typedef {[start: number, stop: number]} Span */
/** @typedef {"passage" | "pin" | "point"} Mark */
/**
 * A scale of colours; `level` gives the number of each character's colour in a chunk. `neutral` is the number
 * without a colour, -1 if each has one.
 * @template C
 * @typedef {{ name: string, neutral: number, level: (chunk: C) => Uint8ClampedArray }} Scale
 */
/**
 * Callbacks of a text; an action without a callback is not available to the reader.
 * @typedef {object} Listener
 * @property {() => void} [need] chunks are missing
 * @property {(position: number | null) => void} [point] the pointer is over a character, or beside the text
 * @property {(position: number) => void} [pick] a character was clicked, or reached by an arrow key
 * @property {(start: number, stop: number) => void} [select] a passage was selected
 * @property {(first: number, last: number) => void} [scrolled] the visible characters have changed
 */
/**
 * A chunk in the document: `units` has each character's first UTF-16 unit in the node, and the node's length last;
 * `layers` has the highlights over it.
 * @template C
 * @typedef {{ chunk: C, box: HTMLElement, node: Text, units: Uint32Array,
 *   layers: Record<string, [Highlight, StaticRange][]> }} Shown
 */

const AHEAD_PX = 700; // pixels above and below the visible part in which chunks are filled
const MAX_CHUNKS = 48; // chunks held in memory, at most, some 200,000 characters
const MAX_HEIGHT_PX = 12e6; // pixels of all guessed heights, at most: Firefox lays out 17 million, Chromium 33
const UPPER_SHARE = 0.3; // the share of the pane above a place after a jump
const EDGE_PX = 8; // pixels above a place at the upper edge, at least
const PAUSE_MS = 120; // milliseconds between two calls of `scrolled`
const HAS_HIGHLIGHTS = Boolean(globalThis.CSS && "highlights" in CSS);
const ABOVE = ["break", "unknown", "passage", "pin", "point"]; // highlights over the colours, by rising priority
const JOINED = /[\u200d\ufe0e\ufe0f\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}]|\p{M}/u;

/** The document's highlight of a name, made at first. @param {string} name */
function highlight(name) {
  const existing = CSS.highlights.get(`ct-${name}`);
  if (existing) return existing; // a second `set` would make Firefox visit all its ranges
  const created = new Highlight();
  created.priority = 1 + ABOVE.indexOf(name);
  CSS.highlights.set(`ct-${name}`, created);
  return created;
}

/**
 * The style sheet of highlights, for the text's shadow root. It has colours, not CSS variables, which some browsers
 * don't resolve in highlights.
 * @param {Record<string, (string | [behind: string, letter: string])[]>} scales colours by scale, with or without the letter's
 * @param {Record<"background" | "muted" | "actual" | "pinned" | "cursor", string>} theme
 */
export function rules(scales, { background, muted, actual, pinned, cursor }) {
  const rule = (/** @type {string} */ name, /** @type {string} */ look) =>
    `::highlight(ct-${name}) { ${look} }`;
  const colours = Object.entries(scales).flatMap(([name, all]) =>
    all.map((colour, n) => {
      const [behind, letter] = Array.isArray(colour) ? colour : [colour, "inherit"];
      return rule(`${name}-${n}`, `background-color: ${behind}; color: ${letter}`);
    }),
  );
  return [
    ...colours,
    rule("break", `color: ${muted}`),
    rule("unknown", `text-decoration: underline wavy 1.5px ${actual}; text-underline-offset: 3px`),
    rule("passage", `text-decoration: underline 3px ${pinned}`),
    rule("pin", `background-color: ${pinned}; color: ${background}`),
    rule("point", `background-color: ${cursor}; color: ${background}`),
  ].join("\n");
}

/** Runs of equal values. @param {ArrayLike<number>} values @returns {[from: number, to: number, value: number][]} */
export function runs(values) {
  /** @type {[number, number, number][]} */
  const triples = [];
  for (let from = 0, i = 1; i <= values.length; i++) {
    if (i < values.length && values[i] === values[from]) continue;
    triples.push([from, i, values[from]]);
    from = i;
  }
  return triples;
}

/**
 * Give a grapheme cluster, such as an emoji of several characters, one colour: the one farthest from neutral.
 * @param {Uint32Array} codes @param {Uint8ClampedArray} level changed in place @param {number} neutral
 */
export function unifyClusters(codes, level, neutral) {
  const text = String.fromCodePoint(...codes);
  if (!JOINED.test(text)) return level;
  const distance = (/** @type {number} */ n) => Math.abs(n - neutral);
  let from = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)) {
    const to = from + [...segment].length;
    const farthest = level.subarray(from, to).reduce((best, n) => (distance(n) > distance(best) ? n : best));
    level.fill(farthest, from, to);
    from = to;
  }
  return level;
}

/** @template {Chunk} C */
export class ColouredText {
  /** @type {Map<number, C>} chunks in memory, the most recently used last */
  chunks = new Map();
  /** @type {Map<number, Shown<C>>} */
  chunkViews = new Map();
  /** @type {HTMLElement[]} an element for each chunk */
  boxes = [];
  /** @type {Set<number>} chunks that are visible, or within AHEAD of that */
  near = new Set();
  /** @type {Scale<C> | null} */
  scale = null;
  /** @type {Partial<Record<Mark, Span[]>>} */
  marks = {};
  /** @type {number | null} the last character of the passage that Shift and arrow keys extend */
  end = null;
  /** @type {{ position: number, upper: number } | null} the place to hold while chunks arrive, until the reader scrolls */
  target = null;
  first = 0; // the first visible character
  top = 0; // scrollTop as the program has set it last
  length = 0; // characters of the text
  size = 1; // characters of a chunk, on average
  selection = ""; // the selected passage of the last call of `select`
  pressed = false; // whether a pointer is down, so that its selection isn't final
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  scheduled;
  ending = new AbortController();

  /** @param {HTMLElement} pane @param {Listener} on */
  constructor(pane, on = {}, show = runningMark) {
    this.pane = pane;
    this.on = on;
    this.show = show; // makes a character's text from its code
    pane.classList.add("ct-pane");
    pane.dir = "auto";
    const options = { root: pane, rootMargin: `${AHEAD_PX}px 0px` };
    this.intersections = new IntersectionObserver((entries) => this.move(entries), options);
    this.resized = new ResizeObserver(() => {
      if (this.boxes.length < 2) return;
      // Line breaks have moved, and with them thousands of guessed heights above the visible place: hold it.
      for (const box of this.boxes) if (!box.firstChild) box.style.height = "";
      this.target ??= { position: this.first, upper: 0 };
      this.guess();
      this.scheduleReport();
    });
    this.resized.observe(pane);
    this.listen();
  }

  close() {
    this.begin(0, 0);
    this.ending.abort();
    this.resized.disconnect();
    clearTimeout(this.scheduled);
  }

  /** Begin another text, whose chunks follow: chunk i begins near character i · size. @param {number} length @param {number} count of chunks @param {number} size */
  begin(length, count, size = length) {
    for (const index of [...this.chunkViews.keys()]) this.empty(index);
    this.intersections.disconnect();
    this.chunks.clear();
    this.marks = {};
    this.end = this.target = null;
    this.first = 0;
    [this.length, this.size] = [length, size];
    this.boxes = Array.from({ length: count }, (_, index) => {
      const box = document.createElement("div");
      box.className = "ct-chunk";
      box.dataset.index = String(index);
      return box;
    });
    this.pane.replaceChildren(...this.boxes);
    this.near = new Set(count === 1 ? [0] : []); // a single chunk is never emptied
    if (count > 1) for (const box of this.boxes) this.intersections.observe(box);
  }

  /** @param {C[]} chunks */
  addChunks(chunks) {
    for (const chunk of chunks) {
      this.chunks.delete(chunk.index);
      this.chunks.set(chunk.index, chunk);
      if (this.near.has(chunk.index)) this.fill(chunk);
    }
    for (const index of this.chunks.keys()) {
      if (this.chunks.size <= MAX_CHUNKS) break;
      if (!this.near.has(index)) this.chunks.delete(index);
    }
    this.scheduleReport();
  }

  /** The chunk with a character, or null if it isn't in memory. Borders are at, or after, multiples of the size. @param {number} position */
  chunk(position) {
    const index = Math.floor(position / this.size);
    const candidates = [this.chunks.get(index), this.chunks.get(index - 1)];
    const holds = (/** @type {C} */ { start, codes }) => position >= start && position < start + codes.length;
    return candidates.find((chunk) => chunk && holds(chunk)) ?? null;
  }

  /** Numbers of near chunks that aren't in memory. */
  missing() {
    return [...this.near].filter((index) => !this.chunks.has(index));
  }

  /** Fill chunks that have come near, and empty those that are far now. @param {IntersectionObserverEntry[]} entries */
  move(entries) {
    for (const { target, isIntersecting } of entries) {
      const index = Number(/** @type {HTMLElement} */ (target).dataset.index);
      const chunk = this.chunks.get(index);
      this.near.delete(index);
      if (isIntersecting) this.near.add(index);
      if (!isIntersecting) this.empty(index);
      else if (chunk && !this.chunkViews.has(index)) this.fill(chunk);
    }
    if (this.missing().length) this.on.need?.();
  }

  /** @param {C} chunk */
  fill(chunk) {
    this.empty(chunk.index);
    const parts = Array.from(chunk.codes, this.show);
    const units = new Uint32Array(parts.length + 1);
    parts.forEach((part, i) => {
      units[i + 1] = units[i] + part.length;
    });
    const node = document.createTextNode(parts.join(""));
    const box = this.boxes[chunk.index];
    box.replaceChildren(node);
    box.style.height = "";
    const view = { chunk, box, node, units, layers: {} };
    this.chunkViews.set(chunk.index, view);
    this.paint(view);
    for (const mark of /** @type {Mark[]} */ (Object.keys(this.marks))) this.frame(view, mark);
    if (this.chunkViews.size === 1) this.guess();
    if (this.target) this.settle();
  }

  /** Remove a chunk's text from the document; its box keeps the height. @param {number} index */
  empty(index) {
    const view = this.chunkViews.get(index);
    if (!view) return;
    for (const layer of Object.keys(view.layers)) this.lay(view, layer, []);
    this.chunkViews.delete(index);
    view.box.style.height = `${view.box.offsetHeight}px`;
    view.box.replaceChildren();
  }

  /** Guess the height of empty chunks from a filled one. */
  guess() {
    const [view] = this.chunkViews.values();
    if (!view || this.boxes.length < 2) return;
    const height = (view.box.offsetHeight * this.size) / view.chunk.codes.length;
    this.pane.style.setProperty("--ct-height", `${Math.min(height, MAX_HEIGHT_PX / this.boxes.length)}px`);
    if (this.target) this.settle();
  }

  // ---- colours and marks --------------------------------------------------------------------------

  /** Colour all chunks by another scale. @param {Scale<C>} scale */
  colour(scale) {
    this.scale = scale;
    for (const view of this.chunkViews.values()) this.paint(view);
  }

  /** @param {Shown<C>} view */
  paint(view) {
    const { codes, unknown = [] } = view.chunk;
    const strange = runs(unknown).filter(([, , is]) => is);
    this.lay(view, "unknown", strange);
    // With forced colours, every highlight looks like the selection: only marks are drawn.
    if (!this.scale || matchMedia("(forced-colors: active)").matches) return;
    const { name, neutral, level } = this.scale;
    const levels = unifyClusters(codes, level(view.chunk), neutral);
    const coloured = runs(levels).filter(([, , n]) => n !== neutral);
    const highlights = coloured.map(([from, to, n]) => [from, to, `${name}-${n}`]);
    const breaks = runs(codes).filter(([, , code]) => code === 10);
    this.lay(view, "colour", highlights);
    this.lay(view, "break", breaks);
  }

  /** Mark these passages, in place of those marked before. @param {Mark} mark @param {Span[]} spans */
  mark(mark, spans) {
    if (mark === "pin" && spans[0]?.[0] !== this.pin) this.end = null;
    if (String(spans) === String(this.marks[mark] ?? "")) return; // any change of highlights repaints the text
    this.marks[mark] = spans;
    for (const view of this.chunkViews.values()) this.frame(view, mark);
  }

  /** @param {Shown<C>} view @param {Mark} mark */
  frame(view, mark) {
    const { start, codes } = view.chunk;
    const inside = (/** @type {number} */ position) => Math.max(0, Math.min(codes.length, position - start));
    const spans = (this.marks[mark] ?? []).map((span) => span.map(inside)).filter(([from, to]) => from < to);
    this.lay(view, mark, spans);
  }

  /**
   * Lay highlights over a chunk, in place of the layer's former ones.
   * @param {Shown<C>} shown @param {string} layer
   * @param {(number | string)[][]} spans from, to, and the highlight's name unless it is the layer's
   */
  lay({ node, units, layers }, layer, spans) {
    if (!HAS_HIGHLIGHTS) return;
    for (const [all, range] of layers[layer] ?? []) all.delete(range);
    layers[layer] = spans.map(([from, to, name]) => {
      const [startOffset, endOffset] = [units[Number(from)], units[Number(to)]];
      const range = new StaticRange({ startContainer: node, startOffset, endContainer: node, endOffset });
      const all = highlight(typeof name === "string" ? name : layer);
      all.add(range);
      return [all, range];
    });
  }

  get pin() {
    return this.marks.pin?.[0]?.[0];
  }

  // ---- places -------------------------------------------------------------------------------------

  /** The rectangle of a chunk's character i, in the window's pixels. @param {Shown<C>} shown @param {number} i */
  rect({ node, units }, i) {
    const range = document.createRange();
    range.setStart(node, units[i]);
    range.setEnd(node, units[i + 1]);
    return range.getClientRects()[0] ?? range.getBoundingClientRect(); // a line break has rectangles on two lines
  }

  /** The chunk at a height of the window, and the number of its characters that begin above. @param {number} y */
  at(y) {
    const top = (/** @type {number} */ index) => this.boxes[index].getBoundingClientRect().top;
    const index = Math.max(0, countLeading(this.boxes.length, (i) => top(i) < y) - 1);
    const view = this.chunkViews.get(index);
    const count = view ? countLeading(view.chunk.codes.length, (i) => this.rect(view, i).top < y) : 0;
    return { index, shown: view, count };
  }

  /** The visible characters; approximate while their chunk is missing. @returns {Span} */
  sight() {
    const { top, bottom } = this.pane.getBoundingClientRect();
    const [first, last] = [top, bottom].map((y) => {
      const { index, shown: view, count } = this.at(y);
      return view ? view.chunk.start + count : index * this.size;
    });
    return [Math.min(first, this.length), Math.min(last, this.length)];
  }

  /** The first visible character: the last one known if the pane is hidden, the target while its chunk is missing. */
  place() {
    if (!this.pane.clientHeight) return this.first;
    const target = this.target?.position ?? -1;
    return target < 0 || this.find(target) ? this.sight()[0] : target;
  }

  /** The character at a point of the window; null beside the text. @param {number} x @param {number} y */
  under(x, y) {
    const { shown: view, count } = this.at(y);
    if (!view) return null;
    for (let i = count - 1; i >= 0; i--) {
      const { left, right, bottom } = this.rect(view, i);
      if (bottom <= y) return null; // reached the line above
      if (x >= left && x < right) return view.chunk.start + i;
    }
    return null;
  }

  /** The character of the text nearest to a position. @param {number} position */
  inside(position) {
    return Math.max(0, Math.min(this.length - 1, position));
  }

  /** Scroll to a character, and hold it there until the reader scrolls; `keep`: not if it is visible. @param {number} position */
  go(position, keep = false, upper = UPPER_SHARE) {
    const place = this.inside(position);
    const rect = keep && this.find(place);
    const { top, bottom } = this.pane.getBoundingClientRect();
    if (rect && rect.top >= top && rect.bottom <= bottom) return;
    this.target = { position: place, upper };
    this.settle();
  }

  settle() {
    if (!this.target) return;
    const { pane, size, boxes } = this;
    const { position, upper } = this.target;
    const rect = this.find(position);
    const box = boxes[Math.min(boxes.length - 1, Math.floor(position / size))];
    // Not scrollIntoView, which would scroll the page too.
    if (!rect) pane.scrollTop = box?.offsetTop ?? 0;
    else {
      const offset = Math.max(EDGE_PX, pane.clientHeight * upper);
      pane.scrollTop += rect.top - pane.getBoundingClientRect().top - offset;
    }
    this.top = pane.scrollTop;
    this.reportSight();
  }

  /** The rectangle of a character in the window's pixels; null without its chunk. @param {number} position */
  find(position) {
    const view = this.chunkViews.get(this.chunk(position)?.index ?? -1);
    return view ? this.rect(view, position - view.chunk.start) : null;
  }

  /** Call `scrolled` with the visible characters. */
  reportSight() {
    if (!this.pane.clientHeight) return;
    const [first, last] = this.sight();
    this.first = first;
    this.on.scrolled?.(first, last);
  }

  /**
   * `reportSight`, at most every PAUSE_MS milliseconds. The page changes with it, and any change makes Chromium visit all
   * highlights and repaint the text: in each frame, scrolling would take twice as long.
   */
  scheduleReport() {
    this.scheduled ??= setTimeout(() => {
      this.scheduled = undefined;
      this.reportSight();
    }, PAUSE_MS);
  }

  // ---- the reader's actions -----------------------------------------------------------------------

  /** The passage of this text in the browser's selection, or null. @returns {Span | null} */
  selectedSpan() {
    const root = this.pane.getRootNode();
    const shadowRoots = root instanceof ShadowRoot ? [root] : [];
    const all = getSelection();
    const range =
      all?.getComposedRanges?.({ shadowRoots })[0] ?? (all?.rangeCount ? all.getRangeAt(0) : null);
    if (!range || (range.startContainer === range.endContainer && range.startOffset === range.endOffset))
      return null;
    const start = this.position(range.startContainer, range.startOffset);
    const stop = this.position(range.endContainer, range.endOffset);
    if (start === null && stop === null) return null;
    const chunks = [...this.chunkViews.values()].map(({ chunk }) => chunk); // a selection may begin or end outside the text
    const first = start ?? Math.min(...chunks.map((chunk) => chunk.start));
    const last = stop ?? Math.max(...chunks.map((chunk) => chunk.start + chunk.codes.length));
    return first < last ? [first, last] : null;
  }

  /** The character at a place in the document; null outside the text. @param {Node} node @param {number} unit */
  position(node, unit) {
    const box = /** @type {HTMLElement | null} */ (node instanceof Text ? node.parentElement : node);
    const view = this.chunkViews.get(Number(box?.dataset?.index ?? -1));
    if (!view || view.box !== box) return null;
    const { start, codes } = view.chunk;
    if (node === box) return start + (unit ? codes.length : 0);
    return start + countLeading(codes.length, (i) => view.units[i + 1] <= unit);
  }

  /** Select the passage from the pinned character to another. @param {number} to */
  extend(to) {
    const from = this.pin ?? to;
    getSelection()?.removeAllRanges(); // the browser's selection would show another passage
    this.end = to;
    this.on.select?.(Math.min(from, to), Math.max(from, to) + 1);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey || !this.on.pick) return;
    const { pin } = this;
    if (step && event.shiftKey && pin !== undefined) this.extend(this.inside((this.end ?? pin) + step));
    else if (step) this.choose(this.inside((pin ?? this.sight()[0] - step) + step));
    else if (event.key === "Home") this.go(0);
    else if (event.key === "End") this.go(this.length - 1);
    else return;
    event.preventDefault();
  }

  /** @param {number} position */
  choose(position) {
    this.end = null;
    this.on.pick?.(position);
  }

  /** Call `select` after a new selection: by mouse, by touch, or by keys in a browser with a caret. */
  reportSelection() {
    const span = this.on.select && !this.pressed ? this.selectedSpan() : null;
    if (!span || String(span) === this.selection) return;
    this.selection = String(span);
    this.mark("pin", [[span[0], span[0] + 1]]);
    this.end = span[1] - 1;
    this.on.select?.(...span);
  }

  listen() {
    const { pane } = this;
    const at = (/** @type {MouseEvent} */ { clientX, clientY }) => this.under(clientX, clientY);
    pane.onpointermove = (event) => this.on.point?.(at(event));
    pane.onpointerleave = () => this.on.point?.(null);
    pane.onkeydown = (event) => this.key(event);
    pane.onpointerdown = ({ shiftKey }) => {
      this.target = null;
      if (shiftKey) return;
      this.pressed = true;
      this.selection = "";
    };
    pane.onmousedown = ({ shiftKey }) => !shiftKey; // with Shift, `extend` selects in place of the browser
    pane.onclick = (event) => {
      const position = at(event);
      if (position === null || !this.on.pick) return;
      if (event.shiftKey) this.extend(position);
      else if (!this.selection && !this.selectedSpan()) this.choose(position); // the end of a drag is no click
    };
    pane.onscroll = () => {
      // A chunk that arrives above scrolls the pane too; only a scroll away from the target is the reader's.
      const moved = Math.abs(pane.scrollTop - this.top) > 1;
      if (this.target && moved && this.find(this.target.position)) this.target = null;
      this.scheduleReport();
    };
    const { signal } = this.ending;
    const released = () => {
      this.pressed = false;
      this.reportSelection();
    };
    document.addEventListener("pointerup", released, { signal });
    document.addEventListener("pointercancel", released, { signal });
    document.addEventListener("selectionchange", () => this.reportSelection(), { signal });
  }
}
