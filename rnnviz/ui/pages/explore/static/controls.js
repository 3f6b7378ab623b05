// Buttons and selectors: examples, the heat map's contents, the text's colours, and the window's place.

import { together } from "../../../browser/static/alt_text.js";
import { visible } from "../../../browser/static/characters.js";
import { button, find, make, options, put } from "../../../browser/static/dom.js";
import { label } from "../../../browser/static/messages.js";
import { NETWORK } from "./history.js";
import { Suggestions } from "./suggestions.js";

/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { Numbers } from "../../../browser/static/number_format.js" */
/** @import { Store } from "./store.js" */
/** @import { Example, Fixed, Scale } from "./types" */
/** @import { View } from "./view.js" */

const ROW_COUNTS = [64, 24]; // numbers of rows to zoom to
const MIN_LEAD = 1.05; // the least ratio of two perplexities for a sentence: a smaller one flips with every key

export class Controls {
  /** @type {Record<string, string>} */
  drawnKeys = {};
  /** @type {{ button: HTMLButtonElement, is: () => boolean }[]} the choices of the text's colour, except "any unit" */
  colourChoices = [];
  /** @type {HTMLButtonElement} */
  any;
  /** @type {HTMLButtonElement} */
  reason;
  /** @type {HTMLButtonElement | undefined} the choice that colours the text */
  pressed;
  /** @type {HTMLElement} */
  caption;

  /** @param {View} view @param {Phrase} phrase */
  constructor(view, phrase) {
    this.view = view;
    this.phrase = phrase;
    const { fixed } = view.store;
    /** @type {HTMLElement} */
    const root = view.root;
    this.root = root;
    label(root, phrase);
    if (view.store.endsByLine) put(find(root, "p.rv-next-notice"), phrase("next.notice.ends"));
    find(root, "textarea.rv-text").placeholder = phrase("placeholder");
    this.suggestions = new Suggestions(view, phrase);
    find(root, "div.rv-chips").replaceChildren(...fixed.examples.map((example) => this.chip(example)));
    const quantities = Object.keys(fixed.quantities).map((name) => [name, phrase(`quantity.${name}`)]);
    this.choose("quantity", quantities, (quantity) => view.choose({ quantity }));
    const layers = Array.from({ length: fixed.layers }, (_, n) => [n, phrase("layer.n", { n })]);
    this.choose("layer", layers, (layer) => view.choose({ layer: Number(layer) }));
    find(root, "label.rv-layers").hidden = fixed.layers === 1;
    const showsFew = fixed.steadyUnits < fixed.units;
    const orders = [
      ["steady", phrase(showsFew ? "order.steady" : "order.slow", { n: fixed.steadyUnits })],
      ["alike", phrase("order.alike")],
      ["index", phrase("order.index")],
    ];
    this.choose("order", orders, (order) => this.setOrder(order));
    this.all = find(root, "button.rv-all");
    this.all.hidden = !showsFew;
    this.all.onclick = () => this.setOrder(view.order === "steady" ? "alike" : "steady");
    const fewer = ROW_COUNTS.filter((count) => count < fixed.units).map((count) => [count, String(count)]);
    const zooms = [[0, phrase("zoom.all", { n: fixed.units })], ...fewer];
    this.choose("zoom", zooms, (count) => view.zoom(Number(count)));
    view.figure.zoomTo(0, 0);
    this.fold = find(root, "button.rv-fold");
    this.fold.onclick = () => view.toggleFold();
    this.colours(fixed);
    this.range = find(root, "input.rv-range");
    this.range.oninput = () => view.scroll(Number(this.range.value));
    this.follow = find(root, "button.rv-follow");
    this.follow.onclick = () => view.followCaret();
    this.limit = find(root, "p.rv-limit");
    /** @type {{ [name: string]: HTMLElement }} elements of the perplexities in the legend, by line */
    this.values = {};
    this.counting = find(root, "p.rv-counting");
    this.memoryless = find(root, "input.rv-memoryless");
    this.memoryless.onchange = () => view.choose({ memoryless: this.memoryless.checked });
    find(root, "div.rv-beside").hidden = !fixed.memoryless;
    find(root, "div.rv-beside label").title = phrase("memoryless.help", { name: fixed.memoryless });
    this.buildLegend(fixed);
  }

