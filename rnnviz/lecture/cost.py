"""What the way back costs, measured: time, and the numbers that must be kept for it, against the length.

The network is as wide as a first one to train, and its arithmetic is numpy's, in float64: another computer,
width or library has other times. What is kept doesn't depend on them: it is counted from the arrays that
`back` reads. Shape letters: T steps, X inputs, H units, V symbols; X = V, one-hot.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rnnviz.arrays import Doubles, Integers
from rnnviz.errors import ConfigError
from rnnviz.gradients import small
from rnnviz.gradients.small import SmallRNN

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


UNITS, SYMBOLS = 128, 28
LENGTHS = (16, 32, 64, 128, 256)
CUTS = (16, 32, 64)
REPEATS = 5


class Kept(NamedTuple):
    """What a piece of a text leaves behind for its way back."""

    ids: Integers  # (T,), the characters read
    labels: Integers  # (T,)
    states: Doubles  # (T + 1, H), the one before the piece first
    slopes: Doubles  # (T, H), tanh'
    probabilities: Doubles  # (T, V)

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(array.nbytes for array in self)


def there(net: SmallRNN, ids: Integers, labels: Integers, before: Doubles) -> tuple[float, Kept]:
    """Read a piece from the state `before` (H,) on: the sum of its losses in nats, and what to keep."""
    driven = net.W_xh[ids] + net.b_h
    driven[0] += before @ net.W_hh
    states, slopes = small.forwards(driven, net.W_hh)
    states[0] = before
    logits = states[1:] @ net.W_hq + net.b_q
    logits -= logits.max(axis=1, keepdims=True)
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    return float(-np.log(p[np.arange(len(ids)), labels]).sum()), Kept(ids, labels, states, slopes, p)


def back(net: SmallRNN, kept: Kept) -> dict[str, Doubles]:
    """The gradients of the piece's summed loss, by the weights' names; none goes beyond the piece.

    >>> net, ids, labels = task(steps=4)
    >>> back(net, there(net, ids, labels, np.zeros(UNITS))[1])["W_hh"].shape
    (128, 128)
    """
    errors = kept.probabilities.copy()  # (T, V), ∂L/∂O
    errors[np.arange(len(errors)), kept.labels] -= 1
    delta = small.backwards(kept.slopes, errors @ net.W_hq.T, net.W_hh)  # (T, H), ∂L/∂A
    W_xh = np.zeros_like(net.W_xh)
    np.add.at(W_xh, kept.ids, delta)
    return {
        "W_xh": W_xh,
        "W_hh": kept.states[:-1].T @ delta,
        "b_h": delta.sum(axis=0),
        "W_hq": kept.states[1:].T @ errors,
        "b_q": errors.sum(axis=0),
    }


def updates(
    net: SmallRNN, ids: Integers, labels: Integers, cut: int | None = None
) -> Iterator[tuple[dict[str, Doubles], int]]:
    """The gradients of each piece of `cut` steps, the whole text by default, and the bytes kept for them.
    The state goes on from piece to piece, gradients don't.
    """
    before = np.zeros(len(net.b_h))
    for start in range(0, len(ids), cut or len(ids)):
        piece = slice(start, start + (cut or len(ids)))
        _, kept = there(net, ids[piece], labels[piece], before)
        yield back(net, kept), kept.size
        before = kept.states[-1]


@lru_cache(maxsize=16)
def task(steps: int) -> tuple[SmallRNN, Integers, Integers]:
    """The network that is measured, and `steps` characters drawn for it with their labels."""
    if steps < 1:
        raise ConfigError("there is at least one step; received {steps}", steps=steps)
    text = np.random.default_rng(0).integers(SYMBOLS, size=steps + 1)
    return SmallRNN.random(SYMBOLS, UNITS, SYMBOLS, scale=UNITS**-0.5), text[:-1], text[1:]


@cache
def kept(steps: int) -> int:
    """Bytes kept for an update through `steps` steps.

    >>> kept(256) > 15 * kept(16)
    True
    """
    net, ids, labels = task(steps)
    return there(net, ids, labels, np.zeros(UNITS))[1].size


@dataclass(frozen=True)
class Cost:
    """Medians in seconds, bytes kept. An update is one change of the weights: `both` without a cut."""

    steps: int
    forward: float  # there
    both: float  # there and back
    kept: int  # for `both`
    cut: int
    update: float  # there and back through `cut` steps
    update_kept: int


def measured(
    steps: int, cut: int, *, repeats: int = REPEATS, clock: Callable[[], float] = time.perf_counter
) -> Cost:
    """Measure a text of `steps` characters, `repeats` times in turns, on one of the processor's cores, as
    cores that wait for one another tell more of who else computes than of the network.

    >>> one = measured(16, cut=4, repeats=1)
    >>> one.kept > one.update_kept
    True
    """
    if cut < 1 or repeats < 1:
        raise ConfigError(
            "a cut is after 1 step or more, and repeats are 1 or more; received {cut} and {repeats}",
            cut=cut,
            repeats=repeats,
        )
    net, ids, labels = task(steps)
    forward, both, pieces = list[float](), list[float](), list[float]()
    kept = update_kept = 0
    with _one_core():
        for _ in range(repeats):
            began = clock()
            there(net, ids, labels, np.zeros(UNITS))
            forward.append(clock() - began)
            began = clock()
            _, kept = next(updates(net, ids, labels))
            both.append(clock() - began)
            began = clock()
            for _, size in updates(net, ids, labels, cut):
                pieces.append(clock() - began)
                update_kept = max(update_kept, size)
                began = clock()
    return Cost(steps, median(forward), median(both), kept, cut, median(pieces), update_kept)


@contextmanager
def _one_core() -> Iterator[None]:
    with _pools().limit(limits=1, user_api="blas"):
        yield


@cache
def _pools() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController  # looks through every library that is loaded

    return ThreadpoolController()
