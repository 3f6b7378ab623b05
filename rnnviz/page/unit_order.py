"""The order of units in the heat map, and their reach.

Both come from a text that the model itself writes, so they exist for every model, even without its training
text. The results of the twelve models shown last are cached for all sessions.
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
    from rnnviz.networks.numpy_model import Network

REFERENCE = 1000
"""Characters of the reference text, which the model writes."""

FEW = 8
"""Units that change least often, shown below the named units: as many as a reader sees at a glance."""

REACHED = 98
"""Percentile of a unit's values on the reference text: the upper end of its `reach`; 100 − REACHED, the
lower. Beyond it are rare peaks, which would leave all other colours pale.
"""

NARROWEST = 0.2
"""Each side of a unit's reach is at least this fraction of the other: a hardly used side stays pale."""

ORDERS = ("steady", "alike", "index")

Ids = npt.NDArray[np.int64]

_once = lru_cache(maxsize=12)


@_once
def reference(model: Network) -> Trace:
    """The trace of the reference text: REFERENCE characters that the model writes, always the same ones."""
    return Tracer(model).extend(sample(model, "", REFERENCE, temperature=0.8, seed=0))


def order(model: Network, kind: str, layer: int, quantity: str = "hidden", first: Sequence[int] = ()) -> Ids:
    """The unit of each row, (H,).

    kind  "steady": the units of `first`, then the FEW that change least often, then the others. The quantity
          "cell" has an order of cell states; every other quantity uses that of hidden states.
          "alike": similar units side by side
    """
    state = "cell" if (kind, quantity) == ("steady", "cell") else "hidden"
    units = _orders(model)[kind, state, layer]
    if kind == "steady" and first:
        units = np.concatenate([np.asarray(first, np.int64), units[~np.isin(units, first)]])
    return units


@_once
def reach(model: Network) -> dict[str, npt.NDArray[np.float32]]:
    """Each unit's reach below and above 0 on the reference text, by state ("hidden", "cell"), (2, L, H) each.

    The strongest colours of a unit are at its reach.
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