  /** @param {string} text @param {string} title @param {() => void} act */
  button(text, title, act) {
    return Object.assign(button(text, act), { title });
  }

  /** An example's button; its title names the model that it chooses, if another. @param {Example} example */
  chip(example) {
    const { model, name } = example;
    const { titles } = this.view.store.fixed;
    const title = model ? this.phrase("examples.turn", { name: titles[model] ?? model }) : "";
    return this.button(name, title, () => this.suggestions.loadExample(example));
  }

  /** @param {string} name @param {(string | number)[][]} list [value, text] @param {(value: string) => void} act */
  choose(name, list, act) {
    const select = find(this.root, `select.rv-${name}`);
    options(select, /** @type {[string | number, string][]} */ (list), list[0][0]);
    select.onchange = () => act(select.value);
  }

  /** Make the choice of the text's colour: named units, surprisal, any unit, and "why". @param {Fixed} fixed */
  colours({ named, units }) {
    const { view, phrase } = this;
    this.colourChoices = [
      ...named.map(({ name, about, quantity, layer, unit }) => ({
        button: this.button(name, about, () => view.choose({ quantity, layer, unit })),
        // A weighted sum is a row of each layer's heat map.
        is: () => view.unit === unit && view.quantity === quantity && (view.layer === layer || unit >= units),
      })),
      {
        button: this.button(phrase("colour.surprisal"), phrase("caption.surprisal"), () =>
          view.choose({ unit: null }),
        ),
        is: () => view.unit === null,
      },
    ];
    this.reason = this.button(phrase("why"), phrase("why.help"), () => {
      const { pin, caretPlace, store, why } = view;
      if (store.length) view.askWhy(why ? null : (pin ?? Math.max(0, caretPlace - 1)));
    });
    this.any = this.button(phrase("colour.any"), phrase("colour.any.help"), () =>
      view.choose({ unit: view.store.unitAt(view.store.named.length) }),
    );
    this.caption = find(this.root, "p.rv-caption");
    find(this.root, "div.rv-colours").replaceChildren(
      ...this.colourChoices.map(({ button }) => button),
      this.any,
      this.reason,
    );
  }

  /** The row's step at the pin, in numbers, and a link to the unit or the weighted sum on Inside. @param {Store} store */
  stepCaption(store) {
    const { view, phrase } = this;
    const { pin, unit, numbers } = view;
    const { header, fixed } = store;
    const { step, moves, quantity } = header;
    if (!step || pin === null || unit === null) return null;
    const c = visible(view.characters[pin] ?? "");
    const weighted = store.weighted(unit);
    const sentence = weighted
      ? phrase("step.weighted", { c, ...weightedTerms(weighted, fixed.units, step, moves ?? [], numbers) })
      : phrase("step", { n: unit, c, formula: phrase(`step.${fixed.cell}`, stepTerms(step, numbers)) });
    const link = make("a", "", phrase(weighted ? "step.weighted.link" : "step.link"));
    const to = new URL("inside", document.baseURI);
    const row = weighted ? { direction: `card:${weighted.target}` } : { unit };
    const layer = weighted?.layer ?? header.layer;
    const query = { model: fixed.model, part: "units", ...row, layer, quantity };
    for (const [name, value] of Object.entries(query)) to.searchParams.set(name, String(value));
    link.href = to.href;
    return [sentence, ...(link.textContent ? [make("br"), link] : [])];
  }

