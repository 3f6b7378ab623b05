"""Why a state at all: how large a table of n-grams is, and what it costs a reader to look back only so far.

A model of n-grams predicts from the n - 1 characters before. Its table has an
entry for each of the |V|^n strings of n symbols, though a text of T characters
fills at most T of them. A recurrent network keeps the same number of
parameters however far back it looks.

Costs are in bits, base-2 surprisal; shapes: T characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.networks.ngram import NgramModel
from rnnviz.reading.trace import trace
from rnnviz.text.normalising import normalise
from rnnviz.text.vocabulary import UNKNOWN

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.networks.torch_model import CharModel

Doubles = npt.NDArray[np.float64]


def table_size(symbols: int, n: int) -> int:
    """|V|^n, exactly. Raises ConfigError unless both are at least 1."""
    if symbols < 1 or n < 1:
        raise ConfigError(
            "a table has |V| >= 1 symbols and n >= 1; received |V| = {symbols}, n = {n}", symbols=symbols, n=n
        )
    return int(symbols**n)


@dataclass(frozen=True)
class Reading:
    """What each character of a text cost one model, in bits (T,), and their mean."""

    bits: Doubles

    @property
    def mean(self) -> float:
        """Bits per character."""
        return float(self.bits.mean())

    @property
    def probabilities(self) -> Doubles:
        """What the model gave each character that came, (T,)."""
        return np.asarray(np.exp2(-self.bits))


def read(model: CharModel | NumpyModel | NgramModel, text: str) -> Reading:
    """The surprisal of every character of `text`, one at least; an unknown one costs what Vocabulary says."""
    if not text:
        raise ConfigError("a text to read has at least one character; received none")
    if not isinstance(model, NgramModel):
        return Reading(trace(model, text).nll / np.log(2))
    ids = model.vocabulary.encode(normalise(text, model.normaliser))
    nats = -model.score(ids) + np.where(ids == UNKNOWN, model.vocabulary.unknown_cost, 0.0)
    return Reading(np.asarray(nats / np.log(2)))


_shorter: WeakKeyDictionary[NgramModel, dict[int, NgramModel]] = WeakKeyDictionary()


def shortened(model: NgramModel, n: int) -> NgramModel:
    """`model` looking back n - 1 characters only; made once for each n."""
    made = _shorter.setdefault(model, {})
    if n not in made:
        made[n] = model.shortened(n)
    return made[n]
