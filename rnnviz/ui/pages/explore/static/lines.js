// Running perplexity and surprisal, painted over Plotly's axes: what changes with every keystroke takes
// Plotly twenty times as long. Colours, widths and dashes are those of the figure's own traces.

import { fit } from "./heat.js";

const DASHES = { dot: [2, 3], dash: [8, 6] };

export class Lines {
  constructor(canvas) {
    this.canvas = canvas;
  }

  // `box`: the picture's measures; `traces`: the figure's, by name; `log`, `top`: where its axes end.
  draw(store, view, box, traces, axes) {
    const { first, last, columns } = view;
    const { inner, top, lines, bars } = box;
    const from = top.perplexity;
    const height = top.surprisal + bars - from;
    const ratio = fit(this.canvas, inner, height);
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, inner, height);
    const room = inner / columns;
    const n = last - first;
    if (!n) return;

    // Bits: one stepped area, each column as wide as above.
    const base = height;
    const tall = bars / axes.bits;
    pen.beginPath();
    pen.moveTo(0, base);
    for (let i = 0; i < n; i++) {
      const y = base - Math.min(axes.bits, store.bits(first + i)) * tall;
      pen.lineTo(i * room, y);
      pen.lineTo((i + 1) * room, y);
    }
    pen.lineTo(n * room, base);
    pen.fillStyle = traces.surprisal.fillcolor;
    pen.fill();
    style(pen, traces.surprisal.line);
    pen.stroke();

    // Perplexities: lines on a logarithmic axis, cut off where it ends.
    pen.save();
    pen.beginPath();
    pen.rect(0, 0, inner, lines);
    pen.clip();
    const scale = lines / axes.decades;
    const line = (trace, value) => {
      style(pen, trace.line);
      pen.beginPath();
      for (let i = 0; i < n; i++)
        pen.lineTo((i + 0.5) * room, lines - Math.log10(Math.min(1e9, value(first + i))) * scale);
      if (n === 1) pen.lineTo(room, lines - Math.log10(Math.min(1e9, value(first))) * scale);
      pen.stroke();
    };
    if (store.hasCounts) line(traces.ngram, (t) => store.counted(t));
    line(traces.model, (t) => store.perplexity(t));
    pen.restore();
  }
}

function style(pen, line) {
  pen.strokeStyle = line.color;
  pen.lineWidth = line.width;
  pen.lineJoin = "round";
  pen.setLineDash(DASHES[line.dash] ?? []);
}
