"""Why a state at all: how large a table of n-grams is, and what it costs to look back n - 1 characters only.

Of its |V|^n entries a text of T characters fills at most T. A network's size doesn't depend on n.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from rnnviz.errors import ConfigError
from rnnviz.lecture.prediction import Doubles, nats
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import Model


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
