"""Texts read abreast by numpy alone: see `rnnviz.networks.abreast`.

The rows are shared out among threads of ours, each of which computes all of its rows' steps: numpy lets go of
the interpreter while it computes, and a thread that is kept waiting keeps nobody else.

Shape letters: B rows, T time steps, L layers, H hidden units, V symbols.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.networks.abreast import LOGITS
from rnnviz.networks.prediction import Scores, entropy, rank
from rnnviz.networks.short_texts import ShortTexts
from rnnviz.networks.numpy_engine import NetworkReader, Weights
from rnnviz.networks.text_scorer import CharScorer
from rnnviz.networks.threads import Threads, cores, ours, worth_trying_alone

R = TypeVar("R")
State = tuple[Floats, ...]

FEWEST = 8
"""Rows of a thread at least: fewer are no faster."""


def char_scorer(weights: Weights, start: int, *, wide: bool) -> CharScorer:
    """A reader at the start of a text; long pieces as stretches side by side if `wide`."""
    return CharScorer(NumpyAbreast(weights), start, NetworkReader(weights), wide=wide)


def short_texts(weights: Weights, start: int, *, wide: bool) -> ShortTexts:
    """A reader of many short texts side by side."""
    return ShortTexts(NumpyAbreast(weights), start, lambda: char_scorer(weights, start, wide=wide))


class NumpyAbreast:
    """See `Abreast`; a state is of arrays."""

    def __init__(self, weights: Weights) -> None:
        self._weights, self.size = weights, len(weights.bias)
        self._threads = Threads(worth_trying_alone(), use=ours)

    @contextmanager
    def piece(self, size: int | None = None) -> Iterator[None]:
        """Compute inside, `size` characters; None: don't time it."""
        with self._threads.piece(size), np.errstate(over="ignore", invalid="ignore"):
            yield

    def zeros(self, rows: int) -> State:
        """The state before a text, `rows` times."""
        return tuple(
            np.ascontiguousarray(part.swapaxes(0, 1))
            for part in self._weights.states(rows)
            if part is not None
        )

    def ids(self, ids: Ids) -> Ids:
        """As they are."""
        return ids

    def read(self, inputs: Ids, state: State) -> tuple[Floats, State]:
        """The top layer's H (B, T, H) after each of the inputs (B, T), and the state after the last."""
        found = self._shared(len(inputs), lambda rows: self._steps(inputs[rows], [p[:, rows] for p in state]))
        tops, states = zip(*found, strict=True)
        return np.concatenate(tops), tuple(self.joined(parts) for parts in zip(*states, strict=True))

    def _steps(self, inputs: Ids, state: Sequence[Floats]) -> tuple[Floats, State]:
        B, T = inputs.shape
        hidden, cell = self._weights.states(T + 1, B)
        hidden[0] = state[0]
        if cell is not None:
            cell[0] = state[1]
        self._weights.run(inputs.T, hidden, cell)
        last = (hidden[-1],) if cell is None else (hidden[-1], cell[-1])
        return hidden[1:, -1].swapaxes(0, 1), last

    def _shared(self, rows: int, work: Callable[[slice], R]) -> list[R]:
        """What `work` makes of the rows, in as many parts as threads compute."""
        parts = max(1, min(self._threads.allowed, rows // FEWEST))
        ends = [rows * n // parts for n in range(parts + 1)]
        slices = [slice(*ends[n : n + 2]) for n in range(parts)]
        if parts == 1:
            return [work(slices[0])]
        others = [_pool().submit(work, each) for each in slices[1:]]
        return [work(slices[0]), *(each.result() for each in others)]

    def scores(self, top: Floats, targets: Ids, *, want: bool) -> Scores:
        """The Scores of `targets` (B, T), (B·T,), given H (B, T, H); `want` fills in rank and entropy."""
        found = self._shared(len(top), lambda rows: self._scores(top[rows], targets[rows], want))
        return Scores.joined(found)

    def _scores(self, top: Floats, targets: Ids, want: bool) -> Scores:
        h, came = top.reshape(-1, top.shape[2]), targets.ravel()
        step, found = max(1, LOGITS // self.size), []
        for begin in range(0, len(h), step):
            ids = came[begin : begin + step]
            with np.errstate(over="ignore", invalid="ignore"):
                logits, log_sum = self._weights.predict(h[begin : begin + step])
                log_p = logits[np.arange(len(ids)), ids] - log_sum
                found.append(
                    Scores(log_p, rank(logits, ids), entropy(logits, log_sum))
                    if want
                    else Scores.unranked(log_p)
                )
        return Scores.joined(found)

    def predictions(self, top: Floats) -> Doubles:
        """log P (B, T, V) of every symbol, given H (B, T, H)."""
        h = top.reshape(-1, top.shape[2])
        out, step = np.empty((len(h), self.size)), max(1, LOGITS // self.size)
        for begin in range(0, len(h), step):
            logits, log_sum = self._weights.predict(h[begin : begin + step])
            np.subtract(logits, log_sum[:, None], out=out[begin : begin + step])
        return out.reshape(*top.shape[:2], self.size)

    def in_sequence(self, inputs: Ids, state: State) -> tuple[Floats, Doubles, State]:
        """Log-probabilities and the logs of their sums, after each of `inputs` (n,), and the last state."""
        top, state = self.read(inputs[None], state)
        return *self._weights.predict(top[0]), state

    def joined(self, parts: Sequence[Floats]) -> Floats:
        """Parts of states (L, B, H) with their rows one after another: a copy."""
        return np.concatenate(parts, axis=1)

    def arrays(self, state: State) -> tuple[Floats, ...]:
        """As they are."""
        return state

    state = arrays


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), "rnnviz-numpy")


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads, and would wait for them
    os.register_at_fork(after_in_child=_pool.cache_clear)