  /** Show which choice colours the text, with its caption. */
  showColouring() {
    const { view, phrase } = this;
    const { named, unnamed, layers, units } = view.store.fixed;
    const at = view.why ? this.colourChoices.length : this.colourChoices.findIndex(({ is }) => is());
    const formerly = this.pressed;
    this.pressed = view.why ? this.reason : (this.colourChoices[at]?.button ?? this.any);
    for (const button of [...this.colourChoices.map(({ button }) => button), this.any, this.reason])
      button.ariaPressed = String(button === this.pressed);
    put(this.any, at < 0 ? phrase("colour.unit", { n: view.unit }) : phrase("colour.any"));
    // A phone has the choices in one row wider than its screen. Not scrollIntoView, which would scroll the page too.
    const row = this.pressed.parentElement;
    if (row && this.pressed !== formerly)
      row.scrollLeft =
        this.pressed.offsetLeft - row.offsetLeft - (row.clientWidth - this.pressed.offsetWidth) / 2;
    const count = view.numbers.whole(layers * units);
    const other =
      at < 0
        ? phrase("caption.unit", { n: view.unit, units: count })
        : together(phrase("caption.surprisal"), unnamed);
    const step = this.stepCaption(view.store);
    const { textContent: before } = this.caption;
    if (view.why) put(this.caption, whySentence(view.store, view.characters, view.numbers, phrase));
    else if (step) this.caption.replaceChildren(...step);
    else put(this.caption, named[at]?.caption ?? other);
    if (this.caption.textContent !== before) this.view.resized(); // the number of lines may have changed
  }

  /** Set the order of rows, without zoom. @param {string} order */
  setOrder(order) {
    this.view.figure.zoomTo(0, 0);
    find(this.root, "select.rv-zoom").value = "0";
    this.view.choose({ order });
  }

  /** Make the legend of the perplexity lines. @param {Fixed} fixed */
  buildLegend({ ngram, memoryless }) {
    put(this.counting, "");
    const { phrase } = this;
    const entries = [
      ["model", phrase("line.model")],
      ...(memoryless ? [["memoryless", phrase("line.memoryless")]] : []),
      ...(ngram ? [["ngram", ngram]] : []),
      ["uniform", phrase("line.uniform")],
    ];
    find(this.root, "span.rv-legend").replaceChildren(
      ...entries.map(([name, text]) => {
        this.values[name] = make("b");
        return make("span", `rv-line rv-line-${name}`, make("i"), text, this.values[name]);
      }),
    );
  }

  /** @param {Store} store @param {number} first the window's first character */
  draw(store, first) {
    const { view, phrase, root } = this;
    this.suggestions.draw();
    const { header, fixed } = store;
    for (const name of /** @type {const} */ (["quantity", "layer", "order"])) {
      const select = find(root, `select.rv-${name}`);
      // Even an equal value costs milliseconds to set, at every keystroke.
      if (select.value !== String(view[name])) select.value = String(view[name]);
    }
    find(root, "span.rv-by").hidden = !view.editor.writers.includes(NETWORK);
    this.showColouring();
    const steady = header.order === "steady";
    find(root, "label.rv-zooms").hidden = steady || fixed.units <= Math.min(...ROW_COUNTS);
    put(this.all, phrase(steady ? "rows.all" : "rows.few", { n: steady ? fixed.units : fixed.steadyUnits }));
    const [name, , notice] = find(root, "div.rv-title-states").children;
    put(name, phrase(`quantity.${header.quantity}`));
    const withoutState = fixed.cell === "mlp" && header.quantity === "hidden";
    const steadyStates = steady && ["hidden", "cell"].includes(header.quantity);
    put(this.fold, phrase(view.figure.folded ? "unfold" : "fold"));
    const scale = fixed.quantities[header.quantity];
    const { kind } = scale;
    put(notice, phrase(withoutState ? "notice.mlp" : `notice.${steadyStates ? kind : header.quantity}`));
    // Cell states, and a single unit behind the text, are scaled by their own reach.
    const ends = (/** @type {boolean} */ perUnit) => scaleEnds(scale, perUnit, view.numbers, phrase);
    this.drawKey("states", kind, ...ends(header.quantity === "cell"));
    // Beyond a scale's end its strongest colour stays, so the ends say that there may be more.
    const full = (/** @type {string} */ side) => phrase("bits.n", { n: side + fixed.reasonFull });
    if (view.why) this.drawKey("tint", "reason", full("≤ −"), full("≥ "));
    else if (view.unit !== null) this.drawKey("tint", kind, ...ends(scale.low < 0));
    else this.drawKey("tint", "surprisal", "0", phrase("bits.n", { n: `≥ ${fixed.surprisalFull}` }));
    const t = store.length - 1;
    const { numbers } = view;
    const at = (/** @type {number} */ value) => (t < 0 ? "" : numbers.number(value));
    put(this.values.model, at(store.networkRunning.perplexity(t)));
    const compared = store.memorylessRows !== null;
    const compareChanged = root.classList.contains("rv-comparing") !== compared;
    root.classList.toggle("rv-comparing", compared);
    this.memoryless.checked = view.memoryless;
    if (compared) put(this.values.memoryless, at(store.memorylessRunning.perplexity(t)));
    if (this.values.ngram) {
      put(this.values.ngram, at(store.ngramRunning.perplexity(t)));
      put(this.counting, compareWithCounts(store, phrase));
    }
    put(this.values.uniform, numbers.whole(fixed.symbols.length + 1));
    if (compareChanged) view.relayout(); // the legend has one more line, or one fewer
    const movable = store.length > view.columns;
    find(root, "div.rv-scrub").classList.toggle("rv-idle", !movable);
    this.range.disabled = !movable;
    this.follow.hidden = view.follow;
    if (!movable) return;
    this.range.max = String(store.length - view.columns);
    const { activeElement } = /** @type {ShadowRoot} */ (root.getRootNode());
    if (activeElement !== this.range) this.range.value = String(first);
    const sight = numbers.window(first, first + view.columns, store.length);
    put(find(root, "span.rv-where"), phrase("window.of", sight));
  }

