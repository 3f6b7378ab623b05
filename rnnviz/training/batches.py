"""What training reads at each step: contiguous streams of a text, cut where the gradient stops, and rows that
begin at a random paragraph. Streams begin at a new place every epoch. A cut depends on seed and step alone: a
resumed run cuts where the uninterrupted one would, and a run's steps and characters are known when it starts.
"""

import math
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rnnviz.networks.config import TrainConfig
from rnnviz.text.corpora import SHORTEST_SPLIT

DRAWS = 1 << 18
"""Random lengths drawn at a time."""


class Streams:
    """The ids of a text, int64, as contiguous streams, and beside them rows that begin afresh at every step:
    a share `fresh` of the B rows, at `beginnings` of the text. B is smaller than `batch` for a short text.
    """

    def __init__(
        self,
        ids: Tensor,
        batch: int,
        steps: int,
        start: int,
        *,
        fresh: float = 0.0,
        beginnings: Sequence[int] = (0,),
    ) -> None:
        self.ids, self.start = ids, start
        self.batch = max(1, min(batch, len(ids) // (2 * steps)))
        self.fresh = min(max(round(fresh * self.batch), 1), self.batch - 1) if fresh else 0
        self.count = self.batch - self.fresh  # streams
        # How far an epoch's beginning may move. A word begins with its first letter.
        self.slack = min(steps, len(ids) // 8) if len(ids) >= SHORTEST_SPLIT else 0
        self.length = (len(ids) - self.slack) // self.count
        self.chunks = math.ceil(self.length / steps)  # of regular truncation, in an epoch
        last = max(0, len(ids) - 3 * steps // 2)  # the longest piece must have room
        self.beginnings = torch.tensor([0, *(i for i in beginnings if 0 < i <= last)], device=ids.device)

    @property
    def characters(self) -> int:
        """Characters of an epoch, over all rows."""
        return self.batch * self.length

    def between(self, begin: int, end: int, offset: int) -> tuple[Tensor, Tensor]:
        """Inputs and labels (streams, end - begin), labels one character further on. `begin` and `end` are
        places in the streams, `offset` where the epoch's first one begins in the text.
        """
        labels = self.ids[offset : offset + self.count * self.length].view(self.count, self.length)
        first = labels[:, begin - 1 : begin] if begin else torch.full_like(labels[:, :1], self.start)
        return torch.cat([first, labels[:, begin : end - 1]], dim=1), labels[:, begin:end]

    def afresh(self, n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Inputs and labels (fresh rows, n) at beginnings drawn from `generator`, behind the start symbol."""
        size = (self.fresh, 1)
        drawn = torch.randint(len(self.beginnings), size, generator=generator, device=self.ids.device)
        labels = self.ids[self.beginnings[drawn] + torch.arange(n, device=self.ids.device)]
        first = torch.full_like(labels[:, :1], self.start)
        return torch.cat([first, labels[:, :-1]], dim=1), labels


def beginnings(text: str) -> list[int]:
    """Where the text's paragraphs begin; its lines, where no paragraph does. A line that is indented, as the
    middle of a function, begins none.

    >>> beginnings("One line.\\nAnother.\\n\\nA paragraph.")
    [20]
    >>> beginnings("One line.\\nAnother.")
    [10]
    """
    for before in ("\n\n", "\n"):
        if found := [match.start() for match in re.finditer(rf"(?<={before})\S", text)]:
            return found
    return []


class Cuts:
    """Cuts at distances drawn uniformly from `low` … `high`, until each stream is read as far as `places`,
    over all epochs; regular cuts where `low` is `high`.
    """

    def __init__(self, length: int, low: int, high: int, places: int, *, seed: int = 0) -> None:
        self.length, self.low, self.high, self.seed = length, low, high, seed
        self.most = math.ceil(length / low)  # pieces of an epoch
        self.block = max(1, DRAWS // self.most)  # epochs drawn together
        # Steps before each block; the last entry stands behind the end of the run.
        whole, rest = divmod(places, length)
        starts, last = [0], whole // self.block
        for block in range(last):
            starts.append(starts[-1] + int(self._drawn(block)[1][-1]))
        ends, counts = self._drawn(last)
        epoch = whole % self.block
        before = int(counts[epoch - 1]) if epoch else 0
        into = int(np.searchsorted(ends[epoch], rest)) + 1 if rest else 0  # pieces of the unfinished epoch
        self._starts = np.array(starts)
        self.total_steps = starts[-1] + before + into
        # How far each stream is read: to the end of a piece.
        self.total_places = places + (int(ends[epoch, into - 1]) - rest if into else 0)

    def at(self, step: int) -> tuple[int, int]:
        """Where in the streams this step begins and ends; 0 begins an epoch."""
        block = int(np.searchsorted(self._starts, step, side="right")) - 1
        ends, counts = self._drawn(block)
        step -= int(self._starts[block])
        epoch = int(np.searchsorted(counts, step, side="right"))
        index = step - (int(counts[epoch - 1]) if epoch else 0)
        return int(ends[epoch, index - 1]) if index else 0, int(ends[epoch, index])

    def _drawn(self, block: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        return _draw(self.seed, block, (self.block, self.most), self.low, self.high, self.length)


def cuts(config: TrainConfig, streams: Streams) -> Cuts:
    """Where a recipe cuts these streams, and how often.

    Random truncation cuts at distances from ceil(steps / 2) … floor(3 steps / 2), whose mean is `steps`. No
    place is cut in every epoch, and some gradients reach further back (Merity, Keskar & Socher 2018,
    section 4.1, with a uniform draw).
    """
    steps, length, places = config.steps, streams.length, math.ceil(config.characters / streams.batch)
    if config.truncation == "random":
        low, high = math.ceil(steps / 2), 3 * steps // 2
        return Cuts(length, low, high, places or max(1, round(config.epochs * length)), seed=config.seed)
    if not places:  # epochs are of whole steps
        whole, rest = divmod(max(1, round(config.epochs * streams.chunks)), streams.chunks)
        places = whole * length + rest * steps
    return Cuts(length, steps, steps, places)


@lru_cache(maxsize=2)
def _draw(
    seed: int, block: int, shape: tuple[int, int], low: int, high: int, length: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where each piece of each epoch of a block ends, (epochs, most), and the summed counts of pieces."""
    lengths = np.random.default_rng((seed, block)).integers(low, high, shape, endpoint=True)
    ends = np.minimum(np.cumsum(lengths, axis=1), length)
    return ends, np.cumsum((ends < length).sum(axis=1) + 1)
