// The live view's data in the browser: arrays as long as the text, updated by each answer, and the window's arrays.

/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { Answer, Arrays, Fixed } from "./types" */

const END = "\u0003"; // the symbol of a text's end

/** @typedef {Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array} Numbers */

/** An array that grows. @template {Numbers} A */
export class Column {
  length = 0;

  /** @param {new (length: number) => A} Kind */
  constructor(Kind) {
    this.Kind = Kind;
    this.data = new Kind(1024);
  }

  /** Replace all values from index `from` on. @param {number} from @param {ArrayLike<number>} values */
  put(from, values) {
    const length = from + values.length;
    if (length > this.data.length) {
      const larger = new this.Kind(Math.max(length, 2 * this.data.length));
      larger.set(this.data.subarray(0, from));
      this.data = larger;
    }
    this.data.set(values, from);
    this.length = length;
  }
}

export class Store {
  /** @type {Fixed} the fixed part of the answers */
  fixed;
  digest = "";
  revision = 0;
  length = 0;
  /** @type {Answer} */
  header;
  nll = new Column(Float32Array);
  idColumn = new Column(Uint32Array);
  ngramRunning = new Running();
  networkRunning = new Running();
  memorylessRunning = new Running();
  unitLevels = new Column(Uint8Array);
  hasNgram = false;
  units = 0;
  listedNext = 0;
  start = 0;
  stop = 0;
  /** @type {Uint8Array} */
  states = new Uint8Array();
  /** @type {Uint32Array} */
  next = new Uint32Array();
  /** @type {Float32Array} */
  chances = new Float32Array();
  /** @type {Float32Array} */
  entropies = new Float32Array();
  /** @type {Float32Array | null} the window's reshaped predictions */
  reshaped = null;
  /** @type {Float32Array | null} the memoryless network's probabilities of the same symbols, while it is shown */
  memorylessRows = null;
  /** @type {Float32Array | null} the bits by which a character's surprisal rises without each of those before it */
  occlusion = null;
  /** @type {Uint16Array | null} */
  unitOfRow = null;

  /**
   * Take an answer. Returns false if it continues one that never arrived: then everything must be asked for again.
   * @param {Answer} header @param {Arrays} arrays
   */
  apply(header, arrays) {
    const { heldRows, start, stop, heldColumns } = header;
    const continues = this.revision > 0 && header.revision === this.revision + 1;
    if (heldRows > 0 && !continues) return false; // answers come on two paths, so one may overtake another
    if (header.fixed) {
      this.fixed = header.fixed;
      this.digest = header.digest;
    }
    if (!this.fixed || this.digest !== header.digest) return false;
    // As long as the text: the first `heldRows` rows stay, the new ones go behind them. live_answer.py has an example.
    this.idColumn.put(heldRows, arrays.ids);
    this.nll.put(heldRows, arrays.nll);
    this.networkRunning.put(heldRows, arrays.nll);
    this.hasNgram = Boolean(arrays.ngram);
    if (arrays.ngram) this.ngramRunning.put(heldRows, arrays.ngram);
    if (arrays.memoryless) this.memorylessRunning.put(heldRows, arrays.memoryless);
    if (arrays.unit) this.unitLevels.put(header.heldUnitRows, arrays.unit);
    this.header = header;
    this.length = header.length;
    this.revision = header.revision;
    const { named, units } = this.fixed;
    const sums = named.filter((entry) => entry.unit >= units && entry.quantity === header.quantity);
    this.units = units + sums.length; // weighted sums are rows behind the units
    this.listedNext = Math.min(this.fixed.listedNext, this.fixed.symbols.length + 1);
    // The window: columns low … high - 1 stay, though at another place once the window has moved by `start` - `old`.
    const old = this.start;
    const [low, high] = heldColumns;
    const end = high > low ? high + 1 : high; // n characters have n + 1 predictions
    this.states = assemble(this.states, old, arrays.states, this.units, start, stop, low, high);
    this.next = assemble(this.next, old, arrays.next, this.listedNext, start, stop + 1, low, end);
    this.chances = assemble(this.chances, old, arrays.chances, this.listedNext, start, stop + 1, low, end);
    this.entropies = assemble(this.entropies, old, arrays.entropy, 1, start, stop + 1, low, end);
    this.reshaped = arrays.reshaped ?? null;
    this.memorylessRows = arrays.memorylessNext ?? null;
    this.occlusion = arrays.occlusion ?? null;
    this.start = start;
    this.stop = stop;
    this.unitOfRow = arrays.unitOfRow ?? null;
    return true;
  }

