"""What training reads at each step: B contiguous streams of a text, cut where the gradient stops. Streams
begin at a new place every epoch. A cut depends on seed and step alone: a resumed run cuts where the
uninterrupted one would, and a run's steps and characters are known when it starts.
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rnnviz.text.corpora import SHORTEST_SPLIT

DRAWS = 1 << 18
"""Random lengths drawn at a time."""


class Streams:
    """The ids of a text, int64, as B contiguous streams; fewer than `batch` for a short text."""

    def __init__(self, ids: Tensor, batch: int, steps: int, start: int) -> None:
        self.ids, self.start = ids, start
        self.batch = max(1, min(batch, len(ids) // (2 * steps)))
        # How far an epoch's beginning may move. A word begins with its first letter.
        self.slack = min(steps, len(ids) // 8) if len(ids) >= SHORTEST_SPLIT else 0
        self.length = (len(ids) - self.slack) // self.batch
        self.chunks = math.ceil(self.length / steps)  # of regular truncation, in an epoch

    @property
    def characters(self) -> int:
        """Characters of an epoch, over all streams."""
        return self.batch * self.length

    def between(self, begin: int, end: int, offset: int) -> tuple[Tensor, Tensor]:
        """Inputs and labels (B, end - begin), labels one character further on. `begin` and `end` are places
        in the streams, `offset` where the epoch's first one begins in the text.
        """
        labels = self.ids[offset : offset + self.characters].view(self.batch, self.length)
        first = labels[:, begin - 1 : begin] if begin else torch.full_like(labels[:, :1], self.start)
        return torch.cat([first, labels[:, begin : end - 1]], dim=1), labels[:, begin:end]


class RegularCuts:
    """A cut every `steps` characters. `places` above 0 replaces `epochs`: how far each stream is read."""

    def __init__(self, length: int, steps: int, *, epochs: float, places: int) -> None:
        self.length, self.steps, self.chunks = length, steps, math.ceil(length / steps)
        if places:
            whole, rest = divmod(places, length)
            self.total_steps = whole * self.chunks + math.ceil(rest / steps)
        else:
            self.total_steps = max(1, round(epochs * self.chunks))

    @property
    def total_places(self) -> int:
        """How far each stream is read in the run."""
        whole, rest = divmod(self.total_steps, self.chunks)
        return whole * self.length + rest * self.steps

    def at(self, step: int) -> tuple[int, int]:
        """Where in the streams this step begins and ends; 0 begins an epoch."""
        begin = step % self.chunks * self.steps
        return begin, min(begin + self.steps, self.length)


class RandomCuts:
    """Cuts at distances drawn uniformly from ceil(steps / 2) … floor(3 steps / 2), whose mean is `steps`. No
    place is cut in every epoch, and some gradients reach further back (Merity, Keskar & Socher 2018,
    section 4.1, with a uniform draw).
    """

    def __init__(self, length: int, steps: int, *, epochs: float, places: int, seed: int) -> None:
        self.length, self.seed = length, seed
        self.low, self.high = math.ceil(steps / 2), 3 * steps // 2
        self.most = math.ceil(length / self.low)  # pieces of an epoch
        self.block = max(1, DRAWS // self.most)  # epochs drawn together
        self.total_places = places or max(1, round(epochs * length))
        # Steps before each block; the last entry stands behind the end of the run.
        whole, rest = divmod(self.total_places, length)
        starts, last = [0], whole // self.block
        for block in range(last):
            starts.append(starts[-1] + int(self._drawn(block)[1][-1]))
        ends, counts = self._drawn(last)
        epoch = whole % self.block
        before = int(counts[epoch - 1]) if epoch else 0
        into = int(np.searchsorted(ends[epoch], rest)) + 1 if rest else 0  # pieces of the unfinished epoch
        self._starts = np.array(starts)
        self.total_steps = starts[-1] + before + into
        if into:
            self.total_places += int(ends[epoch, into - 1]) - rest

    def at(self, step: int) -> tuple[int, int]:
        """As in RegularCuts."""
        block = int(np.searchsorted(self._starts, step, side="right")) - 1
        ends, counts = self._drawn(block)
        step -= int(self._starts[block])
        epoch = int(np.searchsorted(counts, step, side="right"))
        index = step - (int(counts[epoch - 1]) if epoch else 0)
        return int(ends[epoch, index - 1]) if index else 0, int(ends[epoch, index])

    def _drawn(self, block: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        return _draw(self.seed, block, (self.block, self.most), self.low, self.high, self.length)


@lru_cache(maxsize=2)
def _draw(
    seed: int, block: int, shape: tuple[int, int], low: int, high: int, length: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where each piece of each epoch of a block ends, (epochs, most), and the summed counts of pieces."""
    lengths = np.random.default_rng((seed, block)).integers(low, high, shape, endpoint=True)
    ends = np.minimum(np.cumsum(lengths, axis=1), length)
    return ends, np.cumsum((ends < length).sum(axis=1) + 1)
