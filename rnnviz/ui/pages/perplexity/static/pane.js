// The text itself: as many chunks as it takes to fill the pane and a little more, whatever the text's length.
// The pane scrolls as the browser scrolls; the rail beside it stands for the whole text.

import { box, find, paint, range } from "./paint.js";

const AHEAD = 900; // pixels of text that are ready above and below
const FAR = 6000; // ... beyond which they are let go
const UPPER = 0.3; // where in the pane a place appears that was jumped to

export class Pane {
  // `on`: need(), scrolled(), point(position | null), pick(position), words(name)
  constructor(root, chunks, on) {
    this.pane = root.querySelector(".vw-pane");
    this.flow = root.querySelector(".vw-flow");
    this.marks = root.querySelector(".vw-marks");
    this.rail = root.querySelector(".vw-rail");
    this.thumb = root.querySelector(".vw-thumb");
    this.chunks = chunks;
    this.on = on;
    this.mode = "surprisal";
    this.target = null; // a place that is gone to as soon as its chunk is here
    this.marked = null; // [start, stop) of a passage
    this.pinned = null;
    this.listen();
  }

  get elements() {
    return [...this.flow.children];
  }

  reset() {
    this.flow.replaceChildren();
    this.marked = this.pinned = null;
  }

  // Other colours for what is there.
  recolour(mode, fixed) {
    this.mode = mode;
    this.fixed = fixed;
    for (const old of this.elements) old.replaceWith(this.make(old.chunk));
    this.drawMarks();
  }

  make(chunk) {
    return paint(chunk, this.mode, this.fixed);
  }

  // Show the place in sight, or the one that was wished while nothing could be, at the upper edge.
  stay() {
    this.go(this.target?.position ?? this.sight()[0], false, 0);
  }

  // Show a place, now or when its chunk has come; `keep` leaves the place alone if it is in sight.
  go(position, keep = false, upper = UPPER) {
    this.target = { position: Math.max(0, Math.min(this.chunks.length - 1, position)), keep, upper };
    this.fill();
  }

  // Make what is in sight complete from what is held. The viewer asks for the rest by `missing`.
  fill() {
    if (!this.pane.clientHeight) return; // nothing has a place while it is hidden
    if (this.target) this.settle();
    let first = this.flow.firstElementChild;
    if (!first) return this.place();
    let { scrollTop } = this.pane;
    let last = this.flow.lastElementChild;
    for (let next; last.offsetTop + last.offsetHeight < scrollTop + this.pane.clientHeight + AHEAD; last = next) {
      const chunk = this.chunks.get(last.chunk.index + 1);
      if (!chunk) break;
      next = this.make(chunk);
      this.flow.append(next);
    }
    while (scrollTop < AHEAD) {
      const chunk = this.chunks.get(first.chunk.index - 1);
      if (!chunk) break;
      const height = this.flow.offsetHeight;
      first = this.make(chunk);
      this.flow.prepend(first);
      scrollTop += this.flow.offsetHeight - height;
      this.pane.scrollTop = scrollTop;
    }
    while (this.flow.childElementCount > 1) {
      const { offsetTop, offsetHeight } = this.flow.firstElementChild;
      if (offsetTop + offsetHeight > scrollTop - FAR) break;
      scrollTop -= offsetHeight; // before the pane, shorter, has moved by itself
      this.flow.firstElementChild.remove();
      this.pane.scrollTop = scrollTop;
    }
    while (this.flow.childElementCount > 1) {
      if (this.flow.lastElementChild.offsetTop < scrollTop + this.pane.clientHeight + FAR) break;
      this.flow.lastElementChild.remove();
    }
    this.drawMarks();
    this.place();
  }

  // Bring the target into sight if its chunk is held.
  settle() {
    const { position, keep, upper } = this.target;
    const chunk = this.chunks.around(position);
    if (!chunk) return;
    this.target = null;
    let element = this.elements.find((e) => e.chunk === chunk);
    if (!element) {
      element = this.make(chunk);
      this.flow.replaceChildren(element);
    }
    const rect = box(element, position - chunk.start);
    const frame = this.pane.getBoundingClientRect();
    const y = rect.top - frame.top;
    if (keep && y >= 0 && y + rect.height <= frame.height) return;
    // What stands above is put there afterwards, by `fill`: until then the pane can't scroll that far.
    const wanted = this.pane.scrollTop + y - Math.max(8, this.pane.clientHeight * upper);
    if (wanted < 0) {
      const before = this.chunks.get(chunk.index - 1);
      if (before && this.flow.firstElementChild === element) {
        this.flow.prepend(this.make(before));
        this.pane.scrollTop = wanted + element.offsetTop;
        return;
      }
    }
    const short = this.flow.offsetHeight - wanted < this.pane.clientHeight;
    const after = short && this.chunks.get(this.flow.lastElementChild.chunk.index + 1);
    if (after) this.flow.append(this.make(after));
    this.pane.scrollTop = wanted;
  }

  // Numbers of the chunks that are wanted next and not held, the most urgent first.
  missing() {
    const list = [];
    const want = (i) => i >= 0 && i < this.chunks.count && !this.chunks.held.has(i) && list.push(i);
    if (this.target) {
      this.chunks.candidates(this.target.position).forEach(want);
      return list;
    }
    const first = this.flow.firstElementChild;
    const last = this.flow.lastElementChild;
    if (!first) return list;
    const { scrollTop, clientHeight } = this.pane;
    const below = this.flow.offsetHeight - scrollTop - clientHeight;
    if (below < 3 * AHEAD) [1, 2, 3].forEach((d) => want(last.chunk.index + d));
    if (scrollTop < 3 * AHEAD) [1, 2, 3].forEach((d) => want(first.chunk.index - d));
    return list;
  }

