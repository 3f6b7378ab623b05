// Everything the training view says: numbers, how far a run is, what is shown and what to notice.

export function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (brace, name) => (name in values ? String(values[name]) : brace));
}

const ZOOMS = [24, 48, 96]; // rows that can be shown instead of all

const NUMBERS = ["validation", "train", "probe", "speed", "clipped", "rate"];

export class Words {
  constructor(root, words, language) {
    this.root = root;
    this.words = words;
    const plain = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
    const fine = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    const coarse = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
    const rough = new Intl.NumberFormat(language, { maximumSignificantDigits: 3 });
    const rare = new Intl.NumberFormat(language, { maximumSignificantDigits: 1 });
    this.whole = (n) => plain.format(n);
    this.rough = (n) => rough.format(n);
    this.number = (x) =>
      x === null || x === undefined || !Number.isFinite(x) ? "–" : x >= 1000 ? plain.format(x) : x >= 100 ? coarse.format(x) : fine.format(x);
    this.percent = (p) => {
      if (p >= 0.001) return coarse.format(100 * p) + " %";
      if (p > 1e-6) return rare.format(100 * p) + " %";
      return p > 0 ? "≈ 0 %" : "0 %";
    };
    for (const element of root.querySelectorAll("[data-word]")) element.textContent = words[element.dataset.word];
    for (const element of root.querySelectorAll("[data-label]"))
      element.setAttribute("aria-label", words[element.dataset.label]);
    const row = root.querySelector(".rt-numbers");
    row.replaceChildren();
    this.fields = {};
    for (const name of NUMBERS) {
      const group = document.createElement("div");
      const term = document.createElement("dt");
      const value = document.createElement("dd");
      term.textContent = words["number." + name];
      group.title = words[`number.${name}.help`];
      group.className = "rt-number-" + name;
      value.dataset.testid = "training-" + name;
      group.append(term, value);
      row.append(group);
      this.fields[name] = value;
    }
  }

  draw(head, frames) {
    const { words } = this;
    const n = head.numbers;
    const shown = {
      validation: this.number(n.validation),
      train: this.number(n.train),
      probe: this.number(frames.now?.perplexity),
      speed: n.speed === null ? "–" : this.rough(n.speed),
      clipped: n.clipped === null ? "–" : this.percent(n.clipped),
      rate: n.rate === null ? "–" : n.rate.toPrecision(2),
    };
    for (const name of NUMBERS) set(this.fields[name], shown[name]);
    this.fields.validation.parentElement.hidden = head.unmeasured;
    // What a shipped story never kept is left out; a run that has just begun keeps its places.
    for (const name of ["speed", "clipped", "rate"])
      this.fields[name].parentElement.hidden = !head.alive && shown[name] === "–";
    const bar = this.root.querySelector(".rt-bar");
    const done = Math.max(0, Math.min(1, head.fraction));
    bar.firstChild.style.transform = `scaleX(${done})`;
    bar.classList.toggle("rt-over", !head.alive);
    set(this.root.querySelector(".rt-line"), head.line);
    const passed = this.root.querySelector(".rt-passed");
    passed.hidden = !head.passed;
    set(passed, head.passed ?? "");
    const sample = this.root.querySelector(".rt-sample");
    set(sample, head.sample || words["sample.none"]);
    sample.classList.toggle("rt-quiet", !head.sample);
    set(this.root.querySelector(".rt-sample-when"), head.sampled);
    const legend = this.root.querySelector(".rt-legend");
    const lines = head.unmeasured ? ["train"] : ["validation", "train"];
    if (legend.childElementCount !== lines.length || this.legend !== words) {
      this.legend = words;
      legend.replaceChildren(...lines.map((name) => key(name, words["line." + name])));
    }
    set(this.root.querySelector(".rt-chart .rt-notice"), words[head.counted ? "curve.counted" : "curve.blind"]);
    const notice = this.root.querySelector(".rt-probe .rt-notice");
    set(notice, words[head.alive ? "heat.live" : head.cell === "mlp" ? "heat.mlp" : "heat.notice"]);
    const scale = this.root.querySelector(".rt-key");
    set(scale, head.scale === "diverging" ? words["key.diverging"] : words["key.sequential"]);
    const quoted = this.root.querySelector(".rt-probe .rt-head b");
    set(quoted, head.probe ? fill(words["heat.of"], { probe: head.probe }) : words.heat);
    quoted.title = head.probe;
  }

  when(frame) {
    if (!frame) return "";
    return fill(this.words.when, {
      step: this.whole(frame.step),
      characters: this.rough(frame.characters),
      perplexity: this.number(frame.perplexity),
    });
  }

  playing(is, frame, live) {
    const button = this.root.querySelector(".rt-play");
    set(button, is ? "❚❚ " + this.words.pause : "▶ " + this.words.play);
    set(this.root.querySelector(".rt-when"), this.when(frame) + (live && frame ? " · " + this.words.now : ""));
  }

  empty(frame) {
    const element = this.root.querySelector(".rt-empty");
    element.hidden = Boolean(frame);
    set(element, frame ? "" : this.words["heat.none"]);
    this.root.querySelector(".rt-choices").hidden = !frame;
    this.root.querySelector(".rt-map").classList.toggle("rt-blank", !frame);
    this.root.querySelector(".rv-next").classList.toggle("rt-hidden", !frame);
  }

  choices(layers, layer, order, ordered, units, zoom) {
    const { words } = this;
    const box = this.root.querySelector(".rt-layers");
    box.hidden = layers < 2;
    options(box.querySelector("select"), Array.from({ length: layers }, (_, n) => [String(n), fill(words["layer.n"], { n: n + 1 })]), String(layer));
    const orders = this.root.querySelector(".rt-orders");
    orders.hidden = !ordered;
    options(orders.querySelector("select"), [["index", words["order.index"]], ["alike", words["order.alike"]]], order);
    const zooms = this.root.querySelector(".rt-zooms");
    const counts = ZOOMS.filter((n) => n < units);
    zooms.hidden = !counts.length;
    const list = [...counts.map((n) => [String(n), this.whole(n)]), ["0", fill(words["zoom.all"], { n: this.whole(units) })]];
    options(zooms.querySelector("select"), list, String(counts.includes(zoom) ? zoom : 0));
  }
}

function options(select, list, value) {
  const mark = JSON.stringify(list);
  if (select.dataset.options !== mark) {
    select.dataset.options = mark;
    select.replaceChildren(...list.map(([v, text]) => new Option(text, v)));
  }
  if (select.value !== value) select.value = value;
}

function key(name, text) {
  const line = document.createElement("span");
  const mark = document.createElement("i");
  line.className = "rt-key-" + name;
  line.append(mark, text);
  return line;
}

function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
