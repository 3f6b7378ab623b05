"""Directions in the states of a layer: a weighted sum of units, named and used as one unit is.

    random_direction(H, seed)        a control: a random direction of length 1
    mean_difference(trace, target)   from the mean state outside a target to the mean state inside

A linear probe has a direction too (`rnnviz.lab.analysis.probing`). Clamp, Zero and Scale of `rnnviz.units`
take a Direction in place of units.

    value of a direction  v · H_t, not centred: an ablated direction has the value 0
    clamp                 H + (value - v · H) v
    scale                 H + (value - 1) (v · H) v

Shape letters: T time steps, H units of a layer, k directions, n states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles, Mask
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.lab.analysis.activations import activations
from rnnviz.lab.analysis.targets import Target
from rnnviz.networks.config import check_layer
from rnnviz.scoring.trace import Trace


@checked
@dataclass(frozen=True, eq=False)
class Direction:
    """A unit vector in the states of one layer.

    name      a label
    vector    (H,) float64 of length 1; the given vector is divided by its length. Read-only
    layer     counted from 0
    quantity  "hidden", "cell" of an LSTM, or a gate; see `rnnviz.units.activations`
    origin    how the direction was found, in words

    Two directions are equal if they lie alike in the same states, whatever their names. Raises ConfigError
    for a vector of length 0, and a layer below 0.

    >>> import numpy as np
    >>> from rnnviz import units
    >>> up = units.Direction("up", [3.0, 4.0])
    >>> up.vector, up.along(np.array([[5.0, 0.0]]))
    (array([0.6, 0.8]), array([3.]))
    """

    name: str
    vector: Doubles
    layer: int = 0
    quantity: str = "hidden"
    origin: str = ""

    def __post_init__(self) -> None:
        vector = np.array(self.vector)
        vector = vector.astype(np.float64) if vector.dtype.kind in "bfiu" else np.zeros(0)
        length = float(np.linalg.norm(vector)) if vector.ndim == 1 else 0.0
        if not 0 < length < np.inf:
            raise ConfigError(
                "a direction is a vector of numbers, not all 0, one for each unit; received {vector}",
                vector=self.vector,
            )
        if type(self.layer) is not int or self.layer < 0:
            raise ConfigError("layers are counted from 0; received layer {layer!r}", layer=self.layer)
        # Divided in the copy that np.array made above, then frozen: a Direction is compared and hashed by
        # its bytes.
        vector /= length
        vector.flags.writeable = False
        object.__setattr__(self, "vector", vector)

    def __repr__(self) -> str:
        return f"<Direction {self.name!r} of layer {self.layer}, {self.quantity}, {len(self)} units>"

    def __len__(self) -> int:
        return len(self.vector)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Direction) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[int, str, bytes]:
        return self.layer, self.quantity, self.vector.tobytes()

    def along(self, states: Trace | npt.NDArray[np.floating]) -> Doubles:
        """The values v · H_t: (T,) over a Trace, or (n,) for states (n, H). Raises ConfigError for states of
        another layer, quantity or number of units.
        """
        if isinstance(states, Trace):
            states = activations(states, layer=self.layer, quantity=self.quantity)
        self.check(states.shape[-1])
        return np.asarray(states.astype(np.float64) @ self.vector)

    def check(self, H: int) -> None:
        """Raise ConfigError unless the direction has H units."""
        if len(self) != H:
            raise ConfigError(
                "{name} is a direction in states of {own} units; these have {h}",
                name=self.name,
                own=len(self),
                h=H,
            )


def random_direction(H: int, seed: int = 0, *, layer: int = 0, quantity: str = "hidden") -> Direction:
    """A direction drawn uniformly from the unit sphere in H dimensions: the control for a direction that was
    found. Raises ConfigError for H or a seed out of range.

    >>> round(float(np.linalg.norm(random_direction(256, seed=1).vector)), 6)
    1.0
    """
    if H < 1 or seed < 0:
        raise ConfigError("H is at least 1 and seed at least 0; received {h} and {seed}", h=H, seed=seed)
    vector = np.random.default_rng(seed).normal(size=H)
    return Direction(f"random {seed}", vector, layer, quantity, f"drawn at random, seed {seed}")


def mean_difference(
    source: Trace | npt.NDArray[np.floating], target: Target, *, layer: int = 0, quantity: str = "hidden"
) -> Direction:
    """The direction from the mean state where `target` (T,) doesn't hold to the mean state where it holds. A
    graded target is split at its median. `source` is a Trace, or states (T, H). Raises ConfigError for a
    target of another length, a constant target, or states that don't differ.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "The Time Machine")
    >>> capitals = mean_difference(trace, units.target("capital", trace.text))
    >>> bool(capitals.along(trace)[4] > capitals.along(trace)[5])
    True
    """
    if isinstance(source, Trace):
        check_layer(layer, source.hidden.shape[1])
        source = activations(source, layer=layer, quantity=quantity)
    target.check(len(source))
    inside = _inside_mask(target)
    apart = source[inside].mean(axis=0, dtype=np.float64) - source[~inside].mean(axis=0, dtype=np.float64)
    origin = f"difference of means over {len(source):,} characters"
    return Direction(f"mean difference for {target.name}", apart, layer, quantity, origin)


def _inside_mask(target: Target) -> Mask:
    if not target.graded:
        return target.values
    middle = np.median(target.values) if len(target) else 0.0
    above = target.values > middle
    return above if above.any() else target.values >= middle  # the median is the maximum, so "above" is empty


class Span:
    """The span of k directions, to change states (n, H) within it.

    Orthogonal directions are changed one by one; others together, so that each has its value afterwards.
    Raises ConfigError for linearly dependent directions.
    """

    def __init__(self, directions: Sequence[Direction]) -> None:
        self._rows = np.stack([direction.vector for direction in directions])  # (k, H)
        k = len(self._rows)
        # The rows have length 1, so 1e-8 tells a direction that follows from the others from rounding, at
        # any H.
        if np.linalg.matrix_rank(self._rows, tol=1e-8) < k:
            raise ConfigError(
                "one of these {k} directions is a weighted sum of the others: they can't all be set", k=k
            )
        # Directions that are not orthogonal share a part: setting one changes the other's value. A step
        # along a dual vector changes the value of its own direction alone.
        self._duals = np.linalg.pinv(self._rows).T  # the dual basis; for orthonormal rows the rows themselves

    def change(self, states: npt.NDArray[np.floating], value: float, *, scaled: bool) -> None:
        """Set the value of the states (n, H) along each direction to `value`, in place; `scaled`: multiply it
        by `value`.
        """
        current = np.asarray(states @ self._rows.T)
        new_values = current * value if scaled else np.full_like(current, value)
        # Two steps, remove then add, set a unit's axis as exactly as the unit itself; one difference rounds.
        states[:] = np.asarray(states - current @ self._duals) + new_values @ self._duals


def directions_in(units: object) -> tuple[Direction, ...]:
    """The directions in `units`: one, or a sequence; () if there are none.

    Raises ConfigError for directions of several layers or quantities, or mixed with units.
    """
    items = [units] if isinstance(units, Direction) else units if isinstance(units, list | tuple) else []
    directions = tuple(item for item in items if isinstance(item, Direction))
    if not directions:
        return ()
    if len(directions) < len(items):
        raise ConfigError("give units or directions, not both; received {units!r}", units=units)
    if len({(item.layer, item.quantity, len(item)) for item in directions}) > 1:
        raise ConfigError(
            "these directions belong to several layers or quantities; give those of one at a time: {units!r}",
            units=directions,
        )
    return directions
