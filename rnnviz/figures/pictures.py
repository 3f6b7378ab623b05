"""Pictures of findings (`rnnviz.findings`), each drawn from its dataclass by one function."""

import html
from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from rnnviz.arrays import Doubles, Floats
from rnnviz.checks import renamed, renamed_names
from rnnviz.figures.axes import (
    Figure,
    axis,
    characters,
    colours,
    escape_names,
    layout,
    legend,
    level,
    line,
    log_axis,
)
from rnnviz.figures.themes import COLOUR_LEVELS, LIGHT, ColourScale, Theme
from rnnviz.findings import Bars, Heat, Histogram, Lines, Pair, Picture, Points, Square

Translate = Callable[[object], str]
"""Translates a picture's words."""

MAX_ROW_NAMES = 16
"""Rows of a heat map with a name beside them, at most."""

LOG_FLOOR_SHARE = 1e-12
"""The share of the largest value below which a line on a logarithmic axis ends."""

CONNECTED = ColourScale("sequential", -4.0, 0.0)
"""Shares of a row of a connectivity, as decimal logarithms: from a ten-thousandth to 1."""

TENTHS = ("10⁻⁴", "10⁻²", "1")
"""Labels at the ends and the middle of CONNECTED."""


@renamed(tell="translate")
def draw(picture: Picture, translate: Translate = str, theme: Theme = LIGHT) -> Figure:
    """The Plotly figure of a picture.

    >>> figure = draw(Histogram(np.array([1, 3]), np.array([0.0, 0.5, 1.0]), "H", "share"))
    >>> figure["data"][0]["y"]
    [0.25, 0.75]
    """
    return _draw(picture, translate, theme)


@singledispatch
def _draw(picture: object, translate: Translate, theme: Theme) -> Figure:
    raise TypeError(f"a picture of rnnviz.findings is drawn; received {type(picture).__name__}")


@_draw.register
def _lines(picture: Lines, translate: Translate, theme: Theme) -> Figure:
    """Curves; a logarithmic axis leaves out values that it cannot show."""
    curves, first, log = picture.curves, picture.first, picture.log
    data: list[Figure] = []
    largest = max((float(np.nanmax(v)) for _name, v in curves if np.isfinite(v).any()), default=1.0)
    for (name, values), colour in zip(curves, colours(theme), strict=False):  # four at most
        drawable = np.asarray(values, np.float32)
        if log:
            drawable = np.where(drawable > largest * LOG_FLOOR_SHARE, drawable, np.nan).astype(np.float32)
        mode = "lines" if np.isfinite(drawable).sum() > 1 else "markers"
        x_values = np.arange(first, first + len(drawable), dtype=np.float32)
        data.append(line(translate(name), colour, 2, mode=mode, x=x_values, y=drawable))
    length = max(len(values) for _name, values in curves)
    heights = np.concatenate([np.log10(d["y"]) if log else d["y"] for d in data])
    heights = heights[np.isfinite(heights)] if np.isfinite(heights).any() else np.zeros(1)
    low, high = float(heights.min()), float(heights.max())
    room = max(0.05, 0.05 * (high - low))
    y = translate(picture.y)
    return {
        "data": data,
        "layout": layout(
            theme,
            axis(
                theme,
                translate(picture.x),
                range=[first - 0.5, first + max(length, 2) - 0.5],
                showgrid=False,
                **(characters(int(first) + length) if picture.places else {}),
            ),
            log_axis(theme, (low - room, high + room), y) if log else axis(theme, y, nticks=6),
            showlegend=len(curves) > 1,
            # Above the frame, where no line is.
            legend=legend(theme, orientation="h", x=0, xanchor="left", yanchor="bottom"),
        ),
    }


