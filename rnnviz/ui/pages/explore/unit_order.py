"""Which units the heat map begins with, and in which order: found on a text that the model writes itself, so
that it works for every model, without the text it was trained on. Kept for all readers, of the twelve models
that were shown last.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rnnviz.figures.live import seriate, steady
from rnnviz.scoring.sampling import sample
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import Tracer

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.networks.torch_model import CharModel

    Network = CharModel | NumpyModel

REFERENCE = 1000
"""Characters that the model writes."""

FEW = 8
"""Rows below the named units' that one sees at a glance."""

REACHED = 98
"""Percent of the reference's characters at which a unit is below the upper end of its `reach`, and above the
lower one.
"""

NARROWEST = 0.2
"""A side of a unit's reach is at least this share of the other: what it hardly uses stays pale."""

ORDERS = ("steady", "alike", "index")

Ids = npt.NDArray[np.int64]

_once = lru_cache(maxsize=12)


@_once
def reference(model: Network) -> Trace:
    """The trace of a text of REFERENCE characters that the model writes itself, always the same."""
    return Tracer(model).extend(sample(model, "", REFERENCE, temperature=0.8, seed=0))


def order(model: Network, kind: str, layer: int, quantity: str = "hidden", first: Sequence[int] = ()) -> Ids:
    """The unit of each row, (H,).

    "steady"  the units in `first`, then the FEW that hold their colour, the slowest first; then the others.
              Of the quantity "cell" its own; every other shows those of the hidden state
    "alike"   similar ones beside one another
    """
    state = "cell" if (kind, quantity) == ("steady", "cell") else "hidden"
    units = _orders(model)[kind, state, layer]
    if kind == "steady" and first:
        units = np.concatenate([np.asarray(first, np.int64), units[~np.isin(units, first)]])
    return units


@_once
def reach(model: Network) -> dict[str, npt.NDArray[np.float32]]:
    """How far below and above 0 each unit's hidden state and cell state go on the reference text, (2, L, H)
    each: what the colours of one unit go up to.
    """
    found = {}
    for name, values in _states(reference(model)).items():
        ends = abs(np.percentile(values, (100 - REACHED, REACHED), axis=0))
        found[name] = np.maximum(ends, np.maximum(NARROWEST * ends.max(axis=0), 1e-3)).astype(np.float32)
    return found


@_once
def _orders(model: Network) -> dict[tuple[str, str, int], Ids]:
    read = reference(model)
    found = {}
    for layer in range(model.config.layers):
        alike = found["alike", "hidden", layer] = seriate(read.hidden[:, layer])
        for state, values in _states(read).items():
            few = steady(values[:, layer], FEW)
            found["steady", state, layer] = np.concatenate([few, alike[~np.isin(alike, few)]])
    return found


def _states(read: Trace) -> dict[str, npt.NDArray[np.float32]]:
    return {"hidden": read.hidden, **({} if read.cell is None else {"cell": read.cell})}
