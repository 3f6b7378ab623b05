"""Common parts of figures: axes, layouts and line colours."""

import html
import math
from collections.abc import Sequence
from typing import Any

from rnnviz.figures.themes import Theme
from rnnviz.sentences import RAISED

Figure = dict[str, Any]


def axis(theme: Theme, title: str = "", **settings: Any) -> Figure:
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
        **settings,
    }


def characters(length: int) -> Figure:
    """About six ticks for an axis of the places 0 to `length` - 1 of a text, counted from 1."""
    tens = 10 ** int(math.log10(max(length / 6, 1)))
    step = next(size * tens for size in (1, 2, 5, 10) if size * tens * 6 >= length)
    counted = sorted({1, *range(step, length + 1, step)})
    return {"tickvals": [n - 1 for n in counted], "ticktext": [f"{n:,}" for n in counted]}


def layout(theme: Theme, xaxis: Figure, yaxis: Figure, **settings: Any) -> Figure:
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
        **settings,
    }


def line(name: str, colour: str, width: float, dash: str = "solid", **settings: Any) -> Figure:
    """An empty line with an escaped name, because Plotly interprets some HTML in names."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": html.escape(name, quote=False),
        "x": [],
        "y": [],
        "line": {"color": colour, "width": width, "dash": dash},
        "hoverinfo": "skip",
        **settings,
    }


def level(
    value: float,
    colour: str,
    width: float = 1,
    dash: str = "solid",
    *,
    upright: bool = False,
    **settings: Any,
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
        **settings,
    }


def log_axis(theme: Theme, ends: tuple[float, float], title: str = "", **settings: Any) -> Figure:
    """A logarithmic axis between two powers of ten, with round numbers."""
    values, texts = ticks(*ends)
    return axis(
        theme,
        title,
        **{"type": "log", "range": list(ends), "tickvals": values, "ticktext": texts, **settings},
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
    return values, [axis_number(value) for value in values]


def axis_number(value: float) -> str:
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


def legend(theme: Theme, **settings: Any) -> Figure:
    """The lines' names: inside the frame, top right, unless `settings` change it."""
    return {
        "x": 1,
        "y": 1,
        "xanchor": "right",
        "yanchor": "top",
        "bgcolor": "rgba(0,0,0,0)",
        "font": {"color": theme.text, "size": 12},
        **settings,
    }


def colours(theme: Theme) -> tuple[str, str, str, str]:
    """The colours of compared lines, in their order."""
    return theme.model, theme.ngram, theme.pinned, theme.uniform


def escape_names(names: Sequence[str]) -> list[str]:
    """Escaped names from files or texts, because Plotly interprets some HTML in them."""
    return [html.escape(name, quote=False) for name in names]
