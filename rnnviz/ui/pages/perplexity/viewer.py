"""One reader's text viewer on the server: asks, and the bytes that answer them.

- The text is sent in chunks of about CHUNK_CHARS characters, which end at line ends if there are any. The
  browser lays out each by itself, so a chunk loaded above never moves the text below.
- A chunk's borders follow from its number and a few characters around them. So the last chunk of 50 million
  characters costs no more than the first.
- As in the live view, an ask states everything wanted, so asks may be dropped: the last one is always right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.page import payload
from rnnviz.page.payload import pack
from rnnviz.scoring.breakdown import ModelDifference
from rnnviz.scoring.record import Record
from rnnviz.ui.pages.perplexity.expected_characters import Expected

CHUNK_CHARS = 4_096  # characters of a chunk, on average
# Chunks in one answer: a browser that asks for more gets the first, and asks again for what it still lacks.
MAX_CHUNKS = 8
LISTED_CHARACTERS = 5  # most probable characters listed for a place

# Where a chunk may end: at a space, and in Chinese, which has none, after an ideographic space, 。 or ，
_NEWLINE, _SPACES = 0x0A, (0x20, 0x3000, 0x3002, 0xFF0C)


@dataclass(frozen=True)
class ViewerAsk:
    """A browser's ask; `from_json` validates it.

    client, seq  the browser's id and the ask's number, which the answer repeats
    chunks       numbers of the chunks that the browser lacks
    at           the character whose predictions to add, or None
    passage      start and stop of a passage whose cost to add, or None
    place        the first character in view, where the reader returns later
    digest       the digest of the fixed part that the browser holds
    fresh        the browser holds nothing: send the reader's last place
    """

    client: str = ""
    seq: int = 0
    chunks: tuple[int, ...] = ()
    at: int | None = None
    passage: tuple[int, int] | None = None
    place: int = 0
    digest: str = ""
    fresh: bool = False

    @classmethod
    def from_json(cls, value: object) -> ViewerAsk:
        """The ask in any JSON value; missing or mistyped fields become defaults."""
        whole = payload.whole()
        ask = payload.valid(
            cls,
            value,
            client=payload.text(64),
            seq=whole,
            chunks=lambda v: isinstance(v, list),
            at=whole,
            passage=lambda v: isinstance(v, list) and len(v) == 2 and all(map(whole, v)) and v[0] < v[1],
            place=whole,
            digest=payload.text(64),
            fresh=payload.true,
        )
        passage = None if ask.passage is None else (ask.passage[0], ask.passage[1])  # JSON has no tuples
        return replace(ask, chunks=tuple(filter(whole, ask.chunks[:MAX_CHUNKS])), passage=passage)


class ViewerSession:
    """One text's viewer, under one model or two.

    record      the text's record under the first model
    expected    the models' predictions, by model's name
    other       the record under the second model, or None
    difference  between both records, or None
    """

    def __init__(
        self,
        record: Record,
        expected: Mapping[str, Expected],
        other: Record | None = None,
        difference: ModelDifference | None = None,
    ) -> None:
        self.record, self.other, self.difference = record, other, difference
        self.place = 0
        self._jump: tuple[int, int, int] | None = None  # (number of the jump, start, stop)
        self._expected = expected

    def go(self, start: int, stop: int) -> None:
        """Make the browser, with the next answer, scroll to characters start .. stop − 1 and mark them."""
        self._jump = (self._jump[0] + 1 if self._jump else 1), start, stop
        self.place = start

    def __len__(self) -> int:
        return len(self.record)

    @property
    def count(self) -> int:
        return -(-len(self) // CHUNK_CHARS)

    def border(self, index: int) -> int:
        """The first character of chunk `index`: after the first line end from index · CHUNK_CHARS on, else
        after a space, else index · CHUNK_CHARS itself.
        """
        begin = index * CHUNK_CHARS
        if index <= 0 or begin >= len(self):
            return min(max(begin, 0), len(self))
        # Looked for within half a chunk, so a chunk has between half and one and a half times CHUNK_CHARS.
        near = self.record.read("codes", begin, min(begin + CHUNK_CHARS // 2, len(self)))
        for is_break in (near == _NEWLINE, np.isin(near, _SPACES)):
            breaks = np.flatnonzero(is_break)
            if len(breaks):
                return begin + int(breaks[0]) + 1
        return begin

    def chunk_of(self, position: int) -> int:
        """The number of the chunk that contains character `position`."""
        index = min(max(position, 0), max(0, len(self) - 1)) // CHUNK_CHARS
        # A border lies up to half a chunk after index · CHUNK_CHARS: before it is the chunk before.
        return index - 1 if index and self.border(index) > position else index

    def answer(
        self,
        ask: ViewerAsk,
        fixed: Mapping[str, Any],
        digest: str,
        curves: Mapping[str, Any],
        **extra: Any,
    ) -> bytes:
        """The bytes that answer `ask`, in the format of `payload.pack`.

        fixed, curves  the fixed part, left out if the browser holds its `digest`
        extra           further entries of the header
        """
        if ask.fresh:
            # A browser that holds nothing: the reader's chunk first, then those that a first scroll needs.
            middle = self.chunk_of(self.place)
            chunks = [i for i in (middle, middle + 1, middle - 1) if 0 <= i < self.count]
        else:
            self.place = min(ask.place, max(0, len(self) - 1))
            chunks = sorted({i for i in ask.chunks if i < self.count})
        spans = [(i, self.border(i), self.border(i + 1)) for i in chunks]
        header: dict[str, Any] = {
            "client": ask.client,
            "seq": ask.seq,
            "length": len(self),
            "count": self.count,
            "chunk": CHUNK_CHARS,
            "place": self.place,
            "spans": [list(span) for span in spans],
            "digest": digest,
            **extra,
        }
        arrays = self._arrays([(start, stop) for _, start, stop in spans])
        # Words, colours and curve don't change: they are sent once, not with every scroll.
        if ask.digest != digest:
            header["fixed"] = dict(fixed)
            arrays |= curves
        # Repeated with every answer, as an answer may be lost; the jump's number says whether it is new.
        if self._jump is not None:
            header["jump"] = list(self._jump)
        if ask.at is not None and ask.at < len(self):
            header["expected"] = self._expected_lists(ask.at)
        if ask.passage is not None and ask.passage[1] <= len(self):
            header["passage"] = self._passage_cost(*ask.passage)
        return pack(header, arrays)

    def _arrays(self, spans: list[tuple[int, int]]) -> dict[str, npt.NDArray[Any]]:
        """The columns of the spans' characters, concatenated."""

        def joined(parts: Iterable[npt.NDArray[Any]], kind: str) -> npt.NDArray[Any]:
            return np.concatenate([np.empty(0, kind), *parts]).astype(kind)

        def column(record: Record, name: str, kind: str) -> npt.NDArray[Any]:
            return joined((record.read(name, start, stop) for start, stop in spans), kind)

        arrays = {
            "codes": column(self.record, "codes", "<u4"),
            "nll": column(self.record, "nll", "<f4"),
            # A rank below 0 marks an unknown character. `pack` has no signed type: the browser views it as
            # one.
            "rank": column(self.record, "rank", "<i4").view("<u4"),
            "entropy": column(self.record, "entropy", "<f4"),
        }
        if self.difference is not None and self.other is not None:
            difference = self.difference
            arrays["versus"] = joined((difference.values(start, stop) for start, stop in spans), "<f4")
            arrays["otherRank"] = column(self.other, "rank", "<i4").view("<u4")
        return arrays

    def _passage_cost(self, start: int, stop: int) -> dict[str, Any]:
        """The cost of characters start .. stop − 1 given all before them, in nats per character, by model."""
        # Two lookups, however long the passage is: `sums` are running sums.
        records = [self.record, *([self.other] if self.other is not None else [])]
        sums = [record.sums([start, stop]) for record in records]
        return {"at": [start, stop], "nats": [float(to - before) / (stop - start) for before, to in sums]}

    def _expected_lists(self, position: int) -> dict[str, Any]:
        lists = []
        for name, expected in self._expected.items():
            prediction = expected.at(position, LISTED_CHARACTERS)
            lists.append(
                {
                    "model": name,
                    "approximate": prediction.approximate,
                    "top": [list(t) for t in prediction.top],
                }
            )
        return {"at": position, "lists": lists}
