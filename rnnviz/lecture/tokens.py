"""What a language model reads: characters or words, and several places of a text side by side.

Characters keep the vocabulary small and can write any word; words make a text shorter, but more than half
of a book's words occur in it only once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.lecture.memorising import letters
from rnnviz.text import corpora

UNITS = 256
"""Hidden units of the shipped networks, for the size of W_hq."""


@dataclass(frozen=True)
class Vocabulary:
    """A text cut into tokens of one kind."""

    tokens: int  # in the text: the time steps that reading it takes
    distinct: int  # different ones
    once: int  # of these, how many the text has only once

    @property
    def symbols(self) -> int:
        """|V|: the different ones and `<unk>`."""
        return self.distinct + 1

    @property
    def readout(self) -> int:
        """Numbers in W_hq (H, V), for UNITS hidden units."""
        return UNITS * self.symbols


def vocabulary(tokens: Sequence[str]) -> Vocabulary:
    """Count tokens.

    >>> vocabulary("to be or not to be".split())
    Vocabulary(tokens=6, distinct=4, once=2)
    """
    found = Counter(tokens)
    return Vocabulary(len(tokens), len(found), sum(count == 1 for count in found.values()))


@cache
def book() -> str:
    """*The Time Machine*, its letters and spaces, as the textbook reads it."""
    return letters(corpora.read("timemachine").text)


@cache
def vocabularies() -> tuple[Vocabulary, Vocabulary]:
    """Of the book's characters, and of its words.

    >>> [found.symbols for found in vocabularies()]
    [28, 4580]
    """
    return vocabulary(book()), vocabulary(book().split())


def windows(text: str, n: int, steps: int) -> list[str]:
    """`n` places of a text, evenly spaced from its beginning, `steps` inputs and the last label of each.

    Raises ConfigError if the text is too short for them not to overlap.

    >>> windows("the time machine", n=2, steps=4)
    ['the t', ' mach']
    """
    if n < 1 or steps < 1 or len(text) < n * (steps + 1):
        raise ConfigError(
            "{n} windows of {steps} steps need {needed:,} characters; received {count:,}",
            n=n,
            steps=steps,
            needed=max(n, 1) * (max(steps, 1) + 1),
            count=len(text),
        )
    apart = len(text) // n
    return [text[i * apart : i * apart + steps + 1] for i in range(n)]


def one_hot(characters: Sequence[str], symbols: Sequence[str]) -> Doubles:
    """X_t, (n, d): a row for each character, d symbols.

    >>> one_hot("ba", "abc").tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    return np.eye(len(symbols))[[symbols.index(character) for character in characters]]
