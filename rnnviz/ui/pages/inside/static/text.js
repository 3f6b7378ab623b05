// One text of the board: a span for each character, coloured by number; no text is ever parsed.

// How a character stands in running text. A line break shows a mark, and breaks.
function shown(code) {
  if (code === 10) return "⏎\n";
  if (code < 0x20 && code !== 9) return String.fromCodePoint(0x2400 + code);
  return String.fromCodePoint(code);
}

const number = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });

export class Text {
  constructor(board) {
    this.board = board;
    this.element = document.createElement("div");
    this.element.className = "bd-text";
    this.name = document.createElement("b");
    this.flow = document.createElement("div");
    this.flow.className = "bd-flow";
    this.flow.dir = "auto";
    this.element.append(this.name, this.flow);
    this.spans = [];
    this.listen();
  }

  set(about, arrays) {
    const codes = arrays[about.codes];
    this.said = about.said;
    this.linked = about.linked;
    this.at = about.at;
    this.levels = arrays[about.levels];
    this.colouring = about.levels; // an array is named after what is in it
    this.values = about.values ? arrays[about.values] : null;
    this.palette = about.palette;
    this.length = codes.length;
    this.name.textContent = about.label;
    this.name.hidden = !about.label;
    this.flow.classList.toggle("bd-open", about.linked);
    if (about.linked) {
      this.flow.tabIndex = 0;
      this.flow.setAttribute("role", "region");
      this.flow.setAttribute("aria-label", this.board.say("text"));
    }
    if (about.codes === this.codes) return;
    this.codes = about.codes;
    this.points = codes;
    this.spans = Array.from(codes, (code, i) => {
      const span = document.createElement("span");
      span.textContent = shown(code);
      span.dataset.t = i;
      if (code === 10) span.className = "bd-break";
      return span;
    });
    this.flow.replaceChildren(...this.spans);
  }

  paint(palettes, levels, theme) {
    const look = [theme, this.palette, this.codes, this.colouring].join();
    if (look !== this.look) this.colour(palettes[this.palette], levels);
    this.look = look;
    if (!this.linked) this.spans.forEach((span, i) => span.classList.toggle("bd-at", i === this.at));
  }

  colour(colours, levels) {
    const step = (colours.length - 1) / (levels - 1);
    this.spans.forEach((span, i) => {
      const [behind, letter] = colours[Math.round(this.levels[i] * step)];
      span.style.background = behind;
      span.style.color = letter;
    });
  }

  mark(t, at) {
    if (!this.linked) return;
    this.marked?.classList.remove("bd-here");
    this.marked = t === null ? null : this.spans[t];
    this.marked?.classList.add("bd-here");
    this.chosen?.classList.remove("bd-at");
    this.chosen = at === null ? null : this.spans[at];
    this.chosen?.classList.add("bd-at");
    for (const span of this.selected ?? []) span.classList.remove("bd-in");
    this.selected = this.board.head.spans.flatMap(([start, stop]) => this.spans.slice(start, stop));
    for (const span of this.selected) span.classList.add("bd-in");
  }

  character(t) {
    const code = this.points[t];
    return code === undefined ? "" : `“${this.board.shared.visible(String.fromCodePoint(code))}”`;
  }

  value(t) {
    const value = this.values?.[t];
    return value === undefined || value === null || Number.isNaN(value) ? null : number.format(value);
  }

  listen() {
    const place = (event) => {
      const t = event.target.dataset?.t;
      return t === undefined || !this.linked ? null : Number(t);
    };
    this.flow.addEventListener("pointermove", (event) => this.board.point(place(event)));
    this.flow.addEventListener("pointerleave", () => this.board.point(null));
    this.flow.addEventListener("pointerdown", (event) => (this.down = place(event)));
    this.flow.addEventListener("pointerup", (event) => {
      const up = place(event);
      const from = this.down;
      this.down = null;
      if (up === null || from === null || from === undefined) return;
      if (this.board.head.select && up !== from) {
        this.board.select(Math.min(from, up), Math.max(from, up) + 1);
        this.flow.getRootNode().getSelection?.()?.removeAllRanges();
        getSelection()?.removeAllRanges();
      } else this.board.choose(up);
    });
    this.flow.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || !this.linked) return;
      event.preventDefault();
      const from = this.board.at ?? (step > 0 ? -1 : this.length);
      this.board.choose(Math.max(0, Math.min(this.length - 1, from + step)));
    });
  }
}
