"""Small networks with random weights, and what training writes down of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Array
from rnnviz.networks.config import ModelConfig
from rnnviz.networks.numpy_engine import weights_from
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.text.vocabulary import Vocabulary

TEXT = (
    "The Time Traveller (nobody knew another name for him) was explaining a machine of brass and quartz to "
    "us. His voice was quiet and his eyes were bright; then he pulled the lever, and half of us jumped.\n"
) * 5


def random_tensors(config: ModelConfig, seed: int = 7) -> dict[str, Array]:
    """Random weights by their names in a file, as large as those that a training begins with."""
    random, bound = np.random.default_rng(seed), config.hidden_size**-0.5
    return {
        name: (
            random.standard_normal(shape) if "embedding" in name else random.uniform(-bound, bound, shape)
        ).astype(np.float32)
        for name, shape in config.shapes().items()
    }


def network(
    config: ModelConfig, vocabulary: Vocabulary, tensors: Mapping[str, Array], **about: Any
) -> NumpyModel:
    """The network of these weights; `about` are its name, card and so on."""
    weights = weights_from(config, tensors, end=vocabulary.end)
    return NumpyModel(config, vocabulary, weights, **about, tensors=tensors)


def with_tensors(model: NumpyModel, **tensors: npt.ArrayLike) -> NumpyModel:
    """The network with other weights: `readout_bias` is its tensor "readout.bias"."""
    tensors_by_name = dict(model.tensors)
    for name in tensors_by_name:
        if (value := tensors.pop(name.replace(".", "_"), None)) is not None:
            tensors_by_name[name] = np.broadcast_to(value, tensors_by_name[name].shape).astype(np.float32)
    assert not tensors, "it has no such weights"
    return replace(
        model,
        weights=weights_from(model.config, tensors_by_name, end=model.vocabulary.end),
        tensors=tensors_by_name,
    )


def tiny(
    cell: str, *, name: str = "", card: dict[str, Any] | None = None, ends: bool = False, **options: Any
) -> NumpyModel:
    """A network with random weights over the characters of TEXT; `ends`: each of its lines is a text."""
    vocabulary = Vocabulary.from_text(TEXT, ends=ends)
    options = {"hidden_size": 12, "embedding_size": 6, **options}
    config = ModelConfig(cell=cell, vocabulary_size=vocabulary.size, **options)
    return network(config, vocabulary, random_tensors(config), name=name, card=card or {})


def tiny_card(**extra: Any) -> dict[str, Any]:
    """A card as training writes it."""
    return {
        "corpus": "tiny",
        "title": "Tiny *text*",
        "language": "en",
        "characters": len(TEXT),
        "sha256": "ab" * 32,
        "trained_on": "first 90 %",
        "training_seconds": 412.0,
        "command": "python -m rnnviz train --corpus tiny --name tiny-gru",
        "parameters": 1234,
        "recipe": {
            "epochs": 20.0,
            "batch": 32,
            "steps": 64,
            "learning_rate": 3e-3,
            "clip": 1.0,
            "dropout_output": 0.4,
            "dropout_weight": 0.0,
            "dropout_embedding": 0.1,
        },
        "held_out": {"perplexity": 4.325, "ngram": 4.358, "ngram_name": "tiny-3gram", "uniform": 30},
        "ngram": "tiny-3gram",
        "example": "The Time Traveller",
        "versions": {"python": "3.11"},
        **extra,
    }


GOOD: dict[str, Any] = {"cell": "gru", "vocabulary_size": 9}

NETWORKS: list[tuple[str, dict[str, Any]]] = [
    ("mlp", {"layers": 2, "activation": "relu", "embedding_size": 0}),
    ("rnn", {}),
    ("rnn", {"activation": "relu", "layers": 2}),
    ("gru", {}),
    ("gru", {"layers": 3, "embedding_size": 0}),
    ("gru", {"tied": True, "embedding_size": 12}),
    ("lstm", {}),
    ("lstm", {"layers": 2, "embedding_size": 0}),
    ("mingru", {"layers": 2}),
]
