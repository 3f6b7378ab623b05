"""A figure's text alternative, in sentences made from its values."""

from collections.abc import Mapping
from typing import Any

from rnnviz.figures.axes import Extremes, of
from rnnviz.i18n import _

MOST = 4
"""Parts of a figure that the alternative describes; with more it would be a table read aloud."""


def alternative(figure: Mapping[str, Any]) -> str:
    """The extremes of each part of a figure (a Plotly figure as JSON), one sentence a part.

    Returns "" for a figure without values. Past MOST parts, the last sentence counts the others.
    """
    found = of(figure)
    told = [_sentence(one) for one in found if one.name or len(found) == 1 or one.kind != "line"]
    more = _("{n} more are drawn.").format(n=len(told) - MOST) if len(told) > MOST else ""
    return " ".join([*told[:MOST], *([more] if more else [])])


def _sentence(one: Extremes) -> str:
    values = {
        "low": _value(one.low),
        "high": _value(one.high),
        "last": _value(one.last),
        "n": f"{one.count:,}",
    }
    places = {"low_at": ", ".join(one.low_at), "high_at": ", ".join(one.high_at)}
    if one.kind == "heat":
        places |= {"row": one.high_at[0], "column": one.high_at[1]}
        said = _("Highest: {high}, in row {row}, column {column}; lowest: {low}.")
    elif one.kind == "line":
        said = _("Highest: {high} at {high_at}; lowest: {low} at {low_at}; it ends at {last}.")
    elif one.kind == "points":
        said = _("{n} points, from {low} to {high}.")
    else:
        said = _("Highest: {high_at}, {high}; lowest: {low_at}, {low}.")
    return (f"{one.name}: " if one.name else "") + said.format(**values, **places)


def _value(value: float) -> str:
    return f"{value:,.3g}".replace("-", "−")
