// Buttons and selectors: examples, the heat map's contents, the text's colours, and the window's place.

import { together } from "../../../browser/static/alt_text.js";
import { visible } from "../../../browser/static/characters.js";
import { button, find, make, options, put } from "../../../browser/static/dom.js";
import { label } from "../../../browser/static/messages.js";
import { Advice } from "./advice.js";
import { NETWORK } from "./history.js";

/** @import { Say } from "../../../browser/static/messages.js" */
/** @import { Numbers } from "../../../browser/static/number_format.js" */
/** @import { Store } from "./store.js" */
/** @import { Example, Fixed, Scale } from "./types" */
/** @import { View } from "./view.js" */

const ROWS = [64, 24]; // numbers of rows to zoom to
const LEAD = 1.05; // the least ratio of two perplexities for a sentence: a smaller one flips with every key

export class Controls {
  /** @type {Record<string, string>} */
  keyed = {};
  /** @type {{ button: HTMLButtonElement, is: () => boolean }[]} the choices of the text's colour, except "any unit" */
  tinting = [];
  /** @type {HTMLButtonElement} */
  any;
  /** @type {HTMLButtonElement} */
  reason;
  /** @type {HTMLElement} */
  caption;

  /** @param {View} view @param {Say} say */
  constructor(view, say) {
    this.view = view;
    this.say = say;
    const { fixed } = view.store;
    /** @type {HTMLElement} */
    const root = view.root;
    this.root = root;
    label(root, say);
    find(root, "textarea.rv-text").placeholder = say("placeholder");
    this.advice = new Advice(view, say);
    find(root, "div.rv-chips").replaceChildren(...fixed.examples.map((example) => this.chip(example)));
    const quantities = Object.keys(fixed.quantities).map((name) => [name, say(`quantity.${name}`)]);
    this.choose("quantity", quantities, (quantity) => view.choose({ quantity }));
    const layers = Array.from({ length: fixed.layers }, (_, n) => [n, say("layer.n", { n })]);
    this.choose("layer", layers, (layer) => view.choose({ layer: Number(layer) }));
    find(root, "label.rv-layers").hidden = fixed.layers === 1;
    const some = fixed.few < fixed.units;
    const orders = [
      ["steady", say(some ? "order.steady" : "order.slow", { n: fixed.few })],
      ["alike", say("order.alike")],
      ["index", say("order.index")],
    ];
    this.choose("order", orders, (order) => this.order(order));
    this.all = find(root, "button.rv-all");
    this.all.hidden = !some;
    this.all.onclick = () => this.order(view.order === "steady" ? "alike" : "steady");
    const fewer = ROWS.filter((count) => count < fixed.units).map((count) => [count, String(count)]);
    const zooms = [[0, say("zoom.all", { n: fixed.units })], ...fewer];
    this.choose("zoom", zooms, (count) => view.zoom(Number(count)));
    view.figure.zoomTo(0, 0);
    this.fold = find(root, "button.rv-fold");
    this.fold.onclick = () => view.fold();
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
    find(root, "div.rv-beside label").title = say("memoryless.help", { name: fixed.memoryless });
    this.legend(fixed);
  }

  /** @param {string} text @param {string} title @param {() => void} act */
  button(text, title, act) {
    return Object.assign(button(text, act), { title });
  }

  /** An example's button; its title names the model that it chooses, if another. @param {Example} example */
  chip(example) {
    const { model, name } = example;
    const { titles } = this.view.store.fixed;
    const title = model ? this.say("examples.turn", { name: titles[model] ?? model }) : "";
    return this.button(name, title, () => this.advice.show(example));
  }

  /** @param {string} name @param {(string | number)[][]} list [value, text] @param {(value: string) => void} act */
  choose(name, list, act) {
    const select = find(this.root, `select.rv-${name}`);
    options(select, /** @type {[string | number, string][]} */ (list), list[0][0]);
    select.onchange = () => act(select.value);
  }

