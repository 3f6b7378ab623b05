"""Words: what each word of a scored text costs.

A word is a run of characters between white space, with the punctuation that clings to it. Each character of
the text counts for one word, so the words' costs add up to the text's: white space counts for the word that
follows it, or for the one before. Chinese, Japanese, Thai and some other languages don't part words by spaces
(`rnnviz.scoring.totals.WordCount`): there each character is a word.

Shape letters: T characters, w words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Ids, Points
from rnnviz.errors import ConfigError
from rnnviz.scoring.column_files import STRETCH_CHARS
from rnnviz.scoring.totals import WordCount, is_unspaced
from rnnviz.text.characters import Blanks
from rnnviz.text.vocabulary import code_points

if TYPE_CHECKING:
    from rnnviz.scoring.record import Record

Columns = dict[str, Any]

_WHITE_SPACE = np.array([n for n in range(0x3001) if chr(n).isspace()], np.uint32)  # U+3000 is the last


@dataclass(frozen=True, eq=False)
class Words:
    """The words of a text.

    start, end  (w,) the characters of each word, counted from 0: text[start:end]
    bounds      (w + 1,) the characters that count for each word, its white space included
    """

    points: Points
    start: Ids
    end: Ids
    bounds: Ids

    def columns(self, nll: npt.ArrayLike, first: int = 0, last: int | None = None) -> Columns:
        """The words first .. last - 1 as columns: word, start, end, nats and bits. `nll` has the costs in
        nats of the characters from `bounds[first]` to `bounds[last]`.
        """
        start, end = self.start[first:last], self.end[first:last]
        bounds = self.bounds[first:][: len(start)]
        nats = np.zeros(0)
        if len(start):
            nats = np.add.reduceat(np.asarray(nll), bounds - bounds[0], dtype=np.float64)
        pairs = zip(start.tolist(), end.tolist(), strict=True)
        return {
            "word": [self.points[a:b].tobytes().decode("utf-32-le") for a, b in pairs],
            "start": start,
            "end": end,
            "nats": nats,
            "bits": nats / np.log(2),
        }


class Word(NamedTuple):
    """The word text[start:stop], and its cost with its white space."""

    start: int
    stop: int
    text: str
    bits: float


def find_words(points: Points, *, spaced: bool, blanks: Blanks = "next") -> Words:
    """The words of a text given as code points (T,). Where `spaced` is false, each character of a script
    without spaces is a word. A text of white space alone is one empty word, behind it.

    Raises ConfigError for another value of `blanks`.
    """
    if blanks not in get_args(Blanks):
        raise ConfigError(
            "white space counts for the 'next' word or the 'previous' one; received {received!r}",
            received=blanks,
        )
    points = np.ascontiguousarray(points, "<u4")
    blank = np.isin(points, _WHITE_SPACE)
    alone = np.zeros(len(points), bool) if spaced else is_unspaced(points)
    edges = np.ones(len(points) + 1, bool)
    edges[1:-1] = (blank[1:] != blank[:-1]) | alone[1:] | alone[:-1]
    places = np.flatnonzero(edges)
    is_word = ~blank[places[:-1]]
    start, end = places[:-1][is_word], places[1:][is_word]
    if len(points) and not len(start):
        start = end = np.array([len(points)])
    inner = end[:-1] if blanks == "next" else start[1:]
    bounds = np.concatenate([[0], inner, [len(points)] * (len(start) > 0)]).astype(np.int64)
    return Words(points, start, end, bounds)


def words_of_text(text: str, blanks: Blanks = "next") -> Words:
    """The words of `text`.

    >>> words = words_of_text("It is  late.")
    >>> words.columns(np.ones(12))["word"], words.columns(np.ones(12))["nats"].tolist()
    (['It', 'is', 'late.'], [2.0, 3.0, 7.0])
    """
    count = WordCount()
    count.add(text)
    return find_words(code_points(text), spaced=count.count is not None, blanks=blanks)


def words_of_record(record: Record, blanks: Blanks = "next") -> Iterator[Columns]:
    """The words of a scored text as stretches of columns. Memory grows by about 30 bytes a word, and 4 a
    character.
    """
    words = find_words(record.read("codes"), spaced=record.score.words is not None, blanks=blanks)
    for first in range(0, len(words.start), STRETCH_CHARS):
        last = min(first + STRETCH_CHARS, len(words.start))
        yield words.columns(record.read("nll", *words.bounds[[first, last]].tolist()), first, last)


def costliest_words(record: Record, count: int) -> list[Word]:
    """The `count` words of a scored text that cost most, the costliest first."""
    costly: list[Word] = []
    for words in words_of_record(record):
        best = np.argsort(-words["bits"], kind="stable")[:count]
        columns = (words[name] for name in ("start", "end", "word", "bits"))
        costly += map(Word, *([column[n] for n in best.tolist()] for column in columns))
    return sorted(costly, key=lambda word: -word.bits)[:count]
