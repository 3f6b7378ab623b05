// Text as the model sees it: code points. A JavaScript string counts UTF-16 units, of which an emoji has two.

/** @type {Record<string, string>} */
const MARKS = { " ": "·", "\n": "⏎", "\t": "⇥", "\u3000": "□", "\u00a0": "⍽", "\u007f": "␡" };
const COMBINING = /^\p{M}$/u;
const UNSEEN = /^[\p{C}\p{Z}]$/u;
// Controls, and marks that turn the order of letters or can't be seen; not those that join emoji and scripts.
const HIDDEN =
  /^[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Co}\p{Cn}]$/u;

/** Whether the UTF-16 unit at i begins a pair. @param {string} text @param {number} i */
function pair(text, i) {
  const code = text.charCodeAt(i);
  return code >= 0xd800 && code < 0xdc00 && i + 1 < text.length;
}

/**
 * How many code points the first `units` UTF-16 units of `text` hold.
 * @param {string} text @param {number} units @param {boolean} astral whether it has pairs at all
 */
export function toPoint(text, units, astral) {
  if (!astral) return units;
  let count = 0;
  for (let i = 0; i < units; i++, count++) if (pair(text, i)) i++;
  return count;
}

/** The UTF-16 units of the first `count` code points. @param {string} text @param {number} count @param {boolean} astral */
export function toUnit(text, count, astral) {
  if (!astral) return count;
  let i = 0;
  for (; count > 0 && i < text.length; count--) i += pair(text, i) ? 2 : 1;
  return i;
}

/** What the server would make of a text: line breaks as one character, no half surrogate pairs. @param {string} text */
export function clean(text) {
  return (text.toWellFormed?.() ?? text).replace(/\r\n?/g, "\n");
}

/** U+0041. @param {number} code */
export function codeName(code) {
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** A mark that can be seen where a character stands alone. @param {string} character */
export function visible(character) {
  const mark = MARKS[character];
  const code = character.codePointAt(0);
  if (mark || code === undefined) return mark ?? "";
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (COMBINING.test(character)) return `\u25cc${character}`;
  return UNSEEN.test(character) ? codeName(code) : character;
}

/** How a character stands in running text: a line break shows a mark, and breaks. @param {number} code */
export function running(code) {
  if (code === 10) return "⏎\n";
  if (code < 0x20 && code !== 9) return String.fromCodePoint(0x2400 + code);
  const character = String.fromCodePoint(code);
  const plain = code < 0x7f || (code > 0xa0 && code < 0xad);
  return plain || !HIDDEN.test(character) ? character : `‹${codeName(code).slice(2)}›`;
}

/** The number of leading entries that two arrays share. @template T @param {T[]} one @param {T[]} other */
export function commonPrefix(one, other) {
  const length = Math.min(one.length, other.length);
  let i = 0;
  while (i < length && one[i] === other[i]) i++;
  return i;
}

/**
 * The number of trailing entries that they share beyond the first `prefix`.
 * @param {string[]} one @param {string[]} other @param {number} prefix
 */
export function commonSuffix(one, other, prefix) {
  const length = Math.min(one.length, other.length) - prefix;
  let i = 0;
  while (i < length && one[one.length - 1 - i] === other[other.length - 1 - i]) i++;
  return i;
}

/** How many of 0 .. n - 1 pass a test, which none passes after one that doesn't. @param {number} n @param {(i: number) => boolean} passes */
export function leading(n, passes) {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
