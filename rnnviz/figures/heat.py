"""Heat maps: units along a text, and predictions against the characters they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.figures.frame import Figure, axis, characters, escaped, layout
from rnnviz.figures.themes import LEVELS, LIGHT, Scale, Theme

CONNECTED = Scale("sequential", -4.0, 0.0)
"""Shares of a row of a connectivity, as decimal logarithms: from a ten-thousandth to all."""


def table(
    values: npt.NDArray[Any],
    scale: Scale,
    *,
    x: str = "",
    y: str = "",
    bar: bool = True,
    words: Sequence[str] | None = None,
    places: str = "",
    theme: Theme = LIGHT,
) -> Figure:
    """`values` (rows, T) as colours of `scale`, the first row above; `words` instead of numbers on its bar.
    `places`: the axes along which a text lies, "x" or "xy", counted from 1. Raises ConfigError for another
    shape.
    """
    if values.ndim != 2:
        raise ConfigError("a table is (rows, T); received shape {shape}", shape=values.shape)
    rows, T = values.shape
    levels = scale.levels(values)

    def of_text(name: str, length: int) -> Figure:
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
            axis(theme, x, range=[-0.5, max(T, 1) - 0.5], showgrid=False, **of_text("x", T)),
            axis(theme, y, range=[max(rows, 1) - 0.5, -0.5], showgrid=False, nticks=6, **of_text("y", rows)),
        ),
    }


def square(
    log10: npt.NDArray[np.float32],
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
