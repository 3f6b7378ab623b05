// The text area, and behind it the same text once more, invisible but for the colours behind its characters.
//
// Only what can be seen is made of one element a character; the rest of the mirror is plain text that
// takes the same room. So a long text costs no more than a short one.

import { clean, commonPrefix, commonSuffix, points, toPoint, toUnit } from "./characters.js";

const MARGIN = 40; // characters coloured beyond what can be seen

export class Editor {
  // `on`: change(), caret(), point(t | null), limit(left out)
  constructor(root, limit, on) {
    this.area = root.querySelector(".rv-text");
    this.mirror = root.querySelector(".rv-mirror");
    this.on = on;
    this.limit = limit;
    this.text = "";
    this.points = [];
    this.astral = false;
    this.composing = false;
    this.colours = []; // of each character, "" for none; shorter than the text while an answer is awaited
    this.unknown = [];
    this.before = document.createTextNode("");
    this.shown = document.createElement("span");
    this.after = document.createTextNode("");
    this.mirror.replaceChildren(this.before, this.shown, this.after);
    this.spans = [];
    this.from = 0; // the first character with an element of its own
    this.used = 0; // how many have one
    this.first = 0; // the first that can be seen
    this.marks = {};
    this.lit = {}; // the elements that bear the marks
    this.boxes = null;
    const area = this.area;
    area.addEventListener("compositionstart", () => (this.composing = true));
    area.addEventListener("compositionend", () => {
      this.composing = false;
      this.typed();
    });
    area.oninput = () => this.typed();
    area.onscroll = () => this.scrolled();
    area.onselect = area.onkeyup = area.onclick = () => this.moved();
    area.onpointermove = (event) => this.on.point(this.at(event.clientX, event.clientY));
    area.onpointerleave = () => this.on.point(null);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(area);
  }

  close() {
    this.observer.disconnect();
  }

  // The caret's place, in characters.
  get caret() {
    return toPoint(this.text, this.area.selectionEnd, this.astral);
  }

  typed() {
    const text = clean(this.area.value);
    let list = points(text);
    const beyond = list.length - this.limit;
    if (beyond > 0 && !this.composing) {
      list = list.slice(0, this.limit);
      const caret = this.area.selectionEnd;
      this.area.value = list.join("");
      this.area.setSelectionRange(caret, caret);
    }
    if (!this.composing) this.on.limit(Math.max(0, beyond));
    this.take(beyond > 0 && !this.composing ? list.join("") : text, list);
    // While an input method composes, what stands there is not yet what the writer means.
    if (!this.composing) this.on.change();
    this.render();
  }

  // Know the text, each character with the colour it had: the new colours come with the answer.
  take(text, list = points(text)) {
    this.move(this.points, list);
    this.text = text;
    this.points = list;
    this.astral = list.length !== text.length;
  }

  // Replace the whole text, as if it had been typed: the browser's own undo brings the old one back.
  replace(text) {
    this.insert(text, 0, this.area.value.length);
  }

  // Write at the end.
  append(text) {
    this.insert(text, this.area.value.length, this.area.value.length);
  }

  insert(text, start, end) {
    const area = this.area;
    area.focus({ preventScroll: true });
    area.setSelectionRange(start, end);
    const done = text.length < 2000 && document.execCommand("insertText", false, text);
    if (!done) {
      area.setRangeText(text, start, end, "end");
      this.typed();
    }
    area.scrollTop = area.scrollHeight;
  }

  // Put a text there that nobody typed, without asking the server about it.
  set(text) {
    if (this.area.value !== text) this.area.value = text;
    this.take(clean(text));
    this.render();
  }

  // The colours of the characters of `list`, a CSS colour or "" each, and which of them the model doesn't know.
  // What was typed since then has none yet.
  paint(colours, unknown, list) {
    this.colours = colours;
    this.unknown = unknown;
    if (list !== this.points) this.move(list, this.points);
    this.render();
  }

  // Take the colours along from one text to the next.
  move(from, to) {
    const start = commonPrefix(from, to);
    const tail = commonSuffix(from, to, start);
    const kept = from.length - tail;
    const fresh = new Array(to.length - start - tail);
    for (const name of ["colours", "unknown"]) {
      const old = this[name];
      if (kept > start) old.splice(start, kept - start);
      if (fresh.length) this[name] = old.slice(0, start).concat(fresh, old.slice(start));
    }
  }

  moved() {
    if (!this.composing) this.on.caret();
  }

