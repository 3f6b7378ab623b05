"""Linear recurrences: the gate looks at the input alone, so that a state enters the next by a factor.

    H_t = A_t ⊙ H_{t-1} + B_t        A_t in [0, 1] and B_t follow from X_t, not from H_{t-1}

    mingru   A = Z                   B = (1 - Z) ⊙ g(C)                Feng et al. 2024, arXiv:2410.01201

where Z is the sigmoid of a block of X_t W_x + b, and C the other block. So all steps of a text can be
computed at once (`rnnviz.networks.scan`), and a state is a sum over the past (`rnnviz.gradients.remaining`).

The formulas stand here once, for numpy and for torch alike; `rnnviz.networks.cells` has them as the textbook
would write them.

Shape letters: H units; … any leading dimensions.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rnnviz.arrays import Array
from rnnviz.networks.config import ModelConfig


class Functions(NamedTuple):
    """What the formulas need of numpy or torch, elementwise; each keeps its digits where it is near 0.

    sigmoid   σ(x)
    positive  g(x) = x + 1/2 from 0 on, σ(x) below: keeps states above 0
    where     one or the other, by a condition
    """

    sigmoid: Callable[[Any], Any]
    positive: Callable[[Any], Any]
    where: Callable[[Any, Any, Any], Any]


def _sigmoid(x: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-x)))


NUMPY = Functions(
    sigmoid=_sigmoid,
    positive=lambda x: np.maximum(x, 0) + _sigmoid(np.minimum(x, 0)),
    where=lambda condition, one, other: np.where(condition, other.dtype.type(one), other),
)
"""The functions for arrays; `scan` has those for tensors."""


def step(rows: Any, f: Functions) -> tuple[Any, Any]:
    """A and B, (…, H) each, for `rows` (…, 2 H) of X W_x + b."""
    gate, last = _blocks(rows)
    return f.sigmoid(gate), f.sigmoid(-gate) * f.positive(last)


def parts(rows: Any, f: Functions) -> dict[str, Any]:
    """The named parts of `rnnviz.networks.config.CELLS`, (…, H) each."""
    gate, last = _blocks(rows)
    return {"update": f.sigmoid(gate), "candidate": f.positive(last)}


def slopes(rows: Any, before: Any, f: Functions) -> list[Any]:
    """∂H_t/∂(each block of `rows`), (…, H) each; `before` is H_{t-1}. ∂H_t/∂H_{t-1} is A_t, on the diagonal
    alone.
    """
    gate, last = _blocks(rows)
    candidate, lets_in = f.positive(last), f.sigmoid(-gate)
    by_gate = f.sigmoid(gate) * lets_in * (before - candidate)
    return [by_gate, lets_in * f.where(candidate >= 0.5, 1.0, candidate * (1 - candidate))]


def _blocks(rows: Any) -> tuple[Any, Any]:
    """The gate's and the candidate's (…, H) of rows (…, 2 H)."""
    H = rows.shape[-1] // 2
    return rows[..., :H], rows[..., H:]


def most(config: ModelConfig, name: str) -> float:
    """How far from 0 a weight of a layer lies at most before training, drawn uniformly: as of
    `torch.nn.Linear`.
    """
    return 1 / math.sqrt(config.input_size if name.endswith("_l0") else config.hidden_size)
