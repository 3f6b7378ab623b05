"""Shannon's game: guess the next character until it is right; the numbers of guesses bound the entropy.

C. E. Shannon, "Prediction and Entropy of Printed English", 1951. With q_i the share of characters found at
the i-th guess, in bits per character,

    Σ_i i (q_i - q_{i+1}) log2 i   ≤   H   ≤   -Σ_i q_i log2 q_i

The upper bound holds for any player, because the text can be restored from the numbers of guesses; the lower
one for a player who always names the likeliest character left. Both are about shares over a long text: with
few characters the upper bound comes out low, and `interval` says how far off both may be. What a model pays
for these very characters is bounded by neither.

The alphabet is Shannon's, 26 letters and the space, to which a model's probabilities are restricted; its
guesses are its ranks. No model has read the sentences.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.lecture.prediction import expected
from rnnviz.networks.numpy_model import Model

ALPHABET = " abcdefghijklmnopqrstuvwxyz"
LEAST = 20
"""Characters from which on the bounds of a game are worth a look."""

RESAMPLES = 500

PASS = "?"
"""In a history of guesses: the class gives up, and every symbol counts as guessed."""

# (shown, to be guessed): plain English of our own.
SENTENCES = (
    ("the boy who lives next door ", "has lost his bicycle again and now he walks to school"),
    ("when the rain had stopped ", "we went down to the river and looked for the little boat"),
    ("she opened the old letter ", "very slowly as if there might be something alive inside"),
    ("nobody in the village ", "could remember who had planted the tree behind the church"),
    ("a good teacher knows ", "that a long silence is often the beginning of a better answer"),
    ("on the last day of winter ", "my grandmother baked more bread than we could carry home"),
)


@dataclass(frozen=True)
class Bounds:
    """Bounds of the entropy in bits per character, and the number of characters they rest on."""

    lower: float
    upper: float
    characters: int


def bounds(ranks: Sequence[int], symbols: int = len(ALPHABET)) -> Bounds:
    """Shannon's bounds from the guess at which each character was found, 1 .. `symbols`.

    The shares are sorted first, as an ideal player's are. Raises ConfigError for ranks out of range or none.

    >>> bounds([1, 1, 1])
    Bounds(lower=0.0, upper=0.0, characters=3)
    """
    if not ranks or not all(1 <= r <= symbols for r in ranks):
        raise ConfigError(
            "guesses are counted from 1 to {symbols}; received {ranks!r}",
            symbols=symbols,
            ranks=list(ranks)[:5],
        )
    return bounds_of(np.bincount(ranks, minlength=symbols + 1)[1:] / len(ranks), len(ranks))


def bounds_of(shares: npt.ArrayLike, characters: int = 0) -> Bounds:
    """Shannon's bounds from the shares q_i (V,) of characters found at the i-th guess.

    >>> bounds_of([0.5, 0.5])
    Bounds(lower=1.0, upper=1.0, characters=0)
    """
    lower, upper = _bounds(np.asarray(shares, np.float64))
    return Bounds(float(lower), float(upper), characters)


def _bounds(shares: Doubles) -> tuple[Doubles, Doubles]:
    """Both bounds of each row of shares (…, V)."""
    q = -np.sort(-shares, axis=-1)
    order = np.arange(1, q.shape[-1] + 1)
    lower = -(np.diff(q, append=0.0) * order * np.log2(order)).sum(axis=-1)
    upper = -(q * np.log2(np.where(q > 0, q, 1.0))).sum(axis=-1)
    return np.maximum(0.0, lower) + 0.0, np.maximum(0.0, upper) + 0.0


def interval(ranks: Sequence[int], seed: int = 0) -> tuple[float, float]:
    """A 95 % interval for the entropy: the lower bound's low end and the upper bound's high end.

    The basic bootstrap over characters (Davison & Hinkley 1997, 5.2), which also makes up for the bias of
    shares from few characters. Raises ConfigError like `bounds`.

    >>> interval([1] * 20)[1] > 1  # that one guess was always enough doesn't prove an entropy of 0
    True
    """
    found, n = bounds(ranks), len(ranks)
    shares = np.bincount(ranks, minlength=len(ALPHABET) + 1)[1:] / n
    lower, upper = _bounds(np.random.default_rng(seed).multinomial(n, shares, RESAMPLES) / n)
    if len(set(ranks)) == 1:  # no resample differs; the others' share may be up to this (at 95 %)
        rest = 1 - 0.05 ** (1 / n)
        even = np.full(len(ALPHABET) - 1, rest / (len(ALPHABET) - 1))
        return 0.0, bounds_of([1 - rest, *even]).upper
    low = 2 * found.lower - np.quantile(lower, 0.975)
    high = 2 * found.upper - np.quantile(upper, 0.025)
    return max(0.0, float(low)), min(float(high), UNIFORM_BITS)


@dataclass(frozen=True)
class Game:
    """A game's state: text shown, the found characters' ranks, wrong guesses at the next, characters left."""

    shown: str
    ranks: tuple[int, ...]
    tried: str
    left: int


def play(sentence: int, history: str) -> Game:
    """The game on a sentence of SENTENCES after the guesses in `history`, one character each.

    Repeated guesses and those outside ALPHABET don't count. The last symbol left is found without a guess.

    >>> play(0, "xh").ranks  # "h" at the second guess
    (2,)
    """
    if not 0 <= sentence < len(SENTENCES):
        raise ConfigError(
            "there are sentences 0 to {count}; received {sentence}",
            count=len(SENTENCES) - 1,
            sentence=sentence,
        )
    given, hidden = SENTENCES[sentence]
    found: list[int] = []
    tried = ""
    for guess in history.lower():
        if len(found) == len(hidden):
            break
        truth = hidden[len(found)]
        if guess == PASS:
            found.append(len(ALPHABET))
            tried = ""
        elif guess == truth:
            found.append(len(tried) + 1)
            tried = ""
        elif guess in ALPHABET and guess not in tried:
            tried += guess
    return Game(given + hidden[: len(found)], tuple(found), tried, len(hidden) - len(found))


def probabilities(model: Model, sentence: int) -> Doubles:
    """(n, 27) P before each hidden character, restricted to ALPHABET; ConfigError if a letter is unknown.

    >>> import rnnviz
    >>> probabilities(rnnviz.load("timemachine-gru"), sentence=0).shape
    (53, 27)
    """
    given, hidden = SENTENCES[sentence]
    symbols = model.vocabulary.encode(ALPHABET)
    if not symbols.all():
        raise ConfigError(
            "{name} doesn't know all 26 letters; choose another", name=model.name or "the model"
        )
    rows = expected(model, (given + hidden)[:-1], len(given))[:, symbols]  # (n, 27)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Played:
    """A model at the same game: its cross-entropy in bits per character, its ranks, and their bounds."""

    bits: float
    ranks: tuple[int, ...]
    bounds: Bounds


def played(expected: Doubles, sentence: int, characters: int) -> Played:
    """A model's `probabilities` (n, 27) on the first `characters` hidden ones; ConfigError for more than n.

    >>> played(np.full((53, 27), 1 / 27), sentence=0, characters=2).ranks
    (1, 1)
    """
    if not 1 <= characters <= len(expected):
        raise ConfigError(
            "the game has 1 to {count} characters; received {characters}",
            count=len(expected),
            characters=characters,
        )
    truth = [ALPHABET.index(c) for c in SENTENCES[sentence][1][:characters]]
    rows = expected[:characters]  # (characters, 27)
    came = rows[np.arange(characters), truth]  # (characters,)
    ranks = tuple((1 + (rows > came[:, None]).sum(axis=1)).tolist())
    return Played(float(-np.log2(came).mean()), ranks, bounds(ranks))


UNIFORM_BITS = math.log2(len(ALPHABET))
"""Bits per character of a uniform guess among 27 symbols: 4.75."""