  get ids() {
    return this.idColumn.data;
  }

  /** @param {number} t */
  bits(t) {
    return this.nll.data[t] / Math.LN2;
  }

  /** @param {number} t */
  probability(t) {
    return Math.exp(-this.nll.data[t]);
  }

  /** The bits by which the surprisal of character `occlusionAt` rises without character t; undefined if unknown. @param {number} t */
  occlusionBits(t) {
    const { occlusion, header } = this;
    if (!occlusion || header.occlusionAt === undefined || t >= header.occlusionAt) return undefined;
    return occlusion[t - header.occlusionAt + occlusion.length];
  }

  /** @param {number} t */
  isUnknown(t) {
    return this.ids[t] === 0;
  }

  /** Whether the store has the prediction after t characters. @param {number} t */
  holds(t) {
    return Boolean(this.header) && t >= this.start && t <= this.stop;
  }

  /** The prediction after t characters, the most probable symbols first. @param {number} t */
  expected(t) {
    const from = (t - this.start) * this.listedNext;
    return Array.from({ length: this.listedNext }, (_, i) => ({
      id: this.next[from + i],
      p: this.chances[from + i],
    }));
  }

  /** That prediction reshaped; undefined if it isn't. @param {number} t */
  reshapedAt(t) {
    return this.reshaped ? this.unpackRow(this.reshaped, t) : undefined;
  }

  /** The memoryless network's prediction of the same symbols; undefined while it isn't shown. @param {number} t */
  memorylessAt(t) {
    const row = this.memorylessRows ? this.unpackRow(this.memorylessRows, t) : undefined;
    // An unknown character's cost includes that of naming it among all unknown ones, as in `probability`.
    if (row && !this.reshaped && t < this.length) row.actual = Math.exp(-this.memorylessRunning.cost(t));
    return row;
  }

  /** @param {Float32Array} rows @param {number} t */
  unpackRow(rows, t) {
    const { listedNext } = this;
    const row = rows.subarray((t - this.start) * (listedNext + 2)).subarray(0, listedNext + 2);
    return { p: row.subarray(0, listedNext), actual: row[listedNext], left: row[listedNext + 1] };
  }

  /** The entropy of the prediction after t characters, in bits. @param {number} t */
  entropy(t) {
    return this.entropies[t - this.start] / Math.LN2;
  }

  /** The number of rows of the heat map: a few, or one a unit. */
  get rowCount() {
    return this.header.order === "steady"
      ? Math.min(this.units, this.fixed.steadyUnits + this.named.length)
      : this.units;
  }

  /** The named units of the heat map's quantity and layer. */
  get named() {
    const { quantity, layer } = this.header;
    return this.fixed.named.filter((entry) => entry.quantity === quantity && entry.layer === layer);
  }

  /** The unit of a row of the heat map. @param {number} row */
  unitAt(row) {
    return this.unitOfRow ? this.unitOfRow[row] : row;
  }

  /** The named weighted sum behind the units that is a row's; undefined for a unit. @param {number} unit */
  weighted(unit) {
    const { fixed, header } = this;
    if (unit < fixed.units) return undefined;
    return fixed.named.find((entry) => entry.unit === unit && entry.quantity === header.quantity);
  }

  /** What a row is called: unit 17, or a weighted sum's name. @param {number} unit @param {Phrase} phrase */
  rowName(unit, phrase) {
    return this.weighted(unit)?.name ?? phrase("colour.unit", { n: unit });
  }

