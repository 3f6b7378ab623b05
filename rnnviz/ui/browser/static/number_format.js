// Numbers in the app's language, not the browser's: the one format for all views.

const NONE = "–";
const LARGEST_NAMED = 1e15; // beyond trillions no language has a word

/** An exponent in superscript, such as ⁻¹⁶. @param {number} n */
export function raised(n) {
  return Array.from(String(n), (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)])).join("");
}

export class Numbers {
  /** @param {string} language a BCP 47 tag */
  constructor(language) {
    this.language = language;
    /** @type {Map<string, Intl.NumberFormat>} */
    this.formats = new Map();
  }

  /** @param {number} x @param {Intl.NumberFormatOptions} options */
  format(x, options) {
    const key = JSON.stringify(options);
    const format = this.formats.get(key) ?? new Intl.NumberFormat(this.language, options);
    this.formats.set(key, format);
    return format.format(x).replace("-", "−");
  }

  /** A count: 12,345. @param {number} n */
  whole(n) {
    return this.fixed(n, 0);
  }

  /** A number with so many decimals, a real minus sign, and no −0.00. @param {number | null | undefined} x */
  fixed(x, digits = 2) {
    if (x === null || x === undefined || Number.isNaN(x)) return NONE;
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return this.format(x, { ...options, signDisplay: "negative" });
  }

  /** A number with at most so many significant digits. @param {number | null | undefined} x */
  rough(x, digits = 3) {
    return Number.isFinite(x) ? this.format(Number(x), { maximumSignificantDigits: digits }) : NONE;
  }

  /** A perplexity, or bits: 4.18, 134.2, 12,345, 98.7 million, 1.2 × 10¹⁶. @param {number | null | undefined} x */
  number(x) {
    if (x === null || x === undefined || !Number.isFinite(x)) return NONE;
    if (x >= LARGEST_NAMED) return this.power(x);
    if (x >= 1e6)
      return this.format(x, { notation: "compact", compactDisplay: "long", maximumFractionDigits: 1 });
    return this.fixed(x, x >= 10000 ? 0 : x >= 100 ? 1 : 2);
  }

  /** A probability in percent; a tiny one as a power of 10. @param {number} p */
  percent(p) {
    if (p >= 0.9995) return "100 %";
    if (p >= 0.001) return `${this.fixed(100 * p, 1)} %`;
    if (p > 1e-6) return `${this.rough(100 * p, 1)} %`;
    return p > 0 ? `≈ 10${raised(Math.round(Math.log10(p)))}` : "0 %";
  }

  /** A probability in percent with few digits, for a projector. @param {number} p */
  share(p) {
    if (p >= 0.9995) return "100 %";
    return p < 0.001 ? "< 0.1 %" : `${this.fixed(100 * p, p < 0.1 ? 1 : 0)} %`;
  }

  /** The visible part of a text in words: characters from … to, of n. @param {number} first @param {number} stop @param {number} length of the text */
  window(first, stop, length) {
    const to = Math.max(first + 1, Math.min(stop, length));
    return { from: this.whole(first + 1), to: this.whole(to), n: this.whole(length) };
  }

  /** A large or tiny number as 1.2 × 10⁻¹⁶. @param {number} x */
  power(x, digits = 1) {
    const ten = x === 0 ? 0 : Math.floor(Math.log10(Math.abs(x)));
    if (ten >= -3 && ten < 6) return Math.abs(x) >= 1000 ? this.whole(x) : this.rough(x);
    return `${this.fixed(x / 10 ** ten, digits)} × 10${raised(ten)}`;
  }
}