  /**
   * Draw a scale's colours and its ends: of the heat map, or of the text's background.
   * @param {"states" | "tint"} where @param {"diverging" | "sequential" | "surprisal" | "reason"} kind
   * @param {string} low @param {string} high
   */
  drawKey(where, kind, low, high) {
    const { theme } = this.view;
    const mark = [theme.name, kind, low, high].join(" ");
    if (this.drawnKeys[where] === mark) return;
    this.drawnKeys[where] = mark;
    const bar = make("i");
    bar.style.background = `linear-gradient(to right, ${theme[kind].join(", ")})`;
    find(this.root, `span.rv-key-${where}`).replaceChildren(low, bar, high);
  }

  // ---- messages -------------------------------------------------------------------------------------

  /** Show that the text exceeds its limit. @param {number} count characters that were left out */
  showLimit(count) {
    this.limit.hidden = count === 0;
    if (count === 0) return;
    const n = this.view.numbers.whole(this.view.store.fixed.limit);
    const [before, after] = this.phrase("limit", { n }).split("{link}");
    const link = make("a", "", this.phrase("limit.link"));
    link.href = new URL("perplexity", document.baseURI).href;
    this.limit.replaceChildren(before, link.textContent ? link : "", after ?? "");
    this.view.resized();
  }

  /** Say that the network ended the text where it should have written on; the next letter takes that away. */
  showEnd() {
    this.limit.hidden = false;
    put(this.limit, this.phrase("write.ended"));
    this.view.resized();
  }

  /** @param {boolean} isLate */
  showDelay(isLate) {
    this.root.classList.toggle("rv-late", isLate);
    const waiting = this.phrase("waiting");
    if (isLate) {
      this.limit.hidden = false;
      put(this.limit, waiting);
    } else if (this.limit.textContent === waiting) this.limit.hidden = true;
  }
}

/**
 * The sentence on the earlier character that the pinned one rests on most.
 * @param {Pick<Store, "header" | "occlusion">} store @param {string[]} list the text's characters @param {Numbers} numbers @param {Phrase} phrase
 */
export function whySentence({ header, occlusion }, list, numbers, phrase) {
  if (!occlusion || header.occlusionAt === undefined) return phrase("why.help");
  const at = (/** @type {number} */ t) => visible(list[t] ?? "");
  const best = occlusion.reduce((best, bits, i) => (bits > occlusion[best] ? i : best), 0);
  const [c, bits] = [at(header.occlusionAt), numbers.fixed(occlusion[best])];
  if (occlusion[best] >= 0.005)
    return phrase("why.most", { c, bits, most: at(header.occlusionAt - occlusion.length + best) });
  return phrase(occlusion.length ? "why.none" : "why.first", { c });
}

