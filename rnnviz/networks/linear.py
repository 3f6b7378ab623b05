"""Linear recurrences: the gates look at the input alone, so that a state enters the next by a factor.

    H_t = A_t ⊙ H_{t-1} + B_t        A_t in [0, 1] and B_t follow from X_t, not from H_{t-1}

    mingru   A = Z                   B = (1 - Z) ⊙ g(C)                Feng et al. 2024, arXiv:2410.01201
    minlstm  A = F / (F + I)         B = I / (F + I) ⊙ g(C)            the same paper
    rglru    A = σ(Λ)^(8 R)          B = sqrt(1 - A²) ⊙ I ⊙ C          De et al. 2024, arXiv:2402.19427

where Z, F, I and R are sigmoids of rows of X_t W_x + b, and C is a row of it. So all steps of a text can be
computed at once (`rnnviz.networks.scan`), and a state is a sum over the past (`rnnviz.gradients.remaining`).

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

from rnnviz.networks.config import CELLS, ModelConfig

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
    at_least  the larger of x and a number
    where     one or the other, by a condition
    """

    sigmoid: Callable[[Any], Any]
    softplus: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    root: Callable[[Any], Any]
    positive: Callable[[Any], Any]
    at_least: Callable[[Any, float], Any]
    where: Callable[[Any, Any, Any], Any]


def _sigmoid(x: Arrays) -> Arrays:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-x)))


NUMPY = Functions(
    sigmoid=_sigmoid,
    softplus=lambda x: np.logaddexp(x.dtype.type(0), x),
    exp=np.exp,
    root=lambda x: np.sqrt(-np.expm1(2 * x)),
    positive=lambda x: np.maximum(x, 0) + _sigmoid(np.minimum(x, 0)),
    at_least=np.maximum,
    where=lambda condition, one, other: np.where(condition, other.dtype.type(one), other),
)


def step(cell: str, rows: Any, rate: Any, f: Functions) -> tuple[Any, Any]:
    """A and B, (…, H) each, for `rows` (…, G·H) of X W_x + b; `rate` (H,) is that of `rate_of`."""
    first, second, last = _blocks(cell, rows)
    if cell == "rglru":
        log_decay = -rate * f.sigmoid(first)
        return f.exp(log_decay), f.root(log_decay) * f.sigmoid(second) * last
    ratio = _ratio(cell, first, second, f)
    return f.sigmoid(ratio), f.sigmoid(-ratio) * f.positive(last)


def parts(cell: str, rows: Any, rate: Any, f: Functions) -> dict[str, Any]:
    """The named parts of `rnnviz.networks.config.CELLS`, (…, H) each."""
    first, second, last = _blocks(cell, rows)
    keep, _ = step(cell, rows, rate, f)
    if cell == "mingru":
        return {"update": keep, "candidate": f.positive(last)}
    gates = {
        "recurrence" if cell == "rglru" else "input": first,
        "input" if cell == "rglru" else "forget": second,
    }
    found = {name: f.sigmoid(values) for name, values in gates.items()}
    return {**found, "decay": keep, "candidate": last if cell == "rglru" else f.positive(last)}


def _blocks(cell: str, rows: Any) -> tuple[Any, Any, Any]:
    """The blocks (…, H) of rows (…, G·H): gates, and the candidate last; a mingru's second is its last."""
    blocks = rows.reshape(*rows.shape[:-1], CELLS[cell].blocks, -1)
    return blocks[..., 0, :], blocks[..., 1, :], blocks[..., -1, :]


def _ratio(cell: str, first: Any, second: Any, f: Functions) -> Any:
    """What A is the sigmoid of: of a minlstm ln F - ln I."""
    return first if cell == "mingru" else f.softplus(-first) - f.softplus(-second)


def slopes(cell: str, rows: Any, rate: Any, before: Any, f: Functions) -> tuple[list[Any], Any]:
    """∂H_t/∂(each block of `rows`), and of an rglru ∂H_t/∂rate, else None; (…, H) each, `before` is H_{t-1}.

    ∂H_t/∂H_{t-1} is A_t, on the diagonal alone.
    """
    first, second, last = _blocks(cell, rows)
    if cell == "rglru":
        r, i = f.sigmoid(first), f.sigmoid(second)
        log_decay = -rate * r
        root, keep = f.root(log_decay), f.exp(log_decay)
        # Where the root is 0 it has no slope, and nothing is written: any large number does.
        by_log = keep * (before - keep / f.at_least(root, 1e-12) * i * last)
        written = root * i
        return [
            -rate * r * f.sigmoid(-first) * by_log,
            written * f.sigmoid(-second) * last,
            written,
        ], -r * by_log
    candidate = f.positive(last)
    ratio = _ratio(cell, first, second, f)
    lets_in = f.sigmoid(-ratio)
    by_ratio = f.sigmoid(ratio) * lets_in * (before - candidate)
    to_candidate = lets_in * f.where(candidate >= 0.5, 1.0, candidate * (1 - candidate))
    if cell == "mingru":
        return [by_ratio, to_candidate], None
    return [-f.sigmoid(-first) * by_ratio, f.sigmoid(-second) * by_ratio, to_candidate], None


def rate_of(decay: Any, f: Functions) -> Any:
    """-c ln σ(Λ) (H,), at least 0, of an rglru's Λ (H,)."""
    return SHARPNESS * f.softplus(-decay)


def start(config: ModelConfig, name: str) -> tuple[float, float]:
    """The lowest and the highest value that a tensor of a layer has before training, uniform between: as of
    `torch.nn.Linear`; of an rglru's Λ those of which σ(Λ)^8 is 0.5 and 0.99. Its paper's are 0.9 and 0.999,
    behind a normalisation that these layers haven't got: two of them then hardly learn (docs/cells.md).
    """
    if ".decay_l" in name:
        low, high = (x ** (1 / SHARPNESS) for x in (0.5, 0.99))
        return math.log(low / (1 - low)), math.log(high / (1 - high))
    inputs = config.input_size if name.endswith("_l0") else config.hidden_size
    return -1 / math.sqrt(inputs), 1 / math.sqrt(inputs)
