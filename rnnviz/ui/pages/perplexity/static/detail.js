// The panel beside the text: what is known of one character, and what was expected in its place.

const LN2 = Math.LN2;

function element(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

function percent(p) {
  if (p >= 0.9995) return "100 %";
  if (p >= 0.0995) return (100 * p).toFixed(1) + " %";
  if (p >= 0.0001) return (100 * p).toPrecision(2) + " %";
  const [digits, power] = p.toExponential(1).split("e-");
  return p > 0 ? `${digits} · 10⁻${[...power].map((d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]).join("")}` : "0 %";
}

export class Detail {
  // `visible`: the live view's mark for a character that stands alone; `say(name, values)`: words
  constructor(root, visible, say) {
    this.root = root.querySelector(".vw-detail");
    this.visible = visible;
    this.say = say;
  }

  // `facts` of chunks.tell, or null; `told`: the server's lists, or null while they are on their way.
  show(facts, told, fixed, length) {
    if (!facts) {
      this.root.replaceChildren(element("p", "vw-idle", this.say("detail.idle")));
      return;
    }
    const { code, nll, rank, unknown, entropy, versus, otherRank, position } = facts;
    const character = String.fromCodePoint(code);
    const head = element("div", "vw-head");
    head.append(element("bdi", "vw-symbol", this.visible(character)));
    const where = element("div");
    where.append(
      element("div", "", this.say("detail.at", { at: (position + 1).toLocaleString(), n: length.toLocaleString() })),
      element("div", "vw-quiet", "U+" + code.toString(16).toUpperCase().padStart(4, "0")),
    );
    head.append(where);
    const parts = [head];
    if (unknown) parts.push(element("p", "vw-warn", this.say("detail.unknown")));
    const bits = (nats) => this.say("detail.bits.n", { n: (nats / LN2).toFixed(2) });
    const rows = [
      ["detail.p", percent(Math.exp(-nll))],
      ["detail.rank", otherRank === undefined ? rank.toLocaleString() : `${rank} / ${otherRank}`],
      ["detail.bits", bits(nll)],
      ["detail.entropy", bits(entropy)],
    ];
    if (versus !== undefined)
      rows.push(["detail.versus", (versus >= 0 ? "+" : "−") + bits(Math.abs(versus))]);
    const facts_ = element("dl", "vw-facts");
    for (const [name, value] of rows)
      facts_.append(element("dt", "", this.say(name, { a: fixed.names[0], b: fixed.names[1] })), element("dd", "", value));
    parts.push(facts_);
    const lists = told?.lists ?? fixed.names.map((model) => ({ model, top: null }));
    for (const list of lists) parts.push(...this.list(list, fixed, unknown ? "<unk>" : character, lists.length > 1));
    this.root.replaceChildren(...parts);
    if (told) this.root.dataset.told = position;
    else delete this.root.dataset.told;
  }

  list({ model, top, approximate }, fixed, came, several) {
    const title = several ? this.say("detail.top.of", { model }) : this.say("detail.top");
    const parts = [element("h4", "", title)];
    const list = element("ol", "vw-top");
    // While they are on their way the panel keeps its height.
    const rows = top ? top.concat([[null, Math.max(0, 1 - top.reduce((sum, [, p]) => sum + p, 0))]]) : Array(6).fill(0);
    for (const row of rows) {
      const item = element("li", top ? "" : "vw-none");
      const [symbol, p] = row || ["", 0];
      const name = symbol === null ? this.say("detail.other") : [...symbol].length === 1 ? this.visible(symbol) : symbol;
      if (symbol === came) item.classList.add("vw-came");
      if (symbol === null || [...symbol].length > 1) item.classList.add("vw-word");
      const bar = element("span", "vw-bar");
      bar.style.width = 100 * p + "%";
      const track = element("span", "vw-track");
      track.append(bar);
      item.append(element("bdi", "", name), track, element("span", "vw-chance", top ? percent(p) : ""));
      list.append(item);
    }
    parts.push(list);
    if (approximate) parts.push(element("p", "vw-quiet", this.say("detail.approximate", { n: fixed.context.toLocaleString() })));
    return parts;
  }
}
