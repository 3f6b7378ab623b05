// One figure of the board, drawn by Plotly; the marks that follow the cursor are elements over it.

// A figure from the server with the arrays in their places; tables become rows.
function filled(value, arrays) {
  if (Array.isArray(value)) return value.map((v) => filled(v, arrays));
  if (value === null || typeof value !== "object") return value;
  if (value.$) {
    const array = arrays[value.$];
    if (array.shape.length < 2) return array;
    const [rows, columns] = array.shape;
    return Array.from({ length: rows }, (_, r) => array.subarray(r * columns, (r + 1) * columns));
  }
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, filled(v, arrays)]));
}

export class Panel {
  constructor(board) {
    this.board = board;
    const make = (tag, name, inside) => {
      const made = document.createElement(tag);
      made.className = name;
      inside?.append(made);
      return made;
    };
    this.element = make("section", "bd-panel");
    this.title = make("h4", "bd-title", this.element);
    this.frame = make("div", "bd-frame", this.element);
    this.plot = make("div", "bd-plot", this.frame);
    this.pad = make("div", "bd-pad", this.frame);
    this.upright = make("i", "bd-upright", this.pad);
    this.level = make("i", "bd-level", this.pad);
    this.dot = make("i", "bd-dot", this.pad);
    this.notice = make("p", "bd-notice", this.element);
    this.limits = make("p", "bd-limits", this.element);
    this.listen();
  }

  close() {
    if (window.Plotly && this.drawn) window.Plotly.purge(this.plot);
    this.element.remove();
  }

  set(about, arrays) {
    this.about = about;
    this.arrays = arrays;
    this.element.dataset.name = about.name;
    this.element.style.setProperty("--width", about.width);
    this.title.textContent = about.title;
    this.title.hidden = !about.title;
    this.notice.textContent = about.notice;
    this.limits.textContent = about.limits ? this.board.say("misses", { what: about.limits }) : "";
    this.frame.style.height = about.height + "px";
    this.pad.classList.toggle("bd-picks", !!about.pick);
    this.pad.setAttribute("role", "img");
    this.pad.setAttribute("aria-label", `${about.title}. ${about.notice}`);
  }

  async draw(theme) {
    const drawn = JSON.stringify([theme, this.frame.clientWidth, this.about.height, this.about.figures[theme]]);
    if (drawn === this.drawn) return; // an array is named after what is in it
    const { data, layout } = filled(this.about.figures[theme], this.arrays);
    Object.assign(layout, { width: this.frame.clientWidth, height: this.about.height });
    this.data = data;
    this.drawn = drawn;
    await window.Plotly.react(this.plot, data, layout, { staticPlot: true, displayModeBar: false });
    this.axes = this.plot._fullLayout;
  }

  // ---- the cursor -----------------------------------------------------------------------------------

  mark(t) {
    const { link } = this.about;
    const x = this.axes?.xaxis;
    const y = this.axes?.yaxis;
    const show = link && x && y && t !== null && t !== undefined;
    this.upright.hidden = !show || link === "points";
    this.level.hidden = !show || link !== "xy";
    this.dot.hidden = !show || link !== "points";
    if (!show) return;
    const put = (element, values) => Object.assign(element.style, values);
    if (link === "points") {
      const { x: xs, y: ys } = this.data[0];
      if (t >= xs.length) return (this.dot.hidden = true);
      put(this.dot, { left: x._offset + x.l2p(xs[t]) + "px", top: y._offset + y.l2p(ys[t]) + "px" });
      return;
    }
    const left = x._offset + x.l2p(t);
    if (left < x._offset - 1 || left > x._offset + x._length + 1) this.upright.hidden = true;
    const top = this.axes._size.t;
    put(this.upright, { left: left + "px", top: top + "px", height: this.axes._size.h + "px" });
    if (link === "xy") {
      put(this.level, { left: x._offset + "px", width: x._length + "px", top: y._offset + y.l2p(t) + "px" });
    }
  }

  // The character under a point of the screen.
  find(event) {
    const x = this.axes?.xaxis;
    const y = this.axes?.yaxis;
    if (!x || !y) return null;
    const box = this.pad.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    if (this.about.link === "points") {
      const { x: xs, y: ys } = this.data[0];
      let [best, near] = [null, 900];
      for (let t = 0; t < xs.length; t++) {
        const far = (x._offset + x.l2p(xs[t]) - left) ** 2 + (y._offset + y.l2p(ys[t]) - top) ** 2;
        if (far < near) [best, near] = [t, far];
      }
      return best;
    }
    const t = Math.round(x.p2l(left - x._offset));
    return left < x._offset || left > x._offset + x._length || t < 0 || t >= this.board.length ? null : t;
  }

  listen() {
    this.pad.addEventListener("pointermove", (event) => {
      if (this.about.link) this.board.point(this.find(event));
    });
    this.pad.addEventListener("pointerleave", () => {
      if (this.about.link) this.board.point(null);
    });
    this.pad.addEventListener("click", (event) => {
      if (this.about.pick === "at") {
        const t = this.find(event);
        if (t !== null) this.board.choose(t);
      } else if (this.about.pick === "bar") {
        const y = this.axes?.yaxis;
        if (!y) return;
        const top = event.clientY - this.pad.getBoundingClientRect().top;
        const value = this.about.picks[Math.round(y.p2l(top - y._offset))];
        if (value !== undefined) this.board.pick(this.about.name, value);
      }
    });
  }
}