/** The sums of a unit's step: each share is of the value beside it, and all add up to the last one. */
const SUMS = [
  { shares: { update: "before", rest: "candidate" }, sum: "hidden" },
  { shares: { forget: "cell_before", input: "candidate" }, sum: "cell" },
  { shares: { output: "tanh" }, sum: "hidden" },
];
const DECIMALS = [
  [0, 2],
  [1, 2],
  [1, 3],
  [2, 3],
]; // of percents and of values

/**
 * The numbers of a unit's step: values, and gates in percent, with the fewest decimals with which what is shown adds up.
 * @param {Record<string, number>} step @param {Numbers} numbers
 */
export function stepTerms(step, numbers) {
  /** @type {Record<string, number>} */
  const parts = { ...step, rest: 1 - step.update, tanh: Math.tanh(step.cell) };
  const words = Object.fromEntries(Object.entries(parts).map(([name, v]) => [name, numbers.fixed(v)]));
  const rounded = (/** @type {string} */ name, /** @type {number} */ digits) =>
    Number(parts[name].toFixed(digits));
  for (const { shares, sum } of SUMS) {
    const pairs = Object.entries(shares);
    if (!pairs.every(([gate]) => parts[gate] >= 0)) continue;
    const adds = (/** @type {number[]} */ [percents, values]) => {
      const products = pairs.map(([gate, factor]) => rounded(gate, percents + 2) * rounded(factor, values));
      const all = products.reduce((sum, product) => sum + product, 0);
      return Math.abs(all - rounded(sum, values)) <= 0.51 / 10 ** values;
    };
    const [percents, values] = DECIMALS.find(adds) ?? DECIMALS[DECIMALS.length - 1];
    for (const [gate, factor] of pairs) {
      words[gate] = `${numbers.fixed(100 * parts[gate], percents)} %`;
      words[factor] = numbers.fixed(parts[factor], values);
    }
    words[sum] = numbers.fixed(parts[sum], values);
  }
  return words;
}

/**
 * The numbers of a weighted sum's step: its values, and the units that moved it most with what each added.
 * @param {{ name: string, quantity: string }} weighted @param {number} units @param {Record<string, number>} step
 * @param {[unit: number, added: number][]} moves @param {Numbers} numbers
 */
export function weightedTerms({ name, quantity }, units, step, moves, numbers) {
  const signed = (/** @type {number} */ x) => (x > 0 ? "+" : "") + numbers.fixed(x);
  const said = moves.map(([unit, added]) => `${unit} (${signed(added)})`);
  const [before, now] = [step.before, step[quantity]].map((value) => numbers.fixed(value));
  return { name, units: numbers.whole(units), before, now, moves: said.join(", ") };
}

/** The sentence on who predicts the text better, the network or the n-gram model; "" without a clear lead. @param {Store} store @param {Phrase} phrase */
export function compareWithCounts({ fixed, header, length, ngramRunning, networkRunning }, phrase) {
  const t = length - 1;
  const lead = t < 0 || header.foreign ? 1 : ngramRunning.perplexity(t) / networkRunning.perplexity(t);
  const behind = fixed.cell === "mlp" ? "notice.behind.mlp" : "notice.behind";
  const words = { n: fixed.order, last: fixed.order - 1 };
  return lead > MIN_LEAD ? phrase("notice.ahead", words) : lead < 1 / MIN_LEAD ? phrase(behind, words) : "";
}

/**
 * The texts at a scale's ends: numbers, but words where each unit is scaled by its own reach.
 * @param {Pick<Scale, "low" | "high">} scale @param {boolean} perUnit @param {Numbers} numbers @param {Phrase} phrase
 * @returns {[low: string, high: string]}
 */
export function scaleEnds({ low, high }, perUnit, numbers, phrase) {
  const sign = (/** @type {number} */ x) => (x > 0 && low < 0 ? "+" : "") + numbers.rough(x);
  return perUnit ? [phrase("low"), phrase("high")] : [sign(low), sign(high)];
}
