"""The curve of a scored text: its perplexity so far, and that of the characters just read.

A pure function from a `Curve` to a Plotly figure as a plain dictionary. In a notebook:

    import plotly.graph_objects as go
    go.Figure(perplexity.figure({"model": record.curve()}))
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping

import numpy as np

from rnnviz.errors import ConfigError
from rnnviz.figures.frame import Figure, axis, layout
from rnnviz.figures.themes import LIGHT, Theme
from rnnviz.reports.analysis import Curve

PALE = 0.45
"""How strong the rolling line is beside the running one."""

MOST = 2
"""Models in one figure: more than two pairs of lines can't be read."""


def extent(curves: Mapping[str, Curve]) -> tuple[float, float]:
    """The logarithmic axis's ends, as powers of ten.

    Everything fits in but the beginning, before the first full window, or a tenth of a text without one: the
    first characters may cost thousands, and would press everything else into a strip.
    """
    lines = []
    for curve in curves.values():
        length = max(curve.position, default=0)
        settled = curve.position >= (curve.window if length >= curve.window else length / 10)
        lines += [np.asarray(line, np.float64)[settled] for line in (curve.running, curve.rolling)]
    values = np.concatenate(lines)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 2.0
    low, high = math.log10(max(1.0, values.min())), math.log10(max(1.0, values.max()))
    room = max(0.06, 0.06 * (high - low))
    return max(0.0, low - room), high + room


def ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Round numbers on a logarithmic axis from 10**low to 10**high, and how they are written."""
    if high - low > 3:
        step = math.ceil((high - low) / 6)
        values = [10.0**k for k in range(math.ceil(low / step) * step, math.floor(high) + 1, step)]
    elif high - low > 0.7:
        decades = range(math.floor(low), math.floor(high) + 1)
        values = [s * 10.0**k for k in decades for s in (1, 2, 5) if low <= math.log10(s * 10.0**k) <= high]
    else:  # less than a factor of five: evenly spaced numbers are rounder
        start, stop = 10**low, 10**high
        unit = 10.0 ** math.floor(math.log10((stop - start) / 3))
        step_by = max(s for s in (1, 2, 5) if s * unit <= (stop - start) / 3) * unit
        values = [k * step_by for k in range(math.ceil(start / step_by), math.floor(stop / step_by) + 1)]
    return values, [_written(value) for value in values]


def _written(value: float) -> str:
    if 0.001 <= value < 100_000:
        return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"
    power = math.floor(math.log10(value) + 1e-9)
    front = f"{value / 10.0**power:.4g}"
    raised = "10" + str(power).translate(_RAISED)
    return raised if front == "1" else f"{front}·{raised}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def skeleton(
    names: tuple[str, ...], *, length: int, ends: tuple[float, float], theme: Theme = LIGHT
) -> Figure:
    """Axes and empty lines, two a model: "NAME running" and "NAME rolling".

    `length` is the text's, in characters; `ends` are those of `extent`. Raises ConfigError for no model or
    more than MOST.
    """
    if not 1 <= len(names) <= MOST:
        raise ConfigError("a curve shows 1 to {most} models; received {count}", most=MOST, count=len(names))
    values, texts = ticks(*ends)
    quiet = axis(theme)
    data = []
    for name, colour in zip(names, (theme.model, theme.ngram), strict=False):
        # Names come from files; Plotly reads a little HTML in them.
        line = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "x": [], "y": []}
        shown = html.escape(name)
        data += [
            {**line, "name": f"{shown} rolling", "opacity": PALE, "line": {"color": colour, "width": 1.25}},
            {**line, "name": f"{shown} running", "line": {"color": colour, "width": 2.25}},
        ]
    return {
        "data": data,
        "layout": layout(
            theme,
            margin={"l": 46, "r": 10, "t": 6, "b": 22, "pad": 0},
            xaxis={**quiet, "range": [0, max(1, length)], "showgrid": False, "tickformat": ",d", "nticks": 8},
            yaxis={**quiet, "type": "log", "range": list(ends), "tickvals": values, "ticktext": texts},
        ),
    }


def figure(curves: Mapping[str, Curve], *, theme: Theme = LIGHT) -> Figure:
    """The whole picture of one text read by one or two models, by name; raises ConfigError for more."""
    length = max((int(curve.position[-1]) for curve in curves.values() if len(curve.position)), default=1)
    drawn = skeleton(tuple(curves), length=length, ends=extent(curves), theme=theme)
    for n, curve in enumerate(curves.values()):
        x = np.asarray(curve.position).tolist()
        for line, values in zip(drawn["data"][2 * n :], (curve.rolling, curve.running), strict=False):
            line.update(x=x, y=[float(v) if np.isfinite(v) else None for v in values])
    layout = drawn["layout"]
    layout.update(height=360, showlegend=True, margin={"l": 64, "r": 16, "t": 16, "b": 48})
    layout["xaxis"]["title"] = "characters read"
    layout["yaxis"]["title"] = "perplexity"
    return drawn
