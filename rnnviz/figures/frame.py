"""What all figures have in common: an axis and a layout that neither move nor shine through.

Plotly's own settings as plain dictionaries. This module knows nothing of networks or pages.
"""

from __future__ import annotations

from typing import Any

from rnnviz.figures.themes import Theme

Figure = dict[str, Any]


def axis(theme: Theme, **more: Any) -> Figure:
    """One axis that can't be dragged and shows no more than lines and numbers."""
    return {
        "fixedrange": True,
        "zeroline": False,
        "automargin": False,
        "ticks": "",
        "tickfont": {"color": theme.muted, "size": 11},
        "linecolor": theme.axis,
        "gridcolor": theme.grid,
        **more,
    }


def layout(theme: Theme, **more: Any) -> Figure:
    """A layout on the page's own background, without a legend; `more` has the axes and the margin."""
    return {
        "showlegend": False,
        "hovermode": False,
        "dragmode": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": theme.text, "size": 12},
        **more,
    }
