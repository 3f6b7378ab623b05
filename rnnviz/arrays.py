"""Array types by their entries; the docstring or comment beside a signature gives the shape."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Arrays = dict[str, Array]
"""Arrays by name, as in a file."""

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
Halves = npt.NDArray[np.float16]
Ids = npt.NDArray[np.int64]
"""Symbols of a vocabulary, by number."""

Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Points = npt.NDArray[np.uint32]
"""Code points of a text."""

A = TypeVar("A", bound=Array)


def read_only(array: A) -> A:
    """`array` itself, made read-only."""
    array.setflags(write=False)
    return array