  /** Make the choice of the text's colour: named units, surprisal, any unit, and "why". @param {Fixed} fixed */
  colours({ named }) {
    const { view, say } = this;
    this.tinting = [
      ...named.map(({ name, about, quantity, layer, unit }) => ({
        button: this.button(name, about, () => view.choose({ quantity, layer, unit })),
        is: () => view.unit === unit && view.quantity === quantity && view.layer === layer,
      })),
      {
        button: this.button(say("colour.surprisal"), say("caption.surprisal"), () =>
          view.choose({ unit: null }),
        ),
        is: () => view.unit === null,
      },
    ];
    this.reason = this.button(say("why"), say("why.help"), () => {
      const { pin, here, store, why } = view;
      if (store.length) view.wonder(why ? null : (pin ?? Math.max(0, here - 1)));
    });
    this.any = this.button(say("colour.any"), say("colour.any.help"), () =>
      view.choose({ unit: view.store.unitAt(view.store.named.length) }),
    );
    this.caption = find(this.root, "p.rv-caption");
    find(this.root, "div.rv-colours").replaceChildren(
      ...this.tinting.map(({ button }) => button),
      this.any,
      this.reason,
    );
  }

  /** The equation of the unit's step at the pin, in numbers, and a link to the unit on Inside. @param {Store} store */
  step({ head, fixed }) {
    const { view, say } = this;
    const { pin, unit, numbers } = view;
    const { step } = head;
    if (!step || pin === null) return null;
    const formula = say(`step.${fixed.cell}`, terms(step, numbers));
    const said = say("step", { n: unit, c: visible(view.drawn[pin] ?? ""), formula });
    const link = make("a", "", say("step.link"));
    const to = new URL("inside", document.baseURI);
    const query = { model: fixed.model, part: "units", unit, layer: head.layer, quantity: head.quantity };
    for (const [name, value] of Object.entries(query)) to.searchParams.set(name, String(value));
    link.href = to.href;
    return [said, ...(link.textContent ? [make("br"), link] : [])];
  }

  /** Show which choice colours the text, with its caption. */
  tell() {
    const { view, say } = this;
    const { named, unnamed, layers, units } = view.store.fixed;
    const at = view.why ? this.tinting.length : this.tinting.findIndex(({ is }) => is());
    this.reason.ariaPressed = String(view.why);
    for (const [i, { button }] of this.tinting.entries()) button.ariaPressed = String(i === at);
    this.any.ariaPressed = String(at < 0);
    put(this.any, at < 0 ? say("colour.unit", { n: view.unit }) : say("colour.any"));
    const count = view.numbers.whole(layers * units);
    const other =
      at < 0
        ? say("caption.unit", { n: view.unit, units: count })
        : together(say("caption.surprisal"), unnamed);
    const step = this.step(view.store);
    const { textContent: before } = this.caption;
    if (view.why) put(this.caption, because(view.store, view.drawn, view.numbers, say));
    else if (step) this.caption.replaceChildren(...step);
    else put(this.caption, named[at]?.caption ?? other);
    if (this.caption.textContent !== before) this.view.resized(); // the number of lines may have changed
  }

  /** Set the order of rows, without zoom. @param {string} order */
  order(order) {
    this.view.figure.zoomTo(0, 0);
    find(this.root, "select.rv-zoom").value = "0";
    this.view.choose({ order });
  }

