"""A model's predictions at one place of a long text, recomputed because a record holds costs, not states.

- A network reads from the text's beginning, up to EXACT_CHARS characters on.
- Beyond, a network reads from CONTEXT_CHARS characters before: close, and marked approximate.
- An n-gram model reads n − 1 characters before: always exact.

The states at the ends of stretches near the beginning are cached, so that the next stretch costs only itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rnnviz.arrays import Floats, Integers
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_engine import NetworkReader
from rnnviz.networks.numpy_model import weights_of

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import Model
    from rnnviz.scoring.column_files import ColumnFiles

EXACT_CHARS = 20_000
"""Characters from the beginning within which predictions are exact."""

CONTEXT_CHARS = 2_000
"""Characters that a network reads before a later stretch."""

STRETCH_CHARS = 1_024
"""Characters whose states are computed together and cached."""

_CACHED_STRETCHES = 4  # stretches whose states are cached

State = tuple[Floats, Floats | None]


@dataclass(frozen=True)
class Prediction:
    """The most probable characters at a place.

    top          (symbol, probability), the most probable first; the unknown symbol is `<unk>`
    approximate  whether the network read only CONTEXT_CHARS characters before the place's stretch
    """

    top: tuple[tuple[str, float], ...]
    approximate: bool


class Expected:
    """The predictions of one model along a text."""

    def __init__(self, model: Model, text: ColumnFiles) -> None:
        self.model, self._text = model, text
        # A cache of this object, not of the class: it ends with the viewer that holds it.
        self._tops = lru_cache(_CACHED_STRETCHES)(self._top)
        self._states: dict[int, State] = {}  # by the first character of each stretch near the beginning

    def at(self, position: int, k: int = 5) -> Prediction:
        """The `k` most probable characters at `position` (from 0), given all before it."""
        vocabulary, begin = self.model.vocabulary, position - position % STRETCH_CHARS
        if isinstance(self.model, NgramModel):
            row = self.model.log_probs(self._ids(max(0, position - self.model.order + 1), position))
        else:
            top = self._tops(begin)[position - begin]
            row = weights_of(self.model).log_probs(top[None])[0]
        # Stable: of equal probabilities the first in the vocabulary leads, each time.
        ids = np.argsort(-row, kind="stable")[:k]
        top_of = tuple((vocabulary.symbol(int(i)), float(np.exp(row[i]))) for i in ids)
        return Prediction(top_of, not isinstance(self.model, NgramModel) and begin > EXACT_CHARS)

    def _ids(self, start: int, stop: int) -> Integers:
        return self.model.vocabulary.encode(self._text.text(start, stop))

    def _top(self, begin: int) -> Floats:
        """The top layer's hidden state before each character of a stretch, (n, H)."""
        return self._run(begin, min(begin + STRETCH_CHARS, len(self._text)), self._before(begin))[0]

    def _before(self, begin: int) -> State:
        """The state (all layers) before the stretch that begins at `begin`."""
        if not self._states:
            self._states[0] = self._run(0, 0, None)[1]
        if begin > EXACT_CHARS:
            return self._run(begin - CONTEXT_CHARS, begin, self._states[0])[1]
        # Each stretch's state needs the one before. They all stay: there are at most 20.
        for at in range(len(self._states) * STRETCH_CHARS, begin + 1, STRETCH_CHARS):
            self._states[at] = self._run(at - STRETCH_CHARS, at, self._states[at - STRETCH_CHARS])[1]
        return self._states[begin]

    def _run(self, start: int, stop: int, state: State | None) -> tuple[Floats, State]:
        """The top layer's hidden state before each of characters start .. stop − 1 and after the last,
        (n + 1, H), and the state (all layers) then. Without a state, the model reads the start symbol alone.
        """
        assert not isinstance(self.model, NgramModel)
        ids = self._ids(start, stop) if state else np.array([self.model.vocabulary.start])
        hidden, cell = NetworkReader(weights_of(self.model), state).states(ids)
        last = None if cell is None else cell[-1].copy()
        return np.ascontiguousarray(hidden[:, -1]), (hidden[-1].copy(), last)
