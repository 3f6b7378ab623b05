"""Linear recurrences: the gates look at the input alone, so that a state enters the next by a factor.

    H_t = A_t ⊙ H_{t-1} + B_t        A_t in [0, 1] and B_t follow from X_t, not from H_{t-1}

    mingru   A = Z                   B = (1 - Z) ⊙ g(C)                Feng et al. 2024, arXiv:2410.01201
    minlstm  A = F / (F + I)         B = I / (F + I) ⊙ g(C)            the same paper
    rglru    A = σ(Λ)^(8 R)          B = sqrt(1 - A²) ⊙ I ⊙ C          De et al. 2024, arXiv:2402.19427
    s6       A = exp(-Δ a)           B = (1 - A) / a ⊙ W ⊙ U           Gu & Dao 2023, arXiv:2312.00752

where Z, F, I and R are sigmoids of blocks of X_t W_x + b, C is a block of it, W and V below too, Δ is a
softplus and U a SiLU. So all steps of a text can be computed at once (`rnnviz.networks.scan`), and a state is
a sum over the past (`rnnviz.gradients.remaining`).

An s6's recurrence is that of its cell, C_t = A_t ⊙ C_{t-1} + B_t; its H_t = V_t ⊙ C_t + D ⊙ U_t (`shown`).
Its formulas are in `rnnviz.networks.selective`.

The formulas stand here once, for numpy and for torch alike; `rnnviz.networks.cells` has them as the textbook
would write them.

Shape letters: G blocks of weights, H units; … any leading dimensions.
"""

from __future__ import annotations

import math
from typing import Any

from rnnviz.networks import selective
from rnnviz.networks.config import CELLS, STATES, ModelConfig
from rnnviz.networks.functions import NUMPY as NUMPY
from rnnviz.networks.functions import Functions as Functions

SHARPNESS = 8.0
"""c of an rglru: its gate R raises the decay σ(Λ) to a power from 0 to c."""

STEPS = 0.01, 1.0
"""Δ of an s6 before training, for an input of 0. Its paper's are 0.001 to 0.1, behind a normalisation."""


def step(cell: str, rows: Any, rate: Any, f: Functions) -> tuple[Any, Any]:
    """A and B, (…, H) each, for `rows` (…, G·H) of X W_x + b; `rate` is that of `rate_of`."""
    if cell == "s6":
        return selective.written(selective.blocks(rows, rate), f)
    first, second, last = _blocks(cell, rows)
    if cell == "rglru":
        log_decay = -rate * f.sigmoid(first)
        return f.exp(log_decay), f.root(log_decay) * f.sigmoid(second) * last
    ratio = _ratio(cell, first, second, f)
    return f.sigmoid(ratio), f.sigmoid(-ratio) * f.positive(last)


def shown(cell: str, rows: Any, rate: Any, f: Functions) -> tuple[Any, Any] | None:
    """V and D ⊙ U, (…, H) each, of an s6's H_t = V_t ⊙ C_t + D ⊙ U_t; None where H_t is the state itself."""
    if not CELLS[cell].has_cell:
        return None
    of = selective.blocks(rows, rate)
    return of.read, of.skip * selective.silu(of.last, f)


def parts(cell: str, rows: Any, rate: Any, f: Functions) -> dict[str, Any]:
    """The named parts of `rnnviz.networks.config.CELLS`, (…, H) each."""
    keep, _ = step(cell, rows, rate, f)
    if cell == "s6":
        of = selective.blocks(rows, rate)
        named = {"step": f.softplus(of.step), "decay": keep, "write": of.write, "read": of.read}
        return {**named, "candidate": selective.silu(of.last, f)}
    first, second, last = _blocks(cell, rows)
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


def slopes_shown(rows: Any, rate: Any, f: Functions) -> tuple[Any, Any]:
    """Of an s6, ∂H_t/∂ its block U with C_t fixed, and ∂H_t/∂D; ∂H_t/∂V is C_t."""
    of = selective.blocks(rows, rate)
    return of.skip * selective.silu_slope(of.last, f), selective.silu(of.last, f)


def slopes(cell: str, rows: Any, rate: Any, before: Any, f: Functions) -> tuple[list[Any], Any]:
    """∂H_t/∂(each block of `rows`), and of an rglru ∂H_t/∂rate, else None; (…, H) each, `before` is H_{t-1}.

    ∂H_t/∂H_{t-1} is A_t, on the diagonal alone. Of an s6 C_t stands in H_t's place, and a in the rate's.
    """
    if cell == "s6":
        return selective.slopes(selective.blocks(rows, rate), before, f)
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


def rate_of(decay: Any, f: Functions, skip: Any = None) -> Any:
    """-c ln σ(Λ) (H,), at least 0, of an rglru's Λ (H,); of an s6 a and D as one array (2, H), from ln a and
    D, its `skip`.
    """
    return SHARPNESS * f.softplus(-decay) if skip is None else f.pair(f.exp(decay), skip)


def start(config: ModelConfig, name: str) -> list[tuple[slice, float, float]]:
    """Between what a tensor of a layer lies before training, uniformly, rows after rows: as of
    `torch.nn.Linear`; of an rglru's Λ those of which σ(Λ)^8 is 0.5 and 0.99. Its paper's are 0.9 and 0.999,
    behind a normalisation that these layers haven't got: two of them then hardly learn (docs/cells.md). Of an
    s6 a is 1 to N and Δ for an input of 0 from 0.01 to 1.
    """
    every = slice(None)
    if ".decay_l" in name and config.cell == "s6":
        return [(every, 0.0, math.log(STATES))]
    if ".decay_l" in name:
        low, high = (x ** (1 / SHARPNESS) for x in (0.5, 0.99))
        return [(every, math.log(low / (1 - low)), math.log(high / (1 - high)))]
    if ".skip_l" in name:
        return [(every, 0.5, 1.5)]
    inputs = config.input_size if name.endswith("_l0") else config.hidden_size
    most = 1 / math.sqrt(inputs)
    if config.cell == "s6" and ".bias_ih" in name:
        channels = config.hidden_size // STATES
        low, high = (math.log(math.expm1(delta)) for delta in STEPS)
        return [(slice(channels), low, high), (slice(channels, None), -most, most)]
    return [(every, -most, most)]
