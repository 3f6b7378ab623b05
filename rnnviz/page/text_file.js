// A reader's text file: what is no text is refused by name, the encoding is found or as the reader says. In the order of
// rnnviz/text/decoding.py: a byte order mark declares it, valid UTF-8 is verified, anything else is a guess between
// GB18030 and Windows-1252, which the reader can change.

import { RandomNumbers } from "./random_numbers.js";
import { FileError } from "./safetensors.js";
import { END } from "./vocabulary.js";

export const MAX_TEXT_BYTES = 30e6;

/** The encodings that a reader may choose, by TextDecoder's names. */
export const ENCODINGS = {
  "utf-8": "UTF-8",
  "utf-16le": "UTF-16 LE",
  "utf-16be": "UTF-16 BE",
  gb18030: "GB18030 / GBK · 简体中文",
  "windows-1252": "Windows-1252 · Western",
};

/** @type {[encoding: string, mark: number[]][]} */
const MARKS = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

/**
 * What a file is that has these letters in Latin-1 there, and `also` near its beginning.
 * @type {[kind: "archive" | "document" | "data", format: string, letters: string, at?: number, also?: RegExp][]}
 */
const FORMATS = [
  ["document", "PDF", "%PDF-"],
  ["document", "RTF", "{\\rtf1"],
  ["document", "Office", "\xd0\xcf\x11\xe0"],
  ["document", "Office", "PK\x03\x04", 0, /\[Content_Types\]|word\/|xl\/|ppt\/|_rels\//],
  ["archive", "ZIP", "PK\x03\x04"],
  ["archive", "GZ", "\x1f\x8b"],
  ["archive", "7Z", "7z\xbc\xaf"],
  ["archive", "RAR", "Rar!\x1a"],
  ["archive", "XZ", "\xfd7zXZ"],
  ["archive", "ZST", "\x28\xb5\x2f\xfd"],
  ["data", "PNG", "\x89PNG"],
  ["data", "JPG", "\xff\xd8\xff"],
  ["data", "GIF", "GIF8"],
  ["data", "WEBP", "WEBP", 8],
  ["data", "MP3", "ID3"],
  ["data", "MP4", "ftyp", 4],
  ["data", "ELF", "\x7fELF"],
];
const IN_TEXTS = [9, 10, 11, 12, 13, 27]; // control characters that a text may have

/** The kind and the format of a file that is no text, by its first bytes. @param {Uint8Array} head */
function formatOf(head) {
  const letters = String.fromCharCode(...head);
  const binary = head.some((byte) => byte < 32 && !IN_TEXTS.includes(byte));
  return FORMATS.find(
    ([kind, , beginning, at = 0, also]) =>
      letters.startsWith(beginning, at) && (kind !== "data" || binary) && (!also || also.test(letters)),
  );
}

/** The text of bytes; null if they are not in the encoding. @param {Uint8Array} bytes @param {string} encoding */
function strictly(bytes, encoding) {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The place of the first byte that can't be decoded. @param {Uint8Array} bytes @param {string} encoding */
function damage(bytes, encoding) {
  let [sound, failing] = [0, bytes.length];
  while (failing - sound > 1) {
    const middle = (sound + failing) >> 1;
    try {
      // As a stream: what the cut leaves open is no error.
      new TextDecoder(encoding, { fatal: true }).decode(bytes.subarray(0, middle), { stream: true });
      sound = middle;
    } catch {
      failing = middle;
    }
  }
  while (strictly(bytes.subarray(0, sound), encoding) === null) sound--; // to the first byte of that character
  return sound;
}

/** Whether bytes that are not UTF-8 are Chinese: in GB 2312 both bytes of a character are 0xA1 or more. @param {Uint8Array} bytes */
function looksChinese(bytes) {
  let [pairs, others] = [0, 0];
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] < 0x80) continue;
    if (bytes[i] >= 0xa1 && bytes[i + 1] >= 0xa1) pairs++;
    else others++;
    i++;
  }
  return pairs > 4 * others;
}

/** Whether bytes that are not UTF-8 were it once: most of what is beyond ASCII still is. @param {Uint8Array} bytes */
function wasUtf8(bytes) {
  const codes = Array.from(new TextDecoder().decode(bytes), (character) => character.codePointAt(0) ?? 0);
  const damaged = codes.filter((code) => code === 0xfffd).length;
  const sound = codes.filter((code) => code > 127).length - damaged;
  return sound > 4 * damaged;
}

/** Throws a FileError for a file that is too large. @param {number} n its bytes */
export function checkSize(n) {
  if (n > MAX_TEXT_BYTES) throw new FileError("text.large", { n, most: MAX_TEXT_BYTES });
}

/**
 * The text of a file, its encoding, and how certain that is. Throws a FileError.
 * @param {Uint8Array} bytes @param {string} [chosen] the encoding that the reader says
 * @returns {{ text: string, encoding: string, certainty: "declared" | "verified" | "guessed" }}
 */
export function readText(bytes, chosen) {
  if (!bytes.length) throw new FileError("text.empty");
  checkSize(bytes.length);
  const [marked] = MARKS.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte)) ?? [];
  const declared = chosen || marked;
  if (declared) {
    const text = strictly(bytes, declared);
    if (text !== null) return { text, encoding: declared, certainty: "declared" };
    const position = damage(bytes, declared);
    throw new FileError("text.encoding", { encoding: declared, position, byte: hex(bytes[position]) });
  }
  const format = formatOf(bytes.subarray(0, 512));
  if (format) throw new FileError(`text.${format[0]}`, { format: format[1] });
  const nul = bytes.indexOf(0);
  if (nul >= 0) throw new FileError("text.binary", { position: nul });
  const text = strictly(bytes, "utf-8");
  if (text !== null) return { text, encoding: "utf-8", certainty: "verified" };
  if (wasUtf8(bytes)) {
    const position = damage(bytes, "utf-8");
    throw new FileError("text.damaged", { position, byte: hex(bytes[position]) });
  }
  const chinese = looksChinese(bytes) ? strictly(bytes, "gb18030") : null;
  return chinese === null
    ? { text: new TextDecoder("windows-1252").decode(bytes), encoding: "windows-1252", certainty: "guessed" }
    : { text: chinese, encoding: "gb18030", certainty: "guessed" };
}

/**
 * A text whose lines are texts that end, a line each; empty ones are left out. They are mixed, each time alike, so that
 * the parts of the text are alike; equal ones stay together, so that none is in two parts. @param {string} text
 */
export function mixLines(text) {
  const lines = text
    .replaceAll(END, "\ufffd")
    .split(/\r\n?|\n/)
    .filter(Boolean);
  const random = new RandomNumbers(0);
  const places = new Map(lines.map((line) => [line, random.uniform()]));
  lines.sort((a, b) => Number(places.get(a)) - Number(places.get(b)));
  return lines.map((line) => `${line}\n`).join("");
}

/** @param {number} byte */
const hex = (byte) => (byte ?? 0).toString(16).toUpperCase().padStart(2, "0");
