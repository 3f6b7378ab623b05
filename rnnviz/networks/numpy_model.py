"""A model's weights for `rnnviz.networks.stepping`, and a model made of them, without torch."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Array, Floats
from rnnviz.errors import ConfigError
from rnnviz.networks.config import CELLS, ModelConfig
from rnnviz.networks.numpy_abreast import char_scorer, short_texts
from rnnviz.networks.precise_scorer import PreciseScorer
from rnnviz.networks.short_texts import ShortTexts
from rnnviz.networks.stepping import Layer, Weights
from rnnviz.networks.text_scorer import CharScorer
from rnnviz.pictured import Brief, Pictured
from rnnviz.text.checked import received
from rnnviz.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import Tensor

    from rnnviz.networks.custom import CustomModel
    from rnnviz.networks.modelfile import Sketch
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.networks.torch_network import TorchNetwork

Network: TypeAlias = "TorchNetwork | NumpyModel | CustomModel"
"""What has a hidden state: a CharModel, one without torch, or one whose step is a Python function."""

Model: TypeAlias = "TorchNetwork | NumpyModel | CustomModel | NgramModel"
"""What predicts a text's characters."""

TABLE_BYTES = 64 << 20
"""Above this size the first layer's inputs are multiplied row by row instead of looked up."""


def weights_from(
    config: ModelConfig, tensors: Mapping[str, Array], dtype: npt.DTypeLike = np.float32
) -> Weights:
    """Copies of `tensors`, named and shaped as in `config.shapes()`, ready for stepping in `dtype`."""
    arrays = {name: np.array(values, dtype, order="C") for name, values in tensors.items()}
    embedding = arrays.get("embedding.weight")
    first = _layer(config, 0, arrays, embedding)
    upper = tuple(_layer(config, n, arrays, None) for n in range(1, config.layers))
    tied = embedding is not None and config.tied
    readout = (
        arrays["embedding.weight"][: config.vocabulary_size].copy() if tied else arrays["readout.weight"]
    )
    return Weights(
        (first, *upper), embedding if first.table is None else None, readout, arrays["readout.bias"]
    )


def _layer(config: ModelConfig, n: int, arrays: Mapping[str, Floats], inputs: Floats | None) -> Layer:
    """Layer n; `inputs` (V + 1, X) are the first layer's unless one-hot: W_x then has their rows."""
    cell, H = config.cell, config.hidden_size
    W_h = b_n = None
    own = [arrays[name] for name in config.layer_names(n)]
    if not CELLS[cell].mixes:
        W_x, b = own
    else:
        W_x, W_h, b_x, b_h = own
        b = b_x + b_h
        if cell == "gru":  # the candidate's second bias stands inside the reset product
            b[2 * H :] = b_x[2 * H :]
            b_n = b_h[2 * H :] * b_h.dtype.type(0.5)

    # A row of each gate after another; torch has an LSTM's candidate before its output gate.
    gates = CELLS[cell].gates or ("candidate",)
    order = [0, 1, 3, 2] if cell == "lstm" else range(CELLS[cell].blocks)
    half = np.ones(CELLS[cell].blocks, b.dtype)
    if CELLS[cell].mixes:  # all but the candidate are sigmoids
        half[:] = [1 if gate == "candidate" else 0.5 for gate in gates]

    def parts(values: Floats, factors: Floats) -> Floats:
        split = np.split(values, len(factors))
        return np.concatenate([split[k] * f for k, f in zip(order, factors, strict=True)])

    W_x, b = parts(W_x, half), parts(b, half)
    if W_h is not None:  # what the reset gate multiplies is halved too: the gate comes doubled
        W_h = parts(W_h, np.full_like(half, 0.5) if cell == "gru" else half)
    table = None
    if n == 0 and inputs is None:
        table = W_x.T + b
    elif inputs is not None and len(inputs) * len(b) * 4 <= TABLE_BYTES:
        # In float64, where sums of float16 weights' products are exact, so that the number of threads, which
        # decides in what order they are added up, changes no bit: a compressed text depends on every one.
        table = (inputs.astype(np.float64) @ W_x.T.astype(np.float64) + b).astype(b.dtype)
    return Layer(cell, H, config.span, table, W_x if table is None else None, b, W_h, b_n, W_x)


@dataclass(frozen=True, eq=False, repr=False)
class NumpyModel(Pictured, Brief):
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
        return char_scorer(self.weights, self.vocabulary.start, wide=CELLS[self.config.cell].mixes)

    def short_texts(self) -> ShortTexts:
        """A reader of many short texts side by side."""
        return short_texts(self.weights, self.vocabulary.start, wide=CELLS[self.config.cell].mixes)

    def precise_scorer(self) -> PreciseScorer:
        """A reader in float64."""
        return PreciseScorer(weights_from(self.config, self.tensors, np.float64), self.vocabulary.start)


_made: WeakKeyDictionary[TorchNetwork, tuple[list[Tensor], Weights]] = WeakKeyDictionary()
_lock = threading.Lock()


def weights_of(model: Network) -> Weights:
    """The weights of `model` for stepping: copies on the CPU, cached until the model's own change.

    A change, as in training, is found by comparing values: torch's count of changes misses what fused
    optimisers write, and a comparison takes under 1 ms where making a large table takes 20. Raises
    ConfigError for a model without a hidden state.
    """
    if isinstance(getattr(model, "weights", None), Weights):
        return cast("NumpyModel | CustomModel", model).weights
    if not hasattr(model, "vocabulary"):
        raise no_model(model)
    if not hasattr(model, "state_dict"):
        raise ConfigError(
            "{name!r} has no hidden state to look at, as tables and guesses have none; choose a network",
            name=getattr(model, "name", type(model).__name__),
        )
    network = cast("TorchNetwork", model)
    now = [p.detach() for p in network.parameters()]
    with _lock:
        found = _made.get(network)
        if found is None or not all(map(_same, found[0], now)):
            tensors = {name: w.detach().float().cpu().numpy() for name, w in network.state_dict().items()}
            found = _made[network] = [p.clone() for p in now], weights_from(network.config, tensors)
        return found[1]


def no_model(value: object) -> ConfigError:
    """What to raise for a value in a model's place."""
    if isinstance(value, str | os.PathLike):
        return ConfigError(
            "a model is what rnnviz.load gives; received a name: write rnnviz.load({name!r})", name=str(value)
        )
    return ConfigError(
        "a model is what rnnviz.load or rnnviz.adapt gives; received {received}", received=received(value)
    )


def _same(kept: Tensor, now: Tensor) -> bool:
    return kept.device == now.device and kept.dtype == now.dtype and kept.equal(now)
