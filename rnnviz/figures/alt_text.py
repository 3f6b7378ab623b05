"""What a figure's alternative text is made of: each part's extremes, for readers who can't see the picture.

A screen reader says the highest and the lowest value with their places; a thousand values, read out one after
the other, would tell nobody where to look. The values come from the finished Plotly figure, not from what it
was drawn of: so the words are about what is on the screen, whichever function has drawn it.
"""

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rnnviz.arrays import Doubles

Kind = Literal["bars", "line", "points", "heat"]


@dataclass(frozen=True)
class Extremes:
    """The lowest and highest values of one part of a figure.

    `name` is the part's, or "". `low` and `high` are values; `low_at` and `high_at` name their places as the
    axes do, for a heat map (row, column). `last` is a line's last value, `count` the number of values.
    """

    kind: Kind
    name: str
    low: float
    high: float
    low_at: tuple[str, ...]
    high_at: tuple[str, ...]
    last: float
    count: int


def extremes(figure: Mapping[str, Any]) -> list[Extremes]:
    """The extremes of each part of a Plotly figure, without parts that have no finite value.

    >>> bars = {"type": "bar", "orientation": "h", "x": [0.2, 0.7], "y": [0, 1]}
    >>> axis = {"tickvals": [0, 1], "ticktext": ["unit 3", "unit 8"]}
    >>> (part,) = extremes({"data": [bars], "layout": {"yaxis": axis}})
    >>> part.high_at, part.high
    (('unit 8',), 0.7)
    """
    layout = figure.get("layout", {})
    return [part for trace in figure.get("data", ()) for part in _part(trace, layout)]


def _part(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> Iterator[Extremes]:
    sort, name = trace.get("type", "scatter"), html.unescape(str(trace.get("name") or ""))
    across, down = layout.get("xaxis", {}), layout.get("yaxis", {})
    kind: Kind
    places: list[tuple[Mapping[str, Any], Doubles]]
    if sort == "heatmap":
        kind, values = "heat", _heat_values(trace)
        places = [
            (axis, np.arange(n, dtype=np.float64))
            for axis, n in zip((down, across), values.shape, strict=False)
        ]
    elif sort == "bar" and trace.get("orientation") == "h":
        kind, values = "bars", _doubles(trace.get("x")) + float(trace.get("base") or 0.0)
        places = [(down, _doubles(trace.get("y")))]
    else:
        kind = "bars" if sort == "bar" else "line" if "lines" in trace.get("mode", "lines") else "points"
        values, places = _doubles(trace.get("y")), [(across, _doubles(trace.get("x")))]
    finite = values[np.isfinite(values)]
    # A line has no values before its data comes, and a figure may be malformed: neither has extremes.
    if not len(finite) or values.ndim != len(places):
        return

    def at(flat: np.intp) -> tuple[str, ...]:
        where = np.unravel_index(flat, values.shape)
        return tuple(_tick_name(axis, along[i]) for (axis, along), i in zip(places, where, strict=True))

    low, high = np.nanargmin(values), np.nanargmax(values)
    ends = float(values.flat[low]), float(values.flat[high])
    yield Extremes(kind, name, *ends, at(low), at(high), float(finite[-1]), finite.size)


def _doubles(values: Any) -> Doubles:
    return np.asarray([] if values is None else values, np.float64)


def _heat_values(trace: Mapping[str, Any]) -> Doubles:
    """A heat map's values: interpolated from the colour bar's labels where these are numbers, else the colour
    levels.
    """
    # The trace holds indices of colours, 0 to COLOUR_LEVELS - 1: "the highest is 254" would say nothing. The
    # colour bar has three of them with their values, and a scale is linear between.
    z, bar = _doubles(trace.get("z")), trace.get("colorbar") or {}
    try:
        values = [float(html.unescape(text).replace("−", "-")) for text in bar.get("ticktext", ())]
    except ValueError:
        return z
    return np.interp(z, bar["tickvals"], values) if values else z


def _tick_name(axis: Mapping[str, Any], value: float) -> str:
    """An axis's name of a value."""
    for tick, text in zip(axis.get("tickvals") or (), axis.get("ticktext") or (), strict=False):
        if tick == value:
            return html.unescape(str(text))
    return f"{value:,.4g}"
