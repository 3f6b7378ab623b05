// Perplexity, gradient norm and learning rate against characters read: the server's figure, filled in.

const CONFIG = { staticPlot: true, displayModeBar: false, responsive: false };

export class Chart {
  constructor(root) {
    this.root = root;
    this.plot = root.querySelector(".rt-lines");
    this.mark = root.querySelector(".rt-now");
    this.at = null;
  }

  draw(figure, arrays, width, height) {
    if (!window.Plotly || width < 50) return;
    const { data, layout } = structuredClone(figure);
    const { clip, spread } = figure;
    const norms = Float32Array.from(arrays.gradient, (g) => Math.min(clip * spread, Math.max(clip / spread, g)));
    const above = [];
    arrays.gradient.forEach((g, i) => g > clip && above.push(i));
    const filled = {
      train: [arrays.characters, arrays.train],
      validation: [arrays.measured, arrays.validation],
      gradient: [arrays.characters, norms],
      clipped: [above.map((i) => arrays.characters[i]), above.map((i) => norms[i])],
      rate: [arrays.characters, arrays.rate],
    };
    for (const trace of data) {
      const [x, y] = filled[trace.name];
      trace.x = Array.from(x);
      trace.y = Array.from(y, (v) => (Number.isFinite(v) ? v : null));
    }
    Object.assign(layout, { width, height });
    const { l, r } = layout.margin;
    const { range, type } = layout.xaxis;
    const place = type === "log" ? (c) => Math.log10(Math.max(c, 1e-9)) : (c) => c;
    this.scale = { left: l, inner: width - l - r, share: (c) => (place(c) - range[0]) / (range[1] - range[0]) };
    window.Plotly.react(this.plot, data, layout, CONFIG);
    this.point(this.at);
  }

  // Mark how far training was when the picture on the left was taken; null for now.
  point(characters) {
    this.at = characters;
    this.mark.hidden = characters === null || !this.scale;
    if (this.mark.hidden) return;
    const { left, inner, share } = this.scale;
    this.mark.style.left = left + inner * Math.max(0, Math.min(1, share(characters))) + "px";
  }

  close() {
    window.Plotly?.purge(this.plot);
  }
}
