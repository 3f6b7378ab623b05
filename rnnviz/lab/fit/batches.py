"""Batches: contiguous streams of a text, cut where the gradient stops, and fresh starts at random paragraphs.

Texts that end are rows from the start symbol to the end instead, padded to the longest of their batch.

Streams begin at a new place every epoch. A cut depends on seed and step alone: a resumed run cuts where the
uninterrupted one would, and a run's steps and characters are known when it starts.

Shape letters: B rows of a batch, n characters of a piece.
"""

import math
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from rnnviz.arrays import Ids, Integers
from rnnviz.networks.config import Partition, TrainConfig
from rnnviz.text.corpora import SHORTEST_SPLIT

DRAWN_LENGTHS = 1 << 18
"""Random lengths drawn together."""


# A worked example: 1,000 characters, batch 4, steps 30. `slack` is 30, so `length` is 970 // 4 = 242, and
# an epoch has 9 pieces. With offset 13 the rows are the characters 13 … 254, 255 … 496, 497 … 738 and 739 …
# 980. The first step reads the columns 0 … 29 of all four rows, the ninth the last two.


class Streams:
    """The ids of a text, int64, as contiguous streams, beside rows that begin afresh at every step: a share
    `fresh_share` of the B rows, at `beginnings` of the text. B is smaller than `batch` for a short text. With
    `partition` "random" rows are whole pieces from all over the text.
    """

    def __init__(
        self,
        ids: Tensor,
        batch: int,
        steps: int,
        start: int,
        *,
        fresh_share: float = 0.0,
        beginnings: Sequence[int] = (0,),
        partition: Partition = "sequential",
    ) -> None:
        self.ids, self.start, self.steps = ids, start, steps
        # A short text is read in fewer rows, of two pieces or more, where it has that many characters.
        self.row_count = max(1, min(batch, len(ids) // (2 * steps)))
        # A share above 0 makes at least one fresh row, and leaves at least one stream.
        fresh_rows = min(max(round(fresh_share * self.row_count), 1), self.row_count - 1)
        self.fresh_rows = fresh_rows if fresh_share else 0
        self.stream_count = self.row_count - self.fresh_rows
        # How far an epoch's beginning may move. A single word always begins with its first letter.
        self.slack = min(steps, len(ids) // 8) if len(ids) >= SHORTEST_SPLIT else 0
        self.length = (len(ids) - self.slack) // self.stream_count
        if partition == "random":  # whole pieces; what is left over is read in another epoch
            self.length = self.length - self.length % steps or self.length
        self.pieces_an_epoch = math.ceil(self.length / steps)  # of regular truncation, in an epoch
        last = max(0, len(ids) - 3 * steps // 2)  # the longest piece must have room
        self.beginnings = torch.tensor([0, *(i for i in beginnings if 0 < i <= last)], device=ids.device)

    @property
    def characters(self) -> int:
        """Characters of an epoch, over all rows."""
        return self.row_count * self.length

    def begins(self, begin: int, offset: int) -> bool:
        """Whether the rows at this place of an epoch go on from nothing."""
        return begin == 0

    def between(self, begin: int, end: int, offset: int) -> tuple[Tensor, Tensor]:
        """Inputs and labels (streams, end - begin); labels are one character ahead. `begin` and `end` are
        places in the streams; `offset` is the epoch's first place in the text.
        """
        labels = self.ids[offset : offset + self.stream_count * self.length].view(
            self.stream_count, self.length
        )
        # The input before the first label is the last character of the piece before; an epoch begins with
        # the start symbol.
        first = labels[:, begin - 1 : begin] if begin else torch.full_like(labels[:, :1], self.start)
        return torch.cat([first, labels[:, begin : end - 1]], dim=1), labels[:, begin:end]

    def drawn_pieces(
        self, begin: int, end: int, offset: int, *, seed: tuple[int, int]
    ) -> tuple[Tensor, Tensor]:
        """Inputs and labels (streams, end - begin) of the batch at `begin` of an epoch: pieces in the order
        that `seed` gives. Their first input is the character before; of the text's first, the start symbol.
        """
        order = shuffled_order(max(1, (len(self.ids) - self.slack) // self.steps), seed)
        chosen = torch.from_numpy(order[begin // self.steps * self.stream_count :][: self.stream_count])
        places = offset + self.steps * chosen[:, None].to(self.ids.device)
        labels = self.ids[places + torch.arange(end - begin, device=self.ids.device)]
        before = torch.where(places > 0, self.ids[places - 1], self.start)
        return torch.cat([before, labels[:, :-1]], dim=1), labels

    def fresh_pieces(self, n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Inputs and labels (fresh rows, n) at beginnings drawn from `generator`, after the start symbol."""
        size = (self.fresh_rows, 1)
        choice = torch.randint(len(self.beginnings), size, generator=generator, device=self.ids.device)
        labels = self.ids[self.beginnings[choice] + torch.arange(n, device=self.ids.device)]
        first = torch.full_like(labels[:, :1], self.start)
        return torch.cat([first, labels[:, :-1]], dim=1), labels


PADDING_LABEL = -100
"""The label of a step after a row's end: torch's cross entropy leaves it out, so its loss is exactly 0."""


class Texts(Streams):
    """The ids of texts that end, as batches of B of them: each is a row, padded to the longest of its
    batch. Texts of about the same length stand in one batch, which is the same in every epoch; `offset`
    shuffles the batches. A batch whose longest text has more than `steps` characters is several pieces, and
    its state goes on.

    As streams they are as if each piece had `steps` characters.
    """

    # Measured on the corpus names (a GRU of 64 units, 32 rows, 15 epochs, two seeds): texts of one length
    # together are padded by 1.5 % and end at a validation perplexity of 7.28 and 7.28, texts drawn at
    # random by 31 % and at 7.29 and 7.27. Texts packed end to start would spare those 1.5 %, and no layer
    # of torch begins anew within a row.
    def __init__(self, ids: Tensor, batch: int, steps: int, start: int, *, end: int, seed: int) -> None:
        self.ids, self.start, self.steps = ids, start, steps
        begins = np.append(0, np.flatnonzero(ids.cpu().numpy() == end) + 1)
        lengths = np.diff(np.append(begins, len(ids)))
        begins, lengths = begins[lengths > 0], lengths[lengths > 0]  # behind the last end stands nothing
        self.row_count = self.stream_count = min(batch, len(begins))
        self.fresh_rows, self.slack = 0, 2**31 - 1
        order = np.lexsort((np.random.default_rng(seed).permutation(len(begins)), lengths))
        self._batches = np.split(order, range(self.row_count, len(order), self.row_count))
        self._first, self._lengths = begins, lengths
        self._pieces = np.array([-(-int(lengths[rows].max()) // steps) for rows in self._batches])
        self.pieces_an_epoch = int(self._pieces.sum())
        self.length = self.pieces_an_epoch * steps
        self.cut = int((lengths > steps).sum())
        """Texts longer than a piece, in which gradients end."""

    @property
    def characters(self) -> int:
        return len(self.ids)

    def _place(self, begin: int, offset: int) -> tuple[Ids, int]:
        """The texts of the batch at this place of an epoch, and how far they have been read."""
        order = shuffled_order(len(self._batches), (offset, 0))
        ends = np.cumsum(self._pieces[order])
        piece = begin // self.steps
        n = int(np.searchsorted(ends, piece, side="right"))
        return self._batches[order[n]], (piece - int(ends[n] - self._pieces[order[n]])) * self.steps

    def begins(self, begin: int, offset: int) -> bool:
        return self._place(begin, offset)[1] == 0

    def between(self, begin: int, end: int, offset: int) -> tuple[Tensor, Tensor]:
        """As that of Streams, (B, n); labels behind a text's end are PADDING_LABEL."""
        texts, read = self._place(begin, offset)
        first, lengths = (
            torch.from_numpy(rows[texts]).to(self.ids.device)[:, None]
            for rows in (self._first, self._lengths)
        )
        stop = min(read + self.steps, int(self._lengths[texts].max()))
        places = torch.arange(read, stop, device=self.ids.device)
        at = (first + places).clamp(max=len(self.ids) - 1)
        labels = torch.where(places < lengths, self.ids[at], PADDING_LABEL)
        inputs = torch.where(places > 0, self.ids[at - 1], self.start)
        # The last batch may have fewer texts; a carried state has all rows.
        missing = (0, 0, 0, self.row_count - len(texts))
        return F.pad(inputs, missing, value=self.start), F.pad(labels, missing, value=PADDING_LABEL)


@lru_cache(maxsize=2)  # an epoch's steps ask for the same one
def shuffled_order(count: int, seed: tuple[int, int]) -> Integers:
    """The numbers 0 … count - 1, shuffled. The seed is a recipe's and an epoch, so that a resumed run goes on
    with the same order.
    """
    return np.random.default_rng(seed).permutation(count)


def beginnings(text: str) -> list[int]:
    """The places where paragraphs begin; without paragraphs, where lines begin. An indented line, as in the
    middle of a function, begins none.

    >>> beginnings("One line.\\nAnother.\\n\\nA paragraph.")
    [20]
    >>> beginnings("One line.\\nAnother.")
    [10]
    """
    for before in ("\n\n", "\n"):
        if places := [match.start() for match in re.finditer(rf"(?<={before})\S", text)]:
            return places
    return []


class Cuts:
    """Cuts at distances drawn uniformly from `low` … `high`, until `stream_chars` characters of each stream
    are read, over all epochs; regular cuts where `low` equals `high`.

    Random cuts are all drawn at once: 8 bytes for each step of the run.
    """

    def __init__(self, length: int, low: int, high: int, stream_chars: int, *, seed: int = 0) -> None:
        max_pieces = math.ceil(length / low)  # pieces of an epoch
        block = max(1, DRAWN_LENGTHS // max_pieces)  # epochs drawn together
        epochs = 1 if low == high else math.ceil(stream_chars / length)  # after which the cuts repeat
        blocks = [np.zeros(1, np.int64)]
        for n in range(math.ceil(epochs / block)):
            epoch_column = np.arange(n * block, min((n + 1) * block, epochs))[:, None]
            # Seeded by the block, so that a resumed run draws the same lengths.
            lengths = np.random.default_rng((seed, n)).integers(
                low, high, (len(epoch_column), max_pieces), endpoint=True
            )
            # Places count on from epoch to epoch. Pieces beyond an epoch's end collapse into one place.
            ends = (np.minimum(np.cumsum(lengths, axis=1), length) + length * epoch_column).ravel()
            blocks.append(ends[np.diff(ends, prepend=0) > 0])  # they rise: np.unique would hash them
        ends = np.concatenate(blocks)
        self.length, self._ends = length, ends[ends <= epochs * length]
        # Regular cuts repeat after one epoch: `passes` of these, and a rest. Random cuts cover all epochs of
        # the run: there `passes` is 0, or 1 without a rest.
        passes, rest = divmod(stream_chars, epochs * length)
        last = int(np.searchsorted(self._ends, rest))
        self.total_steps = passes * (len(self._ends) - 1) + last
        # How far each stream is read: to the end of a piece.
        self.total_stream_chars = stream_chars - rest + int(self._ends[last])

    def at(self, step: int) -> tuple[int, int]:
        """The places in the streams where this step begins and ends; 0 begins an epoch."""
        begin, end = self._ends[step % (len(self._ends) - 1) :][:2].tolist()
        return begin % self.length, begin % self.length + end - begin


def cuts(config: TrainConfig, streams: Streams) -> Cuts:
    """The cuts of a recipe in these streams, and the number of steps.

    Random truncation cuts at distances from ceil(steps / 2) … floor(3 steps / 2), whose mean is `steps`. No
    place is cut in every epoch, and some gradients reach further back (Merity, Keskar & Socher 2018, section
    4.1, with a uniform draw).
    """
    steps, length = config.steps, streams.length
    # Rounded up; of streams `length` characters of `row_count` rows, of texts that end fewer: padding is
    # none.
    stream_chars = -(-config.characters * length // streams.characters)
    if config.truncation == "random":
        low, high = math.ceil(steps / 2), 3 * steps // 2
        stream_chars = stream_chars or max(1, round(config.epochs * length))
        return Cuts(length, low, high, stream_chars, seed=config.seed)
    if not stream_chars:  # epochs hold whole steps
        passes, rest = divmod(max(1, round(config.epochs * streams.pieces_an_epoch)), streams.pieces_an_epoch)
        stream_chars = passes * length + rest * steps
    return Cuts(length, steps, steps, stream_chars)
