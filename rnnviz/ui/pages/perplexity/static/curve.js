// The curve above the text: Plotly draws it once; the marks that follow a reader are elements over it.

const HEIGHT = 190;

export class Curve {
  // `on`: jump(position), say(position | null)
  constructor(root, plotly, on) {
    this.root = root.querySelector(".vw-curve");
    this.plot = root.querySelector(".vw-plot");
    this.pad = root.querySelector(".vw-pad");
    this.seen = root.querySelector(".vw-seen");
    this.cursor = root.querySelector(".vw-cursor");
    this.plotly = plotly;
    this.on = on;
    this.sight = [0, 0];
    this.listen();
  }

  // The server's lines, one array a line: position, then rolling and running of each model.
  set(arrays, length) {
    this.length = length;
    this.position = arrays.curveAt;
    this.lines = [];
    for (let n = 0; arrays["curveRolling" + n]; n++)
      this.lines.push({ rolling: arrays["curveRolling" + n], running: arrays["curveRunning" + n] });
  }

  async draw(theme) {
    const missing = await this.plotly();
    if (missing || !this.position) return missing;
    const { data, layout } = structuredClone(theme.figure);
    const x = Array.from(this.position);
    const y = (values) => Array.from(values, (v) => (Number.isFinite(v) ? v : null));
    this.lines.forEach((line, n) => {
      Object.assign(data[2 * n], { x, y: y(line.rolling) });
      Object.assign(data[2 * n + 1], { x, y: y(line.running) });
    });
    Object.assign(layout, { width: this.plot.clientWidth, height: HEIGHT });
    this.margin = layout.margin;
    this.pad.style.left = this.margin.l + "px";
    this.pad.style.right = this.margin.r + "px";
    this.pad.style.bottom = this.margin.b + "px";
    await window.Plotly.react(this.plot, data, layout, { staticPlot: true, displayModeBar: false });
    this.root.dataset.drawn = theme.name;
    this.see(...this.sight);
    return "";
  }

  // The part of the text that is in sight.
  see(first, last) {
    this.sight = [first, last];
    const percent = (v) => (100 * v) / Math.max(1, this.length);
    this.seen.hidden = last - first >= this.length; // all of it: nothing to point out
    this.seen.style.left = percent(first) + "%";
    this.seen.style.width = `max(3px, ${percent(last - first)}%)`;
    this.pad.setAttribute("aria-valuenow", first + 1);
    this.pad.setAttribute("aria-valuemax", this.length);
    this.pad.setAttribute("aria-valuetext", (first + 1).toLocaleString());
  }

  point(position) {
    this.cursor.hidden = position == null;
    if (position != null) this.cursor.style.left = (100 * position) / Math.max(1, this.length) + "%";
  }

  // The values drawn nearest to a place.
  values(position) {
    let low = 0;
    let high = this.position.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.position[middle] < position + 1) low = middle + 1;
      else high = middle;
    }
    return { at: this.position[low], lines: this.lines.map((l) => ({ running: l.running[low], rolling: l.rolling[low] })) };
  }

  listen() {
    const { pad } = this;
    const at = (event) => {
      const frame = pad.getBoundingClientRect();
      const share = Math.max(0, Math.min(1, (event.clientX - frame.left) / frame.width));
      return Math.min(this.length - 1, Math.round(share * this.length));
    };
    pad.onpointermove = (event) => {
      if (event.buttons & 1) this.on.jump(at(event));
      this.on.say(at(event));
    };
    pad.onpointerleave = () => this.on.say(null);
    pad.onclick = (event) => this.on.jump(at(event));
    pad.onkeydown = (event) => {
      const step = { ArrowLeft: -0.01, ArrowDown: -0.01, ArrowRight: 0.01, ArrowUp: 0.01, PageUp: 0.1, PageDown: -0.1 };
      const to = { Home: 0, End: this.length - 1 };
      let place = to[event.key];
      if (event.key in step) {
        this.place = Math.abs((this.place ?? -1e9) - this.sight[0]) < 0.02 * this.length ? this.place : this.sight[0];
        place = this.place + step[event.key] * this.length;
      }
      if (place === undefined) return;
      this.place = Math.round(Math.max(0, Math.min(this.length - 1, place)));
      this.on.jump(this.place);
      event.preventDefault();
    };
  }

  close() {
    window.Plotly?.purge(this.plot);
  }
}
