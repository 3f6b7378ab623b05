// Figures in words: the row of numbers, and the line that says what was expected at the cursor.

import { visible } from "./characters.js";

// A sentence with its braces filled in.
export function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (brace, name) => (name in values ? String(values[name]) : brace));
}

export class Numbers {
  constructor(root, words, language) {
    this.words = words;
    this.readoutLine = root.querySelector(".rv-readout");
    const plain = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
    const fine = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    const coarse = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
    const rare = new Intl.NumberFormat(language, { maximumSignificantDigits: 1 });
    this.whole = (n) => plain.format(n);
    this.number = (x) => (x === null ? "–" : x >= 10000 ? plain.format(x) : x >= 100 ? coarse.format(x) : fine.format(x));
    this.percent = (p) => {
      if (p >= 0.001) return coarse.format(100 * p) + " %";
      if (p > 1e-6) return rare.format(100 * p) + " %";
      return p > 0 ? "≈ 0 %" : "0 %";
    };
    const row = root.querySelector(".rv-numbers");
    row.replaceChildren();
    this.fields = {};
    for (const name of ["characters", "perplexity", "bits", "unknown", "entropy"]) {
      const group = document.createElement("div");
      const term = document.createElement("dt");
      const value = document.createElement("dd");
      term.textContent = words[name];
      group.title = words[name + ".help"] ?? "";
      group.className = "rv-number-" + name;
      value.dataset.testid = "rnnviz-" + name;
      group.append(term, value);
      row.append(group);
      this.fields[name] = value;
    }
  }

  draw(store) {
    const { numbers } = store.head;
    for (const [name, field] of Object.entries(this.fields)) {
      const text = ["characters", "unknown"].includes(name) ? this.whole(numbers[name]) : this.number(numbers[name]);
      if (field.textContent !== text) field.textContent = text;
    }
    this.fields.unknown.parentElement.classList.toggle("rv-some", numbers.unknown > 0);
  }

  readout(store, list, t, unit, pinned) {
    const { words } = this;
    const text = t === null ? words["readout.idle"] : this.sentence(store, list, t, unit, pinned);
    if (this.readoutLine.textContent !== text) this.readoutLine.textContent = text;
    this.readoutLine.classList.toggle("rv-idle", t === null);
  }

  sentence(store, list, t, unit, pinned) {
    const { words } = this;
    const quoted = (mark) => `“${mark}”`;
    const name = ({ id }) => (id === 0 ? words.unk : quoted(visible(store.symbol(id))));
    const expected = store.expected(t).slice(0, 3);
    const parts = [
      fill(words["readout.at"], { n: this.whole(t + 1) }) + ":",
      words["readout.expected"] + " " + expected.map((e) => `${name(e)} ${this.percent(e.p)}`).join(", "),
      fill(words["readout.came"], {
        c: quoted(visible(list[t] ?? "")),
        p: this.percent(store.probability(t)),
        rank: this.whole(store.rank(t)),
        bits: this.number(store.bits(t)),
      }),
    ];
    if (unit !== null && t < store.stop) {
      const value = store.value(t, unit).toFixed(2).replace("-", "−");
      parts.push(fill(words["readout.unit"], { n: unit, v: value }));
    }
    if (pinned) parts.push(words["readout.pinned"]);
    return parts.join("   ·   ");
  }
}
