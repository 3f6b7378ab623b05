"""One long text read as many stretches side by side, as if read in one go.

    stretch        0          1          2      …        each one row of a batch
    warm-up              ≤≤≤≤≤     ≤≤≤≤≤                WARM_UP characters before it, from the first state
    seam                 |          |                   where one stretch ends and the next one began

A recurrent network forgets, so a stretch's state after its warm-up is usually that in which the one before
ends. If they differ by more than TOLERANCE, it is read again from the right state until it meets the first
reading; the states are looked at every CHUNK steps.

Some texts keep a network from forgetting, mostly those unlike all it was trained on: rounding then grows with
every step instead of fading, and two orders of computing, each as right as the other, give single characters
costs that differ by nats. No way of reading in float32 agrees with another there. Such stretches are read
again to their end without meeting the first reading; `unsettled` counts their characters, and
`rnnviz.networks.precise_scorer` reads with less to grow.

Shape letters: B stretches, T time steps, L layers, H hidden units, n symbols.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any, NamedTuple

import numpy as np

from rnnviz.arrays import Doubles, Ids
from rnnviz.networks.abreast import CHUNK, Abreast, State
from rnnviz.networks.custom import as_array
from rnnviz.networks.prediction import Scores
from rnnviz.networks.progress import run

WARM_UP = 256
"""Characters a stretch reads before its own."""

TOLERANCE = 1e-5
"""The largest difference of two states, of entries up to 1 in absolute and of larger ones in relative terms,
that passes for none. Where differences fade it moves no -log P by 1e-4."""

SHORTEST = 2048
"""Characters of a stretch at least: a long memory crosses few seams then."""

LEAST = 8 * SHORTEST
"""Shorter texts are read in sequence: so few rows are no faster."""

PIECE = 1 << 19
"""Characters best read at a time."""

ROWS = 64
"""Stretches side by side, at most."""


class Done(NamedTuple):
    """How far a piece has been read: characters, and their cost."""

    characters: int
    nats: float

    def plus(self, more: Done) -> Done:
        """The sum with `more`."""
        return Done(self.characters + more.characters, self.nats + more.nats)


def count(characters: int) -> int:
    """The number of stretches a piece is cut into."""
    return max(1, min(ROWS, characters // SHORTEST))


class SideBySide:
    """Reads long pieces of one text.

    read_again  characters read twice because of seams
    unsettled   those of stretches whose second reading never met the first
    """

    def __init__(self, abreast: Abreast) -> None:
        self.read_again, self.unsettled = 0, 0
        self._abreast = abreast

    def score(
        self, inputs: Ids, targets: Ids, state: State, *, want: bool
    ) -> Generator[Done, None, tuple[Scores, State]]:
        """The Scores of `targets` (n,), given `inputs` (n,) a step earlier, and the state at the end.

        n is a multiple of `count(n)`. `want` fills in rank and entropy. Yields progress every CHUNK steps.
        """
        rows = count(len(inputs))
        y = self._abreast.ids(targets.reshape(rows, -1))
        out = _Found((rows, y.shape[1]), want)
        end = yield from self._read(inputs, y, state, out)
        return out.flat(), end

    def predictions(self, inputs: Ids, state: State) -> tuple[Doubles, State]:
        """log P (n, V) of every symbol after each of `inputs` (n,), and the state at the end; n as above."""
        rows, size = count(len(inputs)), self._abreast.size
        y = self._abreast.ids(inputs.reshape(rows, -1))  # not looked at
        out = _Predictions(tuple(y.shape), size)
        end = run(self._read(inputs, y, state, out))
        return out.log_p.reshape(-1, size), end

    def _read(
        self, inputs: Ids, y: Any, state: State, out: _Found | _Predictions
    ) -> Generator[Done, None, State]:
        """Fill in `out` for targets y (B, T); returns the state at the end."""
        length = y.shape[1]
        x = self._abreast.ids(inputs.reshape(y.shape))
        start = self._warm_up(x, state)
        grid: list[State] = []
        reading = start
        for begin in range(0, length, CHUNK):
            now = slice(begin, begin + CHUNK)
            with self._abreast.piece(len(y) * (min(now.stop, length) - begin)):
                top, reading = self._abreast.read(x[:, now], reading)
                self._measure(top, y[:, now], out, slice(None), now)
                grid.append(self._copied(reading))
            yield out.done
        yield from self._mend(x, y, out, start, grid)
        return self._copied(part[:, -1:] for part in grid[-1])

    def _copied(self, state: Iterable[Any]) -> State:
        return tuple(self._abreast.joined([part]) for part in state)

    def _warm_up(self, x: Any, state: State) -> State:
        """The state each stretch begins with: exact for the first, likely for the others."""
        rows, length = x.shape
        if rows == 1:
            return self._copied(state)
        before = x[:-1, length - WARM_UP :]
        with self._abreast.piece():
            # The current state is a better guess of what is remembered for long than zeros.
            warm = tuple(self._abreast.joined([part] * (rows - 1)) for part in state)
            for begin in range(0, WARM_UP, CHUNK):
                _, warm = self._abreast.read(before[:, begin : begin + CHUNK], warm)
            return tuple(self._abreast.joined(parts) for parts in zip(state, warm, strict=True))

    def _mend(
        self, x: Any, y: Any, out: _Found | _Predictions, start: State, grid: list[State]
    ) -> Generator[Done, None, None]:
        """Read again the stretches that did not begin in the state in which the one before ends: together at
        first, as most meet their first reading. Once they have cost the whole text, only the first of them is
        read, which follows what is right and so is right: the text is read again at most twice.
        """
        length = x.shape[1]
        never_met: set[int] = set()
        together = len(x) * length  # characters
        while True:
            with self._abreast.piece():
                ends = tuple(part[:, :-1] for part in grid[-1])
                stretches = _differ(ends, tuple(part[:, 1:] for part in start)) + 1
                if not len(stretches):
                    self.unsettled += len(never_met) * length
                    return
                stretches = stretches[: max(1, together // length)]
                reading = tuple(part[:, stretches - 1] for part in ends)
                _put(start, stretches, reading)
            for begin, kept in zip(range(0, length, CHUNK), grid, strict=True):
                now = slice(begin, begin + CHUNK)
                with self._abreast.piece():
                    top, reading = self._abreast.read(x[stretches, now], reading)
                    self._measure(top, y[stretches, now], out, stretches, now)
                    self.read_again += top.shape[0] * top.shape[1]
                    together -= top.shape[0] * top.shape[1]
                    going = _differ(reading, tuple(part[:, stretches] for part in kept))
                    _put(kept, stretches, reading)
                    stretches, reading = stretches[going], tuple(part[:, going] for part in reading)
                yield out.done
                if not len(stretches):
                    break
            never_met.update(stretches.tolist())

    def _measure(self, top: Any, y: Any, out: _Found | _Predictions, which: Any, when: slice) -> None:
        if isinstance(out, _Predictions):
            out.log_p[which, when] = self._abreast.predictions(top)
            return
        found = self._abreast.scores(top, y, want=out.want)
        out.log_p[which, when] = found.log_p.reshape(y.shape)
        if out.want:
            out.rank[which, when] = found.rank.reshape(y.shape)
            out.entropy[which, when] = found.entropy.reshape(y.shape)
        if isinstance(which, slice):
            out.done = out.done.plus(Done(len(found.log_p), -float(found.log_p.sum())))


class _Predictions:
    def __init__(self, shape: tuple[int, ...], size: int) -> None:
        self.log_p, self.done = np.empty((*shape, size)), Done(0, 0.0)


class _Found:
    def __init__(self, shape: tuple[int, ...], want: bool) -> None:
        self.want, self.done = want, Done(0, 0.0)
        self.log_p = np.empty(shape)
        self.rank, self.entropy = np.zeros(shape, np.int32), np.zeros(shape, np.float32)

    def flat(self) -> Scores:
        return Scores(self.log_p.ravel(), self.rank.ravel(), self.entropy.ravel())


def _put(state: State, columns: Ids, values: State) -> None:
    for part, new in zip(state, values, strict=True):
        part[:, columns] = new


def _differ(a: State, b: State) -> Ids:
    """Which rows of two states (L, B, H) differ: their numbers."""
    found = np.zeros(a[0].shape[1], bool)
    for x, y in zip(a, b, strict=True):
        apart = abs(x - y) > TOLERANCE * abs(y).clip(min=1)
        found |= as_array(apart.any(axis=2).any(axis=0))
    return np.flatnonzero(found)
