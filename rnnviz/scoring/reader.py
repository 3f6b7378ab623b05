"""Readers: the state of any kind of model after the beginning of a text.

Shape letters: n symbols, V symbols of the vocabulary.
"""

from typing import Protocol

import numpy as np

from rnnviz.arrays import Doubles, Ids
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_engine import NO_CHANGES, Changes, NetworkReader
from rnnviz.networks.numpy_model import Model, no_model, weights_of
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


def reader(model: Model, text: str = "", changes: Changes = NO_CHANGES) -> Reader:
    """A reader of `model` after `text`, under a network's `changes`. Raises TextError for half a surrogate
    pair."""
    if not hasattr(model, "vocabulary"):
        raise no_model(model)
    ids = model.vocabulary.encode(normalise(text, model.normaliser))
    found: Reader
    if isinstance(model, NgramModel):
        found = model.scorer()
    else:
        found = NetworkReader(weights_of(model), changes=changes)
        ids = np.concatenate(([model.vocabulary.start], ids))
    for begin in range(0, len(ids), PIECE):
        found.read(ids[begin : begin + PIECE])
    return found