  // Only here is the layout asked for: a keystroke that moves nothing must not wait for it.
  scrolled() {
    this.mirror.scrollTop = this.area.scrollTop;
    this.first = this.firstSeen();
    this.render();
    this.mirror.scrollTop = this.area.scrollTop;
  }

  resized() {
    this.boxes = null;
    this.mirror.style.height = this.area.offsetHeight + "px";
    this.measure();
    this.scrolled();
  }

  measure() {
    const style = getComputedStyle(this.area);
    this.line = parseFloat(style.lineHeight) || 24;
    const narrowest = parseFloat(style.fontSize) * 0.55 || 8;
    const lines = Math.ceil(this.area.clientHeight / this.line) + 1;
    this.capacity = Math.ceil((this.area.clientWidth / narrowest) * lines) + 2 * MARGIN;
  }

  // The first character that can be seen, found by halving: the mirror's layout is the text area's.
  firstSeen() {
    const scroll = this.area.scrollTop;
    if (scroll < 2 || this.points.length <= 400) return 0;
    const top = this.mirror.getBoundingClientRect().top;
    const range = document.createRange();
    const nodes = [this.before, ...this.spans.slice(0, this.used).map((s) => s.firstChild), this.after];
    const starts = [];
    let units = 0;
    for (const node of nodes) {
      starts.push(units);
      units += node.data.length;
    }
    const bottomOf = (unit) => {
      let n = nodes.length - 1;
      if (unit < starts[1]) n = 0;
      else if (unit < starts[n]) {
        let low = 1;
        while (low < n) {
          const middle = (low + n + 1) >> 1;
          if (starts[middle] <= unit) low = middle;
          else n = middle - 1;
        }
      }
      const node = nodes[n];
      const offset = Math.min(unit - starts[n], Math.max(0, node.data.length - 1));
      range.setStart(node, offset);
      range.setEnd(node, Math.min(node.data.length, offset + 1));
      return range.getBoundingClientRect().bottom - top;
    };
    let low = 0;
    let high = this.text.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (bottomOf(middle) < 0) low = middle + 1;
      else high = middle;
    }
    return toPoint(this.text, low, this.astral);
  }

  render() {
    if (!this.capacity) this.measure();
    const all = this.points.length <= this.capacity;
    const first = all ? 0 : Math.max(0, Math.min(this.first, this.points.length - this.capacity / 2) - MARGIN);
    const last = Math.min(this.points.length, first + this.capacity);
    const low = toUnit(this.text, first, this.astral);
    const high = toUnit(this.text, last, this.astral);
    setData(this.before, this.text.slice(0, low));
    // A last line break takes room only if something follows it.
    setData(this.after, this.text.slice(high) + "\u200b");
    this.from = first;
    this.used = last - first;
    while (this.spans.length < this.used) {
      const span = document.createElement("span");
      span.append("");
      this.spans.push(span);
      this.shown.append(span);
    }
    for (let i = 0; i < this.spans.length; i++) {
      const span = this.spans[i];
      if (i >= this.used) {
        setData(span.firstChild, "");
        setStyle(span, "", false);
        continue;
      }
      const t = first + i;
      setData(span.firstChild, this.points[t]);
      setStyle(span, this.colours[t] ?? "", this.unknown[t] ?? false);
    }
    this.boxes = null;
    this.relight();
  }

  // Light a character: kind is "point" or "pin".
  light(kind, t) {
    this.marks[kind] = t;
    this.relight();
  }

  relight() {
    for (const kind of ["point", "pin"]) {
      const t = this.marks[kind];
      const span = t == null || t < this.from || t >= this.from + this.used ? null : this.spans[t - this.from];
      if (this.lit[kind] === span) continue;
      this.lit[kind]?.classList.remove(`rv-${kind}`);
      span?.classList.add(`rv-${kind}`);
      this.lit[kind] = span;
    }
  }

  // The character under a point of the screen, or null.
  at(x, y) {
    if (!this.boxes) this.boxes = this.spans.slice(0, this.used).map((span) => span.getBoundingClientRect());
    for (let i = 0; i < this.boxes.length; i++) {
      const box = this.boxes[i];
      if (y >= box.top && y < box.bottom && x >= box.left && x < box.right) return this.from + i;
    }
    return null;
  }
}

function setData(node, text) {
  if (node.data !== text) node.data = text;
}

function setStyle(span, colour, unknown) {
  if (span.colour !== colour) {
    span.colour = colour;
    span.style.backgroundColor = colour;
  }
  if (span.unknown !== unknown) {
    span.unknown = unknown;
    span.classList.toggle("rv-unknown", unknown);
  }
}
