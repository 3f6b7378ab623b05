// The text area: what is typed there, in code points, and the colours behind it.

import { clean, commonPrefix, commonSuffix, points, toPoint } from "./characters.js";
import { Tint } from "./tint.js";

export class Editor {
  // `on`: change(), caret(), point(t | null), limit(characters left out)
  constructor(root, limit, on) {
    this.area = root.querySelector(".rv-text");
    this.tint = new Tint(this.area, root.querySelector(".rv-mirror"), root.querySelector(".rv-tint"), {
      point: root.querySelector(".rv-point"),
      pin: root.querySelector(".rv-pin"),
    });
    this.on = on;
    this.limit = limit;
    this.text = "";
    this.points = [];
    this.astral = false;
    this.composing = false;
    this.colours = []; // of each character, "" for none
    this.unknown = [];
    const area = this.area;
    area.addEventListener("compositionstart", () => (this.composing = true));
    area.addEventListener("compositionend", () => {
      this.composing = false;
      this.typed();
    });
    area.oninput = () => this.typed();
    area.onscroll = () => this.scrolled();
    area.onselect = area.onkeyup = area.onclick = () => {
      if (!this.composing) this.on.caret();
    };
    area.onpointermove = (event) => this.on.point(this.tint.under(event.clientX, event.clientY));
    area.onpointerleave = () => this.on.point(null);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(area);
    document.fonts?.ready.then(() => this.resized());
  }

  close() {
    this.observer.disconnect();
  }

  // The caret's place, in characters.
  get caret() {
    return toPoint(this.text, this.area.selectionEnd, this.astral);
  }

  typed() {
    let text = clean(this.area.value);
    let list = points(text);
    if (!this.composing) {
      const beyond = Math.max(0, list.length - this.limit);
      if (beyond) {
        list = list.slice(0, this.limit);
        text = list.join("");
        const caret = this.area.selectionEnd;
        this.area.value = text;
        this.area.setSelectionRange(caret, caret);
      }
      this.on.limit(beyond);
    }
    const moved = this.take(text, list);
    // While an input method composes, what stands there is not yet what the writer means.
    if (!this.composing) this.on.change();
    this.tint.follow(text, list, this.astral, ...moved);
    this.draw();
  }

  // Know a text, each character with the colour it had: the new colours come with the answer.
  take(text, list = points(text)) {
    const moved = this.move(this.points, list);
    this.text = text;
    this.points = list;
    this.astral = list.length !== text.length;
    return moved;
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
    const moved = this.take(clean(text));
    this.tint.follow(this.text, this.points, this.astral, ...moved);
    this.draw();
  }

  // The colours of the characters of `list`, a CSS colour or "" each, and which of them the model doesn't know.
  // What was typed since then has none yet.
  paint(colours, unknown, list, underline) {
    this.colours = colours;
    this.unknown = unknown;
    this.underline = underline;
    if (list !== this.points) this.move(list, this.points);
    this.draw();
  }

  // Take the colours along from one text to the next; how many characters stay at its start and its end.
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
    return [start, tail];
  }

  draw() {
    this.tint.draw(this.colours, this.unknown, this.underline);
  }

  scrolled() {
    this.tint.scroll = this.area.scrollTop;
    this.draw();
  }

  resized() {
    this.tint.reset();
    this.draw();
  }

  // Light a character: kind is "point" or "pin".
  light(kind, t) {
    this.tint.frame(kind, t);
  }
}
