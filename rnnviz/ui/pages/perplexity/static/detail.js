// The panel beside the text: one character's values, and the models' predictions of it.

import { codeName, visible } from "../../../browser/static/characters.js";
import { find, make } from "../../../browser/static/dom.js";
import { barRow } from "../../../browser/static/prediction_bars.js";

/** @import { Numbers } from "../../../browser/static/number_format.js" */
/** @import { Phrase } from "../../../browser/static/messages.js" */
/** @import { characterFacts } from "./chunks.js" */
/** @import { Fixed, ExpectedLists } from "./types" */

export class Detail {
  /** @param {HTMLElement} root @param {Phrase} phrase @param {Numbers} numbers @param {Fixed} fixed */
  constructor(root, phrase, numbers, fixed) {
    this.root = find(root, "section.vw-detail");
    this.phrase = phrase;
    this.numbers = numbers;
    this.fixed = fixed;
  }

  /**
   * @param {ReturnType<typeof characterFacts> | null} facts
   * @param {ExpectedLists | null | undefined} predictions the models' predictions, once they have come
   * @param {number} length of the text
   */
  show(facts, predictions, length) {
    const { phrase, numbers, fixed } = this;
    if (!facts) {
      this.root.replaceChildren(make("p", "vw-idle", phrase("detail.idle")));
      return;
    }
    const { code, nll, rank, unknown, entropy, versus, otherRank, position } = facts;
    const character = String.fromCodePoint(code);
    const where = phrase("detail.at", { at: numbers.whole(position + 1), n: numbers.whole(length) });
    const place = make("div", "", make("div", "", where), make("div", "vw-quiet", codeName(code)));
    /** @type {HTMLElement[]} */
    const parts = [make("div", "vw-head", make("bdi", "vw-symbol", visible(character)), place)];
    if (unknown) parts.push(make("p", "vw-warn", phrase("detail.unknown")));
    const bits = (/** @type {number} */ nats) =>
      phrase("detail.bits.n", { n: numbers.fixed(nats / Math.LN2) });
    const rows = [
      ["detail.p", numbers.percent(Math.exp(-nll))],
      [
        "detail.rank",
        [rank, otherRank].flatMap((r) => (r === undefined ? [] : numbers.whole(r))).join(" / "),
      ],
      ["detail.bits", bits(nll)],
      ["detail.entropy", bits(entropy)],
    ];
    if (versus !== undefined)
      rows.push(["detail.versus", (versus >= 0 ? "+" : "−") + bits(Math.abs(versus))]);
    const [a, b] = fixed.names;
    const entries = rows.flatMap(([name, value]) => [
      make("dt", "", phrase(name, { a, b })),
      make("dd", "", value),
    ]);
    parts.push(make("dl", "vw-facts", ...entries));
    const lists = predictions?.lists ?? fixed.names.map((model) => ({ model, top: null }));
    for (const list of lists) parts.push(...this.list(list, unknown ? "<unk>" : character, lists.length > 1));
    this.root.replaceChildren(...parts);
    if (predictions) this.root.dataset.expected = String(position);
    else delete this.root.dataset.expected;
  }

  /** @param {ExpectedLists["lists"][number]} list @param {string} actual @param {boolean} several */
  list({ model, top, approximate }, actual, several) {
    const { phrase, numbers } = this;
    // Empty rows until the predictions come, so that the panel's height doesn't change.
    /** @type {[string, number][]} */
    const none = Array.from({ length: 6 }, () => ["", 0]);
    const remainder = Math.max(
      0,
      (top ?? []).reduce((left, [, p]) => left - p, 1),
    );
    const items = (top ? [...top, /** @type {[null, number]} */ ([null, remainder])] : none).map(
      ([symbol, p]) => {
        const { item, bar, ...row } = barRow();
        const word = symbol === null || [...symbol].length > 1;
        row.symbol.textContent = symbol === null ? phrase("detail.other") : word ? symbol : visible(symbol);
        row.chance.textContent = top ? numbers.percent(p) : "";
        bar.style.width = `${100 * p}%`;
        item.className = `${top ? "" : "rv-none"}${symbol === actual ? " rv-actual" : ""}${word ? " rv-word rv-rest" : ""}`;
        return item;
      },
    );
    const title = make("h4", "", several ? phrase("detail.top.of", { model }) : phrase("detail.top"));
    const parts = [title, make("ol", "rv-next-list vw-top", ...items)];
    const n = numbers.whole(this.fixed.context);
    return approximate ? [...parts, make("p", "vw-quiet", phrase("detail.approximate", { n }))] : parts;
  }
}
