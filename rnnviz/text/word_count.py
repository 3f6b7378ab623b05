"""Words, counted where white space parts them.

A word is a run of characters between white space (as `str.split()` cuts), with the punctuation that clings to
it. Chinese, Japanese, Thai and some other languages don't part words so: a text with more than a tenth of
such characters has no number of words.
"""

import numpy as np

from rnnviz.text.vocabulary import code_points

UNSPACED_SHARE = 0.1
"""The share of characters from scripts without spaces above which a text has no number of words."""

_UNSPACED = (
    (0x0E00, 0x0FFF),  # Thai, Lao, Tibetan
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x9FFF),  # Chinese characters
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
_BORDERS = np.array([border for low, high in _UNSPACED for border in (low, high + 1)])


class WordCount:
    """The words of a text that comes piece by piece.

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
        self._words += len(piece.split()) - (self._open and not piece[0].isspace())
        self._open = not piece[-1].isspace()
        if not piece.isascii():
            inside = np.searchsorted(_BORDERS, code_points(piece), side="right") % 2
            self._unspaced += int(inside.sum())

    def end(self) -> None:
        """Begin another text: its first characters don't go on with the last word."""
        self._open = False

    @property
    def count(self) -> int | None:
        """The number of words so far; None for texts that don't part them by spaces."""
        spaced = self._unspaced <= UNSPACED_SHARE * self._characters
        return self._words if spaced else None
