"""Totals: the sums of a scored text, the figures that follow from them, and the reports on the way."""

import math
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles, Ids, Mask, Points
from rnnviz.networks.progress import Reporter
from rnnviz.text.characters import PLAINER, REWRITINGS, UNSPACED
from rnnviz.text.vocabulary import END, UNKNOWN_ID, Vocabulary, code_points

if TYPE_CHECKING:
    from rnnviz.text.decoding import SourceText
    from rnnviz.text.row_files import RowFile

UNSPACED_SHARE = 0.1
"""The share of characters from scripts without spaces above which a text has no number of words."""

_BORDERS = np.array([border for low, high in UNSPACED for border in (low, high + 1)])


def is_unspaced(points: Points) -> Mask:
    """Which code points (n,) are of scripts that don't part words by spaces."""
    # Inside a range an odd number of borders lies at or below a code point.
    return np.asarray(np.searchsorted(_BORDERS, points, side="right") % 2 == 1)


class WordCount:
    """The words of a text that comes piece by piece.

    A word is a run of characters between white space (as `str.split()` cuts), with the punctuation that
    clings to it. Chinese, Japanese, Thai and some other languages don't part words so: a text with more than
    a tenth of such characters has no number of words.

    >>> words = WordCount()
    >>> words.add("The Time Trav"); words.add("eller (for so it will")
    >>> words.count
    7
    """

    def __init__(self) -> None:
        self._words = self._unspaced = self._characters = 0
        self._open = False  # whether the last piece ended inside a word

    def add(self, piece: str) -> None:
        """The next piece of the text."""
        if not piece:
            return
        self._characters += len(piece)
        # A word that goes on from the last piece was counted there.
        self._words += len(piece.split()) - (self._open and not piece[0].isspace())
        self._open = not piece[-1].isspace()
        if not piece.isascii():
            self._unspaced += int(is_unspaced(code_points(piece)).sum())

    def end(self) -> None:
        """Begin another text: its first characters don't go on with the last word."""
        self._open = False

    @property
    def count(self) -> int | None:
        """The number of words so far; None for texts that don't part them by spaces."""
        spaced = self._unspaced <= UNSPACED_SHARE * self._characters
        return self._words if spaced else None


def character_costs(log_probabilities: npt.ArrayLike, ids: Ids, vocabulary: Vocabulary) -> Doubles:
    """The cost of each character in nats, (n,): -log P, plus `Vocabulary.unknown_cost` where it is unknown.

    `log_probabilities` (n,) are log P in nats of the symbols `ids` (n,) that came.
    """
    nll = -np.asarray(log_probabilities, np.float64)
    return nll + np.where(ids == UNKNOWN_ID, vocabulary.unknown_cost, 0.0)


class Sum:
    """A running sum in float64, compensated (Neumaier 1974): the cut of a long text changes no figure."""

    def __init__(self) -> None:
        self._sum = self._lost = 0.0

    def add(self, value: float) -> None:
        """Add one term."""
        total = self._sum + value
        # The sum has lost the last digits of the smaller term; their total is kept apart.
        large, small = (self._sum, value) if abs(self._sum) >= abs(value) else (value, self._sum)
        self._lost += (large - total) + small
        self._sum = total

    @property
    def value(self) -> float:
        """The sum so far."""
        return self._sum + self._lost


def perplexity_from_sum(nats: float, characters: int) -> float:
    """The perplexity of `characters` characters (at least 1) whose costs sum to `nats`."""
    # A model can be certain of the wrong symbol: beyond float64 the perplexity is infinite, not an error.
    return math.exp(nats / characters) if nats / characters < 709 else math.inf


