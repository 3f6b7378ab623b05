"""Lines over whole numbers, on a linear or a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.figures import frame
from rnnviz.figures.frame import Figure, axis, colours, layout, legend, line, log_axis
from rnnviz.figures.themes import LIGHT, Theme

MOST = 4
"""Lines that one figure can tell apart."""

FLAT = 1e-12
"""Below this, relative to the largest value, a line on a logarithmic axis has ended."""


def _free(curves: Sequence[npt.NDArray[Any]], ends: tuple[float, float]) -> Figure:
    """Where in the frame names cover the least of `curves`, whose values stand on an axis with these ends."""
    wide, high = 0.35, min(0.4, 0.13 * len(curves))  # of the frame

    def covered(x: float, y: float) -> int:
        count = 0
        for values in curves:
            up = (values - ends[0]) / ((ends[1] - ends[0]) or 1.0)
            along = np.arange(len(values)) / max(len(values) - 1, 1)
            inside = (np.abs(up - (y + high * (0.5 - y))) <= high / 2) & (
                np.abs(along - (x + wide * (0.5 - x))) <= wide / 2
            )
            count += int(inside.sum())
        return count

    # Read like this: the right edge before the left one, above before below.
    places = [(x, y) for x in (1.0, 0.0) for y in (1.0, 0.5, 0.0)]
    x, y = min(places, key=lambda place: covered(*place))
    across, along = {1.0: "right", 0.0: "left"}, {1.0: "top", 0.5: "middle", 0.0: "bottom"}
    return {"x": x, "xanchor": across[x], "y": y, "yanchor": along[y]}


def lines(
    curves: Mapping[str, npt.NDArray[Any]],
    *,
    x: str = "",
    y: str = "",
    first: float = 0,
    log: bool = False,
    level: float | None = None,
    dashed: Mapping[str, npt.NDArray[Any]] | None = None,
    places: bool = False,
    theme: Theme = LIGHT,
) -> Figure:
    """Up to MOST lines, by name, over the whole numbers from `first` on; a dotted one at `level`. `dashed`
    lines have their namesakes' colours. `log`: logarithmic, without values that it cannot show. `places`: the
    numbers are places in a text, counted from 1 on the axis. Raises ConfigError for no line or too many.
    """
    if not 1 <= len(curves) <= MOST:
        raise ConfigError(
            "a figure tells 1 to {most} lines apart; received {count}", most=MOST, count=len(curves)
        )
    data: list[Figure] = []
    largest = max((float(np.nanmax(v)) for v in curves.values() if np.isfinite(v).any()), default=1.0)
    for (name, values), colour in zip(curves.items(), colours(theme), strict=False):
        pairs = [(values, "solid"), *([(dashed[name], "dot")] if dashed and name in dashed else [])]
        for which, dash in pairs:
            shown = np.asarray(which, np.float32)
            if log:
                shown = np.where(shown > largest * FLAT, shown, np.nan).astype(np.float32)
            mode = "lines" if np.isfinite(shown).sum() > 1 else "markers"
            x_values = np.arange(first, first + len(shown), dtype=np.float32)
            solid = dash == "solid"
            data.append(line(name, colour, 2, dash, mode=mode, showlegend=solid, x=x_values, y=shown))
    longest = max(len(v) for v in curves.values())
    heights = [np.log10(d["y"]) if log else d["y"] for d in data]
    every = np.concatenate(heights)
    every = every[np.isfinite(every)] if np.isfinite(every).any() else np.zeros(1)
    low, high = float(every.min()), float(every.max())
    room = max(0.05, 0.05 * (high - low))
    return {
        "data": data,
        "layout": layout(
            theme,
            axis(
                theme,
                x,
                range=[first - 0.5, first + max(longest, 2) - 0.5],
                showgrid=False,
                **(frame.characters(int(first) + longest) if places else {}),
            ),
            log_axis(theme, (low - room, high + room), y) if log else axis(theme, y, nticks=6),
            showlegend=len(curves) > 1,
            legend=legend(theme, **_free(heights, (low, high))),
            shapes=[] if level is None else [frame.level(level, theme.muted, dash="dot")],
        ),
    }
