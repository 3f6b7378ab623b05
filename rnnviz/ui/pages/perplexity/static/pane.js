// The text itself: as many chunks as it takes to fill the pane and a little more, whatever the text's length.
// The pane scrolls as the browser scrolls; the rail beside it stands for the whole text.

import { find, make, place } from "../../../browser/static/dom.js";
import { box, paint, range, under } from "./paint.js";

/** @import { Numbers } from "../../../browser/static/numbers.js" */
/** @import { Chunks } from "./chunks.js" */
/** @import { Chunk, Fixed, Mode, Painted } from "./types" */

/**
 * @typedef {object} Listener
 * @property {() => void} need chunks are missing
 * @property {(first: number, last: number) => void} scrolled
 * @property {(position: number | null) => void} point
 * @property {(position: number) => void} pick
 * @property {(from: number, to: number) => void} mark a passage, from one character to another
 */

const AHEAD = 900; // pixels of text that are ready above and below
const FAR = 6000; // ... beyond which they are let go
const UPPER = 0.3; // where in the pane a place appears that was jumped to

export class Pane {
  /** @type {Painted[]} the chunks on the page, in their order */
  painted = [];
  /** @type {Mode} */
  mode = "surprisal";
  /** @type {Fixed} */
  fixed;
  /** @type {Numbers} */
  numbers;
  /** @type {{ position: number, keep: boolean, upper: number } | null} gone to as soon as its chunk is here */
  target = null;
  /** @type {[start: number, stop: number] | null} a passage */
  marked = null;
  /** @type {number | null} */
  pinned = null;
  /** @type {number | null} the last character of a passage that the keys make longer or shorter */
  end = null;
  scheduled = 0;

  /** @param {HTMLElement} root @param {Chunks} chunks @param {Listener} on */
  constructor(root, chunks, on) {
    this.pane = find(root, "div.vw-pane");
    this.flow = find(root, "div.vw-flow");
    this.marks = find(root, "div.vw-marks");
    this.rail = find(root, "div.vw-rail");
    this.thumb = find(root, "i.vw-thumb");
    this.chunks = chunks;
    this.on = on;
    this.listen();
  }

  reset() {
    this.flow.replaceChildren();
    this.painted = [];
    this.marked = this.pinned = null;
  }

  /** Other colours for what is there. @param {Mode} mode @param {Fixed} fixed */
  recolour(mode, fixed) {
    this.mode = mode;
    this.fixed = fixed;
    this.painted = this.painted.map(({ chunk }) => paint(chunk, mode, fixed));
    this.flow.replaceChildren(...this.painted.map(({ element }) => element));
    this.drawMarks();
  }

  /** @param {Chunk} chunk */
  append(chunk) {
    const made = paint(chunk, this.mode, this.fixed);
    this.painted.push(made);
    this.flow.append(made.element);
    return made;
  }

  /** @param {Chunk} chunk */
  prepend(chunk) {
    const made = paint(chunk, this.mode, this.fixed);
    this.painted.unshift(made);
    this.flow.prepend(made.element);
  }

  /** Show the place in sight, or the one that was wished while nothing could be, at the upper edge. */
  stay() {
    this.go(this.target?.position ?? this.sight()[0], false, 0);
  }

  /** Show a place, now or when its chunk has come; `keep` leaves it alone if it is in sight. @param {number} position */
  go(position, keep = false, upper = UPPER) {
    this.target = { position: Math.max(0, Math.min(this.chunks.length - 1, position)), keep, upper };
    this.fill();
  }

  /** Make what is in sight complete from what is held. The viewer asks for the rest by `missing`. */
  fill() {
    const { pane, flow, chunks } = this;
    if (!pane.clientHeight) return; // nothing has a place while it is hidden
    if (this.target) this.settle();
    if (!this.painted.length) return this.place();
    let { scrollTop } = pane;
    const bottom = (/** @type {Painted} */ { element }) => element.offsetTop + element.offsetHeight;
    for (let last = this.last; bottom(last) < scrollTop + pane.clientHeight + AHEAD; last = this.last) {
      const chunk = chunks.get(last.chunk.index + 1);
      if (!chunk) break;
      this.append(chunk);
    }
    while (scrollTop < AHEAD) {
      const chunk = chunks.get(this.painted[0].chunk.index - 1);
      if (!chunk) break;
      const height = flow.offsetHeight;
      this.prepend(chunk);
      scrollTop += flow.offsetHeight - height;
      pane.scrollTop = scrollTop;
    }
    while (this.painted.length > 1 && bottom(this.painted[0]) <= scrollTop - FAR) {
      const { element } = this.painted[0];
      scrollTop -= element.offsetHeight; // before the pane, shorter, has moved by itself
      element.remove();
      this.painted.shift();
      pane.scrollTop = scrollTop;
    }
    while (this.painted.length > 1 && this.last.element.offsetTop >= scrollTop + pane.clientHeight + FAR)
      this.painted.pop()?.element.remove();
    this.drawMarks();
    this.place();
  }

