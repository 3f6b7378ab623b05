// The bars: what the network expects next, or expected at the cursor, and what came.

import { visible } from "./characters.js";

export class Next {
  constructor(root, words) {
    this.head = root.querySelector(".rv-next-head");
    this.list = root.querySelector(".rv-next-list");
    this.foot = root.querySelector(".rv-next-foot");
    this.words = words;
    this.rows = [];
  }

  row(i) {
    while (this.rows.length <= i) {
      const item = document.createElement("li");
      const parts = ["symbol", "track", "chance"].map((name) => {
        const part = document.createElement("span");
        part.className = "rv-" + name;
        item.append(part);
        return part;
      });
      const bar = document.createElement("span");
      bar.className = "rv-bar";
      parts[1].append(bar);
      this.list.append(item);
      this.rows.push({ item, symbol: parts[0], bar, chance: parts[2] });
    }
    return this.rows[i];
  }

  put(i, symbol, p, text, kind) {
    const row = this.row(i);
    set(row.symbol, symbol);
    set(row.chance, text);
    row.bar.style.transform = `scaleX(${Math.min(1, p)})`;
    if (row.kind !== kind) row.item.className = kind;
    row.kind = kind;
    row.item.hidden = false;
  }

  // The prediction after t characters of `list`.
  draw(store, list, t, percent, bits) {
    if (!store.holds(t)) return;
    const expected = store.expected(t);
    const came = t < list.length ? store.columns.ids.data[t] : -1;
    let rest = 1;
    let place = -1;
    expected.forEach(({ id, p }, i) => {
      rest -= p;
      if (id === came) place = i;
      const name = id === 0 ? this.words.unk : visible(store.symbol(id));
      this.put(i, name, p, percent(p), (id === came ? "rv-came" : "") + (id === 0 ? " rv-word" : ""));
    });
    let i = expected.length;
    rest = Math.max(0, rest);
    this.put(i++, this.words["next.other"], rest, percent(rest), "rv-rest rv-word");
    // What came stands below if it isn't among the first; its row is always there, so nothing jumps.
    const below = came >= 0 && place < 0;
    this.put(
      i++,
      below ? visible(list[t]) : "",
      below ? store.probability(t) : 0,
      below ? percent(store.probability(t)) : "",
      below ? "rv-came" : "rv-none",
    );
    for (; i < this.rows.length; i++) this.rows[i].item.hidden = true;
    const before = list.slice(Math.max(0, t - 8), t).map(visible).join("");
    const lead = t === list.length ? this.words.next : t ? this.words["next.at"] : this.words["next.start"];
    set(this.head.firstChild, lead);
    set(this.head.lastChild, t ? (t > 8 ? "…" : "") + before : "");
    set(this.foot, this.words["next.entropy"].replace("{bits}", bits(store.entropy(t))));
  }
}

function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