  /** Make the legend of the perplexity lines. @param {Fixed} fixed */
  legend({ ngram, memoryless }) {
    put(this.counting, "");
    const { say } = this;
    const entries = [
      ["model", say("line.model")],
      ...(memoryless ? [["memoryless", say("line.memoryless")]] : []),
      ...(ngram ? [["ngram", ngram]] : []),
      ["uniform", say("line.uniform")],
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
    const { view, say, root } = this;
    this.advice.draw();
    const { head, fixed } = store;
    for (const name of /** @type {const} */ (["quantity", "layer", "order"])) {
      const select = find(root, `select.rv-${name}`);
      // Even an equal value costs milliseconds to set, at every keystroke.
      if (select.value !== String(view[name])) select.value = String(view[name]);
    }
    find(root, "span.rv-by").hidden = !view.editor.by.includes(NETWORK);
    this.tell();
    const steady = head.order === "steady";
    find(root, "label.rv-zooms").hidden = steady || fixed.units <= Math.min(...ROWS);
    put(this.all, say(steady ? "rows.all" : "rows.few", { n: steady ? fixed.units : fixed.few }));
    const [name, , notice] = find(root, "div.rv-title-states").children;
    put(name, say(`quantity.${head.quantity}`));
    const forgetful = fixed.cell === "mlp" && head.quantity === "hidden";
    const held = steady && ["hidden", "cell"].includes(head.quantity);
    put(this.fold, say(view.figure.folded ? "unfold" : "fold"));
    const scale = fixed.quantities[head.quantity];
    const { kind } = scale;
    put(notice, say(forgetful ? "notice.mlp" : `notice.${held ? kind : head.quantity}`));
    // Cell states, and a single unit behind the text, are scaled by their own reach.
    const ends = (/** @type {boolean} */ own) => scaleEnds(scale, own, view.numbers, say);
    this.drawKey("states", kind, ...ends(head.quantity === "cell"));
    // Beyond a scale's end its strongest colour stays, so the ends say that there may be more.
    const full = (/** @type {string} */ side) => say("bits.n", { n: side + fixed.reasonFull });
    if (view.why) this.drawKey("tint", "reason", full("≤ −"), full("≥ "));
    else if (view.unit !== null) this.drawKey("tint", kind, ...ends(scale.low < 0));
    else this.drawKey("tint", "surprisal", "0", say("bits.n", { n: `≥ ${fixed.surprisalFull}` }));
    const t = store.length - 1;
    const { numbers } = view;
    const at = (/** @type {number} */ value) => (t < 0 ? "" : numbers.number(value));
    put(this.values.model, at(store.predicted.perplexity(t)));
    const compared = store.others !== null;
    const turned = root.classList.contains("rv-comparing") !== compared;
    root.classList.toggle("rv-comparing", compared);
    this.memoryless.checked = view.memoryless;
    if (compared) put(this.values.memoryless, at(store.forgetful.perplexity(t)));
    if (this.values.ngram) {
      put(this.values.ngram, at(store.counted.perplexity(t)));
      put(this.counting, besideCounts(store, say));
    }
    put(this.values.uniform, numbers.whole(fixed.symbols.length + 1));
    if (turned) view.laidOut(); // the legend has one more line, or one fewer
    const movable = store.length > view.columns;
    find(root, "div.rv-scrub").classList.toggle("rv-idle", !movable);
    this.range.disabled = !movable;
    this.follow.hidden = view.follow;
    if (!movable) return;
    this.range.max = String(store.length - view.columns);
    const { activeElement } = /** @type {ShadowRoot} */ (root.getRootNode());
    if (activeElement !== this.range) this.range.value = String(first);
    put(find(root, "span.rv-where"), say("window.of", inSight(first, view.columns, store.length, numbers)));
  }

  /**
   * Draw a scale's colours and its ends: of the heat map, or of the text's background.
   * @param {"states" | "tint"} where @param {"diverging" | "sequential" | "surprisal" | "reason"} kind
   * @param {string} low @param {string} high
   */
  drawKey(where, kind, low, high) {
    const { theme } = this.view;
    const mark = [theme.name, kind, low, high].join(" ");
    if (this.keyed[where] === mark) return;
    this.keyed[where] = mark;
    const bar = make("i");
    bar.style.background = `linear-gradient(to right, ${stops(theme[kind]).join(", ")})`;
    find(this.root, `span.rv-key-${where}`).replaceChildren(low, bar, high);
  }

  // ---- messages -------------------------------------------------------------------------------------

  /** Show that the text exceeds its limit. @param {number} count characters that were left out */
  beyond(count) {
    this.limit.hidden = count === 0;
    if (count === 0) return;
    const n = this.view.numbers.whole(this.view.store.fixed.limit);
    const [before, after] = this.say("limit", { n }).split("{link}");
    const link = make("a", "", this.say("limit.link"));
    link.href = new URL("perplexity", document.baseURI).href;
    this.limit.replaceChildren(before, link.textContent ? link : "", after ?? "");
    this.view.resized();
  }

  /** Show that Plotly could not be loaded. @param {string} url its address */
  missing(url) {
    this.limit.hidden = false;
    put(this.limit, this.say("plotly.missing", { url }));
  }

  /** @param {boolean} is */
  late(is) {
    this.root.classList.toggle("rv-late", is);
    const waiting = this.say("waiting");
    if (is) {
      this.limit.hidden = false;
      put(this.limit, waiting);
    } else if (this.limit.textContent === waiting) this.limit.hidden = true;
  }
}

/**
 * The sentence on the earlier character that the pinned one rests on most.
 * @param {Pick<Store, "head" | "why">} store @param {string[]} list the text's characters @param {Numbers} numbers @param {Say} say
 */
export function because({ head, why }, list, numbers, say) {
  if (!why || head.why === undefined) return say("why.help");
  const at = (/** @type {number} */ t) => visible(list[t] ?? "");
  const best = why.reduce((best, bits, i) => (bits > why[best] ? i : best), 0);
  const [c, bits] = [at(head.why), numbers.fixed(why[best])];
  if (why[best] >= 0.005) return say("why.most", { c, bits, most: at(head.why - why.length + best) });
  return say(why.length ? "why.none" : "why.first", { c });
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
export function terms(step, numbers) {
  /** @type {Record<string, number>} */
  const known = { ...step, rest: 1 - step.update, tanh: Math.tanh(step.cell) };
  const said = Object.fromEntries(Object.entries(known).map(([name, v]) => [name, numbers.fixed(v)]));
  const seen = (/** @type {string} */ name, /** @type {number} */ digits) =>
    Number(known[name].toFixed(digits));
  for (const { shares, sum } of SUMS) {
    const pairs = Object.entries(shares);
    if (!pairs.every(([gate]) => known[gate] >= 0)) continue;
    const adds = (/** @type {number[]} */ [percents, values]) => {
      const all = pairs.reduce((sum, [gate, of]) => sum + seen(gate, percents + 2) * seen(of, values), 0);
      return Math.abs(all - seen(sum, values)) <= 0.51 / 10 ** values;
    };
    const [percents, values] = DECIMALS.find(adds) ?? DECIMALS[DECIMALS.length - 1];
    for (const [gate, of] of pairs) {
      said[gate] = `${numbers.fixed(100 * known[gate], percents)} %`;
      said[of] = numbers.fixed(known[of], values);
    }
    said[sum] = numbers.fixed(known[sum], values);
  }
  return said;
}

/** The sentence on who predicts the text better, the network or the n-gram model; "" without a clear lead. @param {Store} store @param {Say} say */
export function besideCounts({ fixed, head, length, counted, predicted }, say) {
  const t = length - 1;
  const lead = t < 0 || head.foreign ? 1 : counted.perplexity(t) / predicted.perplexity(t);
  const behind = fixed.cell === "mlp" ? "notice.behind.mlp" : "notice.behind";
  const words = { n: fixed.order, last: fixed.order - 1 };
  return lead > LEAD ? say("notice.ahead", words) : lead < 1 / LEAD ? say(behind, words) : "";
}

/**
 * The texts at a scale's ends: numbers, but words where each unit is scaled by its own reach.
 * @param {Pick<Scale, "low" | "high">} scale @param {boolean} own @param {Numbers} numbers @param {Say} say
 * @returns {[low: string, high: string]}
 */
export function scaleEnds({ low, high }, own, numbers, say) {
  const sign = (/** @type {number} */ x) => (x > 0 && low < 0 ? "+" : "") + numbers.rough(x);
  return own ? [say("low"), say("high")] : [sign(low), sign(high)];
}

/** The words on the window's place. @param {number} first @param {number} columns @param {number} length of the text @param {Numbers} numbers */
export function inSight(first, columns, length, numbers) {
  const places = [first + 1, Math.min(length, first + columns), length];
  const [from, to, n] = places.map((place) => numbers.whole(place));
  return { from, to, n };
}

/** As many of a scale's colours as a gradient needs, the last one among them. @param {string[]} colours */
export function stops(colours) {
  return colours.filter((_, i, { length }) => i % 32 === 0 || i === length - 1);
}
