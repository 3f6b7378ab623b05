"""Why a state at all: how large a table of n-grams is, what a book fills of it, what looking back costs.

Of its |V|^n entries a text of T characters fills at most T. A network's size doesn't depend on n. The book is
what the shipped models have read, "timemachine": its first nine tenths, with the last one held out. Of the
Chinese models' book, which does not ship, there are its counts.
"""

from dataclasses import dataclass
from functools import cache
from weakref import WeakKeyDictionary

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.lecture.prediction import nats
from rnnviz.networks.kneser_ney import count
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import Model
from rnnviz.text import corpora
from rnnviz.text.vocabulary import Vocabulary

BOOK = "timemachine"
LONGEST = 10

# Of the book, by n: what `measured` counts.
SEEN = (69, 997, 6463, 21448, 44899, 70251, 93404, 113024, 127995, 138735)
"""Different n-grams of n = 1 … LONGEST in what was read, the text's beginning's included."""

NEVER = (0, 0, 34, 248, 1160, 3069, 5612, 8178, 10614, 12641)
"""Characters of the held-out tenth before which stand n - 1 characters that were never read together."""

HELD_OUT = 17_898
"""Characters of the held-out tenth."""

COSTS = (4.4398, 3.4943, 2.8378, 2.3718, 2.1721, 2.1241)
"""Bits that a held-out character costs the n-gram model of n = 1 … 6, on average."""


@dataclass(frozen=True)
class Book:
    """What was counted of a book, by n: see SEEN, NEVER, HELD_OUT and COSTS."""

    seen: tuple[int, ...]
    never: tuple[int, ...]
    held_out: int
    costs: tuple[float, ...]


TIME_MACHINE = Book(SEEN, NEVER, HELD_OUT, COSTS)
JOURNEY = Book(
    seen=(4399, 137294, 358299, 499809, 567276, 602191),
    never=(0, 124, 13339, 39386, 56339, 63990),
    held_out=71_880,
    costs=(9.2423, 7.1051, 6.6771, 6.6298, 6.6223, 6.6207),
)
"""Of 《西游记》, n = 1 … 6: what chinese-6gram counted, and what it and `known` say of the last tenth."""


def table_size(symbols: int, n: int) -> int:
    """|V|^n, exactly. Raises ConfigError unless both are at least 1.

    >>> table_size(69, 3)
    328509
    """
    if symbols < 1 or n < 1:
        raise ConfigError(
            "a table has |V| >= 1 symbols and n >= 1; received |V| = {symbols}, n = {n}", symbols=symbols, n=n
        )
    return int(symbols**n)


@cache
def book() -> tuple[str, str]:
    """What the shipped models have read, and the held-out tenth that follows."""
    split = corpora.read(BOOK).split()
    return split.train + split.validation, split.held_out


def distinct(text: str, vocabulary: Vocabulary, longest: int = LONGEST) -> tuple[int, ...]:
    """The numbers of different n-grams of n = 1 … `longest` in `text`, read after one start symbol.

    >>> distinct("abab", Vocabulary.from_text("abab"), longest=3)
    (3, 3, 3)
    """
    ids = vocabulary.encode(text)
    return (vocabulary.size, *(len(keys) for keys in count(ids, vocabulary.size, longest).keys))


def known(text: str, n: int, read: str, before: str = "") -> list[bool]:
    """Whether the n - 1 characters before each one of `text` stand together anywhere in `read` (T,).

    `before` precedes the text; where both are shorter, what there is counts.

    >>> known("abc", 2, read="bab")
    [True, True, True]
    >>> known("abc", 3, read="bba")
    [True, True, False]
    """
    whole = before + text
    contexts = [whole[max(0, t - n + 1) : t] for t in range(len(before), len(whole))]
    if len(text) < 1000:
        return [context in read for context in contexts]
    every = {read[i : i + n - 1] for i in range(len(read) - n + 2)}
    return [context in every or (len(context) < n - 1 and context in read) for context in contexts]


def met(model: NgramModel, text: str, n: int) -> list[bool]:
    """`known` by what a model has counted, without its text: n - 1 is at most its order (else ConfigError).

    >>> met(NgramModel.fit("babab", order=2), "abb", 3)
    [True, True, True]
    """
    ids = model.vocabulary.encode(text)
    contexts = [ids[max(0, t - n + 1) : t] for t in range(len(ids))]
    return [not len(context) or model.occurs(context) for context in contexts]


def bits(model: Model, text: str) -> Doubles:
    """The surprisal of every character of `text`, in bits (T,); raises ConfigError for an empty text.

    >>> bits(NgramModel.fit("abab", order=2), "aba").shape
    (3,)
    """
    if not text:
        raise ConfigError("a text to read has at least one character; received none")
    return np.asarray(nats(model, text) / np.log(2))


_shorter: WeakKeyDictionary[NgramModel, dict[int, NgramModel]] = WeakKeyDictionary()


def shortened(model: NgramModel, n: int) -> NgramModel:
    """`model` looking back n - 1 characters; cached.

    >>> shortened(NgramModel.fit("abracadabra", order=4), 2).order
    2
    """
    made = _shorter.setdefault(model, {})
    if n not in made:
        made[n] = model.shortened(n)
    return made[n]


def measured() -> dict[str, tuple[float, ...]]:
    """SEEN, NEVER and COSTS, counted anew in half a second."""
    read, held_out = book()
    fitted = NgramModel.fit(read, order=len(COSTS))
    return {
        "SEEN": distinct(read, fitted.vocabulary),
        "NEVER": tuple(known(held_out, n, read, read).count(False) for n in range(1, LONGEST + 1)),
        "COSTS": tuple(
            float(bits(shortened(fitted, n), held_out).mean().round(4)) for n in range(1, fitted.order + 1)
        ),
    }