  get last() {
    return this.painted[this.painted.length - 1];
  }

  /** Bring the target into sight if its chunk is held. */
  settle() {
    const { pane, flow, chunks } = this;
    const chunk = this.target && chunks.around(this.target.position);
    if (!chunk || !this.target) return;
    const { position, keep, upper } = this.target;
    this.target = null;
    let shown = this.painted.find((one) => one.chunk === chunk);
    if (!shown) {
      flow.replaceChildren();
      this.painted = [];
      shown = this.append(chunk);
    }
    const rect = box(shown, position - chunk.start);
    const frame = pane.getBoundingClientRect();
    const y = rect.top - frame.top;
    if (keep && y >= 0 && y + rect.height <= frame.height) return;
    // What stands above is put there afterwards, by `fill`: until then the pane can't scroll that far.
    const wanted = pane.scrollTop + y - Math.max(8, pane.clientHeight * upper);
    const before = wanted < 0 && this.painted[0] === shown && chunks.get(chunk.index - 1);
    if (before) {
      this.prepend(before);
      pane.scrollTop = wanted + shown.element.offsetTop;
      return;
    }
    const after = flow.offsetHeight - wanted < pane.clientHeight && chunks.get(this.last.chunk.index + 1);
    if (after) this.append(after);
    pane.scrollTop = wanted;
  }

  /** Numbers of the chunks that are wanted next and not held, the most urgent first. */
  missing() {
    const { chunks, pane, flow, painted } = this;
    const wanted = [];
    if (this.target) wanted.push(...chunks.candidates(this.target.position));
    else if (painted.length) {
      const below = flow.offsetHeight - pane.scrollTop - pane.clientHeight;
      if (below < 3 * AHEAD) wanted.push(...[1, 2, 3].map((d) => this.last.chunk.index + d));
      if (pane.scrollTop < 3 * AHEAD) wanted.push(...[1, 2, 3].map((d) => painted[0].chunk.index - d));
    }
    return wanted.filter((i) => i >= 0 && i < chunks.count && !chunks.held.has(i));
  }

  /** The characters in sight: about, from the share of their chunk. @returns {[first: number, last: number]} */
  sight() {
    const { scrollTop, clientHeight } = this.pane;
    const at = (/** @type {number} */ y) => {
      const shown =
        this.painted.find(({ element }) => element.offsetTop + element.offsetHeight > y) ?? this.last;
      if (!shown) return 0;
      const { start, stop } = shown.chunk;
      const { offsetTop, offsetHeight } = shown.element;
      const share = Math.max(0, Math.min(1, (y - offsetTop) / Math.max(1, offsetHeight)));
      return Math.round(start + share * (stop - start));
    };
    return [at(scrollTop), Math.min(this.chunks.length, at(scrollTop + clientHeight))];
  }

  place() {
    const [first, last] = this.sight();
    const { length } = this.chunks;
    const { rail, thumb, numbers } = this;
    const room = rail.clientHeight;
    const share = Math.min(1, (last - first) / Math.max(1, length));
    const height = Math.max(28, share * room);
    const moved = Math.min(1, first / Math.max(1, length - (last - first)));
    place(thumb, { height: Math.min(room, height), top: moved * Math.max(0, room - height) });
    rail.classList.toggle("vw-whole", share >= 1);
    rail.setAttribute("aria-valuenow", String(first + 1));
    rail.setAttribute("aria-valuemax", String(Math.max(1, length)));
    rail.setAttribute("aria-valuetext", `${numbers.whole(first + 1)} / ${numbers.whole(length)}`);
    this.on.scrolled(first, last);
  }

  /** @param {number} position */
  pin(position) {
    this.pinned = position;
    this.end = null;
    this.drawMarks();
  }

  /** Mark a passage. @param {[start: number, stop: number]} marked @param {number} from @param {number} to */
  mark(marked, from, to) {
    this.marked = marked;
    this.pinned = from;
    this.end = to;
    this.drawMarks();
  }

  /** Frames around the passage that was jumped to and around the character that is told about. */
  drawMarks() {
    const pin = this.pinned;
    this.marks.replaceChildren(
      ...(this.marked ? this.frames(...this.marked, "vw-passage") : []),
      ...(pin === null ? [] : this.frames(pin, pin + 1, "vw-pin")),
    );
  }

