"""The activations of a trace as one table, whatever the layer and the part of the cell.

    quantity    hidden; for an LSTM cell; and the gates: reset, update, candidate, input, forget, output

Shape letters: T time steps, L layers, H hidden units.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Floats, Integers
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.networks.config import check_layer
from rnnviz.scoring.trace import Trace


class Unit(NamedTuple):
    """One unit of a network; both numbers count from 0."""

    layer: int
    unit: int


def check_units(units: npt.ArrayLike, H: int) -> Integers:
    """`units` as an array. Raises ConfigError unless they are whole numbers in 0 .. H - 1, at least one."""
    numbers = np.atleast_1d(np.asarray(units))
    if numbers.ndim != 1 or not len(numbers) or numbers.dtype.kind not in "iu":
        raise ConfigError("units are whole numbers, at least one; received {units!r}", units=units)
    if numbers.min() < 0:
        raise ConfigError("units are counted from 0; received {unit}", unit=int(numbers.min()))
    if numbers.max() >= H:
        raise ConfigError(
            "a layer has units 0 to {last}; received {unit}", last=H - 1, unit=int(numbers.max())
        )
    return numbers.astype(np.int64)


def within_layer(
    units: Sequence[int] | Sequence[Unit], layer: int | None
) -> tuple[Sequence[int], int | None]:
    """`units` as numbers within a layer, and the layer: that of Units, which carry it, else `layer`.

    Raises ConfigError for Units of several layers, of another one than `layer`, or among plain numbers.
    """
    items = [units] if isinstance(units, Unit) else units if isinstance(units, list | tuple) else []
    full_units = [unit for unit in items if isinstance(unit, Unit)]
    # Plain numbers, an array or one number: they say nothing of a layer, so the argument does.
    if not full_units:
        return units, layer  # type: ignore[return-value]
    if len(full_units) < len(items):
        raise ConfigError(
            "units are Units or numbers of one layer, not both; received {units!r}", units=units
        )
    layers = {unit.layer for unit in full_units}
    if len(layers) > 1:
        raise ConfigError(
            "these Units belong to layers {layers}; give those of one layer at a time",
            layers=", ".join(map(str, sorted(layers))),
        )
    (theirs,) = layers
    if layer is not None and layer != theirs:
        raise ConfigError(
            "layer {layer} was asked for, but the Units belong to layer {theirs}; leave `layer` out",
            layer=layer,
            theirs=theirs,
        )
    return [unit.unit for unit in full_units], theirs


def is_plain_pair(units: object) -> bool:
    """Whether `units` is a plain pair such as (1, 5), which may be meant as a Unit."""
    return (
        type(units) is tuple
        and len(units) == 2
        and all(isinstance(number, int | np.integer) for number in units)
    )


def refuse_pair(units: Sequence[int], layers: int) -> None:
    """Raise ConfigError for a plain pair `units` without a layer, where `layers` layers allow both
    readings.
    """
    first, second = (int(number) for number in units)
    # A first number that no layer has can only be a unit: then the pair is two units, and nothing is
    # refused.
    if first < layers:
        raise ConfigError(
            "({first}, {second}) may be unit {second} of layer {first}, or units {first} and {second} of "
            "layer 0: give {second} and layer={first}, or say layer=0",
            first=first,
            second=second,
        )


@checked
def activations(trace: Trace, *, layer: int | None = None, quantity: str = "hidden") -> Floats:
    """`quantity` after each character: (T, H) of one `layer`, or (T, L·H) of all layers where `layer` is
    None. Column n of all layers is unit n % H of layer n // H. Raises ConfigError for an absent layer or
    quantity.

    >>> from rnnviz import units
    >>> import rnnviz
    >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "machine")
    >>> units.activations(trace, quantity="update").shape
    (7, 256)
    """
    values = trace.values(quantity)
    if layer is None:
        # No -1 here: numpy can't work out a length from a text of no characters.
        return values.reshape(len(values), values.shape[1] * values.shape[2])
    check_layer(layer, values.shape[1])
    return values[:, layer]


def unit_at_column(column: int, H: int, layer: int | None) -> Unit:
    """The unit of a column of `activations`."""
    return Unit(column // H, column % H) if layer is None else Unit(layer, column)
