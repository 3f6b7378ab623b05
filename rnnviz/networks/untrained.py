"""A network as it is before any training, without torch: a control for whatever is said of a trained one.

Weights are drawn as torch's layers draw them (`torch.nn.RNN`, `Linear` and `Embedding`, their
`reset_parameters`), from other random numbers: `rnnviz.networks.torch_model.untrained` gives the very network
that a training with a seed begins with.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from rnnviz.networks import linear
from rnnviz.networks.config import CELLS, ModelConfig
from rnnviz.networks.numpy_model import Network, NumpyModel, no_model, weights_from

Floats = npt.NDArray[np.float32]


def tensors(config: ModelConfig, seed: int) -> dict[str, Floats]:
    """Random weights by the names and shapes of `config.shapes()`.

    >>> tensors(ModelConfig("gru", 70, hidden_size=16), seed=0)["recurrence.weight_hh_l0"].shape
    (48, 16)
    """
    drawn, out = np.random.default_rng(seed), {}
    for name, shape in config.shapes().items():
        if name == "embedding.weight" and not config.tied:
            values = drawn.standard_normal(shape)
        elif CELLS[config.cell].linear and name.startswith("recurrence."):
            values = np.empty(shape)
            for rows, low, high in linear.start(config, name):
                values[rows] = drawn.uniform(low, high, values[rows].shape)
        else:
            values = drawn.uniform(*_bounds(config, name), shape)
        out[name] = values.astype(np.float32)
    return out


def _bounds(config: ModelConfig, name: str) -> tuple[float, float]:
    """Between what a weight is drawn: 0.1 of a tied embedding, else mostly 1 / sqrt(what feeds a unit)."""
    if name == "embedding.weight":
        return -0.1, 0.1
    inputs = config.input_size if config.cell == "mlp" and name.startswith("recurrence.0.") else 0
    most = 1 / math.sqrt(inputs or config.hidden_size)
    return -most, most


def untrained(model: Network, seed: int = 0) -> NumpyModel:
    """A network of the shape and vocabulary of `model` with random weights, which reads texts as it does.

    >>> import rnnviz
    >>> model = untrained(rnnviz.load("timemachine-gru"))
    >>> rnnviz.trace(model, "machine").hidden.shape
    (7, 1, 256)
    """
    if not hasattr(model, "config"):
        raise no_model(model)
    drawn = tensors(model.config, seed)
    return NumpyModel(
        model.config,
        model.vocabulary,
        weights_from(model.config, drawn),
        name=model.name,
        normaliser=model.normaliser,
        tensors=drawn,
    )
