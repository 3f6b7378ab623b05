"""What all figures have in common: axes and a layout that neither move nor shine through, colours of lines.

Plotly's own settings as plain dictionaries. Words on axes are handed in, in any language, and escaped here.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from rnnviz.figures.themes import Theme

Figure = dict[str, Any]


def axis(theme: Theme, title: str = "", **more: Any) -> Figure:
    """One axis that can't be dragged and shows no more than lines, numbers and its title."""
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


def layout(theme: Theme, xaxis: Figure, yaxis: Figure, **more: Any) -> Figure:
    """A layout on the page's own background, without a legend."""
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


def legend(theme: Theme, **more: Any) -> Figure:
    """Where the names of lines stand: inside the frame, above on the right, unless `more` says otherwise."""
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
    """The colours of lines that are compared, in their order."""
    return theme.model, theme.ngram, theme.pinned, theme.uniform


def escaped(names: Sequence[str]) -> list[str]:
    """Names that come from files or texts: Plotly reads a little HTML in them."""
    return [html.escape(name, quote=False) for name in names]
