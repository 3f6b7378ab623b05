"""Untrained copies of a network, without torch: the control for every finding about a trained network.

Weights are drawn as rnnviz's training draws them, by the recipe on the card: as a rule as torch's layers
(`torch.nn.RNN`, `Linear` and `Embedding`) do in `reset_parameters`, from other random numbers.
`rnnviz.lab.engines.torch_model.untrained` gives the very network that a training with a seed begins with.
Only the owner of a network that was trained elsewhere knows how it began: hence `fresh`.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from rnnviz.arrays import Floats
from rnnviz.errors import ConfigError
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import Initialisation, ModelConfig, TrainConfig
from rnnviz.networks.numpy_engine import weights_from
from rnnviz.networks.numpy_model import Network, NumpyModel, no_model

Fresh: TypeAlias = Callable[[int], Network]
"""A function of a seed that gives a user's own network as its training began."""


def tensors(
    config: ModelConfig, seed: int, initialisation: Initialisation = "torch", sigma: float = 0.01
) -> dict[str, Floats]:
    """Random weights by the names and shapes of `config.shapes()`; see `TrainConfig` for the last two.

    >>> tensors(ModelConfig("gru", 70, hidden_size=16), seed=0)["recurrence.weight_hh_l0"].shape
    (48, 16)
    """
    # Numpy's numbers, not torch's: without torch, and the same with any version of it.
    generator, out = np.random.default_rng(seed), {}
    for name, shape in config.shapes().items():
        if initialisation == "identity" and "weight_hh" in name:
            values = np.eye(shape[0], shape[1])
        elif initialisation != "torch":
            values = sigma * generator.standard_normal(shape) if len(shape) > 1 else np.zeros(shape)
        elif name == "embedding.weight" and not config.tied:
            values = generator.standard_normal(shape)
        else:
            values = generator.uniform(*_bounds(config, name), shape)
        out[name] = values.astype(np.float32)
    return out


def _bounds(config: ModelConfig, name: str) -> tuple[float, float]:
    """The range of a tensor's initial weights: ±0.1 for a tied embedding, else ±1 / sqrt(inputs or units)."""
    if name == "embedding.weight":
        return -0.1, 0.1
    plain = (
        config.cell == "mlp" or CELLS[config.cell].linear
    )  # as in torch's Linear; torch's cells go by their units alone
    first = plain and name in config.layer_names(0)
    bound = 1 / math.sqrt(config.input_size if first else config.hidden_size)
    return -bound, bound


def of_known_start(model: Network) -> bool:
    """Whether rnnviz trained the model, by its card's recipe, and so drew its weights as `tensors` does."""
    return "recipe" in model.card


def untrained(model: Network, seed: int = 0, fresh: Fresh | None = None) -> Network:
    """A network of the shape and vocabulary of `model` with random weights, which reads texts as it does.

    The network is `fresh(seed)`; without `fresh`, its weights are drawn as rnnviz's training draws them.
    Raises ConfigError for another shape or vocabulary from `fresh`; without it, for a network that has no
    weights to draw.

    >>> import rnnviz
    >>> model = untrained(rnnviz.load("timemachine-gru"))
    >>> rnnviz.trace(model, "machine").hidden.shape
    (7, 1, 256)
    """
    if not hasattr(model, "config"):
        raise no_model(model)
    if fresh is not None:
        copy = fresh(seed)
        if not hasattr(copy, "config"):
            raise no_model(copy)
        shapes = [(m.config.layers, m.config.hidden_size, m.vocabulary.characters) for m in (model, copy)]
        if shapes[0] != shapes[1]:
            raise ConfigError(
                "fresh gives a network with the layers, units and characters of {name!r}: {layers} × {units} "
                "and {size}; received {their_layers} × {their_units} and {their_size}",
                name=model.name,
                layers=shapes[0][0],
                units=shapes[0][1],
                size=len(shapes[0][2]),
                their_layers=shapes[1][0],
                their_units=shapes[1][1],
                their_size=len(shapes[1][2]),
            )
        return copy
    try:
        recipe = TrainConfig(**model.card["recipe"])
    except (ConfigError, TypeError, LookupError):  # none, another version's, or a stranger's
        recipe = TrainConfig()
    weights = tensors(model.config, seed, recipe.initialisation, recipe.sigma)
    return NumpyModel(
        model.config,
        model.vocabulary,
        weights_from(model.config, weights, end=model.vocabulary.end),
        name=model.name,
        normaliser=model.normaliser,
        tensors=weights,
    )