  // The characters in sight: about, from the share of their chunk; [first, last).
  sight() {
    const { scrollTop, clientHeight } = this.pane;
    const at = (y) => {
      const element = this.elements.find((e) => e.offsetTop + e.offsetHeight > y) ?? this.flow.lastElementChild;
      if (!element) return 0;
      const { start, stop } = element.chunk;
      const share = Math.max(0, Math.min(1, (y - element.offsetTop) / Math.max(1, element.offsetHeight)));
      return Math.round(start + share * (stop - start));
    };
    return [at(scrollTop), Math.min(this.chunks.length, at(scrollTop + clientHeight))];
  }

  place() {
    const [first, last] = this.sight();
    const { length } = this.chunks;
    const room = this.rail.clientHeight;
    const share = Math.min(1, (last - first) / Math.max(1, length));
    const height = Math.max(28, share * room);
    const spare = Math.max(1, length - (last - first));
    this.thumb.style.height = Math.min(room, height) + "px";
    this.thumb.style.top = Math.min(1, first / spare) * Math.max(0, room - height) + "px";
    this.rail.classList.toggle("vw-whole", share >= 1);
    this.rail.setAttribute("aria-valuenow", first + 1);
    this.rail.setAttribute("aria-valuemax", Math.max(1, length));
    this.rail.setAttribute("aria-valuetext", `${(first + 1).toLocaleString()} / ${length.toLocaleString()}`);
    this.on.scrolled(first, last);
  }

  mark(start, stop) {
    this.marked = stop > start ? [start, stop] : null;
    this.drawMarks();
  }

  pin(position) {
    this.pinned = position;
    this.drawMarks();
  }

  // Frames around the passage that was jumped to and around the character that is told about.
  drawMarks() {
    const frame = this.flow.getBoundingClientRect();
    const frames = [];
    const add = (start, stop, name) => {
      for (const element of this.elements) {
        const { chunk } = element;
        const low = Math.max(start, chunk.start);
        const high = Math.min(stop, chunk.stop);
        if (low >= high) continue;
        const lines = new Map(); // the spans of one line of text become one frame
        for (const rect of range(element, low - chunk.start, high - chunk.start).getClientRects()) {
          const key = Math.round(rect.top / 4);
          const line = lines.get(key);
          if (!line) lines.set(key, { left: rect.left, right: rect.right, top: rect.top, bottom: rect.bottom });
          else {
            line.left = Math.min(line.left, rect.left);
            line.right = Math.max(line.right, rect.right);
          }
        }
        for (const line of lines.values()) {
          if (line.right - line.left < 1) continue;
          const mark = document.createElement("i");
          mark.className = name;
          mark.style.transform = `translate(${line.left - frame.left}px, ${line.top - frame.top}px)`;
          mark.style.width = line.right - line.left + "px";
          mark.style.height = line.bottom - line.top + "px";
          frames.push(mark);
        }
      }
    };
    if (this.marked) add(...this.marked, "vw-passage");
    if (this.pinned != null) add(this.pinned, this.pinned + 1, "vw-pin");
    this.marks.replaceChildren(...frames);
  }

  // The character under a point of the screen.
  under(event) {
    const span = event.composedPath()[0];
    const element = span.parentElement;
    if (span.run === undefined || !element?.chunk) return null;
    return find(element, span, event.clientX, event.clientY);
  }

  listen() {
    const { pane, rail } = this;
    pane.addEventListener("scroll", () => {
      if (this.scheduled) return;
      this.scheduled = requestAnimationFrame(() => {
        this.scheduled = 0;
        this.fill();
        this.on.need();
      });
    }, { passive: true });
    pane.onpointermove = (event) => this.on.point(this.under(event));
    pane.onpointerleave = () => this.on.point(null);
    pane.onclick = (event) => {
      const position = this.under(event);
      if (position !== null) this.on.pick(position);
    };
    pane.onkeydown = (event) => this.key(event);
    rail.onkeydown = (event) => this.railKey(event);
    rail.onpointerdown = (event) => {
      rail.setPointerCapture(event.pointerId);
      const grip = event.composedPath()[0] === this.thumb ? event.offsetY : this.thumb.clientHeight / 2;
      const drag = (to) => {
        const y = to.clientY - rail.getBoundingClientRect().top - grip;
        const share = y / Math.max(1, rail.clientHeight - this.thumb.clientHeight);
        this.jump(Math.round(Math.max(0, Math.min(1, share)) * this.chunks.length), 0);
      };
      drag(event);
      rail.onpointermove = drag;
      rail.onpointerup = rail.onpointercancel = () => (rail.onpointermove = null);
    };
    rail.onwheel = (event) => {
      pane.scrollTop += event.deltaY;
      event.preventDefault();
    };
  }

  jump(position, upper) {
    this.go(position, false, upper);
    this.on.need();
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (step) {
      const from = this.pinned ?? this.sight()[0] - step;
      this.on.pick(Math.max(0, Math.min(this.chunks.length - 1, from + step)));
    } else if (event.key === "Home") this.jump(0);
    else if (event.key === "End") this.jump(this.chunks.length - 1);
    else return;
    event.preventDefault();
  }

  railKey(event) {
    const [first, last] = this.sight();
    const page = Math.max(1, last - first);
    const { length } = this.chunks;
    const to = {
      ArrowUp: first - page / 8, ArrowDown: first + page / 8, PageUp: first - length / 50, PageDown: first + length / 50,
      Home: 0, End: length - 1,
    }[event.key];
    if (to === undefined) return;
    this.jump(Math.round(to), 0);
    event.preventDefault();
  }
}
