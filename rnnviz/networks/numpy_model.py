"""NumpyModel: a network on the CPU, without torch; and any network's weights for the numpy engine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from rnnviz.arrays import Array
from rnnviz.checks import received
from rnnviz.errors import ConfigError
from rnnviz.networks.batched_scoring import CharScorer, NumpyEngine
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import ModelConfig
from rnnviz.networks.numpy_engine import Weights, weights_from
from rnnviz.reprs import Pictured, ReprMixin
from rnnviz.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from rnnviz.networks.modelfile import Sketch
    from rnnviz.networks.ngram import NgramModel


class Network(Protocol):
    """A model with a hidden state, whatever computes it: numpy (`NumpyModel`), torch (`CharModel`), or a
    Python function (`CustomModel`).
    """

    @property
    def config(self) -> ModelConfig: ...

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def weights(self) -> Weights:
        """The weights for the numpy engine."""

    @property
    def name(self) -> str: ...

    @property
    def card(self) -> Mapping[str, Any]: ...

    @property
    def normaliser(self) -> str: ...

    @property
    def sketch(self) -> Sketch | None: ...

    @property
    def parameter_count(self) -> int: ...

    def scorer(self) -> CharScorer: ...

    def __hash__(self) -> int: ...


class StoredNetwork(Network, Protocol):
    """A Network whose weights are those of a file, so that it can be saved."""

    @property
    def tensors(self) -> Mapping[str, Array]:
        """The weights by their names in the file."""


Model: TypeAlias = "Network | NgramModel"
"""A model that predicts characters: a network or an n-gram model."""


@dataclass(frozen=True, eq=False, repr=False)
class NumpyModel(Pictured, ReprMixin):
    """A network on the CPU, to look at and to read with: a `CharModel` without torch and training.

    `rnnviz.load` gives one where torch is not installed. `tensors` are the weights as the file has them.

    >>> from rnnviz.networks.checkpoint import load_numpy
    >>> load_numpy("timemachine-gru").parameter_count
    323141
    """

    config: ModelConfig
    vocabulary: Vocabulary
    weights: Weights
    name: str = ""
    card: Mapping[str, Any] = field(default_factory=dict)
    normaliser: str = "newlines"
    sketch: Sketch | None = None
    tensors: Mapping[str, Array] = field(default_factory=dict, repr=False)

    @property
    def parameter_count(self) -> int:
        """See ModelConfig.parameter_count."""
        return self.config.parameter_count

    def scorer(self) -> CharScorer:
        """A reader at the start of a text."""
        return CharScorer(
            NumpyEngine(self.weights), self.vocabulary.start, wide=CELLS[self.config.cell].mixes
        )

    def precise_scorer(self) -> CharScorer:
        """A reader in float64, in sequence, from the weights as they are stored."""
        weights = weights_from(self.config, self.tensors, np.float64, end=self.vocabulary.end)
        return CharScorer(NumpyEngine(weights), self.vocabulary.start, wide=False)


def weights_of(model: Network) -> Weights:
    """The weights of `model` for the numpy engine. Raises ConfigError for a model without a hidden state."""
    if not hasattr(model, "vocabulary"):
        raise no_model(model)
    weights = getattr(model, "weights", None)
    if not isinstance(weights, Weights):
        raise ConfigError(
            "{name!r} has no hidden state to look at: tables and guesses have none; choose a network",
            name=getattr(model, "name", type(model).__name__),
        )
    return weights


def no_model(value: object) -> ConfigError:
    """The error for a value that is no model."""
    if isinstance(value, str | os.PathLike):
        return ConfigError(
            "a model is what rnnviz.load gives; received a name: write rnnviz.load({name!r})", name=str(value)
        )
    return ConfigError(
        "a model is what rnnviz.load or rnnviz.adapt gives; received {received}", received=received(value)
    )
