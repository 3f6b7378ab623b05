"""The curve of a scored text: running perplexity, and that of a rolling window.

A pure function from a `Curve` to a Plotly figure as a plain dictionary. In a notebook:

    import plotly.graph_objects as go
    go.Figure(perplexity.figure({"model": record.curve()}))
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from rnnviz.errors import ConfigError
from rnnviz.figures.frame import Figure, axis, layout, line, log_axis
from rnnviz.figures.themes import LIGHT, Theme
from rnnviz.reports.analysis import Curve

PALE = 0.45
"""How strong the rolling line is beside the running one."""

MOST = 2
"""Models in one figure: more than two pairs of lines can't be read."""


def extent(curves: Mapping[str, Curve]) -> tuple[float, float]:
    """The log axis's ends, as powers of ten, without the first window: its characters may cost thousands."""
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


def skeleton(
    names: tuple[str, ...], *, length: int, ends: tuple[float, float], theme: Theme = LIGHT
) -> Figure:
    """Axes and empty lines, two a model: "NAME running" and "NAME rolling". `length` is in characters; `ends`
    are those of `extent`. Raises ConfigError for no model or more than MOST.
    """
    if not 1 <= len(names) <= MOST:
        raise ConfigError("a curve shows 1 to {most} models; received {count}", most=MOST, count=len(names))
    data = []
    for name, colour in zip(names, (theme.model, theme.ngram), strict=False):
        data.append(line(f"{name} rolling", colour, 1.25, opacity=PALE))
        data.append(line(f"{name} running", colour, 2.25))
    return {
        "data": data,
        "layout": layout(
            theme,
            margin={"l": 46, "r": 10, "t": 6, "b": 22, "pad": 0},
            xaxis=axis(theme, range=[0, max(1, length)], showgrid=False, tickformat=",d", nticks=8),
            yaxis=log_axis(theme, ends),
        ),
    }


def figure(curves: Mapping[str, Curve], *, theme: Theme = LIGHT) -> Figure:
    """The curves of one or two models, by name; raises ConfigError for more."""
    length = max((int(curve.position[-1]) for curve in curves.values() if len(curve.position)), default=1)
    drawn = skeleton(tuple(curves), length=length, ends=extent(curves), theme=theme)
    for n, curve in enumerate(curves.values()):
        x = np.asarray(curve.position).tolist()
        for drawn_line, values in zip(drawn["data"][2 * n :], (curve.rolling, curve.running), strict=False):
            drawn_line.update(x=x, y=[float(v) if np.isfinite(v) else None for v in values])
    layout = drawn["layout"]
    layout.update(height=360, showlegend=True, margin={"l": 64, "r": 16, "t": 16, "b": 48})
    layout["xaxis"]["title"] = "characters read"
    layout["yaxis"]["title"] = "perplexity"
    return drawn
