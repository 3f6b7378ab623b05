"""What a row of predictions says beside the probability of the symbol that came: its rank, and the entropy.

Shape letters: n predictions, V symbols. This module knows nothing of models or texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Ranks = npt.NDArray[np.int32]
Entropies = npt.NDArray[np.float32]
Details = tuple[npt.NDArray[np.float64], Ranks, Entropies]
"""Of n symbols: log P in nats, rank (1: the most probable came), entropy of the prediction; (n,)."""


def joined(parts: Sequence[Details]) -> Details:
    """The Details of stretches that follow one another, as one; of none, the Details of nothing."""
    nothing: Details = np.empty(0), np.empty(0, np.int32), np.empty(0, np.float32)
    all_of = [nothing, *parts]
    return (
        np.concatenate([part[0] for part in all_of]),
        np.concatenate([part[1] for part in all_of]),
        np.concatenate([part[2] for part in all_of]),
    )


def rank(scores: npt.NDArray[np.floating[Any]], ids: npt.NDArray[np.int64]) -> Ranks:
    """The place of each symbol of `ids` (n,) in its row of `scores` (n, V): 1 for the highest.

    It is how many symbols score more, plus one: equals share a rank, and a model that has no preference
    ranks everything first.
    """
    came = scores[np.arange(len(ids)), ids][:, None]
    return np.asarray(1 + np.count_nonzero(scores > came, axis=1), np.int32)


def entropy(
    logits: npt.NDArray[np.floating[Any]], log_sum: npt.NDArray[np.float64] | None = None
) -> Entropies:
    """-Σ P log P in nats, (n,), of log-probabilities (n, V), normalised or not.

    `log_sum` (n,) is the log of each row's sum of exponentials, where it is known
    already; the rows are then at most about 0, so that nothing overflows.
    """
    if log_sum is None:
        logits = logits - logits.max(axis=1, keepdims=True)
    exponentials = np.exp(logits)
    if log_sum is None:
        log_sum = np.log(exponentials.sum(axis=1, dtype=np.float64))
    weighted = np.einsum("nv,nv->n", exponentials, logits)
    # Rounding may leave a certain prediction a little below 0.
    return np.asarray(np.maximum(log_sum - weighted / np.exp(log_sum), 0), np.float32)
