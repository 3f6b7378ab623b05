"""Points in a plane: the path of a hidden state, and the gates of every unit."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.figures.frame import Figure, axis, colours, layout, legend
from rnnviz.figures.themes import LIGHT, Theme

KINDS = ("letter", "space", "line break", "punctuation or digit")
"""What `kinds` tells apart, as indices."""


def kinds(text: str) -> npt.NDArray[np.int64]:
    """The kind of each character, (T,): an index of KINDS."""

    def kind(character: str) -> int:
        if character == "\n":
            return 2
        if character.isspace():
            return 1
        return 0 if unicodedata.category(character)[0] in "LM" else 3

    return np.array([kind(c) for c in text], np.int64)


def path(
    points: npt.NDArray[Any],
    kind: npt.NDArray[np.int64],
    names: Sequence[str],
    *,
    explained: Sequence[float],
    axes: str = "axis",
    theme: Theme = LIGHT,
) -> Figure:
    """States `points` (T, 2) joined in the order of the text, coloured by `kind` (T,), an index of `names`.

    `explained` are the two axes' shares of the variance. Raises ConfigError for other shapes.
    """
    if points.ndim != 2 or points.shape[1] != 2 or kind.shape != points.shape[:1]:
        raise ConfigError(
            "a path is (T, 2) with T kinds; received {shape} and {shape2}",
            shape=points.shape,
            shape2=kind.shape,
        )
    places = np.asarray(points, np.float32)
    data: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": places[:, 0],
            "y": places[:, 1],
            "line": {"color": theme.axis, "width": 0.7},
            "opacity": 0.6,
            "showlegend": False,
            "hoverinfo": "skip",
        }
    ]
    for which, (name, colour) in enumerate(zip(names, colours(theme), strict=False)):
        here = places[kind == which]
        if len(here):
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": html.escape(name, quote=False),
                    "x": here[:, 0],
                    "y": here[:, 1],
                    "marker": {"color": colour, "size": 6, "opacity": 0.8},
                    "hoverinfo": "skip",
                }
            )
    titles = [f"{axes} {n} ({share:.0%})" for n, share in enumerate(explained, 1)]
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


def saturation(
    gates: Mapping[str, tuple[npt.NDArray[Any], npt.NDArray[Any]]],
    *,
    x: str = "",
    y: str = "",
    theme: Theme = LIGHT,
) -> Figure:
    """A point for each unit and gate, by name: the share of steps with the gate shut, and with it open.

    The idea is that of Karpathy, Johnson & Fei-Fei (2015). No point can lie above the diagonal.
    """
    data = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": html.escape(name, quote=False),
            "x": np.asarray(low, np.float32),
            "y": np.asarray(high, np.float32),
            "marker": {"color": colour, "size": 6, "opacity": 0.6},
            "hoverinfo": "skip",
        }
        for (name, (low, high)), colour in zip(gates.items(), colours(theme), strict=False)
    ]
    edge = {"type": "line", "x0": 0, "y0": 1, "x1": 1, "y1": 0, "line": {"color": theme.axis, "width": 1}}
    ends = {"range": [-0.03, 1.03], "tickformat": ".0%", "nticks": 6}
    return {
        "data": data,
        "layout": layout(
            theme,
            axis(theme, x, **ends),
            axis(theme, y, **ends),
            showlegend=True,
            legend=legend(theme),
            shapes=[edge],
        ),
    }
