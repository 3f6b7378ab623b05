"""Bars: a ranking of units beside chance, a histogram, two predictions."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.figures.frame import Figure, axis, escaped, layout, legend, level
from rnnviz.figures.themes import LIGHT, Theme

Doubles = npt.NDArray[np.float64]


def ranking(
    names: Sequence[str],
    values: npt.ArrayLike,
    *,
    levels: Mapping[str, float] | None = None,
    errors: npt.ArrayLike | None = None,
    x: str = "",
    first: float | None = None,
    last: float | None = None,
    chosen: int | None = None,
    theme: Theme = LIGHT,
) -> Figure:
    """Bars from `first` on, the first name above, with marked `levels`, `errors` as whiskers and one
    `chosen`. Raises ConfigError unless each bar has a name.
    """
    heights = np.asarray(values, np.float64)
    if heights.shape != (len(names),) or not len(names):
        raise ConfigError(
            "a ranking has a name for each bar; received {names} for {shape}",
            names=len(names),
            shape=heights.shape,
        )
    start = 0.0 if first is None else first
    whiskers = None if errors is None else np.nan_to_num(np.asarray(errors, np.float64))
    bar = _ranked(heights, start, whiskers, chosen, theme)
    marks = levels or {}
    ends = [*heights, *(heights if whiskers is None else heights + whiskers), start, *marks.values()]
    low, high = float(min(ends)), float(max(ends) if last is None else last)
    room = 0.03 * (high - low or 1.0)
    return {
        "data": [bar],
        "layout": layout(
            theme,
            axis(theme, x, range=[low - (room if low < start else 0), high + room], nticks=6),
            _listing(theme, names),
            margin={"l": 76, "r": 14, "t": 8 + 16 * len(marks), "b": 40, "pad": 0},
            bargap=0.3,
            shapes=[
                level(value, _colour(n, theme), 2, ("solid", "dot", "dash", "dashdot")[n % 4], upright=True)
                for n, value in enumerate(marks.values())
            ],
            annotations=[
                _named(f"{name} {value:.3f}", value, n, low + (high - low) / 2, theme)
                for n, (name, value) in enumerate(marks.items())
            ],
        ),
    }


def _ranked(
    heights: Doubles, start: float, whiskers: Doubles | None, chosen: int | None, theme: Theme
) -> Figure:
    """The bars of a ranking."""
    bar: Figure = {
        "type": "bar",
        "orientation": "h",
        "y": list(range(len(heights))),
        "x": (heights - start).tolist(),
        "base": start,
        "marker": {"color": [theme.model if i == chosen else theme.bar for i in range(len(heights))]},
        "hoverinfo": "skip",
    }
    if whiskers is not None:
        array = whiskers.tolist()
        bar["error_x"] = {"type": "data", "array": array, "color": theme.muted, "thickness": 1, "width": 2}
    return bar


def _listing(theme: Theme, names: Sequence[str], **more: Any) -> Figure:
    ends, ticks = [len(names) - 0.4, -0.6], list(range(len(names)))
    return axis(theme, range=ends, showgrid=False, tickvals=ticks, ticktext=escaped(names), **more)


def _colour(n: int, theme: Theme) -> str:
    return (theme.came, theme.pinned, theme.text, theme.muted)[n % 4]


def _named(text: str, value: float, n: int, middle: float, theme: Theme) -> Figure:
    """A level's name above the frame, one line each, on the side where there is room."""
    return {
        "text": html.escape(text, quote=False),
        "x": value,
        "y": 1,
        "yref": "paper",
        "xanchor": "left" if value < middle else "right",
        "yanchor": "bottom",
        "yshift": 15 * n,
        "showarrow": False,
        "font": {"color": _colour(n, theme), "size": 12},
    }


def histogram(
    counts: npt.NDArray[Any], edges: npt.NDArray[Any], *, x: str = "", y: str = "", theme: Theme = LIGHT
) -> Figure:
    """How often values lay between two `edges` (n + 1,), as shares of all `counts` (n,)."""
    if len(edges) != len(counts) + 1:
        raise ConfigError(
            "{bins} bins have {needed} edges; received {edges}",
            bins=len(counts),
            needed=len(counts) + 1,
            edges=len(edges),
        )
    shares = np.asarray(counts, np.float64) / max(1, int(np.sum(counts)))
    seen = np.flatnonzero(counts)
    low, high = (edges[seen[0]], edges[seen[-1] + 1]) if len(seen) else (edges[0], edges[-1])
    return {
        "data": [
            {
                "type": "bar",
                "x": ((edges[1:] + edges[:-1]) / 2).tolist(),
                "y": shares.tolist(),
                "width": (edges[1:] - edges[:-1]).tolist(),
                "marker": {"color": theme.bar, "line": {"width": 0}},
                "hoverinfo": "skip",
            }
        ],
        "layout": layout(
            theme,
            axis(theme, x, range=[float(low), float(high)], showgrid=False),
            axis(theme, y, tickformat=".0%", nticks=4),
            bargap=0.05,
        ),
    }


def pair(
    names: Sequence[str],
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    *,
    labels: tuple[str, str],
    x: str = "",
    theme: Theme = LIGHT,
) -> Figure:
    """Two probabilities for each name, one bar below the other: as it is, and as changed."""
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": html.escape(label, quote=False),
            "y": list(range(len(names))),
            "x": np.asarray(values, np.float64).tolist(),
            "marker": {"color": colour},
            "hoverinfo": "skip",
        }
        for label, values, colour in zip(labels, (before, after), (theme.bar, theme.came), strict=True)
    ]
    return {
        "data": data,
        "layout": layout(
            theme,
            axis(theme, x, range=[0, 1.02], tickformat=".0%", nticks=5),
            _listing(theme, names, tickfont={"color": theme.text, "size": 13}),
            margin={"l": 46, "r": 14, "t": 8, "b": 40, "pad": 0},
            barmode="group",
            bargap=0.25,
            showlegend=True,
            legend=legend(theme, y=0, yanchor="bottom"),
        ),
    }
