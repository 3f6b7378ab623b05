// The answers to the live view's asks, from the engine: the counterpart of rnnviz/page/live_session.py and
// live_answer.py in the browser, with the same headers and arrays. live_answer.py's head has an example of the
// difference that an answer holds.

import { commonPrefix } from "../ui/browser/static/characters.js";
import { Reading, weigh, write } from "./engine.js";
import { Vocabulary } from "./vocabulary.js";

/** @import { SamplingSettings } from "../ui/pages/explore/static/types" */
/** @import { Answer, Ask, BrowserRows, PageModel, Selection, PageAnswer, Tensors, WeightedSum } from "./types" */
/** @import { Counts } from "./ngram.js" */
/** @import { Network } from "./engine.js" */

const CONTINUATION_CHARS = 120;
// A tree of continuations, as in scoring/sampling.py.
const TREE_STEPS = 6;
const TREE_PATHS = 3;
const [FEWEST_BRANCHES, MOST_BRANCHES] = [2, 4];
const LEAST_PROBABILITY = 0.01;
const MAX_MOVES = 3; // units named in a weighted sum's step

export class Answers {
  revision = 0;
  /** @type {number[]} the symbols of the last answer's text */
  lastIds = [];
  /** @type {Float32Array} the n-gram model's costs, in nats */
  counted = new Float32Array();
  /** @type {Selection | null} what the last answer showed */
  lastSelection = null;
  /** @type {{ name: string, rows: number[][] }} */
  shaped = { name: "", rows: [] };

  /** @param {PageModel} model @param {Network} network @param {Counts | null} counts */
  constructor(model, network, counts) {
    this.model = model;
    this.counts = counts;
    this.network = network;
    this.vocabulary = new Vocabulary(model.fixed.symbols, model.normaliser, model.config.end);
    this.reading = new Reading(network, model.unknownCost);
    /** @type {Record<string, number[][][]>} each row's reach, (2, L, rows) by state: shown_units.py */
    this.reach = {};
    for (const [name, values] of Object.entries(model.reach)) {
      const rows = values.length / (2 * network.L);
      const layers = range(0, 2 * network.L).map((n) => [...values.subarray(n * rows, (n + 1) * rows)]);
      this.reach[name] = [layers.slice(0, network.L), layers.slice(network.L)];
    }
  }

  /** Read with other weights from now on: the view is sent all but the unchanging part. @param {Tensors} tensors */
  assign(tensors) {
    this.network.load(tensors);
    this.reading = new Reading(this.network, this.model.unknownCost);
    this.lastIds = []; // so nothing of the last answer holds any more
  }

  /** An ask's text, its symbols, and the character of its "why", or null. @param {Ask} ask */
  readAsk(ask) {
    const { model, vocabulary } = this;
    const text = (ask.text ?? (ask.fresh ? model.opening : "")).replace(/\r\n?/g, "\n");
    const symbols = Array.from(vocabulary.encode(text).subarray(0, model.fixed.limit));
    const why = ask.why && typeof ask.pin === "number" && ask.pin < symbols.length ? ask.pin : null;
    return { text, ids: symbols, why };
  }

  /** The answer to an ask, whose text is read at once. @param {Ask} ask @returns {PageAnswer} */
  answer(ask) {
    const about = this.readAsk(ask);
    this.reading.read(about.ids, about.why);
    return this.makeAnswer(ask, about);
  }

