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

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rnnviz.networks.abreast import CHUNK, Abreast
from rnnviz.networks.prediction import Scores
from rnnviz.networks.torch_network import State, TorchNetwork

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

Ids = npt.NDArray[np.int64]


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

    def __init__(self, model: TorchNetwork) -> None:
        self.read_again, self.unsettled = 0, 0
        self._abreast = Abreast(model)
        self._threads = self._abreast.threads

    def score(
        self, inputs: Ids, targets: Ids, state: State, *, want: bool
    ) -> Generator[Done, None, tuple[Scores, State]]:
        """The Scores of `targets` (n,), given `inputs` (n,) a step earlier, and the state at the end.

        n is a multiple of `count(n)`. `want` fills in rank and entropy. Yields progress every CHUNK steps.
        """
        rows = count(len(inputs))
        length = len(inputs) // rows
        x = self._abreast.tensor(inputs).view(rows, length)
        y = self._abreast.tensor(targets).view(rows, length)
        out = _Found(rows, length, want)
        start = self._warm_up(x, state)
        grid: list[State] = []
        reading = start
        for begin in range(0, length, CHUNK):
            now = slice(begin, begin + CHUNK)
            with torch.inference_mode(), self._threads.piece(x[:, now].numel()):
                top, reading = self._abreast.read(x[:, now], reading)
                self._measure(top, y[:, now], out, slice(None), now)
                grid.append(tuple(part.clone() for part in reading))
            yield out.done
        yield from self._mend(x, y, out, start, grid)
        return out.flat(), tuple(part[:, -1:].clone() for part in grid[-1])

    def _warm_up(self, x: Tensor, state: State) -> State:
        """The state each stretch begins with: exact for the first, likely for the others."""
        rows, length = x.shape
        if rows == 1:
            return tuple(part.clone() for part in state)
        before = torch.stack([x.flatten()[n * length - WARM_UP : n * length] for n in range(1, rows)])
        # The current state is a better guess of what is remembered for long than zeros.
        warm = tuple(part.expand(-1, rows - 1, -1).contiguous() for part in state)
        with torch.inference_mode(), self._threads.piece():
            for begin in range(0, WARM_UP, CHUNK):
                _, warm = self._abreast.read(before[:, begin : begin + CHUNK], warm)
        return tuple(torch.cat(parts, dim=1) for parts in zip(state, warm, strict=True))

    def _mend(
        self, x: Tensor, y: Tensor, out: _Found, start: State, grid: list[State]
    ) -> Generator[Done, None, None]:
        """Read again the stretches that did not begin in the state in which the one before ends."""
        length = x.shape[1]
        never_met: set[int] = set()
        while True:
            with torch.inference_mode():
                ends = tuple(part[:, :-1] for part in grid[-1])
                stretches = torch.nonzero(_differ(ends, tuple(part[:, 1:] for part in start))).flatten() + 1
                if not len(stretches):
                    self.unsettled += len(never_met) * length
                    return
                reading = tuple(part[:, stretches - 1] for part in ends)
                _put(start, stretches, reading)
            for begin, kept in zip(range(0, length, CHUNK), grid, strict=True):
                now = slice(begin, begin + CHUNK)
                with torch.inference_mode(), self._threads.piece():
                    top, reading = self._abreast.read(x[stretches, now], reading)
                    self._measure(top, y[stretches, now], out, stretches.cpu().numpy(), now)
                    self.read_again += top.shape[0] * top.shape[1]
                    going = _differ(reading, tuple(part[:, stretches] for part in kept))
                    _put(kept, stretches, reading)
                    stretches, reading = stretches[going], tuple(part[:, going] for part in reading)
                yield out.done
                if not len(stretches):
                    break
            never_met.update(stretches.tolist())

    def _measure(self, top: Tensor, y: Tensor, out: _Found, which: Any, when: slice) -> None:
        found = self._abreast.scores(top, y, want=out.want)
        out.log_p[which, when] = found.log_p.reshape(y.shape)
        if out.want:
            out.rank[which, when] = found.rank.reshape(y.shape)
            out.entropy[which, when] = found.entropy.reshape(y.shape)
        if isinstance(which, slice):
            out.done = out.done.plus(Done(len(found.log_p), -float(found.log_p.sum())))


class _Found:
    def __init__(self, rows: int, length: int, want: bool) -> None:
        shape, self.want, self.done = (rows, length), want, Done(0, 0.0)
        self.log_p = np.empty(shape)
        self.rank, self.entropy = np.zeros(shape, np.int32), np.zeros(shape, np.float32)

    def flat(self) -> Scores:
        return Scores(self.log_p.ravel(), self.rank.ravel(), self.entropy.ravel())


def _put(state: State, columns: Tensor, values: State) -> None:
    for part, new in zip(state, values, strict=True):
        part[:, columns] = new


def _differ(a: State, b: State) -> Tensor:
    """Which columns of two states (L, B, H) differ, (B,)."""
    far = []
    for x, y in zip(a, b, strict=True):
        apart = (x - y).abs() > TOLERANCE * y.abs().clamp_min(1)
        far.append(apart.any(dim=2).any(dim=0))
    return torch.stack(far).any(dim=0)
