"""The elementwise functions that the formulas of linear recurrences need, of numpy; `scan` has torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Arrays = npt.NDArray[Any]


class Functions(NamedTuple):
    """What the formulas need of numpy or torch, elementwise; each keeps its digits where it is near 0.

    sigmoid   σ(x)
    softplus  ln(1 + e^x)
    exp       e^x
    root      sqrt(1 - e^(2x)) for x ≤ 0
    expm1     e^x - 1
    positive  g(x) = x + 1/2 from 0 on, σ(x) below: minGRU's and minLSTM's, which keeps states above 0
    at_least  the larger of x and a number
    where     one or the other, by a condition
    pair      two arrays (H,) as one (2, H)
    """

    sigmoid: Callable[[Any], Any]
    softplus: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    root: Callable[[Any], Any]
    expm1: Callable[[Any], Any]
    positive: Callable[[Any], Any]
    at_least: Callable[[Any, float], Any]
    where: Callable[[Any, Any, Any], Any]
    pair: Callable[[Any, Any], Any]


def _sigmoid(x: Arrays) -> Arrays:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-x)))


NUMPY = Functions(
    sigmoid=_sigmoid,
    softplus=lambda x: np.logaddexp(x.dtype.type(0), x),
    exp=np.exp,
    root=lambda x: np.sqrt(-np.expm1(2 * x)),
    expm1=np.expm1,
    positive=lambda x: np.maximum(x, 0) + _sigmoid(np.minimum(x, 0)),
    at_least=np.maximum,
    where=lambda condition, one, other: np.where(condition, other.dtype.type(one), other),
    pair=lambda one, other: np.stack([one, other]),
)