  /** The answer to an ask whose text has been read. @param {Ask} ask @param {{ text: string, ids: number[], why: number | null }} about @returns {PageAnswer} */
  makeAnswer(ask, { text, ids, why }) {
    const { model, reading } = this;
    const { fixed } = model;
    const unchanged = commonPrefix(ids, this.lastIds);
    const base = this.revision;
    this.lastIds = ids;
    this.revision += 1; // the view names the revision that it holds (`base`), as on the server
    if (this.counts) this.extendCounts(this.counts, ids, unchanged);
    const selection = this.select(ask, ids.length);
    const { length, start, stop, quantity, layer, order, unit } = selection;
    const viewRows = findBrowserRows(
      ask.base && ask.base === base ? this.lastSelection : null,
      selection,
      unchanged,
    );
    this.lastSelection = selection;
    const shape = {
      temperature: ask.temperature ?? fixed.temperature,
      top_k: ask.top_k ?? null,
      top_p: ask.top_p ?? null,
    };
    const arrays = this.content(selection, viewRows, shape, unchanged);
    const numbers = reading.numbers();
    /** @type {Answer} */
    const header = {
      client: ask.client,
      seq: ask.seq,
      revision: this.revision,
      heldRows: viewRows.textRows,
      heldUnitRows: viewRows.unitRows,
      length,
      start,
      stop,
      heldColumns: [viewRows.low, viewRows.high],
      quantity,
      layer,
      order,
      unit,
      numbers,
      foreign: foreignReason(fixed.heldOutBits, length, ids.filter((id) => id === 0).length, numbers.bits),
      digest: model.digest,
      ...(ask.digest !== model.digest && { fixed: { ...fixed, reach: this.reach } }),
      ...(ask.fresh && { text, opening: model.opening, offer: 1, ...ask.extra }),
    };
    if (unit !== null && typeof ask.pin === "number" && ask.pin < length)
      Object.assign(header, this.step(ask.pin, quantity, layer, unit));
    if (why !== null && reading.left) {
      header.occlusionAt = why;
      arrays.occlusion = reading.left.bits;
    }
    const at = Math.min(ask.at ?? 0, length);
    if (ask.write) {
      const room = Math.max(0, Math.min(CONTINUATION_CHARS, fixed.limit - length));
      const written = write(reading, at, room, shape);
      header.continuation = written.map((id) => fixed.symbols[id - 1]).join("");
    }
    if (typeof ask.tree === "number") {
      const past = Math.min(ask.tree, at);
      header.tree = { at, past };
      const tree = branches(reading, at, past, shape);
      arrays.treeParents = Uint16Array.from(tree, ({ parent }) => parent);
      arrays.treeIds = Uint32Array.from(tree, ({ id }) => id);
      arrays.treeChances = Float32Array.from(tree.flatMap(({ p, share }) => [p, share]));
    }
    return { header, arrays };
  }

  /** What an ask shows of a text; choices that this network lacks become others. @param {Ask} ask @param {number} length @returns {Selection} */
  select(ask, length) {
    const { network, model } = this;
    const columns = ask.columns ?? 120;
    const last = Math.max(0, length - columns);
    const start = Math.min(ask.start ?? last, last);
    const quantity = ask.quantity && ask.quantity in model.fixed.quantities ? ask.quantity : "hidden";
    const rows = this.reading.rowCount(quantity);
    return {
      length,
      start,
      stop: Math.min(length, start + columns),
      quantity,
      layer: Math.min(ask.layer ?? 0, network.L - 1),
      order: ask.order ?? "steady",
      unit: typeof ask.unit === "number" && ask.unit < rows ? ask.unit : null,
    };
  }

  /** Extend the n-gram model's costs from the character `unchanged` on. @param {Counts} counts @param {number[]} ids @param {number} unchanged */
  extendCounts(counts, ids, unchanged) {
    const costs = counts.costs(ids, Math.min(unchanged, this.counted.length), this.model.unknownCost);
    const counted = new Float32Array(ids.length);
    counted.set(this.counted.subarray(0, ids.length - costs.length));
    counted.set(costs, ids.length - costs.length);
    this.counted = counted;
  }

