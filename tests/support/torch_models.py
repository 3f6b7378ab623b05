"""Small networks in torch."""

from typing import Any

import torch

from rnnviz import ModelConfig
from rnnviz.lab.engines.torch_model import CharModel, load
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.text.vocabulary import Vocabulary
from tests.support.models import tiny

LETTERS = Vocabulary(tuple("abcdefgh"))
V = LETTERS.size
H = 12


def in_torch(model: NumpyModel) -> CharModel:
    """The same network, computed by torch."""
    tensors = {name: tensor.copy() for name, tensor in model.tensors.items()}
    about = {"vocabulary": model.vocabulary, "name": model.name, "card": model.card}
    return load(model.config, tensors, about, "cpu")


def tiny_torch(cell: str, **options: Any) -> CharModel:
    """The network that `tiny` gives, computed by torch."""
    return in_torch(tiny(cell, **options))


def random_network(cell: str, activation: str = "tanh", *, layers: int = 1) -> CharModel:
    torch.manual_seed(0)
    settings: dict[str, Any] = {"cell": cell, "activation": activation, "layers": layers, "embedding_size": 5}
    return CharModel(ModelConfig(vocabulary_size=V, hidden_size=H, **settings), LETTERS)
