"""Tables for pandas: a finding's, and a trace's, with a row for each character, unit and quantity.

Shape letters: T time steps, L layers, H hidden units.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rnnviz.arrays import Arrays, Floats, Integers
from rnnviz.errors import ConfigError, install
from rnnviz.findings import Number, Sentence, Table, Value
from rnnviz.sentences import DEFAULT, describe


def columns(
    text: str, values: Mapping[str, Floats], layer: int | None, units: Sequence[int] | None
) -> Arrays:
    """The columns (n,) of the table of values: position, character, layer, unit, quantity, value.

    `values` holds (T, L, H) by quantity. `layer` and `units` choose among them; None: all. Raises ConfigError
    for an absent layer or unit.
    """
    _, L, H = next(iter(values.values())).shape
    layers = _check_indices(None if layer is None else [layer], L, "layers")
    chosen = _check_indices(units, H, "units")
    selections = [array[:, layers][:, :, chosen] for array in values.values()]
    shape = (len(selections), len(text), len(layers), len(chosen))
    # The indices of each row of the table. Units change fastest, as in the values that `ravel` lays out.
    quantity, position, at_layer, at_unit = np.indices(shape).reshape(4, -1)
    return {
        "position": position,
        "character": np.array(list(text), dtype=object)[position],
        "layer": layers[at_layer],
        "unit": chosen[at_unit],
        "quantity": np.array(list(values), dtype=object)[quantity],
        "value": np.concatenate([array.ravel() for array in selections]),
    }


def _check_indices(indices: Sequence[int] | None, size: int, plural: str) -> Integers:
    # As objects, since numpy would turn [0, 1.5, True] into three floats.
    numbers = np.arange(size) if indices is None else np.atleast_1d(np.asarray(indices, dtype=object))
    # True is an integer to Python, and would choose number 1.
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number < size:
            raise ConfigError(
                "this trace has {there} {what}, 0 to {last}; received {number!r}",
                there=size,
                what=plural,
                last=size - 1,
                number=number,
            )
    return numbers.astype(np.int64)


def table_frame(table: Table) -> Any:
    """A finding's table as a pandas DataFrame, in English, with unrounded numbers."""
    return frame(
        {
            describe(head, DEFAULT, marked=False): [_plain(row[n]) for row in table.rows]
            for n, head in enumerate(table.columns)
        }
    )


def _plain(value: Value) -> float | str | None:
    if isinstance(value, Number):
        return value.value
    return describe(value, DEFAULT, marked=False) if isinstance(value, Sentence) else value


def frame(table: Mapping[str, Any]) -> Any:
    """The table as a pandas DataFrame. Raises ConfigError where pandas is missing."""
    try:
        import pandas
    except ImportError:
        raise ConfigError(
            "a table for pandas needs pandas: {command}, or take trace.columns(), trace.hidden, or facts() "
            "of a result",
            command=install("notebook"),
        ) from None
    return pandas.DataFrame(table)
