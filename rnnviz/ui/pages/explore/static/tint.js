// The colours behind the text: painted on a canvas under the transparent text area.
//
// Where each character stands is asked of a mirror: the same text in the same font and width, never painted.
// Only what can be seen is asked for, and what stands still is not asked for twice, so that a key costs
// the same in a long text as in a short one.

import { fit } from "./heat.js";
import { toUnit } from "./characters.js";

const ABOVE = 60; // pixels above what can be seen in which boxes are still kept
const BREAK = 7; // pixels that stand for a line break, which has no width

export class Tint {
  constructor(area, mirror, canvas, marks) {
    this.area = area;
    this.mirror = mirror;
    this.canvas = canvas;
    this.marks = marks; // {point, pin}: the frames around single characters
    this.node = document.createTextNode("\u200b"); // a line break at the end takes room if something follows
    mirror.replaceChildren(this.node);
    this.range = document.createRange();
    this.text = "";
    this.points = [];
    this.astral = false;
    this.boxes = []; // [left, top, right, bottom] in the mirror, of the characters from `first` on
    this.first = 0;
    this.at = {};
  }

  // Follow the text, of which the first `start` and the last `tail` characters are as before.
  follow(text, points, astral, start, tail) {
    const from = toUnit(text, start, astral);
    const rest = units(points, tail);
    this.node.replaceData(from, this.text.length - rest - from, text.slice(from, text.length - rest));
    this.text = text;
    this.points = points;
    this.astral = astral;
    this.forget(start);
  }

  // What stands from character t on has moved: with it perhaps the end of the line before, never more.
  forget(t) {
    let i = Math.min(t - this.first, this.boxes.length) - 1;
    for (let line = 0; line < 2 && i >= 0; line++) {
      const top = this.boxes[i][1];
      while (i >= 0 && this.boxes[i][1] >= top - 1) i--;
    }
    this.boxes.length = Math.max(0, i + 1);
  }

  // Another width or another font: everything has moved.
  reset() {
    this.boxes.length = 0;
    this.scroll = this.area.scrollTop;
    this.width = this.area.clientWidth;
    this.height = this.area.clientHeight;
  }

  box(t, unit, origin) {
    const length = this.points[t].length;
    this.range.setStart(this.node, unit);
    this.range.setEnd(this.node, unit + length);
    const rect = this.range.getBoundingClientRect();
    const left = rect.left - origin.left;
    const right = this.points[t] === "\n" ? left + BREAK : rect.right - origin.left;
    return [left, rect.top - origin.top, right, rect.bottom - origin.top];
  }

  // Know the boxes of all characters that can be seen.
  measure() {
    const frame = this.mirror.getBoundingClientRect();
    const origin = { left: frame.left + this.mirror.clientLeft, top: frame.top + this.mirror.clientTop };
    const { points } = this;
    const top = this.scroll;
    const bottom = top + this.height;
    if (this.boxes[0]?.[3] < top - ABOVE) {
      const from = this.boxes.findIndex((box) => box[3] >= top);
      this.boxes = from < 0 ? [] : this.boxes.slice(from);
      this.first += Math.max(0, from);
    }
    if (!this.boxes.length || (this.first > 0 && this.boxes[0][1] > top)) {
      this.boxes = [];
      this.first = this.seenFirst(top, origin);
    }
    let t = this.first + this.boxes.length;
    let unit = toUnit(this.text, t, this.astral);
    while (t < points.length) {
      const last = this.boxes.at(-1);
      if (last && last[1] > bottom) break;
      this.boxes.push(this.box(t, unit, origin));
      unit += points[t].length;
      t++;
    }
  }

  // The first character whose line reaches below `top`, found by halving.
  seenFirst(top, origin) {
    let low = 0;
    let high = this.points.length;
    if (top < 4) return 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      const [, , , bottom] = this.box(middle, toUnit(this.text, middle, this.astral), origin);
      if (bottom < top - ABOVE / 2) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Paint behind each character its colour, a CSS colour or "", and underline what is unknown.
  draw(colourOf, unknownOf, underline) {
    if (!this.height) this.reset();
    this.measure();
    const ratio = fit(this.canvas, this.width, this.height);
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    const { boxes, first, scroll } = this;
    for (let i = 0; i < boxes.length; i++) {
      const [left, top, right, bottom] = boxes[i];
      const colour = colourOf(first + i);
      if (colour) {
        pen.fillStyle = colour;
        pen.fillRect(left, top - scroll, right - left, bottom - top);
      }
      if (unknownOf(first + i)) {
        pen.fillStyle = underline;
        pen.fillRect(left + 1, bottom - scroll - 3, Math.max(2, right - left - 2), 2);
      }
    }
    this.place();
  }

  // Frame a character: kind is "point" or "pin", t null for none.
  frame(kind, t) {
    if (this.at[kind] === t) return;
    this.at[kind] = t;
    this.place();
  }

  place() {
    for (const [kind, mark] of Object.entries(this.marks)) {
      const t = this.at[kind] ?? null;
      const box = t === null ? null : this.boxes[t - this.first];
      const y = box ? box[1] - this.scroll : -1;
      mark.hidden = !box || y < -2 || y > this.height - 8;
      if (mark.hidden) continue;
      mark.style.transform = `translate(${box[0]}px, ${y}px)`;
      mark.style.width = Math.max(3, box[2] - box[0]) + "px";
      mark.style.height = box[3] - box[1] + "px";
    }
  }

  // The character under a point of the screen, or null.
  under(x, y) {
    const origin = this.canvas.getBoundingClientRect();
    const [left, top] = [x - origin.left, y - origin.top + this.scroll];
    const i = this.boxes.findIndex((b) => left >= b[0] && left < b[2] && top >= b[1] && top < b[3]);
    return i < 0 ? null : this.first + i;
  }
}

// How many UTF-16 units the last `count` characters have.
function units(points, count) {
  let sum = 0;
  for (let i = points.length - count; i < points.length; i++) sum += points[i].length;
  return sum;
}
