"""Several training runs in one chart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rnnviz.figures.frame import Figure, axis, layout, legend, line, log_axis
from rnnviz.figures.themes import LIGHT, Theme
from rnnviz.figures.training import Curves, extent


def compared(
    several: Mapping[str, Curves], *, theme: Theme = LIGHT, title: str = "characters read"
) -> Figure:
    """Validation perplexity of several runs, by name; without it training perplexity, thin."""
    low, high = extent(several.values()) if several else (0.0, 2.0)
    data: list[dict[str, Any]] = []
    for n, (name, one) in enumerate(several.items()):
        colour = theme.runs[n % len(theme.runs)]
        dash = ("solid", "dash", "dot")[n // len(theme.runs) % 3]
        own = np.isfinite(one.validation)
        x, y = (one.measured[own], one.validation[own]) if own.any() else (one.characters, one.train)
        data.append(
            line(
                name,
                colour,
                2.25,
                dash,
                mode="lines+markers" if own.any() and own.sum() < 60 else "lines",
                x=x.tolist(),
                y=[v if math.isfinite(v) else None for v in y.tolist()],
                marker={"size": 5, "color": colour},
                hoverinfo="x+y+name",
                hovertemplate="%{y:.3f} · %{x:,.0f}<extra>%{fullData.name}</extra>",
            )
        )
    total = max([1.0, *(max([0.0, *one.characters[-1:], *one.measured[-1:]]) for one in several.values())])
    return {
        "data": data,
        "layout": layout(
            theme,
            height=360,
            margin={"l": 56, "r": 16, "t": 8, "b": 44},
            showlegend=True,
            legend=legend(theme),
            hovermode="closest",
            xaxis=axis(theme, title, range=[0, 1.02 * total], showgrid=False),
            yaxis=log_axis(theme, (low, high)),
        ),
    }
