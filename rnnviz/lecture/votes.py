"""A class that guesses together: its votes for the next character as a distribution, and what that costs.

Each voter names one character. With n_c votes for character c, N votes and V symbols, the class's
distribution is the share of votes after one more vote that all symbols share equally (Perks 1947; Berger,
Bernardo & Sun, "Overall objective priors", 2015):

    P(c) = (n_c + 1/V) / (N + 1)

So no character is impossible, and without votes the class guesses uniformly. A vote names the character that
a voter finds likeliest, not how likely: where all agree the class is surer than its members may be.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.lecture.shannon import ALPHABET, PASS, SENTENCES


def distribution(votes: Sequence[int]) -> Doubles:
    """(V,) the class's probabilities from the votes (V,) for each symbol; ConfigError for negative ones.

    >>> distribution([3, 0]).tolist()  # (3 + 1/2) / (3 + 1)
    [0.875, 0.125]
    """
    counts = np.asarray(votes, np.float64)
    if counts.ndim != 1 or not counts.size or (counts < 0).any():
        raise ConfigError("votes are counts, one a symbol; received {votes!r}", votes=list(votes)[:5])
    return np.asarray((counts + 1 / counts.size) / (counts.sum() + 1))


@dataclass(frozen=True)
class Guessed:
    """The characters of a sentence that a class voted on: the cost of each in bits, and where each stands."""

    positions: tuple[int, ...]
    bits: tuple[float, ...]

    @property
    def mean(self) -> float | None:
        """The class's cross-entropy in bits per character; None before anything was guessed."""
        return sum(self.bits) / len(self.bits) if self.bits else None


def guessed(sentence: int, votes: Mapping[int, Sequence[int]]) -> Guessed:
    """What a class's votes (27,) for hidden characters of a sentence, by position from 0, cost.

    Raises ConfigError for a position that the sentence hasn't got.

    >>> guessed(0, {0: [0] * 27}).mean == math.log2(27)  # nobody voted: a uniform guess
    True
    """
    truth = SENTENCES[sentence][1]
    if not all(0 <= at < len(truth) for at in votes):
        raise ConfigError("the sentence has {count} characters to guess", count=len(truth))
    at = tuple(sorted(votes))
    bits = tuple(-math.log2(distribution(votes[n])[ALPHABET.index(truth[n])]) for n in at)
    return Guessed(at, bits)


def as_guesses(sentence: int, position: int, votes: Sequence[int]) -> str:
    """The votes on a hidden character as guesses one after another, for `shannon.play`: whatever had more
    votes than the right one, by falling votes, then that; PASS where nobody voted for it.

    >>> votes = [0] * 27
    >>> votes[ALPHABET.index("s")], votes[ALPHABET.index("h")] = 5, 2
    >>> as_guesses(0, 0, votes)  # "has lost …"
    'sh'
    """
    truth = SENTENCES[sentence][1][position]
    right = votes[ALPHABET.index(truth)]
    if not right:
        return PASS
    more = [(-n, c) for n, c in zip(votes, ALPHABET, strict=True) if n > right]
    return "".join(c for _, c in sorted(more)) + truth
