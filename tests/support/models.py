"""Small networks with random weights, and what training writes down of them."""

from typing import Any

import torch

from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.networks.config import ModelConfig
from rnnviz.networks.numpy_engine import weights_from
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.text.vocabulary import Vocabulary

TEXT = (
    "The Time Traveller (nobody knew another name for him) was explaining a machine of brass and quartz to "
    "us. His voice was quiet and his eyes were bright; then he pulled the lever, and half of us jumped.\n"
) * 5


def tiny(cell: str, *, name: str = "", card: dict[str, Any] | None = None, **options: Any) -> CharModel:
    """A network with random weights over the characters of TEXT."""
    vocabulary = Vocabulary.from_text(TEXT)
    options = {"hidden_size": 12, "embedding_size": 6, **options}
    with torch.random.fork_rng():
        torch.manual_seed(7)
        model = CharModel(
            ModelConfig(cell=cell, vocabulary_size=vocabulary.size, **options),
            vocabulary,
            name=name,
            card=card,
        )
    return model.requires_grad_(False).eval()


def in_numpy(model: CharModel) -> NumpyModel:
    """The same network without torch."""
    tensors = {name: weight.detach().numpy() for name, weight in model.state_dict().items()}
    weights = weights_from(model.config, tensors)
    return NumpyModel(model.config, model.vocabulary, weights, model.name, model.card, tensors=tensors)


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
