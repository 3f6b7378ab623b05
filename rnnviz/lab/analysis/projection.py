"""Projection: the path of the hidden state over a text along its principal components (Pearson 1901).

Points close in two dimensions may be far apart in hundreds; `explained` is the share of variance shown. Shape
letters: T time steps, H units, k components.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.lab.analysis.activations import activations
from rnnviz.reprs import ReprMixin
from rnnviz.scoring.trace import Trace


@dataclass(frozen=True, eq=False, repr=False)
class Projection(ReprMixin):
    """A path and its axes; paths projected together have the same axes.

    points     (T, k) the state after each character
    axes       (k, H) orthonormal; the largest entry of each is positive
    mean       (H,) the state at the origin
    explained  (k,) the share of the variance along each axis, of all paths together
    """

    points: Doubles
    axes: Doubles
    mean: Doubles
    explained: Doubles

    def place(self, states: npt.NDArray[np.floating]) -> Doubles:
        """Other states (n, H) along the same axes, (n, k)."""
        return np.asarray((states - self.mean) @ self.axes.T)


@overload
def project(trace: Trace, k: int = 2, *, layer: int | None = -1, quantity: str = "hidden") -> Projection: ...
@overload
def project(
    trace: Sequence[Trace], k: int = 2, *, layer: int | None = -1, quantity: str = "hidden"
) -> list[Projection]: ...
@checked
def project(
    trace: Trace | Sequence[Trace], k: int = 2, *, layer: int | None = -1, quantity: str = "hidden"
) -> Projection | list[Projection]:
    """The states of `trace` along their k principal axes; `layer` -1 is the top one, None all of them.

    Returns points (T, k). Several traces share the axes of all their states: a Projection for each. A text
    too short for k axes has 0 along the others. Raises ConfigError for k outside 1 .. H, an absent layer or
    quantity, no traces, and traces of several sizes.

    >>> from rnnviz import units
    >>> import rnnviz
    >>> path = units.project(rnnviz.trace(rnnviz.load("timemachine-gru"), "machine"))
    >>> path.points.shape, path.axes.shape
    ((7, 2), (2, 256))
    >>> one, other = units.project(rnnviz.trace(rnnviz.load("timemachine-gru"), ["machine", "morlock"]))
    >>> bool((one.axes == other.axes).all())
    True
    """
    if isinstance(trace, Trace):
        return _project_together([trace], k, layer, quantity)[0]
    if not trace or not all(isinstance(item, Trace) for item in trace):
        raise ConfigError("trace is a Trace, or a list of them: as rnnviz.trace(model, text) returns")
    return _project_together(trace, k, layer, quantity)


def _project_together(traces: Sequence[Trace], k: int, layer: int | None, quantity: str) -> list[Projection]:
    top = traces[0].hidden.shape[1] - 1
    paths = [activations(trace, layer=top if layer == -1 else layer, quantity=quantity) for trace in traces]
    H = paths[0].shape[1]
    if any(path.shape[1] != H for path in paths):
        raise ConfigError("traces that share a plane are of networks of one size")
    values = np.concatenate(paths).astype(np.float64)
    if type(k) is not int or not 1 <= k <= H:
        raise ConfigError("there are 1 to {h} axes; received k = {k}", h=H, k=k)
    mean = values.mean(axis=0) if len(values) else np.zeros(H)
    # lengths (n,) and components (n, H), n = min(T, H)
    _, lengths, components = np.linalg.svd(values - mean, full_matrices=False)
    real = min(k, int((lengths > 1e-9 * max(1.0, float(lengths.max(initial=0)))).sum()))
    axes, explained = np.zeros((k, H)), np.zeros(k)
    axes[:real] = components[:real]
    # The sign of an axis is arbitrary: a positive largest entry makes pictures repeatable.
    largest = axes[np.arange(k), np.abs(axes).argmax(axis=1)]
    axes *= np.where(largest < 0, -1.0, 1.0)[:, None]
    variance = lengths**2
    if variance.sum() > 0:
        explained[:real] = variance[:real] / variance.sum()
    return [Projection((path - mean) @ axes.T, axes, mean, explained) for path in paths]