  /**
   * The arrays of an answer: a selection of the text, without the rows that the view holds.
   * @param {Selection} selection @param {BrowserRows} viewRows @param {SamplingSettings} shape @param {number} unchanged
   */
  content({ length, start, stop, quantity, layer, order, unit }, viewRows, shape, unchanged) {
    const { model, network, reading } = this;
    const { low, high } = viewRows;
    /** @type {[number, number][]} */
    const pieces = [
      [start, low],
      [high, stop],
    ];
    // A window of n characters has n + 1 predictions; the view holds the one after its last held character too.
    const places = range(start, low).concat(range(low === high ? low : high + 1, stop + 1));
    const states = pieces.map(([from, to]) => reading.plane(quantity, layer, from, to));
    const listed = places.map((t) => largest(reading.logs(t), Math.min(model.fixed.listedNext, network.V)));
    /** @type {Record<string, Uint8Array | Uint16Array | Uint32Array | Float32Array>} */
    const arrays = {
      ids: Uint32Array.from(this.lastIds.slice(viewRows.textRows)),
      nll: reading.nll.slice(viewRows.textRows, length),
      states: this.levels(concatenate(states), quantity, layer),
      next: Uint32Array.from(listed.flatMap((best) => best.ids)),
      chances: Float32Array.from(listed.flatMap((best) => best.logs.map(Math.exp))),
      entropy: Float32Array.from(places, (t) => reading.entropy[t]),
    };
    if (this.counts) arrays.ngram = this.counted.slice(viewRows.textRows);
    if (order !== "index") arrays.unitOfRow = model.rows[[order, layer, quantity].join()];
    if (unit !== null) arrays.unit = this.column(quantity, layer, unit, viewRows.unitRows, length);
    const reshaped = this.reshaped(start, stop, shape, unchanged);
    if (reshaped) arrays.reshaped = reshaped;
    return arrays;
  }

  /**
   * Colour indices of all units' values (n, H), or of one unit's (n,), as `colour_levels` in live_answer.py.
   * @param {Float32Array} values @param {string} quantity @param {number} layer @param {number} [unit]
   */
  levels(values, quantity, layer, unit) {
    const { fixed } = this.model;
    const { low, high } = fixed.quantities[quantity];
    const last = fixed.themes.light.diverging.length - 1;
    const out = new Uint8Array(values.length);
    const per = last / (high - low);
    const oneUnit = unit !== undefined;
    const reach = quantity === "cell" || (oneUnit && quantity === "hidden") ? this.reach[quantity] : null;
    for (let i = 0; i < values.length; i++) {
      const side = reach?.[values[i] < 0 ? 0 : 1][layer];
      const value = side ? (values[i] * high) / side[oneUnit ? unit : i % side.length] : values[i];
      const level = (value - low) * per;
      out[i] = Number.isNaN(level) ? Math.floor(last / 2) : Math.max(0, Math.min(last, level)) + 0.5;
    }
    return out;
  }

  /** @param {string} quantity @param {number} layer @param {number} unit @param {number} from @param {number} to */
  column(quantity, layer, unit, from, to) {
    const rows = this.reading.rowCount(quantity);
    const plane = this.reading.plane(quantity, layer, from, to);
    const values = plane.filter((_, i) => i % rows === unit);
    return this.levels(values, quantity, layer, unit);
  }

  /**
   * The step of a unit, or of a weighted sum, at character t, as `_step` in live_session.py.
   * @param {number} t @param {string} quantity @param {number} layer @param {number} unit
   * @returns {Pick<Answer, "step" | "moves">}
   */
  step(t, quantity, layer, unit) {
    const { network } = this;
    if (unit < network.H) return { step: { at: t, ...this.unitStep(t, layer, unit) } };
    return this.weightedStep(t, quantity, network.sums[quantity][unit - network.H]);
  }