@_draw.register
def _bars(picture: Bars, translate: Translate, theme: Theme) -> Figure:
    names, first, last = picture.names, picture.first, picture.last
    heights = np.asarray(picture.values, np.float64)
    start = 0.0 if first is None else first
    whiskers = None if picture.errors is None else np.nan_to_num(np.asarray(picture.errors, np.float64))
    values = [value for _name, value in picture.levels]
    away = 0.0 if whiskers is None else whiskers
    ends = [*(heights - away), *(heights + away), start, *values]
    low, high = float(min(ends)), float(max(ends) if last is None else last)
    room = 0.03 * (high - low or 1.0)
    return {
        "data": [_ranking_bars(heights, start, whiskers, picture.chosen, theme)],
        "layout": layout(
            theme,
            axis(
                theme, translate(picture.x), range=[low - (room if low < start else 0), high + room], nticks=6
            ),
            _listing(theme, [translate(name) for name in names]),
            margin={"l": 76, "r": 14, "t": 8 + 16 * len(values), "b": 40, "pad": 0},
            bargap=0.3,
            shapes=[
                level(value, _colour(n, theme), 2, ("solid", "dot", "dash", "dashdot")[n % 4], upright=True)
                for n, value in enumerate(values)
            ],
            annotations=[
                _level_name(f"{translate(name)} {value:.3f}", value, n, low + (high - low) / 2, theme)
                for n, (name, value) in enumerate(picture.levels)
            ],
        ),
    }


def _ranking_bars(
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


def _listing(theme: Theme, names: Sequence[str], **settings: Any) -> Figure:
    ends, ticks = [len(names) - 0.4, -0.6], list(range(len(names)))
    return axis(
        theme,
        range=ends,
        showgrid=False,
        tickvals=ticks,
        ticktext=escape_names(names),
        ticklabeloverflow="allow",  # every label fits; else Plotly measures each in turn
        **settings,
    )


def _colour(n: int, theme: Theme) -> str:
    return (theme.actual, theme.pinned, theme.text, theme.muted)[n % 4]


def _level_name(text: str, value: float, n: int, middle: float, theme: Theme) -> Figure:
    """A level's name above the frame, one row each, on the side with room."""
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


@_draw.register
def _histogram(picture: Histogram, translate: Translate, theme: Theme) -> Figure:
    """Bars of the shares of all values, over the occupied range."""
    counts, edges = picture.counts, picture.edges
    shares = np.asarray(counts, np.float64) / max(1, int(np.sum(counts)))
    occupied = np.flatnonzero(counts)
    low, high = (edges[occupied[0]], edges[occupied[-1] + 1]) if len(occupied) else (edges[0], edges[-1])
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
            axis(theme, translate(picture.x), range=[float(low), float(high)], showgrid=False),
            axis(theme, translate(picture.y), tickformat=".0%", nticks=4),
            bargap=0.05,
        ),
    }


@_draw.register
def _pair(picture: Pair, translate: Translate, theme: Theme) -> Figure:
    """Two bars a name: before, and below it after the change."""
    names = [translate(name) for name in picture.names]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": html.escape(translate(label), quote=False),
            "y": list(range(len(names))),
            "x": np.asarray(values, np.float64).tolist(),
            "marker": {"color": colour},
            "hoverinfo": "skip",
        }
        for label, values, colour in zip(
            picture.labels, (picture.before, picture.after), (theme.bar, theme.actual), strict=True
        )
    ]
    return {
        "data": data,
        "layout": layout(
            theme,
            axis(theme, translate(picture.x), range=[0, 1.02], tickformat=".0%", nticks=5),
            _listing(theme, names, tickfont={"color": theme.text, "size": 13}),
            margin={"l": 46, "r": 14, "t": 8, "b": 40, "pad": 0},
            barmode="group",
            bargap=0.25,
            showlegend=True,
            legend=legend(theme, y=0, yanchor="bottom"),
        ),
    }


