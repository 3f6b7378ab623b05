"""Small networks in torch."""

from typing import Any

import torch

from rnnviz import ModelConfig
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.text.vocabulary import Vocabulary

LETTERS = Vocabulary(tuple("abcdefgh"))
V = LETTERS.size
H = 12


def random_network(cell: str, activation: str = "tanh", *, layers: int = 1) -> CharModel:
    torch.manual_seed(0)
    settings: dict[str, Any] = {"cell": cell, "activation": activation, "layers": layers, "embedding_size": 5}
    return CharModel(ModelConfig(vocabulary_size=V, hidden_size=H, **settings), LETTERS)
