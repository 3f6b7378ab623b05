"""The curve of a scored text, running and over a rolling window: its axis, and what lies beyond it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rnnviz.scoring.breakdown import Curve


def extent(curves: Mapping[str, Curve]) -> tuple[float, float]:
    """The log axis's ends, as powers of ten. The first window is left out, or in a short text the first
    quarter, where characters may cost thousands. `beyond` marks values outside the axis.
    """
    lines = []
    for curve in curves.values():
        settled = curve.position >= min(curve.window, max(curve.position, default=0) / 4)
        lines += [np.asarray(line, np.float64)[settled] for line in (curve.running, curve.rolling)]
    values = np.concatenate(lines)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 2.0
    low, high = math.log10(max(1.0, values.min())), math.log10(max(1.0, values.max()))
    room = max(0.06, 0.06 * (high - low))
    return max(0.0, low - room), high + room


@dataclass(frozen=True)
class Beyond:
    """The place where a model's curve lies farthest outside an axis: `model` counts from 0, `position`
    characters read, at `value`, above the axis or below.
    """

    model: int
    position: int
    value: float
    above: bool


def beyond(curves: Mapping[str, Curve], ends: tuple[float, float]) -> list[Beyond]:
    """The farthest place outside the axis `ends`, for each curve and side."""
    places = []
    low, high = (10**end for end in ends)
    for n, curve in enumerate(curves.values()):
        running, rolling = (np.asarray(line, np.float64) for line in (curve.running, curve.rolling))
        for above, cut in ((True, np.fmax(running, rolling)), (False, np.fmin(running, rolling))):
            outside = cut > high if above else cut < low  # False for NaN
            if outside.any():
                at = int(np.argmax(np.where(outside, cut if above else -cut, -np.inf)))
                places.append(Beyond(n, int(curve.position[at]), float(cut[at]), above))
    return places
