// Buttons and selectors: examples, Continue, what the heat map shows, and where its window stands.

import { fill } from "./numbers.js";

const CALM = window.matchMedia("(prefers-reduced-motion: reduce)");

export class Controls {
  constructor(view, words) {
    this.view = view;
    this.words = words;
    this.root = view.root;
    this.queue = "";
    this.appending = false;
    const find = (name) => this.root.querySelector(".rv-" + name);
    for (const element of this.root.querySelectorAll("[data-word]"))
      element.textContent = words[element.dataset.word];
    for (const element of this.root.querySelectorAll("[data-label]"))
      element.setAttribute("aria-label", words[element.dataset.label]);
    for (const element of this.root.querySelectorAll("[data-title]"))
      element.title = words[element.dataset.title];
    find("text").placeholder = words.placeholder;
    const { fixed } = view.store;
    this.button = find("write");
    this.button.onclick = () => (this.queue || this.view.writes ? this.stop() : this.begin());
    find("temperature").textContent = fill(words.temperature, { t: fixed.temperature });
    find("chips").replaceChildren(
      ...fixed.examples.map(([label, text]) => {
        const chip = document.createElement("button");
        chip.type = "button";
        chip.textContent = label;
        chip.onclick = () => {
          this.stop();
          view.pin = null;
          view.editor.replace(text);
        };
        return chip;
      }),
    );
    this.quantity = this.select("quantity", Object.keys(fixed.quantities), (name) => words["quantity." + name]);
    this.layer = this.select(
      "layer",
      Array.from({ length: fixed.layers }, (_, i) => i),
      (i) => fill(words["layer.n"], { n: i + 1 }),
    );
    find("layers").hidden = fixed.layers === 1;
    this.layer.onchange = () => view.choose({ layer: Number(this.layer.value) });
    this.order = this.select("order", ["index", "alike"], (name) => words["order." + name]);
    const few = [64, 24].filter((count) => count < fixed.units);
    find("zooms").hidden = few.length === 0;
    this.zoom = this.select("zoom", [0, ...few], (n) => (n ? String(n) : fill(words["zoom.all"], { n: fixed.units })));
    this.zoom.onchange = () => view.zoom(Number(this.zoom.value));
    view.figure.zoomTo(0, 0);
    this.colour = find("colour");
    this.colour.onchange = () => view.choose({ unit: this.colour.value === "" ? null : Number(this.colour.value) });
    this.range = find("range");
    this.where = find("where");
    this.follow = find("follow");
    this.scrub = find("scrub");
    this.range.oninput = () => view.scroll(Number(this.range.value));
    this.follow.onclick = () => view.followCaret();
    this.limit = find("limit");
    this.title = find("title-states");
    this.lines = find("legend");
    this.legend(fixed);
  }

  select(name, values, label) {
    const element = this.root.querySelector(".rv-" + name);
    element.replaceChildren(...values.map((value) => new Option(label(value), value)));
    element.onchange = () => this.view.choose({ [name]: element.value });
    return element;
  }

  legend(fixed) {
    const entries = [["model", this.words["line.model"]], ["uniform", this.words["line.uniform"]]];
    this.root.querySelector(".rv-counting").hidden = !fixed.ngram;
    if (fixed.ngram) entries.splice(1, 0, ["ngram", fixed.ngram]);
    this.lines.replaceChildren(
      ...entries.map(([name, text]) => {
        const entry = document.createElement("span");
        entry.className = "rv-line rv-line-" + name;
        entry.append(document.createElement("i"), text, document.createElement("output"));
        return entry;
      }),
    );
  }