  /** @param {number} start @param {number} stop @param {string} name */
  frames(start, stop, name) {
    const frame = this.flow.getBoundingClientRect();
    return this.painted.flatMap((shown) => {
      const { chunk } = shown;
      const [low, high] = [Math.max(start, chunk.start), Math.min(stop, chunk.stop)];
      if (low >= high) return [];
      /** @type {Map<number, { left: number, right: number, top: number, bottom: number }>} */
      const lines = new Map(); // the spans of one line of text become one frame
      for (const rect of range(shown, low - chunk.start, high - chunk.start).getClientRects()) {
        const key = Math.round(rect.top / 4);
        const { left, right, top, bottom } = lines.get(key) ?? rect;
        lines.set(key, { left: Math.min(left, rect.left), right: Math.max(right, rect.right), top, bottom });
      }
      const wide = [...lines.values()].filter(({ left, right }) => right - left >= 1);
      return wide.map(({ left, right, top, bottom }) => {
        const mark = make("i", name);
        mark.style.transform = `translate(${left - frame.left}px, ${top - frame.top}px)`;
        place(mark, { width: right - left, height: bottom - top });
        return mark;
      });
    });
  }

  /** The character under a point of the screen. @param {MouseEvent} event */
  under(event) {
    const span = /** @type {HTMLElement} */ (event.composedPath()[0]);
    const shown = this.painted.find(({ element }) => element === span.parentElement);
    if (span.dataset.run === undefined || !shown) return null;
    return under(shown, Number(span.dataset.run), event.clientX, event.clientY);
  }

  listen() {
    const { pane, rail, thumb, on } = this;
    const scrolled = () => {
      this.scheduled ||= requestAnimationFrame(() => {
        this.scheduled = 0;
        this.fill();
        on.need();
      });
    };
    pane.addEventListener("scroll", scrolled, { passive: true });
    pane.onpointermove = (event) => on.point(this.under(event));
    pane.onpointerleave = () => on.point(null);
    this.listenForPassages();
    pane.onkeydown = (event) => this.key(event);
    rail.onkeydown = (event) => this.railKey(event);
    rail.onpointerdown = (event) => {
      rail.setPointerCapture(event.pointerId);
      const grip = event.composedPath()[0] === thumb ? event.offsetY : thumb.clientHeight / 2;
      const drag = (/** @type {PointerEvent} */ to) => {
        const y = to.clientY - rail.getBoundingClientRect().top - grip;
        const share = y / Math.max(1, rail.clientHeight - thumb.clientHeight);
        this.jump(Math.round(Math.max(0, Math.min(1, share)) * this.chunks.length), 0);
      };
      drag(event);
      rail.onpointermove = drag;
      rail.onpointerup = rail.onpointercancel = () => {
        rail.onpointermove = null;
      };
    };
    rail.onwheel = (event) => {
      pane.scrollTop += event.deltaY;
      event.preventDefault();
    };
  }

  /** A passage is dragged over, or reaches from the character that is pinned to a Shift-click. */
  listenForPassages() {
    const { pane, on } = this;
    /** @type {number | null} */
    let from = null;
    let dragged = false;
    pane.onpointerdown = (event) => {
      from = event.button === 0 && !event.shiftKey ? this.under(event) : null;
      dragged = false;
    };
    pane.onpointerup = (event) => {
      const to = this.under(event);
      dragged = from !== null && to !== null && to !== from;
      if (from !== null && to !== null && to !== from) on.mark(from, to);
    };
    pane.onclick = (event) => {
      const position = this.under(event);
      if (position === null || dragged) return;
      if (event.shiftKey && this.pinned !== null) on.mark(this.pinned, position);
      else on.pick(position);
    };
  }

  /** @param {number} position */
  jump(position, upper = UPPER) {
    this.go(position, false, upper);
    this.on.need();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (step && event.shiftKey && this.pinned !== null) {
      const to = (this.end ?? this.pinned) + step;
      this.on.mark(this.pinned, Math.max(0, Math.min(this.chunks.length - 1, to)));
    } else if (step) {
      const from = this.pinned ?? this.sight()[0] - step;
      this.on.pick(Math.max(0, Math.min(this.chunks.length - 1, from + step)));
    } else if (event.key === "Home") this.jump(0);
    else if (event.key === "End") this.jump(this.chunks.length - 1);
    else return;
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  railKey(event) {
    const [first, last] = this.sight();
    const line = Math.max(1, last - first) / 8;
    const { length } = this.chunks;
    const steps = { ArrowUp: -line, ArrowDown: line, PageUp: -length / 50, PageDown: length / 50 };
    const step = /** @type {Record<string, number>} */ ({ ...steps, Home: -first, End: length - 1 - first })[
      event.key
    ];
    if (step === undefined) return;
    this.jump(Math.round(first + step), 0);
    event.preventDefault();
  }
}
