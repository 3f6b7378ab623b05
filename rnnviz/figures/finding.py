"""What a figure shows, as values: its highest and lowest, and where they stand."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Kind = Literal["bars", "line", "points", "heat"]


@dataclass(frozen=True)
class Finding:
    """Where the values of one part of a figure are lowest and highest.

    `name` is the part's own, "" where there is none. `low` and `high` are values, `low_at` and `high_at` the
    names of their places, as the axes write them; a heat map's is (row, column). `last` is where a line ends,
    `count` how many values there are.
    """

    kind: Kind
    name: str
    low: float
    high: float
    low_at: tuple[str, ...]
    high_at: tuple[str, ...]
    last: float
    count: int


def of(figure: Mapping[str, Any]) -> list[Finding]:
    """What each part of a Plotly figure shows; parts without finite values are left out.

    >>> bars = {"type": "bar", "orientation": "h", "x": [0.2, 0.7], "y": [0, 1]}
    >>> axis = {"tickvals": [0, 1], "ticktext": ["unit 3", "unit 8"]}
    >>> found = of({"data": [bars], "layout": {"yaxis": axis}})[0]
    >>> found.high_at, found.high
    (('unit 8',), 0.7)
    """
    layout = figure.get("layout", {})
    return [found for trace in figure.get("data", ()) for found in _part(trace, layout)]


def _part(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> Iterator[Finding]:
    sort, name = trace.get("type", "scatter"), html.unescape(str(trace.get("name") or ""))
    across, down = layout.get("xaxis", {}), layout.get("yaxis", {})
    kind: Kind
    places: list[tuple[Mapping[str, Any], Doubles]]
    if sort == "heatmap":
        kind, values = "heat", _coloured(trace)
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
    if not len(finite) or values.ndim != len(places):
        return

    def at(flat: np.intp) -> tuple[str, ...]:
        where = np.unravel_index(flat, values.shape)
        return tuple(_named(axis, along[i]) for (axis, along), i in zip(places, where, strict=True))

    low, high = np.nanargmin(values), np.nanargmax(values)
    ends = float(values.flat[low]), float(values.flat[high])
    yield Finding(kind, name, *ends, at(low), at(high), float(finite[-1]), finite.size)


def _doubles(values: Any) -> Doubles:
    return np.asarray([] if values is None else values, np.float64)


def _coloured(trace: Mapping[str, Any]) -> Doubles:
    """A heat map's values: those that its bar names, where they are numbers, else the colours' own."""
    z, bar = _doubles(trace.get("z")), trace.get("colorbar") or {}
    try:
        values = [float(html.unescape(text).replace("−", "-")) for text in bar.get("ticktext", ())]
    except ValueError:
        return z
    return np.interp(z, bar["tickvals"], values) if values else z


def _named(axis: Mapping[str, Any], value: float) -> str:
    """What an axis calls a value."""
    for known, text in zip(axis.get("tickvals") or (), axis.get("ticktext") or (), strict=False):
        if known == value:
            return html.unescape(str(text))
    return f"{value:,.4g}"
