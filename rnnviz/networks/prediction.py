"""Predictions, and the symbol that came: its log-probability, its rank, and the prediction's entropy.

Shape letters: n predictions, V symbols.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles, Floats, Ids, Integers

Ranks = npt.NDArray[np.int32]


class Scores(NamedTuple):
    """Scores of n symbols, (n,) each: log P in nats, rank (1: the most probable came), entropy in nats of the
    prediction before each."""

    log_p: Doubles
    rank: Ranks
    entropy: Floats

    @classmethod
    def unranked(cls, log_p: Doubles) -> Scores:
        """Scores of log P alone; ranks and entropies are 0."""
        return cls(log_p, np.zeros(len(log_p), np.int32), np.zeros(len(log_p), np.float32))

    @classmethod
    def joined(cls, parts: Sequence[Scores]) -> Scores:
        """The scores of consecutive stretches as one."""
        if not parts:
            return cls.unranked(np.empty(0))
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class Scorer(Protocol):
    """Reads a text once, in pieces of any length, and gives each character's log P."""

    def advance(self, ids: Integers) -> Doubles:
        """log P in nats of each symbol of `ids` (n,), given all before it."""

    def advance_details(self, ids: Integers) -> Scores:
        """log P as by `advance`, the rank of each symbol, and the entropy of the prediction before each."""


OnRead = Callable[[int, float], object]
"""Called several times a second with the number of characters read since, and their cost in nats."""


def ignore_read(characters: int, nats: float) -> None:
    """Nobody follows the reading."""


class Stepwise(ABC):
    """A Scorer that reports its progress within a long piece."""

    @abstractmethod
    def scores(self, ids: Ids, *, details: bool, on_read: OnRead = ignore_read) -> Scores:
        """The Scores of `ids` (n,); rank and entropy are computed if `details`. An `on_read` that raises
        leaves the scorer unusable.
        """

    def advance(self, ids: Ids) -> Doubles:
        """log P in nats of each symbol of `ids` (n,), given all before it."""
        return self.scores(ids, details=False).log_p

    def advance_details(self, ids: Ids) -> Scores:
        """log P, rank and entropy of each symbol of `ids` (n,)."""
        return self.scores(ids, details=True)


def rank(scores: npt.NDArray[np.floating[Any]], ids: Integers) -> Ranks:
    """The place of each symbol of `ids` (n,) in its row of `scores` (n, V), from 1; equals share a rank."""
    actual = scores[np.arange(len(ids)), ids][:, None]
    return np.asarray(1 + np.count_nonzero(scores > actual, axis=1), np.int32)


def normalised(logits: Floats) -> tuple[Floats, Doubles]:
    """`logits` (n, V), changed in place to be at most 0, and the log of each row's sum of exponentials, (n,),
    in nats: log P = first - second[:, None].
    """
    # The largest becomes 0, so that no exponential overflows; the sum is at least 1, so that its log is
    # finite.
    logits -= logits.max(axis=1, keepdims=True)
    return logits, np.log(np.exp(logits).sum(axis=1, dtype=np.float64))


def entropy(logits: npt.NDArray[np.floating[Any]], log_sum: Doubles) -> Floats:
    """-Σ P log P in nats, (n,), from the results of `normalised`."""
    # -Σ P log P with log P = logit - log_sum: one pass over the exponentials, no array of log P.
    weighted = np.einsum("nv,nv->n", np.exp(logits), logits)
    # Rounding may leave a certain prediction a little below 0.
    return np.asarray(np.maximum(log_sum - weighted / np.exp(log_sum), 0), np.float32)
