"""The curve of a scored text: perplexity, running and over a rolling window.

Pure functions from a `Curve` to a Plotly figure as a plain dictionary; the page fills in its lines.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rnnviz.checks import renamed_names
from rnnviz.figures.axes import Figure, axis, axis_number, layout, line, log_axis
from rnnviz.figures.themes import LIGHT, Theme
from rnnviz.scoring.breakdown import Curve

ROLLING_OPACITY = 0.45
"""The rolling line's opacity."""


def extent(curves: Mapping[str, Curve]) -> tuple[float, float]:
    """The log axis's ends, as powers of ten. The first window is left out, or in a short text the first
    quarter, where characters may cost thousands. `beyond` marks values outside the axis.
    """
    lines = []
    for curve in curves.values():
        settled = curve.position >= min(curve.window, max(curve.position, default=0) / 4)
        lines += [np.asarray(line, np.float64)[settled] for line in (curve.running, curve.rolling)]
    values = np.concatenate(lines)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 2.0
    low, high = math.log10(max(1.0, values.min())), math.log10(max(1.0, values.max()))
    room = max(0.06, 0.06 * (high - low))
    return max(0.0, low - room), high + room


@dataclass(frozen=True)
class Beyond:
    """The place where a model's curve lies farthest outside an axis: `model` counts from 0, `position`
    characters read, at `value`, above the axis or below.
    """

    model: int
    position: int
    value: float
    above: bool


def beyond(curves: Mapping[str, Curve], ends: tuple[float, float]) -> list[Beyond]:
    """The farthest place outside the axis `ends`, for each curve and side."""
    places = []
    low, high = (10**end for end in ends)
    for n, curve in enumerate(curves.values()):
        running, rolling = (np.asarray(line, np.float64) for line in (curve.running, curve.rolling))
        for above, cut in ((True, np.fmax(running, rolling)), (False, np.fmin(running, rolling))):
            outside = cut > high if above else cut < low  # False for NaN
            if outside.any():
                at = int(np.argmax(np.where(outside, cut if above else -cut, -np.inf)))
                places.append(Beyond(n, int(curve.position[at]), float(cut[at]), above))
    return places


def _mark(cut: Beyond, order: int, length: int, theme: Theme) -> Figure:
    """An arrow at the frame's edge with the value there; each mark of one side has its own row."""
    is_left = cut.position < length / 2
    arrow, number = "▲" if cut.above else "▼", axis_number(cut.value)
    return {
        "text": f"{arrow} {number}" if is_left else f"{number} {arrow}",
        "x": cut.position,
        "y": 1 if cut.above else 0,
        "yref": "paper",
        "xanchor": "left" if is_left else "right",
        "yanchor": "top" if cut.above else "bottom",
        "xshift": -6 if is_left else 6,
        "yshift": (-14 if cut.above else 14) * order,
        "showarrow": False,
        "bgcolor": theme.background,
        "borderpad": 0,
        "font": {"color": _colours(theme)[cut.model], "size": 12},
    }


def _colours(theme: Theme) -> tuple[str, str]:
    return theme.model, theme.ngram


def skeleton(
    names: tuple[str, ...],
    *,
    length: int,
    ends: tuple[float, float],
    theme: Theme = LIGHT,
    cuts: Sequence[Beyond] = (),
) -> Figure:
    """Axes and empty lines, two a model: "NAME running" and "NAME rolling". `length` is in characters; `ends`
    are those of `extent`; `cuts`, from `beyond`, get an arrow and their value each.
    """
    data = []
    for name, colour in zip(names, _colours(theme), strict=False):  # one model, or two
        data.append(line(f"{name} rolling", colour, 1.25, opacity=ROLLING_OPACITY))
        data.append(line(f"{name} running", colour, 2.25))
    return {
        "data": data,
        "layout": layout(
            theme,
            margin={"l": 46, "r": 10, "t": 6, "b": 22, "pad": 0},
            xaxis=axis(theme, range=[0, max(1, length)], showgrid=False, tickformat=",d", nticks=8),
            yaxis=log_axis(theme, ends),
            annotations=[
                _mark(cut, sum(earlier.above == cut.above for earlier in cuts[:n]), length, theme)
                for n, cut in enumerate(cuts)
            ],
        ),
    }


if not TYPE_CHECKING:  # not for mypy, which would take every name for one of the module's
    __getattr__ = renamed_names(
        __name__,
        PALE="ROLLING_OPACITY",
    )
