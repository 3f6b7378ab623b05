"""Linear recurrences: the gates look at the input alone, so that a state enters the next by a factor.

    H_t = A_t ⊙ H_{t-1} + B_t        A_t in [0, 1] and B_t follow from X_t, not from H_{t-1}

    mingru   A = Z                   B = (1 - Z) ⊙ g(C)                Feng et al. 2024, arXiv:2410.01201
    minlstm  A = F / (F + I)         B = I / (F + I) ⊙ g(C)            the same paper
    rglru    A = σ(Λ)^(8 R)          B = sqrt(1 - A²) ⊙ I ⊙ C          De et al. 2024, arXiv:2402.19427

where Z, F, I and R are sigmoids of rows of X_t W_x + b, and C is a row of it. So all steps of a text can be
computed at once: see `rnnviz.networks.scan`.

The formulas stand here once, for numpy and for torch alike; `rnnviz.networks.cells` has them as the textbook
would write them.

Shape letters: G blocks of weights, H units; … any leading dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rnnviz.networks.config import ModelConfig

SHARPNESS = 8.0
"""c of an rglru: its gate R raises the decay σ(Λ) to a power from 0 to c."""


Arrays = npt.NDArray[Any]


class Functions(NamedTuple):
    """What the formulas need of numpy or torch, elementwise; each keeps its digits where it is near 0.

    sigmoid   σ(x)
    softplus  ln(1 + e^x)
    exp       e^x
    root      sqrt(1 - e^(2x)) for x ≤ 0
    positive  g(x) = x + 1/2 from 0 on, σ(x) below: minGRU's and minLSTM's, which keeps states above 0
    """

    sigmoid: Callable[[Any], Any]
    softplus: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    root: Callable[[Any], Any]
    positive: Callable[[Any], Any]


def _sigmoid(x: Arrays) -> Arrays:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-x)))


NUMPY = Functions(
    sigmoid=_sigmoid,
    softplus=lambda x: np.logaddexp(x.dtype.type(0), x),
    exp=np.exp,
    root=lambda x: np.sqrt(-np.expm1(2 * x)),
    positive=lambda x: np.where(x >= 0, x + x.dtype.type(0.5), _sigmoid(x)),
)


class Step(NamedTuple):
    """A_t and B_t, and the parts by their names in `rnnviz.networks.config.CELLS`, (…, H) each."""

    keep: Any
    write: Any
    parts: dict[str, Any]


def step(cell: str, rows: Any, rate: Any, f: Functions) -> Step:
    """What inputs do to the state, for `rows` (…, G·H) of X W_x + b; `rate` (H,) is that of `rate_of`."""
    blocks = rows.reshape(*rows.shape[:-1], 2 if cell == "mingru" else 3, -1)  # (…, G, H)
    if cell == "mingru":
        a_z, a_c = blocks[..., 0, :], blocks[..., 1, :]
        z, candidate = f.sigmoid(a_z), f.positive(a_c)
        return Step(z, f.sigmoid(-a_z) * candidate, {"update": z, "candidate": candidate})
    first, second, candidate = blocks[..., 0, :], blocks[..., 1, :], blocks[..., 2, :]
    if cell == "minlstm":
        candidate = f.positive(candidate)
        ratio = f.softplus(-first) - f.softplus(-second)  # ln F - ln I
        keep, write = f.sigmoid(ratio), f.sigmoid(-ratio) * candidate
        parts = {"input": f.sigmoid(first), "forget": f.sigmoid(second)}
    elif cell == "rglru":
        parts = {"recurrence": f.sigmoid(first), "input": f.sigmoid(second)}
        log_decay = -rate * parts["recurrence"]
        keep, write = f.exp(log_decay), f.root(log_decay) * parts["input"] * candidate
    else:
        raise NotImplementedError(cell)
    return Step(keep, write, parts | {"decay": keep, "candidate": candidate})


def rate_of(decay: Any, f: Functions) -> Any:
    """-c ln σ(Λ) (H,), at least 0, of an rglru's Λ (H,)."""
    return SHARPNESS * f.softplus(-decay)


def start(config: ModelConfig, name: str) -> tuple[float, float]:
    """The lowest and the highest value that a tensor of a layer has before training, uniform between: as of
    `torch.nn.Linear`; of an rglru's Λ those of which σ(Λ)^8 is 0.9 and 0.999, as in its paper.
    """
    if ".decay_l" in name:
        low, high = (x ** (1 / SHARPNESS) for x in (0.9, 0.999))
        return math.log(low / (1 - low)), math.log(high / (1 - high))
    inputs = config.input_size if name.endswith("_l0") else config.hidden_size
    return -1 / math.sqrt(inputs), 1 / math.sqrt(inputs)
