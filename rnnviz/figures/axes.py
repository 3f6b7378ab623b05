"""Common parts of figures: axes, layouts, line colours, and extremes in words."""

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.figures.themes import Theme
from rnnviz.sentences import RAISED

Figure = dict[str, Any]


def axis(theme: Theme, title: str = "", **more: Any) -> Figure:
    """An axis that can't be dragged, with only lines, numbers and its title."""
    return {
        "fixedrange": True,
        "zeroline": False,
        "automargin": False,
        "ticks": "",
        "tickfont": {"color": theme.muted, "size": 11},
        "linecolor": theme.axis,
        "gridcolor": theme.grid,
        "title": {
            "text": html.escape(title, quote=False),
            "font": {"color": theme.muted, "size": 12},
            "standoff": 6,
        },
        **more,
    }


def characters(length: int) -> Figure:
    """About six ticks for an axis of the places 0 to `length` - 1 of a text, counted from 1."""
    tens = 10 ** int(math.log10(max(length / 6, 1)))
    step = next(size * tens for size in (1, 2, 5, 10) if size * tens * 6 >= length)
    counted = sorted({1, *range(step, length + 1, step)})
    return {"tickvals": [n - 1 for n in counted], "ticktext": [f"{n:,}" for n in counted]}


def layout(theme: Theme, xaxis: Figure, yaxis: Figure, **more: Any) -> Figure:
    """A layout on the page's background, without a legend."""
    return {
        "showlegend": False,
        "hovermode": False,
        "dragmode": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": theme.text, "size": 12},
        "margin": {"l": 56, "r": 14, "t": 8, "b": 40, "pad": 0},
        "xaxis": xaxis,
        "yaxis": yaxis,
        **more,
    }


def line(name: str, colour: str, width: float, dash: str = "solid", **more: Any) -> Figure:
    """An empty line with an escaped name, because Plotly interprets some HTML in names."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": html.escape(name, quote=False),
        "x": [],
        "y": [],
        "line": {"color": colour, "width": width, "dash": dash},
        "hoverinfo": "skip",
        **more,
    }


def level(
    value: float, colour: str, width: float = 1, dash: str = "solid", *, upright: bool = False, **more: Any
) -> Figure:
    """A straight line across the frame at a value of one axis."""
    along, at = ("y", "x") if upright else ("x", "y")
    return {
        "type": "line",
        f"{along}ref": "paper",
        f"{along}0": 0,
        f"{along}1": 1,
        f"{at}0": value,
        f"{at}1": value,
        "line": {"color": colour, "width": width, "dash": dash},
        **more,
    }


def log_axis(theme: Theme, ends: tuple[float, float], title: str = "", **more: Any) -> Figure:
    """A logarithmic axis between two powers of ten, with round numbers."""
    values, texts = ticks(*ends)
    return axis(
        theme, title, **{"type": "log", "range": list(ends), "tickvals": values, "ticktext": texts, **more}
    )


def ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Round numbers on a logarithmic axis from 10**low to 10**high, and their labels."""
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
    return values, [written(value) for value in values]


def written(value: float) -> str:
    """A number in an axis's form: 0.5, 2,000, 3·10⁷, ∞."""
    if math.isinf(value):
        return "∞"
    if 0.001 <= value < 100_000:
        return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"
    # 1e-9: log10 of a power of ten may fall just below a whole number
    power = math.floor(math.log10(value) + 1e-9)
    front = f"{value / 10.0**power:.4g}"
    raised = "10" + str(power).translate(RAISED)
    return raised if front == "1" else f"{front}·{raised}"


def legend(theme: Theme, **more: Any) -> Figure:
    """The lines' names: inside the frame, top right, unless `more` changes it."""
    return {
        "x": 1,
        "y": 1,
        "xanchor": "right",
        "yanchor": "top",
        "bgcolor": "rgba(0,0,0,0)",
        "font": {"color": theme.text, "size": 12},
        **more,
    }


def colours(theme: Theme) -> tuple[str, str, str, str]:
    """The colours of compared lines, in their order."""
    return theme.model, theme.ngram, theme.pinned, theme.uniform


def escaped(names: Sequence[str]) -> list[str]:
    """Escaped names from files or texts, because Plotly interprets some HTML in them."""
    return [html.escape(name, quote=False) for name in names]


# A figure's extremes as values, for readers who can't see it: the highest and lowest, with their places.


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


def of(figure: Mapping[str, Any]) -> list[Extremes]:
    """The extremes of each part of a Plotly figure, without parts that have no finite value.

    >>> bars = {"type": "bar", "orientation": "h", "x": [0.2, 0.7], "y": [0, 1]}
    >>> axis = {"tickvals": [0, 1], "ticktext": ["unit 3", "unit 8"]}
    >>> found = of({"data": [bars], "layout": {"yaxis": axis}})[0]
    >>> found.high_at, found.high
    (('unit 8',), 0.7)
    """
    layout = figure.get("layout", {})
    return [found for trace in figure.get("data", ()) for found in _part(trace, layout)]


def _part(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> Iterator[Extremes]:
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
    yield Extremes(kind, name, *ends, at(low), at(high), float(finite[-1]), finite.size)


def _doubles(values: Any) -> Doubles:
    return np.asarray([] if values is None else values, np.float64)


def _coloured(trace: Mapping[str, Any]) -> Doubles:
    """A heat map's values: interpolated from the colour bar's labels where these are numbers, else the colour
    levels.
    """
    z, bar = _doubles(trace.get("z")), trace.get("colorbar") or {}
    try:
        values = [float(html.unescape(text).replace("−", "-")) for text in bar.get("ticktext", ())]
    except ValueError:
        return z
    return np.interp(z, bar["tickvals"], values) if values else z


def _named(axis: Mapping[str, Any], value: float) -> str:
    """An axis's name of a value."""
    for known, text in zip(axis.get("tickvals") or (), axis.get("ticktext") or (), strict=False):
        if known == value:
            return html.unescape(str(text))
    return f"{value:,.4g}"