  /** As `weighted_step` in live_answer.py. @param {number} t @param {string} quantity @param {WeightedSum} sum */
  weightedStep(t, quantity, { weights, bias, layer }) {
    const [before, after] = [t - 1, t].map((at) => this.reading.plane(quantity, layer, at, at + 1));
    const along = (/** @type {Float32Array} */ state) => weights.reduce((v, w, n) => v + w * state[n], bias);
    const added = Array.from(weights, (w, n) => w * (after[n] - before[n]) || 0); // NaN: nothing
    const most = added.map((_, n) => n).sort((a, b) => Math.abs(added[b]) - Math.abs(added[a]) || a - b);
    const values = { before: along(before), [quantity]: along(after) };
    const finite = Object.entries(values).filter(([, v]) => Number.isFinite(v));
    /** @type {[number, number][]} */
    const moves = most.slice(0, MAX_MOVES).map((n) => [n, added[n]]);
    return { step: { at: t, ...Object.fromEntries(finite) }, moves };
  }

  /** One unit's step at character t, as `unit_step` in live_answer.py. @param {number} t @param {number} layer @param {number} unit */
  unitStep(t, layer, unit) {
    const { model, network, reading } = this;
    const value = (/** @type {string} */ name, at = t) => reading.plane(name, layer, at, at + 1)[unit];
    /** @type {Record<string, number>} */
    const values = Object.fromEntries(Object.keys(model.fixed.quantities).map((name) => [name, value(name)]));
    if (network.hasCell) values.cell_before = value("cell", t - 1);
    values.before = value("hidden", t - 1);
    return Object.fromEntries(Object.entries(values).filter(([, v]) => Number.isFinite(v)));
  }

  /**
   * The reshaped predictions after start … stop characters, as `shaped_rows` in live_answer.py: the listed
   * probabilities, that of the actual symbol, and the number of symbols left. Null while nothing is reshaped.
   * @param {number} start @param {number} stop @param {SamplingSettings} shape @param {number} unchanged
   */
  reshaped(start, stop, shape, unchanged) {
    const { temperature, top_k, top_p } = shape;
    if (temperature === 1 && top_k === null && (top_p ?? 1) >= 1) return null;
    const name = JSON.stringify(shape);
    if (this.shaped.name !== name) this.shaped = { name, rows: [] };
    const { rows } = this.shaped;
    rows.length = Math.min(rows.length, unchanged); // the row at `unchanged` has the probability of another actual symbol
    const { reading, network, model } = this;
    const rest = range(start, stop + 1).map((t) => {
      rows[t] ??= shapedRow(
        reading.logs(t),
        Math.min(model.fixed.listedNext, network.V),
        shape,
        reading.ids[t],
      );
      return rows[t];
    });
    return Float32Array.from(rest.flat());
  }
}

/**
 * What the view holds of a selection, as `find_browser_rows` in live_answer.py: `previous` is the selection that it shows, all of
 * which it holds; null: it holds nothing. The first `unchanged` characters are as in that selection's text.
 * @param {Selection | null} previous @param {Selection} selection @param {number} unchanged @returns {BrowserRows}
 */
export function findBrowserRows(previous, selection, unchanged) {
  const { start } = selection;
  if (!previous) return { textRows: 0, unitRows: 0, low: start, high: start };
  const same = previous.quantity === selection.quantity && previous.layer === selection.layer;
  const unitRows = same && previous.unit === selection.unit ? unchanged : 0;
  const [low, high] = [Math.max(start, previous.start), Math.min(selection.stop, previous.stop, unchanged)];
  if (!same || low >= high) return { textRows: unchanged, unitRows, low: start, high: start };
  return { textRows: unchanged, unitRows, low, high };
}

/** @param {number} from @param {number} to @returns {number[]} */
const range = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);

