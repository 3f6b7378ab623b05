"""What a model expected at one place of a long text, recomputed since a record keeps costs, not states. A
network reads from the text's beginning if that is within EXACT characters, else from CONTEXT characters
before, which is close and marked approximate. An n-gram reads n - 1 characters before: always exact. The
states at the ends of stretches near the beginning are kept, so that reading on costs one stretch.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rnnviz.arrays import Floats, Integers
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_engine import NetworkReader
from rnnviz.networks.numpy_model import weights_of

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.networks.torch_model import CharModel

EXACT = 20_000
"""Up to this many characters from the beginning, predictions are exact."""

CONTEXT = 2_000
"""Characters read before a later stretch."""

STRETCH = 1_024
"""Characters whose states are computed together and cached."""

_KEPT = 4  # stretches

State = tuple[Floats, Floats | None]


class Readable(Protocol):
    """A text of any length, read in stretches, such as a Record."""

    def __len__(self) -> int: ...

    def text(self, start: int, stop: int) -> str: ...


@dataclass(frozen=True)
class Prediction:
    """The most probable characters at a place: (symbol, probability), best first; `<unk>` by its name."""

    top: tuple[tuple[str, float], ...]
    approximate: bool


class Expected:
    """The predictions of one model along a text."""

    def __init__(self, model: CharModel | NumpyModel | NgramModel, text: Readable) -> None:
        self.model, self._text = model, text
        self._tops: OrderedDict[int, Floats] = OrderedDict()
        self._ends: dict[int, State] = {}

    def at(self, position: int, k: int = 5) -> Prediction:
        """The `k` most probable characters at `position` (from 0), given all before it."""
        if isinstance(self.model, NgramModel):
            row = self.model.log_probs(self._ids(max(0, position - self.model.order + 1), position))
            approximate = False
        else:
            begin = position - position % STRETCH
            row = weights_of(self.model).log_probs(self._top(begin)[position - begin : position - begin + 1])[
                0
            ]
            approximate = begin > EXACT
        ids = np.argsort(-row, kind="stable")[:k]
        symbol = self.model.vocabulary.symbol
        return Prediction(tuple((symbol(int(i)), float(np.exp(row[i]))) for i in ids), approximate)

    def _ids(self, start: int, stop: int) -> Integers:
        return self.model.vocabulary.encode(self._text.text(start, stop))

    def _top(self, begin: int) -> Floats:
        """(n, H) the top layer before each character of a stretch."""
        if begin in self._tops:
            self._tops.move_to_end(begin)
            return self._tops[begin]
        if begin <= EXACT:
            known = max((end for end in self._ends if end <= begin), default=None)
            start, state = (0, self._fresh()) if known is None else (known, self._ends[known])
        else:
            start, state = begin - CONTEXT, self._fresh()
        while start < begin:
            stop = min(start + STRETCH, begin)
            _, state = self._read(start, stop, state)
            start = stop
            if begin <= EXACT:
                self._ends[stop] = state
        top, state = self._read(begin, min(begin + STRETCH, len(self._text)), state)
        if begin + STRETCH <= EXACT:
            self._ends[begin + STRETCH] = state
        self._tops[begin] = top
        while len(self._tops) > _KEPT:
            self._tops.popitem(last=False)
        return top

    def _fresh(self) -> State:
        return self._run(np.array([self.model.vocabulary.start]), None)[1]

    def _read(self, start: int, stop: int, state: State) -> tuple[Floats, State]:
        return self._run(self._ids(start, stop), state)

    def _run(self, ids: Integers, state: State | None) -> tuple[Floats, State]:
        """(n + 1, H) the top layer before each of `ids` (n,) and after the last, and the state then."""
        assert not isinstance(self.model, NgramModel)
        hidden, cell = NetworkReader(weights_of(self.model), state).states(ids)
        last = None if cell is None else cell[-1].copy()
        return np.ascontiguousarray(hidden[:, -1]), (hidden[-1].copy(), last)
