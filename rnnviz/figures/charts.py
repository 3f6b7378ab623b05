"""Charts that any page draws: lines, bars, heat maps and points in a plane."""

import html
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Array, Doubles, Floats, Integers
from rnnviz.errors import ConfigError
from rnnviz.figures import frame
from rnnviz.figures.frame import (
    Figure,
    axis,
    characters,
    colours,
    escaped,
    layout,
    legend,
    level,
    line,
    log_axis,
)
from rnnviz.figures.themes import LEVELS, LIGHT, Scale, Theme

MOST = 4
"""Lines that one figure can tell apart."""

NAMED = 16
"""Rows of a heat map that have their name beside them, at most."""

FLAT = 1e-12
"""Below this, relative to the largest value, a line on a logarithmic axis has ended."""


def _free(curves: Sequence[Array], ends: tuple[float, float]) -> Figure:
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
    curves: Mapping[str, Array],
    *,
    x: str = "",
    y: str = "",
    first: float = 0,
    log: bool = False,
    level: float | None = None,
    dashed: Mapping[str, Array] | None = None,
    places: bool = False,
    theme: Theme = LIGHT,
) -> Figure:
    """Up to MOST lines, by name, over the whole numbers from `first` on; a dotted one at `level`. `dashed`
    lines have their namesakes' colours. `log`: logarithmic, without values that it cannot show. `places`: the
    numbers are places in a text, counted from 1 on the axis. Raises ConfigError for no line or too many.
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
            mode = "lines" if np.isfinite(shown).sum() > 1 else "markers"
            x_values = np.arange(first, first + len(shown), dtype=np.float32)
            solid = dash == "solid"
            data.append(line(name, colour, 2, dash, mode=mode, showlegend=solid, x=x_values, y=shown))
    longest = max(len(v) for v in curves.values())
    heights = [np.log10(d["y"]) if log else d["y"] for d in data]
    every = np.concatenate(heights)
    every = every[np.isfinite(every)] if np.isfinite(every).any() else np.zeros(1)
    low, high = float(every.min()), float(every.max())
    room = max(0.05, 0.05 * (high - low))
    return {
        "data": data,
        "layout": layout(
            theme,
            axis(
                theme,
                x,
                range=[first - 0.5, first + max(longest, 2) - 0.5],
                showgrid=False,
                **(frame.characters(int(first) + longest) if places else {}),
            ),
            log_axis(theme, (low - room, high + room), y) if log else axis(theme, y, nticks=6),
            showlegend=len(curves) > 1,
            legend=legend(theme, **_free(heights, (low, high))),
            shapes=[] if level is None else [frame.level(level, theme.muted, dash="dot")],
        ),
    }


# Bars: a ranking of units beside chance, a histogram, two predictions.


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


def histogram(counts: Array, edges: Array, *, x: str = "", y: str = "", theme: Theme = LIGHT) -> Figure:
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


# Heat maps: units along a text, and predictions against the characters they rest on.


CONNECTED = Scale("sequential", -4.0, 0.0)
"""Shares of a row of a connectivity, as decimal logarithms: from a ten-thousandth to all."""


def table(
    values: Array,
    scale: Scale,
    *,
    x: str = "",
    y: str = "",
    bar: bool = True,
    words: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    places: str = "",
    theme: Theme = LIGHT,
) -> Figure:
    """`values` (rows, T) as colours of `scale`, the first row above; `words` instead of numbers on its bar,
    and `names` of the rows, of which some NAMED are shown. `places`: the axes along which a text lies, "x" or
    "xy", counted from 1. Raises ConfigError for another shape.
    """
    if values.ndim != 2:
        raise ConfigError("a table is (rows, T); received shape {shape}", shape=values.shape)
    rows, T = values.shape
    levels = scale.levels(values)

    def ticks(name: str, length: int) -> Figure:
        if name == "y" and names is not None:
            shown = list(range(0, len(names), -(-len(names) // NAMED)))
            return {"tickvals": shown, "ticktext": escaped([names[row] for row in shown])}
        return characters(length) if name in places else {}

    middle = (scale.low + scale.high) / 2
    heat = {
        "type": "heatmap",
        "z": levels,
        "zmin": 0,
        "zmax": LEVELS - 1,
        "zsmooth": "fast" if levels.size > 20_000 else False,
        "colorscale": scale.colorscale(theme),
        "hoverinfo": "skip",
        "showscale": bar,
        "colorbar": {
            "thickness": 9,
            "outlinewidth": 0,
            "tickvals": [0, (LEVELS - 1) / 2, LEVELS - 1],
            "ticktext": escaped(
                words or [f"{value:g}".replace("-", "−") for value in (scale.low, middle, scale.high)]
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
            axis(theme, x, range=[-0.5, max(T, 1) - 0.5], showgrid=False, **ticks("x", T)),
            axis(theme, y, range=[max(rows, 1) - 0.5, -0.5], showgrid=False, nticks=6, **ticks("y", rows)),
        ),
    }


def square(
    log10: Floats,
    *,
    x: str = "",
    y: str = "",
    words: tuple[str, str, str],
    theme: Theme = LIGHT,
) -> Figure:
    """A connectivity: row t is the prediction after character t, column s a character before it. `log10` (T,
    T): shares of each row; `words` label 0.0001, 0.01 and 1. Raises ConfigError for another shape.
    """
    if log10.ndim != 2 or log10.shape[0] != log10.shape[1]:
        raise ConfigError("a connectivity is (T, T); received shape {shape}", shape=log10.shape)
    shares = np.where(np.isfinite(log10), log10, CONNECTED.low)
    return table(shares, CONNECTED, x=x, y=y, words=words, places="xy", theme=theme)


# Points in a plane: the path of a hidden state, and the gates of every unit.


KINDS = ("letter", "space", "line break", "punctuation or digit")
"""What `kinds` tells apart, as indices."""


def kinds(text: str) -> Integers:
    """The kind of each character, (T,): an index of KINDS."""

    def kind(character: str) -> int:
        if character == "\n":
            return 2
        if character.isspace():
            return 1
        return 0 if unicodedata.category(character)[0] in "LM" else 3

    return np.array([kind(c) for c in text], np.int64)


def path(
    points: Array,
    kind: Integers,
    names: Sequence[str],
    *,
    explained: Sequence[float],
    axes: str = "component",
    theme: Theme = LIGHT,
) -> Figure:
    """States `points` (T, 2) joined in order, coloured by `kind` (T,), an index of `names`. `explained` are
    the axes' shares of the variance; they are counted from 0. Raises ConfigError for other shapes.
    """
    if points.ndim != 2 or points.shape[1] != 2 or kind.shape != points.shape[:1]:
        raise ConfigError(
            "a path is (T, 2) with T kinds; received {points} and {kinds}",
            points=points.shape,
            kinds=kind.shape,
        )
    places = np.asarray(points, np.float32)
    data = [
        line("", theme.axis, 0.7, x=places[:, 0], y=places[:, 1], opacity=0.6, showlegend=False),
        *(
            _dots(name, colour, places[kind == which], 0.8)
            for which, (name, colour) in enumerate(zip(names, colours(theme), strict=False))
            if (kind == which).any()
        ),
    ]
    titles = [f"{axes} {n} ({share:.0%})" for n, share in enumerate(explained)]
    return {
        "data": data,
        "layout": layout(
            theme,
            axis(theme, titles[0], nticks=6),
            axis(theme, titles[1], nticks=6),
            showlegend=True,
            legend=legend(theme, orientation="h", x=0, xanchor="left", y=1.02, yanchor="bottom"),
            margin={"l": 56, "r": 14, "t": 30, "b": 40, "pad": 0},
        ),
    }


def points(
    groups: Mapping[str, Array],
    bound: str,
    *,
    x: str = "",
    y: str = "",
    theme: Theme = LIGHT,
) -> Figure:
    """Points (n, 2) of each name, beside the line that bounds them: the "diagonal" of two shares that add up
    to at most 1, after Karpathy, Johnson & Fei-Fei (2015); or the unit "circle", which matrices' eigenvalues
    may leave.
    """
    data = [
        _dots(name, colour, np.asarray(places, np.float32), 0.6)
        for (name, places), colour in zip(groups.items(), colours(theme), strict=False)
    ]
    across: Figure = {"range": [-0.03, 1.03], "tickformat": ".0%", "nticks": 6}
    along = across
    edge = {"type": "line", "x0": 0, "y0": 1, "x1": 1, "y1": 0}
    if bound == "circle":
        edge = {"type": "circle", "x0": -1, "y0": -1, "x1": 1, "y1": 1}
        # One unit is as long up as across, or the circle would be none.
        across, along = {"nticks": 6}, {"nticks": 6, "scaleanchor": "x", "scaleratio": 1}
    return {
        "data": data,
        "layout": layout(
            theme,
            axis(theme, x, **across),
            axis(theme, y, **along),
            showlegend=True,
            legend=legend(theme),
            shapes=[{**edge, "line": {"color": theme.axis, "width": 1}}],
        ),
    }


def _dots(name: str, colour: str, places: Floats, opacity: float) -> Figure:
    marker = {"color": colour, "size": 6, "opacity": opacity}
    return line(name, colour, 0, mode="markers", x=places[:, 0], y=places[:, 1], marker=marker)