@_draw.register
def _heat(picture: Heat, translate: Translate, theme: Theme, ends: Sequence[str] | None = None) -> Figure:
    """A heat map, the first row on top; `ends` replaces the numbers on the colour bar."""
    values, names, scale = picture.values, picture.names, ColourScale(*picture.scale)
    rows, T = values.shape
    levels = scale.levels(values)

    def ticks(name: str, length: int) -> Figure:
        if name == "y" and names is not None:
            labelled = list(range(0, len(names), -(-len(names) // MAX_ROW_NAMES)))
            return {
                "tickvals": labelled,
                "ticktext": escape_names([translate(names[row]) for row in labelled]),
            }
        return characters(length) if name in picture.places else {}

    middle = (scale.low + scale.high) / 2
    heat = {
        "type": "heatmap",
        "z": levels,
        "zmin": 0,
        "zmax": COLOUR_LEVELS - 1,
        "zsmooth": "fast" if levels.size > 20_000 else False,
        "colorscale": scale.colorscale(theme),
        "hoverinfo": "skip",
        "colorbar": {
            "thickness": 9,
            "outlinewidth": 0,
            "tickvals": [0, (COLOUR_LEVELS - 1) / 2, COLOUR_LEVELS - 1],
            "ticktext": escape_names(
                ends or [f"{value:g}".replace("-", "−") for value in (scale.low, middle, scale.high)]
            ),
            "tickfont": {"color": theme.muted, "size": 11},
            "xpad": 4,
            "ypad": 0,
        },
    }
    return {
        "data": [heat],
        "layout": layout(
            theme,
            axis(theme, translate(picture.x), range=[-0.5, max(T, 1) - 0.5], showgrid=False, **ticks("x", T)),
            axis(
                theme,
                translate(picture.y),
                range=[max(rows, 1) - 0.5, -0.5],
                showgrid=False,
                nticks=6,
                **ticks("y", rows),
            ),
        ),
    }


@_draw.register
def _square(picture: Square, translate: Translate, theme: Theme) -> Figure:
    """Row t is the prediction after character t, column s a character before it."""
    shares = np.where(np.isfinite(picture.log10), picture.log10, CONNECTED.low)
    scale = (CONNECTED.kind, CONNECTED.low, CONNECTED.high)
    return _heat(Heat(shares, scale, picture.x, picture.y, places="xy"), translate, theme, TENTHS)


@_draw.register
def _points(picture: Points, translate: Translate, theme: Theme) -> Figure:
    """The diagonal after Karpathy, Johnson & Fei-Fei (2015), the circle for eigenvalues."""
    data = [
        _dots(translate(name), colour, np.asarray(places, np.float32), 0.6)
        for (name, places), colour in zip(picture.groups, colours(theme), strict=False)
    ]
    across: Figure = {"range": [-0.03, 1.03], "tickformat": ".0%", "nticks": 6}
    along = across
    edge = {"type": "line", "x0": 0, "y0": 1, "x1": 1, "y1": 0}
    if picture.bound == "circle":
        edge = {"type": "circle", "x0": -1, "y0": -1, "x1": 1, "y1": 1}
        # Equal scales on both axes, so that the circle is round.
        across, along = {"nticks": 6}, {"nticks": 6, "scaleanchor": "x", "scaleratio": 1}
    return {
        "data": data,
        "layout": layout(
            theme,
            axis(theme, translate(picture.x), **across),
            axis(theme, translate(picture.y), **along),
            showlegend=True,
            legend=legend(theme),
            shapes=[{**edge, "line": {"color": theme.axis, "width": 1}}],
        ),
    }


def _dots(name: str, colour: str, places: Floats, opacity: float) -> Figure:
    marker = {"color": colour, "size": 6, "opacity": opacity}
    return line(name, colour, 0, mode="markers", x=places[:, 0], y=places[:, 1], marker=marker)


if not TYPE_CHECKING:  # not for mypy, which would take every name for one of the module's
    __getattr__ = renamed_names(
        __name__,
        FLAT="LOG_FLOOR_SHARE",
        NAMED="MAX_ROW_NAMES",
        Tell="Translate",
    )