  draw(store, first) {
    const { view, words } = this;
    const { head, fixed } = store;
    put(this.quantity, view.quantity);
    put(this.layer, String(view.layer));
    put(this.order, view.order);
    this.drawColour(view.unit);
    const [name, notice] = this.title.children;
    const about = fixed.cell === "mlp" ? "notice.mlp" : "notice." + head.quantity;
    if (name.textContent !== words["quantity." + head.quantity]) {
      name.textContent = words["quantity." + head.quantity];
      notice.textContent = words[about];
    }
    this.drawKey(fixed.quantities[head.quantity]);
    for (const entry of this.lines.children) {
      const t = store.length - 1;
      const value = entry.classList.contains("rv-line-uniform")
        ? fixed.symbols.length + 1
        : t < 0
          ? null
          : entry.classList.contains("rv-line-model")
            ? store.perplexity(t)
            : store.counted(t);
      const whole = entry.classList.contains("rv-line-uniform");
      const text = value === null ? "" : whole ? view.numbers.whole(value) : view.numbers.number(value);
      if (entry.lastChild.textContent !== text) entry.lastChild.textContent = text;
    }
    const columns = view.columns;
    const movable = store.length > columns;
    this.scrub.classList.toggle("rv-idle", !movable);
    this.range.disabled = !movable;
    this.follow.hidden = view.follow;
    if (movable) {
      this.range.max = store.length - columns;
      if (this.root.getRootNode().activeElement !== this.range) this.range.value = first;
      this.where.textContent = fill(words["window.of"], {
        from: view.numbers.whole(first + 1),
        to: view.numbers.whole(Math.min(store.length, first + columns)),
        n: view.numbers.whole(store.length),
      });
    }
  }

  drawColour(unit) {
    if (this.colouredBy === unit) return;
    this.colouredBy = unit;
    const options = [new Option(this.words["colour.surprisal"], "")];
    if (unit !== null) options.push(new Option(fill(this.words["colour.unit"], { n: unit }), unit));
    this.colour.replaceChildren(...options);
    this.colour.value = unit === null ? "" : String(unit);
  }

  // The scale's colours and ends.
  drawKey(scale) {
    const key = this.root.querySelector(".rv-key");
    const mark = this.view.theme.name + scale.kind + scale.low;
    if (this.keyed === mark) return;
    this.keyed = mark;
    const colours = this.view.theme[scale.kind].filter((_, i) => i % 32 === 0 || i === 254);
    const bar = document.createElement("i");
    bar.style.background = `linear-gradient(to right, ${colours.join(", ")})`;
    key.replaceChildren(sign(scale.low), bar, sign(scale.high));
  }

  // ---- a sampled continuation -----------------------------------------------------------------------

  begin() {
    this.view.writes = true;
    this.button.textContent = this.words.writing;
    this.view.link.ask();
  }

  write(text) {
    this.queue = text;
    if (!text) this.stop();
    if (CALM.matches) {
      this.queue = "";
      this.put(text);
      this.stop();
    }
  }

  // One more character, now that the one before it is on the screen: it is typed, as by a reader.
  keepWriting() {
    if (!this.queue || this.view.link.waiting) return;
    const [next] = this.queue;
    this.queue = this.queue.slice(next.length);
    this.put(next);
    if (!this.queue) this.stop();
  }

  put(text) {
    this.appending = true;
    this.view.editor.append(text);
    this.appending = false;
  }

  stop() {
    this.queue = "";
    this.view.writes = false;
    this.button.textContent = this.words.write;
  }

  // ---- messages -------------------------------------------------------------------------------------

  beyond(count) {
    this.limit.hidden = count === 0;
    if (count === 0) return;
    const [before, after] = this.words.limit.split("{link}");
    const link = document.createElement("a");
    link.href = new URL("perplexity", document.baseURI).href;
    link.textContent = this.words["limit.link"];
    const n = this.view.numbers.whole(this.view.store.fixed.limit);
    this.limit.replaceChildren(fill(before, { n }), link, after ?? "");
    this.view.resized();
  }

  missing(url) {
    this.limit.hidden = false;
    this.limit.textContent = fill(this.words["plotly.missing"], { url });
  }

  late(is) {
    this.root.classList.toggle("rv-late", is);
    if (is) {
      this.limit.hidden = false;
      this.limit.textContent = this.words.waiting;
    } else if (this.limit.textContent === this.words.waiting) this.limit.hidden = true;
  }
}

function put(select, value) {
  if (select.value !== value) select.value = value;
}

function sign(x) {
  return x < 0 ? "−" + -x : x > 0 && Number.isInteger(x) ? "+" + x : String(x);
}