/** @param {Float32Array[]} parts */
function concatenate(parts) {
  const out = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** The k most probable symbols; among equals the lower id first, as in numpy's stable sort. @param {Float32Array} logs @param {number} k */
function largest(logs, k) {
  /** @type {number[]} */
  const ids = [];
  logs.forEach((log, id) => {
    if (ids.length === k && log <= logs[ids[k - 1]]) return;
    let at = ids.length;
    while (at > 0 && logs[ids[at - 1]] < log) at--;
    ids.splice(at, 0, id);
    if (ids.length > k) ids.pop();
  });
  return { ids, logs: ids.map((id) => logs[id]) };
}

/**
 * The tree of continuations of a text's first t - past characters, as `branches` in scoring/sampling.py.
 * @param {Reading} reading @param {number} t @param {number} past @param {SamplingSettings} shape
 */
function branches(reading, t, past, shape) {
  const { network, width, ids } = reading;
  /** @type {{ parent: number, id: number, p: number, share: number }[]} */
  const tree = [];
  // `state` and `cell` are those after the branch of this number has been read.
  let paths = [{ number: 0, reach: 1, state: reading.row(t - past), cell: reading.cell(t - past) }];
  for (let step = 0; step < TREE_STEPS; step++) {
    const actual = step < past ? ids[t - past + step] : null;
    const reaches = paths.map(({ reach }) => reach);
    const likeliestPath = reaches.indexOf(Math.max(...reaches));
    const reached = paths.flatMap(({ number, reach, state, cell }, n) => {
      const logs = new Float32Array(network.V);
      if (Number.isNaN(network.predict(state, logs))) return [];
      const drawn = shares(logs, shape);
      const likeliest = largest(logs.subarray(1), n === likeliestPath ? MOST_BRANCHES : FEWEST_BRANCHES);
      const symbols = likeliest.ids.map((i) => i + 1); // without <unk>, which is never drawn
      const isRare = (/** @type {number} */ id) => Math.exp(logs[id]) < LEAST_PROBABILITY;
      while (symbols.length > FEWEST_BRANCHES && isRare(symbols[symbols.length - 1])) symbols.pop();
      if (actual !== null && !symbols.includes(actual)) symbols.push(actual);
      return symbols.map((id) => {
        const share = drawn.get(id) ?? 0;
        tree.push({ parent: number, id, p: Math.exp(logs[id]), share });
        return { number: tree.length, id, share, reach: reach * share, state, cell };
      });
    });
    const mayGoOn = reached.filter(({ id, share }) => share >= LEAST_PROBABILITY && id !== network.end);
    const likely = mayGoOn.sort((a, b) => b.reach - a.reach);
    const kept = likely.slice(0, TREE_PATHS).sort((a, b) => a.number - b.number);
    const goingOn = actual === null ? kept : reached.filter(({ id }) => id === actual);
    paths = goingOn.map(({ number, id, reach, state, cell }) => {
      const [after, next] = [new Float32Array(width), cell && new Float32Array(width)];
      network.step(id, state, after, cell, next);
      return { number, reach: actual === null ? reach : 1, state: after, cell: next };
    });
  }
  return tree;
}

/** The probabilities that sampling draws symbols with, by symbol. @param {Float32Array} logs @param {SamplingSettings} shape */
function shares(logs, shape) {
  const { symbols, weights } = weigh(logs, shape);
  const sum = weights.reduce((a, b) => a + b, 0);
  return new Map(symbols.map((id, i) => [id, weights[i] / sum]));
}

/** @param {Float32Array} logs @param {number} k @param {SamplingSettings} shape @param {number | undefined} actual */
function shapedRow(logs, k, shape, actual) {
  const share = shares(logs, shape);
  const listed = largest(logs, k).ids.map((id) => share.get(id) ?? 0);
  return [...listed, share.get(actual ?? -1) ?? 0, [...share.values()].filter((p) => p > 0).length];
}

/**
 * The reason why a text is foreign to the model, or "", as `foreign_reason` in networks/contamination.py.
 * @param {number | null} heldOutBits bits per character of the model's held-out text
 * @param {number} characters @param {number} unknown @param {number | null} bits
 * @returns {"" | "unknown" | "surprise"}
 */
function foreignReason(heldOutBits, characters, unknown, bits) {
  if (characters < 10) return "";
  if (unknown > 0.1 * characters) return "unknown";
  if (bits === null || heldOutBits === null) return "";
  return bits - heldOutBits > Math.max(2, heldOutBits / 2) + 40 / characters ? "surprise" : "";
}
