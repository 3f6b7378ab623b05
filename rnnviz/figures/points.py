"""Points in a plane: the path of a hidden state, and the gates of every unit."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.figures.frame import Figure, axis, colours, layout, legend, line
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
    axes: str = "component",
    theme: Theme = LIGHT,
) -> Figure:
    """States `points` (T, 2) joined in order, coloured by `kind` (T,), an index of `names`. `explained` are
    the axes' shares of the variance; they are counted from 0. Raises ConfigError for other shapes.
    """
    if points.ndim != 2 or points.shape[1] != 2 or kind.shape != points.shape[:1]:
        raise ConfigError(
            "a path is (T, 2) with T kinds; received {points} and {kinds}",
            points=points.shape,
            kinds=kind.shape,
        )
    places = np.asarray(points, np.float32)
    data = [
        line("", theme.axis, 0.7, x=places[:, 0], y=places[:, 1], opacity=0.6, showlegend=False),
        *(
            _dots(name, colour, places[kind == which], 0.8)
            for which, (name, colour) in enumerate(zip(names, colours(theme), strict=False))
            if (kind == which).any()
        ),
    ]
    titles = [f"{axes} {n} ({share:.0%})" for n, share in enumerate(explained)]
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
    """A point per unit and gate, by name: the shares of steps with the gate shut, and open. After Karpathy,
    Johnson & Fei-Fei (2015). No point can lie above the diagonal.
    """
    data = [
        _dots(name, colour, np.stack([low, high], axis=1).astype(np.float32), 0.6)
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


def _dots(name: str, colour: str, places: npt.NDArray[np.float32], opacity: float) -> Figure:
    marker = {"color": colour, "size": 6, "opacity": opacity}
    return line(name, colour, 0, mode="markers", x=places[:, 0], y=places[:, 1], marker=marker)
