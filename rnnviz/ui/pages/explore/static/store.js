// What the browser knows of the text: arrays as long as it, kept up to date from answers, and the window's arrays.

const LN2 = Math.LN2;

// An array that grows; `put` replaces everything from `from` on.
class Column {
  constructor(Kind) {
    this.data = new Kind(1024);
    this.length = 0;
  }

  put(from, values) {
    const length = from + values.length;
    if (length > this.data.length) {
      const larger = new this.data.constructor(Math.max(length, 2 * this.data.length));
      larger.set(this.data.subarray(0, from));
      this.data = larger;
    }
    this.data.set(values, from);
    this.length = length;
  }
}

export class Store {
  constructor() {
    this.fixed = null; // the part of the answers that no keystroke changes
    this.digest = "";
    this.revision = 0;
    this.length = 0;
    this.head = null;
    this.columns = {
      ids: new Column(Uint32Array),
      nll: new Column(Float32Array),
      rank: new Column(Uint32Array),
      ngram: new Column(Float32Array),
      unit: new Column(Uint8Array),
      model: new Column(Float64Array),
      counts: new Column(Float64Array),
      sums: new Column(Float64Array),
      countSums: new Column(Float64Array),
    };
  }

  // Take an answer in. False if it continues one that never arrived here: then everything must be asked again.
  apply(header, arrays) {
    if (header.known > 0 && header.known > this.length) return false;
    if (header.static) {
      this.fixed = header.static;
      this.digest = header.digest;
    }
    if (!this.fixed || this.digest !== header.digest) return false;
    const c = this.columns;
    c.ids.put(header.known, arrays.ids);
    c.nll.put(header.known, arrays.nll);
    c.rank.put(header.known, arrays.rank);
    running(c.nll, c.sums, c.model, header.known);
    this.hasCounts = Boolean(arrays.ngram);
    if (arrays.ngram) {
      c.ngram.put(header.known, arrays.ngram);
      running(c.ngram, c.countSums, c.counts, header.known);
    }
    if (arrays.unit) c.unit.put(header.unitFrom, arrays.unit);
    this.head = header;
    this.length = header.length;
    this.revision = header.revision;
    this.units = this.fixed.units;
    this.listed = Math.min(this.fixed.listed, this.fixed.symbols.length + 1);
    const old = this.start ?? 0;
    const { start, stop, held } = header;
    const window = (name, fresh, width, end, keptEnd) =>
      (this[name] = assemble(this[name], old, fresh, width, start, end, held[0], keptEnd));
    const keptEnd = held[1] > held[0] ? held[1] + 1 : held[1];
    window("states", arrays.states, this.units, stop, held[1]); // (n, H), as indices of colours
    window("next", arrays.next, this.listed, stop + 1, keptEnd);
    window("chances", arrays.chances, this.listed, stop + 1, keptEnd);
    window("entropies", arrays.entropy, 1, stop + 1, keptEnd);
    this.start = start;
    this.stop = stop;
    this.rows = arrays.rows ?? null;
    this.rowOf = null;
    return true;
  }

  bits(t) {
    return this.columns.nll.data[t] / LN2;
  }

  probability(t) {
    return Math.exp(-this.columns.nll.data[t]);
  }

  rank(t) {
    return this.columns.rank.data[t];
  }

  isUnknown(t) {
    return this.columns.ids.data[t] === 0;
  }

  // Running perplexities of the model and of the n-grams, after character t.
  perplexity(t) {
    return this.columns.model.data[t];
  }

  counted(t) {
    return this.columns.counts.data[t];
  }

  // Whether the prediction after t characters is here.
  holds(t) {
    return this.head !== null && t >= this.start && t <= this.stop;
  }

  // What was expected after t characters: [{id, p}], most probable first.
  expected(t) {
    const from = (t - this.start) * this.listed;
    const list = [];
    for (let i = 0; i < this.listed; i++) list.push({ id: this.next[from + i], p: this.chances[from + i] });
    return list;
  }

  entropy(t) {
    return this.entropies[t - this.start] / LN2;
  }

  // The unit drawn in a row of the heat map, and the row of a unit.
  unitAt(row) {
    return this.rows ? this.rows[row] : row;
  }

  row(unit) {
    if (!this.rows) return unit;
    if (!this.rowOf) {
      this.rowOf = new Uint16Array(this.units);
      this.rows.forEach((u, row) => (this.rowOf[u] = row));
    }
    return this.rowOf[unit];
  }

  // The value behind a colour of the heat map, at character t.
  value(t, unit) {
    const { low, high } = this.fixed.quantities[this.head.quantity];
    return low + (this.states[(t - this.start) * this.units + unit] / 254) * (high - low);
  }

  // The character of an integer; "" for <unk>.
  symbol(id) {
    return id === 0 ? "" : this.fixed.symbols[id - 1];
  }
}

// Rows start .. end - 1 of a window: those from `low` to `high` are in `old`, whose first row is `origin`;
// `fresh` holds the others in their order.
function assemble(old, origin, fresh, width, start, end, low, high) {
  if (high <= low) return fresh;
  const rows = new fresh.constructor((end - start) * width);
  rows.set(fresh.subarray(0, (low - start) * width));
  rows.set(old.subarray((low - origin) * width, (high - origin) * width), (low - start) * width);
  rows.set(fresh.subarray((low - start) * width), (high - start) * width);
  return rows;
}

function running(costs, sums, perplexities, from) {
  const length = costs.length;
  for (const column of [sums, perplexities]) column.put(from, new Float64Array(length - from));
  let sum = from > 0 ? sums.data[from - 1] : 0;
  for (let t = from; t < length; t++) {
    sum += costs.data[t];
    sums.data[t] = sum;
    perplexities.data[t] = Math.exp(sum / (t + 1));
  }
}