  /** The row of a unit. @param {number} unit */
  unitRow(unit) {
    return this.unitOfRow ? this.unitOfRow.indexOf(unit) : unit;
  }

  /** The index of a scale's last colour, COLOUR_LEVELS - 1 of figures/themes.py. */
  get lastLevel() {
    return this.fixed.themes.light.diverging.length - 1;
  }

  /** The value behind a colour of the heat map. @param {number} t @param {number} unit */
  value(t, unit) {
    const { quantity, layer } = this.header;
    const { low, high } = this.fixed.quantities[quantity];
    const value = low + (this.states[(t - this.start) * this.units + unit] / this.lastLevel) * (high - low);
    if (quantity !== "cell") return value;
    return (value * this.fixed.reach.cell[value < 0 ? 0 : 1][layer][unit]) / high; // scaled by the unit's reach, see shown_units.py
  }

  /**
   * A value in words: exact if the answer has it, else by its colour; a bound if the colour is at an open end.
   * @param {number} t @param {number} unit @param {(value: number) => string} number
   */
  describeValue(t, unit, number) {
    const { step, quantity, unit: chosen } = this.header;
    if (step && step.at === t && chosen === unit && quantity in step) return number(step[quantity]);
    const { low } = this.fixed.quantities[quantity];
    const level = this.states[(t - this.start) * this.units + unit];
    const open = quantity === "cell" || (low === 0 && ["hidden", "candidate"].includes(quantity));
    const bound = open && level === this.lastLevel ? "≥ " : open && low < 0 && level === 0 ? "≤ " : "";
    return bound + number(this.value(t, unit));
  }

  /** The character of a symbol's id; "" for <unk>. @param {number} id */
  symbol(id) {
    return id === 0 ? "" : this.fixed.symbols[id - 1];
  }

  /** Whether the network knows where texts end. */
  get ends() {
    return this.fixed.symbols.includes(END);
  }

  /** Whether each line is a text that ends. */
  get endsByLine() {
    return this.ends && !this.fixed.symbols.includes("\n");
  }

  /** Symbols as they are typed: where each line is a text, a line end ends one. @param {string} symbols */
  typed(symbols) {
    return this.endsByLine ? symbols.replaceAll(END, "\n") : symbols;
  }
}

/** Running perplexities, from costs in nats. */
export class Running {
  sums = new Column(Float64Array);

  /** @param {number} from @param {ArrayLike<number>} costs */
  put(from, costs) {
    let sum = from > 0 ? this.sums.data[from - 1] : 0;
    this.sums.put(
      from,
      Float64Array.from(costs, (cost) => (sum += cost)),
    );
  }

  /** The cost of character t, in nats. @param {number} t */
  cost(t) {
    return this.sums.data[t] - (t ? this.sums.data[t - 1] : 0);
  }

  /** The perplexity of characters 0 … t. @param {number} t */
  perplexity(t) {
    return Math.exp(this.sums.data[t] / (t + 1));
  }
}

/**
 * Rows start .. end - 1 of a window, `width` numbers each: those from `low` to `high` - 1 come from `old`, whose first
 * row is `origin`, the others from `fresh`, in their order.
 * @template {Numbers} A
 * @param {A} old @param {number} origin @param {A} fresh @param {number} width
 * @param {number} start @param {number} end @param {number} low @param {number} high
 * @returns {A}
 */
export function assemble(old, origin, fresh, width, start, end, low, high) {
  if (high <= low) return fresh;
  const Kind = /** @type {new (length: number) => A} */ (fresh.constructor);
  const rows = new Kind((end - start) * width);
  rows.set(fresh.subarray(0, (low - start) * width));
  rows.set(old.subarray((low - origin) * width, (high - origin) * width), (low - start) * width);
  rows.set(fresh.subarray((low - start) * width), (high - start) * width);
  return rows;
}
