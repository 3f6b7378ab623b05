// Text in code points, as models read it. A JavaScript string counts UTF-16 units, of which an emoji has two.

/** @type {Record<string, string>} */
const MARKS = { " ": "·", "\n": "⏎", "\u0003": "■", "\t": "⇥", "\u3000": "□", "\u00a0": "⍽", "\u007f": "␡" };
const COMBINING = /^\p{M}$/u;
const UNSEEN = /^[\p{C}\p{Z}]$/u;
// Control characters, and marks that reverse the order of letters or are invisible; not the joiners of emoji and scripts.
const HIDDEN =
  /^[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Co}\p{Cn}]$/u;

/**
 * The number of code points in the first `units` UTF-16 units of `text`.
 * @param {string} text @param {number} units @param {boolean} hasPairs whether the text has any pairs; without, no loop is needed
 */
export function toCharacterIndex(text, units, hasPairs) {
  return hasPairs ? Array.from(text.slice(0, units)).length : units;
}

/** The number of UTF-16 units in the first `count` code points. @param {string} text @param {number} count @param {boolean} hasPairs */
export function toUtf16Index(text, count, hasPairs) {
  if (!hasPairs) return count;
  let [units, left] = [0, count];
  for (const character of text) {
    if (left-- <= 0) break;
    units += character.length;
  }
  return units;
}

/** A text as the server normalises it: line breaks of one character, no half surrogate pairs. @param {string} text */
export function clean(text) {
  return text.toWellFormed().replace(/\r\n?/g, "\n");
}

/** A code point's name, such as U+0041. @param {number} code */
export function codeName(code) {
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** A visible mark for a single character. @param {string} character */
export function visible(character) {
  const mark = MARKS[character];
  const code = character.codePointAt(0);
  if (mark || code === undefined) return mark ?? "";
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (COMBINING.test(character)) return `\u25cc${character}`;
  return UNSEEN.test(character) ? codeName(code) : character;
}

/** A character in running text: a line break becomes a mark and a break, a hidden character its code. @param {number} code */
export function runningMark(code) {
  if (code === 10) return "⏎\n";
  const character = String.fromCodePoint(code);
  if (code < 0x20 && code !== 9) return visible(character);
  const plain = code < 0x7f || (code > 0xa0 && code < 0xad);
  return plain || !HIDDEN.test(character) ? character : `‹${codeName(code).slice(2)}›`;
}

/** The number of leading entries that two arrays share. @template T @param {T[]} first @param {T[]} second */
export function commonPrefix(first, second) {
  const length = Math.min(first.length, second.length);
  let i = 0;
  while (i < length && first[i] === second[i]) i++;
  return i;
}

/**
 * The number of trailing entries that two arrays share, after the first `prefix` ones.
 * @param {string[]} first @param {string[]} second @param {number} prefix
 */
export function commonSuffix(first, second, prefix) {
  const length = Math.min(first.length, second.length) - prefix;
  let i = 0;
  while (i < length && first[first.length - 1 - i] === second[second.length - 1 - i]) i++;
  return i;
}

/** Binary search: how many of 0 .. n - 1 pass a test that is true up to some number, then false. @param {number} n @param {(i: number) => boolean} passes */
export function countLeading(n, passes) {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
