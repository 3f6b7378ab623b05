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
    layers = _chosen(None if layer is None else [layer], L, "layers")
    chosen = _chosen(units, H, "units")
    each = [held[:, layers][:, :, chosen] for held in values.values()]
    shape = (len(each), len(text), len(layers), len(chosen))
    quantity, position, at_layer, at_unit = np.indices(shape).reshape(4, -1)
    return {
        "position": position,
        "character": np.array(list(text), dtype=object)[position],
        "layer": layers[at_layer],
        "unit": chosen[at_unit],
        "quantity": np.array(list(values), dtype=object)[quantity],
        "value": np.concatenate([held.ravel() for held in each]),
    }


def _chosen(wanted: Sequence[int] | None, there: int, what: str) -> Integers:
    chosen = np.arange(there) if wanted is None else np.atleast_1d(np.asarray(wanted, dtype=object))
    for number in chosen:
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number < there:
            raise ConfigError(
                "this trace has {there} {what}, 0 to {last}; received {number!r}",
                there=there,
                what=what,
                last=there - 1,
                number=number,
            )
    return chosen.astype(np.int64)


def of_table(table: Table) -> Any:
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
