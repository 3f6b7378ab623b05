// A text's characters as a model reads them: rnnviz/text/vocabulary.py and characters.py in JavaScript.

const UNICODE_SCALAR_VALUES = 0x110000 - 0x800;
const CARRIAGE_RETURN = 13;
const LINE_FEED = 10;
/** The end of a text, U+0003, among the symbols of a network that knows where texts end. */
export const END = "\u0003";

export class Vocabulary {
  /** @param {string[]} symbols by id, from 1 on @param {Record<string, string>} replaced characters that are read as others @param {number} [end] the id of a text's end */
  constructor(symbols, replaced, end) {
    const code = (/** @type {string} */ character) => character.codePointAt(0) ?? 0;
    this.ids = new Map(symbols.map((symbol, i) => [code(symbol), i + 1]));
    if (end && isByLine(symbols)) this.ids.set(LINE_FEED, end);
    this.replaced = new Map(Object.entries(replaced).map(([from, to]) => [code(from), code(to)]));
  }

  /** The symbols of a text, 0 for an unknown character; a line end is one character. @param {string} text */
  encode(text) {
    const ids = new Uint32Array(text.length);
    let length = 0;
    for (let at = 0; at < text.length; length++) {
      const { code, end } = characterAt(text, at);
      ids[length] = this.ids.get(this.replaced.get(code) ?? code) ?? 0;
      at = end;
    }
    return ids.subarray(0, length);
  }
}

/** Whether a network that knows where texts end reads a line end so: no text that it knows has one inside. @param {string[]} symbols */
export const isByLine = (symbols) => !symbols.includes("\n");

/** The cost of being unknown beyond −log P(<unk>), in nats: one of all characters that aren't read as a symbol. @param {string[]} symbols @param {number} [end] */
export function costOfUnknown(symbols, end) {
  return Math.log(UNICODE_SCALAR_VALUES - symbols.length - Number(Boolean(end) && isByLine(symbols)));
}

/** The character that begins at a UTF-16 unit, a line end as LF, and where it ends. @param {string} text @param {number} at */
export function characterAt(text, at) {
  const code = text.codePointAt(at) ?? 0;
  if (code !== CARRIAGE_RETURN) return { code, end: at + (code > 0xffff ? 2 : 1) };
  return { code: LINE_FEED, end: at + (text.charCodeAt(at + 1) === LINE_FEED ? 2 : 1) };
}
