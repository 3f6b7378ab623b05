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
    this.answered = []; // the characters that the colours are about
    this.shared = [0, 0]; // how many of them stand at the start and the end of what is here now
    this.colourOf = () => "";
    this.unknownOf = () => false;
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
  // How many characters stay as they are at its start and its end.
  take(text, list = points(text)) {
    const moved = this.edges(this.points, list, this.text, text);
    this.shared = this.answered === this.points ? moved : this.edges(this.answered, list);
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

  // The colour of each character of `list`, "" for none, and whether the model doesn't know it.
  // What was typed since then has none yet.
  paint(colourOf, unknownOf, list, underline) {
    Object.assign(this, { colourOf, unknownOf, underline, answered: list });
    this.shared = list === this.points ? [list.length, 0] : this.edges(list, this.points);
    this.draw();
  }

  // How many characters two lists share at their start and their end; usually one begins with the other.
  edges(from, to, text, newText) {
    if (text !== undefined && newText.startsWith(text)) return [from.length, 0];
    const start = commonPrefix(from, to);
    return [start, commonSuffix(from, to, start)];
  }

  draw() {
    const [start, tail] = this.shared;
    const behind = this.points.length - tail;
    const ahead = this.answered.length - this.points.length;
    const was = (t) => (t < start ? t : t >= behind ? t + ahead : -1);
    this.tint.draw(
      (t) => (was(t) < 0 ? "" : this.colourOf(was(t))),
      (t) => was(t) >= 0 && this.unknownOf(was(t)),
      this.underline,
    );
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
