"""What the pictures of the inside of a network have in common: axes, margins, colours of lines.

Pure functions to Plotly figures as plain dictionaries; `go.Figure(...)` shows one in a notebook.
Words on axes are handed in, in whatever language; they are escaped here.

This module knows nothing of networks or pages.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.figures import frame
from rnnviz.figures.frame import Figure
from rnnviz.figures.perplexity import ticks
from rnnviz.figures.themes import LIGHT, Theme

Doubles = npt.NDArray[np.float64]

MOST = 4
"""Lines that one figure can tell apart."""

FLAT = 1e-12
"""Below this, relative to the largest value, a line on a logarithmic axis has ended."""


def colours(theme: Theme) -> tuple[str, str, str, str]:
    """The colours of lines that are compared, in their order."""
    return theme.model, theme.ngram, theme.pinned, theme.uniform


def axis(theme: Theme, title: str = "", **more: Any) -> Figure:
    """One axis that neither moves nor shows more than it has to."""
    name = {
        "text": html.escape(title, quote=False),
        "font": {"color": theme.muted, "size": 12},
        "standoff": 6,
    }
    return frame.axis(theme, **{"showgrid": True, "title": name, **more})


def layout(theme: Theme, x: Figure, y: Figure, **more: Any) -> Figure:
    """A figure's layout with these axes."""
    margin = {"l": 56, "r": 14, "t": 8, "b": 40, "pad": 0}
    return frame.layout(theme, **{"margin": margin, "xaxis": x, "yaxis": y, **more})


def legend(theme: Theme) -> Figure:
    """Where the names of lines stand: inside the frame, above on the right."""
    return {
        "x": 1,
        "y": 1,
        "xanchor": "right",
        "yanchor": "top",
        "bgcolor": "rgba(0,0,0,0)",
        "font": {"color": theme.text, "size": 12},
    }


def _free(curves: Sequence[npt.NDArray[Any]], ends: tuple[float, float]) -> Figure:
    """Where in the frame names cover the least of `curves`, whose values stand on an axis with these ends."""
    wide, high = 0.35, min(0.4, 0.13 * len(curves))  # of the frame

    def covered(x: float, y: float) -> int:
        count = 0
        for values in curves:
            up = (values - ends[0]) / ((ends[1] - ends[0]) or 1.0)
            along = np.arange(len(values)) / max(len(values) - 1, 1)
            inside = (np.abs(up - (y + high * (0.5 - y))) <= high / 2) & (
                np.abs(along - (x + wide * (0.5 - x))) <= wide / 2
            )
            count += int(inside.sum())
        return count

    # Read like this: the right edge before the left one, above before below.
    places = [(x, y) for x in (1.0, 0.0) for y in (1.0, 0.5, 0.0)]
    x, y = min(places, key=lambda place: covered(*place))
    across, along = {1.0: "right", 0.0: "left"}, {1.0: "top", 0.5: "middle", 0.0: "bottom"}
    return {"x": x, "xanchor": across[x], "y": y, "yanchor": along[y]}


def lines(
    curves: Mapping[str, npt.NDArray[Any]],
    *,
    x: str = "",
    y: str = "",
    first: float = 0,
    log: bool = False,
    level: float | None = None,
    dashed: Mapping[str, npt.NDArray[Any]] | None = None,
    theme: Theme = LIGHT,
) -> Figure:
    """Up to MOST lines over the whole numbers from `first` on, by name; `log`: on a logarithmic axis.

    `level` is a value marked by a dotted line; `dashed` are lines in the colours of those of the same name.
    Values that a logarithm can't show, and those lost in rounding, are left out. Raises ConfigError
    for no line or too many.
    """
    if not 1 <= len(curves) <= MOST:
        raise ConfigError(
            "a figure tells 1 to {most} lines apart; received {count}", most=MOST, count=len(curves)
        )
    data: list[Figure] = []
    largest = max((float(np.nanmax(v)) for v in curves.values() if np.isfinite(v).any()), default=1.0)
    for (name, values), colour in zip(curves.items(), colours(theme), strict=False):
        pairs = [(values, "solid"), *([(dashed[name], "dot")] if dashed and name in dashed else [])]
        for which, dash in pairs:
            shown = np.asarray(which, np.float32)
            if log:
                shown = np.where(shown > largest * FLAT, shown, np.nan).astype(np.float32)
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines" if np.isfinite(shown).sum() > 1 else "markers",
                    "name": html.escape(name, quote=False),
                    "showlegend": dash == "solid",
                    "x": np.arange(first, first + len(shown), dtype=np.float32),
                    "y": shown,
                    "line": {"color": colour, "width": 2, "dash": dash},
                    "hoverinfo": "skip",
                }
            )
    longest = max(len(v) for v in curves.values())
    upright: Figure = _logarithmic([d["y"] for d in data]) if log else {"nticks": 6}
    heights = [np.log10(d["y"]) if log else d["y"] for d in data]
    every = np.concatenate(heights)
    every = every[np.isfinite(every)] if np.isfinite(every).any() else np.zeros(1)
    shapes = [] if level is None else [_level(level, theme)]
    return {
        "data": data,
        "layout": layout(
            theme,
            axis(theme, x, range=[first - 0.5, first + max(longest, 2) - 0.5], showgrid=False),
            axis(theme, y, **upright),
            showlegend=len(curves) > 1,
            legend={**legend(theme), **_free(heights, (float(every.min()), float(every.max())))},
            shapes=shapes,
        ),
    }


def _logarithmic(values: list[npt.NDArray[Any]]) -> Figure:
    """A logarithmic axis around all values, with round numbers or whole powers of ten on it."""
    every = np.concatenate(values) if values else np.empty(0)
    every = every[np.isfinite(every) & (every > 0)]
    low, high = (float(np.log10(every.min())), float(np.log10(every.max()))) if len(every) else (0.0, 1.0)
    room = max(0.05, 0.05 * (high - low))
    ends = low - room, high + room
    if high - low > 3:
        step = math.ceil((high - low) / 5)
        powers = range(math.ceil(ends[0] / step) * step, math.floor(ends[1]) + 1, step)
        marks = [10.0**k for k in powers], [f"10{str(k).translate(_RAISED)}" for k in powers]
    else:
        marks = ticks(*ends)
    return {"type": "log", "range": list(ends), "tickvals": marks[0], "ticktext": marks[1]}


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _level(value: float, theme: Theme) -> Figure:
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": value,
        "y1": value,
        "line": {"color": theme.muted, "width": 1, "dash": "dot"},
    }