class Rewriting:
    """Counts in `spared` the unknown characters that each of REWRITINGS would spare a text."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        # A replaced character spares as many wherever it stands: none is worth a second look at the text.
        self._each = {
            name: {c: n for c in table if (n := self._unknown(c) - self._unknown(table[c]))}
            for name, table in PLAINER.items()
        }
        self.spared, self._before = Counter[str](), ""

    def add(self, text: str) -> None:
        """Add the next piece of the text, as it is read."""
        for name, spared_by_character in self._each.items():
            self.spared[name] += sum(n * text.count(c) for c, n in spared_by_character.items())
        # An accent may stand in the piece after its letter's, so the last characters are looked at again.
        text = self._before + text
        self.spared["composed"] += self._composed(text) - self._composed(self._before)
        self._before = text[-MAX_LETTER_CHARS:]

    def _unknown(self, text: str) -> int:
        return int((self._vocabulary.encode(text) == UNKNOWN_ID).sum())

    def _composed(self, text: str) -> int:
        composed = REWRITINGS["composed"](text)
        return 0 if composed == text else self._unknown(text) - self._unknown(composed)


MAX_LETTER_CHARS = 8  # characters of a letter with its accents, at most


class Totals:
    """The sums of scored texts, and `read_to`, the bytes of their source that were read.

    bytes  of the texts' own characters in UTF-8; whoever reads them counts
    """

    def __init__(self, source: "SourceText | RowFile") -> None:
        self._source, self.read_to = source, 0
        self._began = time.perf_counter()
        self.characters = self.unknown = self.bytes = self.context_characters = self.ends = 0
        self.words = WordCount()
        self._nats, self._nats_known, self._nats_ends = Sum(), Sum(), Sum()

    def add(self, text: str, nll: Doubles, is_known: Mask) -> None:
        """Add the next piece of a text, n characters: costs in nats (n,), and which characters are known."""
        self.add_sums(text, len(text) - int(is_known.sum()), float(nll.sum()), float(nll[is_known].sum()))

    def add_sums(self, text: str, unknown: int, nats: float, nats_known: float) -> None:
        """Add the next piece of a text by its sums, in nats."""
        self.characters += len(text)
        self.unknown += unknown
        self.words.add(text.replace(END, "\n"))
        self._nats.add(nats)
        self._nats_known.add(nats_known)

    def add_ends(self, ends: int, nats: float) -> None:
        """Add the ends of texts among the characters, and their cost in nats."""
        self.ends += ends
        self._nats_ends.add(nats)

    @property
    def perplexity(self) -> float | None:
        """That of the characters so far; None before the first."""
        return perplexity_from_sum(self._nats.value, self.characters) if self.characters else None

    def report_to(
        self, report: Reporter, characters: int = 0, nats: float = 0.0, piece_share: float = 1.0
    ) -> None:
        """Report the progress, within a piece too: `characters` of it are read, at a cost of `nats`, which is
        a share of the piece's bytes.
        """
        read = self.read_to + piece_share * (self._source.bytes_read - self.read_to)
        total, count = self._source.bytes_total, self.characters + characters
        perplexity = perplexity_from_sum(self._nats.value + nats, count) if count else None
        report(read / total if total else 1.0, count, perplexity)

    def figures(self, vocabulary: Vocabulary) -> dict[str, Any]:
        """The fields of a Score that follow from the sums. At least one character must have been added."""
        known_characters, nats, words = self.characters - self.unknown, self._nats.value, self.words.count
        bits = nats / math.log(2)
        return {
            "characters": self.characters,
            "unknown": self.unknown,
            "perplexity": perplexity_from_sum(nats, self.characters),
            "perplexity_known": perplexity_from_sum(self._nats_known.value, known_characters)
            if known_characters
            else None,
            "bits_per_character": bits / self.characters,
            "bits_per_byte": bits / self.bytes,
            "seconds": time.perf_counter() - self._began,
            "bytes": self.bytes,
            "words": words,
            "word_perplexity": perplexity_from_sum(nats, words) if words else None,
            "given_characters": self.context_characters,
            "ends": self.ends,
            "bits_per_character_without_ends": (bits - self._nats_ends.value / math.log(2))
            / (self.characters - self.ends)
            if 0 < self.ends < self.characters
            else None,
            # A uniform guess pays for unknown characters as the model does.
            "guess": math.exp(
                math.log(vocabulary.size) + vocabulary.unknown_cost * self.unknown / self.characters
            ),
        }
