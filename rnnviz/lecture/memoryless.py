"""Without a hidden state: what a model predicts after two texts, and whether it can tell them apart.

    mlp   H_t = φ(X_t W_xh + b_h)                     sees the last character only
    rnn   H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h)      sees all of them

Two texts that end in the same character leave the first in the same state, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.networks.numpy_model import Network
from rnnviz.reading.trace import trace

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Ending:
    """A model at the end of a text."""

    state: Floats  # (H,), the top layer's
    probabilities: Floats  # (V,), of the next symbol


def ending(model: Network, text: str) -> Ending:
    """Where `model` is after `text`, of one character at least (else ConfigError).

    >>> import rnnviz
    >>> mlp = rnnviz.load("timemachine-mlp")
    >>> bool((ending(mlp, "the cat").state == ending(mlp, "we met").state).all())
    True
    """
    if not text:
        raise ConfigError("a text to end needs at least one character; received none")
    read = trace(model, text)
    return Ending(read.hidden[-1, -1], np.exp(read.log_probs_at(len(read), len(read) + 1)[0]))


@dataclass(frozen=True)
class Compared:
    """Two endings compared: the likeliest symbols of either, and the largest differences of P and of H."""

    symbols: list[int]
    prediction: float
    state: float


def compare(one: Ending, other: Ending, k: int) -> Compared:
    """How far apart two endings of the same model are.

    >>> one, other = (Ending(np.zeros(2), np.array(p)) for p in ([0.5, 0.25, 0.25], [0.25, 0, 0.75]))
    >>> compare(one, other, k=2)
    Compared(symbols=[2, 0], prediction=0.5, state=0.0)
    """
    either = np.maximum(one.probabilities, other.probabilities)
    return Compared(
        np.argsort(-either, kind="stable")[:k].tolist(),
        float(np.max(np.abs(one.probabilities - other.probabilities))),
        float(np.max(np.abs(one.state - other.state))),
    )
