"""Arrays that grow by rows at their end, share views without copying, and know which rows are still seen."""

from __future__ import annotations

from typing import Any, TypeVar, cast
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

Array = TypeVar("Array", bound=npt.NDArray[Any])


class Rows:
    """Growing arrays: row 0 for the start symbol, then a row for each character."""

    _PER_ROW = ("inputs", "known", "hidden", "cell", "nll", "total", "perplexity", "rank", "entropy")

    def __init__(self, capacity: int, layers: int, units: int, has_cell: bool) -> None:
        self.capacity = capacity
        self.views: WeakSet[View] = WeakSet()
        self.inputs = np.zeros(capacity, np.int64)
        self.known = np.zeros(capacity, np.bool_)
        self.hidden = np.empty((capacity, layers, units), np.float32)
        self.cell = np.empty((capacity, layers, units), np.float32) if has_cell else None
        self.nll = np.zeros(capacity)
        self.total = np.zeros(capacity)  # of nll, up to and including the row
        self.perplexity = np.zeros(capacity)
        self.rank = np.zeros(capacity, np.int64)
        self.entropy = np.zeros(capacity)

    def copy(self, rows: int, capacity: int) -> Rows:
        """New arrays with the same first `rows` rows."""
        _, layers, units = self.hidden.shape
        new = Rows(capacity, layers, units, self.cell is not None)
        for name in self._PER_ROW:
            old = getattr(self, name)
            if old is not None:
                getattr(new, name)[:rows] = old[:rows]
        return new


class View:
    """Rows 0 .. stop - 1 of some arrays, alive while any slice is: numpy keeps the lender of its memory."""

    def __init__(self, rows: Rows, stop: int) -> None:
        self.stop = stop
        rows.views.add(self)

    def array(self, array: Array) -> Array:
        """The first rows of `array`, read-only."""
        return cast(Array, np.asarray(_Lender(self, array[: self.stop])))


class _Lender:
    def __init__(self, view: View, array: npt.NDArray[Any]) -> None:
        interface = array.__array_interface__
        interface["data"] = (interface["data"][0], True)  # True: read-only
        self.__array_interface__ = interface
        self._keep = view, array
