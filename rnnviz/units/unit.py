"""The activations of a trace as one table, whatever the layer and the part of the cell.

    quantity    hidden; for an LSTM cell; and the gates: reset, update, candidate, input, forget, output

Shape letters: T time steps, L layers, H hidden units.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.networks.config import CELLS, Cell
from rnnviz.reading.trace import Trace

Floats = npt.NDArray[np.float32]


class Unit(NamedTuple):
    """One unit of a network; both numbers count from 0."""

    layer: int
    unit: int


def quantities(cell: Cell | str) -> tuple[str, ...]:
    """The quantities of a network of such cells, the hidden state first.

    >>> quantities("gru")
    ('hidden', 'reset', 'update', 'candidate')
    """
    return CELLS[cell].quantities


def check_quantity(quantity: str, cell: str) -> None:
    """Raise ConfigError unless a network of such cells has it."""
    if quantity not in quantities(cell):
        raise ConfigError(
            "a network of {cell} cells has {quantities}; received {quantity!r}",
            cell=cell,
            quantities=", ".join(quantities(cell)),
            quantity=quantity,
        )


def check_layer(layer: int, layers: int) -> None:
    """Raise ConfigError unless there is such a layer."""
    if type(layer) is not int or not 0 <= layer < layers:
        raise ConfigError(
            "this network has {layers} layers, counted from 0; received layer {layer!r}",
            layers=layers,
            layer=layer,
        )


def check_units(units: npt.ArrayLike, H: int) -> npt.NDArray[np.int64]:
    """`units` as an array. Raises ConfigError unless they are whole numbers in 0 .. H - 1, at least one."""
    found = np.atleast_1d(np.asarray(units))
    if found.ndim != 1 or not len(found) or found.dtype.kind not in "iu":
        raise ConfigError("units are whole numbers, at least one; received {units!r}", units=units)
    if found.min() < 0 or found.max() >= H:
        raise ConfigError(
            "a layer has units 0 to {last}; received {lowest} to {highest}",
            last=H - 1,
            lowest=int(found.min()),
            highest=int(found.max()),
        )
    return found.astype(np.int64)


def activations(trace: Trace, *, layer: int | None = None, quantity: str = "hidden") -> Floats:
    """`quantity` after each character: (T, H) of one `layer`, (T, L·H) of all where it is None. Column n of
    the latter is unit n % H of layer n // H. Raises ConfigError for an absent layer or quantity.

    >>> import rnnviz
    >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "machine")
    >>> activations(trace, quantity="update").shape
    (7, 256)
    """
    check_quantity(quantity, trace.weights.cell)
    tables: dict[str, Floats | None] = {"hidden": trace.hidden, "cell": trace.cell}
    values = tables[quantity] if quantity in tables else trace.gates[quantity]
    assert values is not None  # (T, L, H)
    if layer is None:
        return values.reshape(len(values), values.shape[1] * values.shape[2])
    check_layer(layer, values.shape[1])
    return values[:, layer]


def unit_of(column: int, H: int, layer: int | None) -> Unit:
    """The unit of a column of `activations`."""
    return Unit(column // H, column % H) if layer is None else Unit(layer, column)
