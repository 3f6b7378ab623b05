"""The state of any kind of model after the beginning of a text."""

from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_engine import NO_CHANGES, Changes, NetworkReader
from rnnviz.networks.numpy_model import Model, no_model, weights_of
from rnnviz.reading.language_model import LanguageModel
from rnnviz.text.characters import normalise

PIECE = 1024
"""Characters whose states are computed at a time."""


class Reader(Protocol):
    """Carries what a model keeps of a text."""

    def read(self, ids: npt.NDArray[np.int64]) -> object:
        """Read the next symbols `ids` (n,)."""

    def log_probs(self) -> npt.NDArray[np.float64]:
        """log P (V,) of the next symbol in nats, a new array; not finite where a model is damaged."""
        ...


@runtime_checkable
class ReadsItself(LanguageModel, Protocol):
    """A model made of others, that has a reader of its own: see `rnnviz.reading.mixing`."""

    def reader(self) -> Reader:
        """At a text's beginning."""
        ...


Readable: TypeAlias = "Model | ReadsItself"
"""What reads one character at a time."""


def reader(model: Readable, text: str = "", changes: Changes = NO_CHANGES) -> Reader:
    """`model` after `text`, with a network's `changes`; TextError for half a surrogate pair in the text."""
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
