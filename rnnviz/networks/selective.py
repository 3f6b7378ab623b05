"""The formulas of an s6, the selective state space layer of Gu & Dao 2023.

    A = exp(-Δ a)    B = (1 - A) / a ⊙ W ⊙ U    C_t = A ⊙ C_{t-1} + B    H_t = V ⊙ C_t + D ⊙ U

Δ, a softplus, and U, a SiLU, are a number a channel; W and V are N numbers for all channels; a and D a number
a unit. Unit n K + k is state n of channel k. So a layer has few rows of weights, and all formulas take either
those, which broadcast, or the same spread to H a block. `rnnviz.networks.cells` has a step as the paper
writes it.

Shape letters: H units, N states of a channel, K = H / N channels; … any leading dimensions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rnnviz.networks.config import STATES, ModelConfig
from rnnviz.networks.functions import Functions


class Blocks(NamedTuple):
    """What X W_x + b gives to each part, with a and D: (…, H) each, or what broadcasts to (…, N, K)."""

    step: Any
    write: Any
    read: Any
    last: Any
    a: Any
    skip: Any


def spread(config: ModelConfig) -> npt.NDArray[np.int64] | None:
    """Which of an s6's rows of weights stands at each of its 4 H; None for other cells."""
    if config.cell != "s6":
        return None
    channels = config.hidden_size // STATES
    by_channel = np.tile(np.arange(channels), STATES)
    by_state = np.repeat(np.arange(STATES), channels)
    last = channels + 2 * STATES
    return np.concatenate([by_channel, channels + by_state, channels + STATES + by_state, last + by_channel])


def blocks(rows: Any, rate: Any) -> Blocks:
    """The blocks of rows (…, 2 K + 2 N) or, spread, (…, 4 H), with a and D in `rate` (2, H)."""
    H = rate.shape[-1]
    if rows.shape[-1] == 4 * H:
        step, write, read, last = (rows[..., n * H : (n + 1) * H] for n in range(4))
        return Blocks(step, write, read, last, rate[0], rate[1])
    K = H // STATES
    a, skip = rate.reshape(2, STATES, K)
    write, read = (rows[..., n : n + STATES, None] for n in (K, K + STATES))
    return Blocks(rows[..., None, :K], write, read, rows[..., None, K + 2 * STATES :], a, skip)


def written(of: Blocks, f: Functions) -> tuple[Any, Any]:
    """A and B."""
    log_decay = -of.a * f.softplus(of.step)
    return f.exp(log_decay), f.expm1(log_decay) * (-1 / of.a) * (of.write * silu(of.last, f))


def slopes(of: Blocks, before: Any, f: Functions) -> tuple[list[Any], Any]:
    """∂C_t/∂ each block's rows, None for V's, and ∂C_t/∂a; `before` is C_{t-1}."""
    delta, candidate = f.softplus(of.step), silu(of.last, f)
    log_decay = -of.a * delta
    share = f.expm1(log_decay) * (-1 / of.a)
    let_in = of.write * candidate
    by_step = f.exp(log_decay) * (let_in - of.a * before)
    return [
        f.sigmoid(of.step) * by_step,
        share * candidate,
        None,
        share * (of.write * silu_slope(of.last, f)),
    ], (delta * by_step - share * let_in) * (1 / of.a)


def silu(x: Any, f: Functions) -> Any:
    """x σ(x)."""
    return x * f.sigmoid(x)


def silu_slope(x: Any, f: Functions) -> Any:
    """Its derivative."""
    share = f.sigmoid(x)
    return share * (1 + x * (1 - share))
