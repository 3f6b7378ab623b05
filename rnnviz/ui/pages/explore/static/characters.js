// Text as the model sees it: code points. A JavaScript string counts UTF-16 units, of which an emoji has two.

const MARKS = { " ": "·", "\n": "⏎", "\t": "⇥", "\u3000": "□", "\u00a0": "⍽", "\u007f": "␡" };
const COMBINING = /^\p{M}$/u;
const UNSEEN = /^[\p{C}\p{Z}]$/u;

// The characters of a string, one entry a code point.
export function points(text) {
  return Array.from(text);
}

// How many code points the first `units` UTF-16 units of `text` hold.
export function toPoint(text, units, astral) {
  if (!astral) return units;
  let count = 0;
  for (let i = 0; i < units; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xd800 && code < 0xdc00 && i + 1 < text.length) i++;
    count++;
  }
  return count;
}

// The UTF-16 units of the first `count` code points.
export function toUnit(text, count, astral) {
  if (!astral) return count;
  let i = 0;
  for (; count > 0 && i < text.length; count--) {
    const code = text.charCodeAt(i);
    i += code >= 0xd800 && code < 0xdc00 && i + 1 < text.length ? 2 : 1;
  }
  return i;
}

// What the server would make of a text: line breaks as one character, no half surrogate pairs.
export function clean(text) {
  const whole = text.isWellFormed && !text.isWellFormed() ? text.toWellFormed() : text;
  return whole.includes("\r") ? whole.replace(/\r\n?/g, "\n") : whole;
}

// A mark that can be seen where a character stands alone.
export function visible(character) {
  const mark = MARKS[character];
  if (mark) return mark;
  const code = character.codePointAt(0);
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (COMBINING.test(character)) return "\u25cc" + character;
  if (UNSEEN.test(character)) return "U+" + code.toString(16).toUpperCase().padStart(4, "0");
  return character;
}

// The number of leading entries that two arrays share.
export function commonPrefix(one, other) {
  const length = Math.min(one.length, other.length);
  let i = 0;
  while (i < length && one[i] === other[i]) i++;
  return i;
}

// The number of trailing entries that they share beyond the first `prefix`.
export function commonSuffix(one, other, prefix) {
  const length = Math.min(one.length, other.length) - prefix;
  let i = 0;
  while (i < length && one[one.length - 1 - i] === other[other.length - 1 - i]) i++;
  return i;
}
