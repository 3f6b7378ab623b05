"""Readers: the state of any kind of model after the beginning of a text, and scorers made of readers.

Shape letters: n symbols, V symbols of the vocabulary.
"""

from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from rnnviz.arrays import Doubles, Ids
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_engine import NO_CHANGES, Changes, NetworkReader
from rnnviz.networks.numpy_model import Model, no_model, weights_of
from rnnviz.networks.prediction import Scores, entropy, rank
from rnnviz.scoring.language_model import LanguageModel
from rnnviz.text.characters import normalise

PIECE = 1024
"""Characters whose states are computed at a time."""


class Reader(Protocol):
    """A model's state after the text that it has read."""

    def read(self, ids: Ids) -> object:
        """Read the next symbols `ids` (n,)."""

    def log_probs(self) -> Doubles:
        """log P (V,) of the next symbol in nats, a new array; not finite where a model is damaged."""
        ...


class ScoringReader(Reader):
    """A Reader that is a `rnnviz.networks.prediction.Scorer` too; subclasses read and predict.

    A model that learns from its text depends on each symbol in turn, so symbols are read one by one. A
    subclass with a quicker way to the same predictions overrides `advance_predictions`.
    """

    piece = 512
    """Characters best handed over at a time: each piece's predictions are held, (piece, V)."""

    def __init__(self, size: int) -> None:
        self.size = size

    def advance(self, ids: Ids) -> Doubles:
        """log P in nats of each symbol of `ids` (n,), given all before it."""
        return self.advance_details(ids).log_p

    def advance_details(self, ids: Ids) -> Scores:
        """log P, rank and entropy of each symbol of `ids` (n,)."""
        found = []
        for begin in range(0, len(ids), self.piece):
            now = ids[begin : begin + self.piece]
            rows = self.advance_predictions(now)
            log_p, sums = rows[np.arange(len(now)), now], np.zeros(len(now))  # rows are normalised
            found.append(Scores(log_p, rank(rows, now), entropy(rows, sums)))
        return Scores.joined(found)

    def advance_predictions(self, ids: Ids) -> Doubles:
        """log P (n, V) in nats of every symbol before each of `ids` (n,); then `ids` have been read."""
        out = np.empty((len(ids), self.size))
        for row, symbol in zip(out, ids[:, None], strict=True):
            row[:] = self.log_probs()
            self.read(symbol)
        return out


@runtime_checkable
class ReadsItself(LanguageModel, Protocol):
    """A model made of other models, which brings its own reader: see `rnnviz.scoring.mixing`."""

    def reader(self) -> Reader:
        """A reader at a text's beginning."""
        ...

    def signature(self) -> bytes:
        """Bytes that name the model in a compressed text: see `rnnviz.scoring.signature`."""
        ...


Readable: TypeAlias = "Model | ReadsItself"
"""A model that can read one character at a time."""


def reader(model: Readable, text: str = "", changes: Changes = NO_CHANGES) -> Reader:
    """A reader of `model` after `text`, under a network's `changes`. Raises TextError for half a surrogate
    pair."""
    if not hasattr(model, "vocabulary"):
        raise no_model(model)
    ids = model.vocabulary.encode(normalise(text, model.normaliser))
    found: Reader
    if isinstance(model, ReadsItself):
        found = model.reader()
    elif isinstance(model, NgramModel):
        found = model.scorer()
    else:
        found = NetworkReader(weights_of(model), changes=changes)
        ids = np.concatenate(([model.vocabulary.start], ids))
    for begin in range(0, len(ids), PIECE):
        found.read(ids[begin : begin + PIECE])
    return found
