"""A text with characters of every width, networks that read it, and their traces compared."""

from functools import cache
from typing import Any

import numpy as np
import torch

from rnnviz import ModelConfig
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.scoring.trace import Trace
from rnnviz.text.vocabulary import Vocabulary

VOCABULARY = Vocabulary(tuple(sorted("\n abcdefghijklm,.世界é😀")))
TEXT = "a cab,\na bad\tbeef é 世界 😀. zzz"
ARRAYS = ("ids", "known", "hidden", "cell", "nll", "perplexity", "rank", "entropy")
KINDS = ("mlp", "rnn", "gru", "lstm", "mingru")


@cache
def spread_network(cell: str = "gru", **options: Any) -> CharModel:
    """A random model, its weights spread far enough that states and gates vary; not to be changed."""
    torch.manual_seed(0)
    options = {"hidden_size": 10, "embedding_size": 7, "layers": 2, **options}
    model = CharModel(ModelConfig(cell, VOCABULARY.size, **options), VOCABULARY, name=f"tiny-{cell}")  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return model


def assert_same_trace(one: Trace, other: Trace, tolerance: float = 1e-5) -> None:
    assert one.text == other.text
    for name in ARRAYS:
        left, right = getattr(one, name), getattr(other, name)
        if left is None:
            assert right is None
        else:
            assert left.shape == right.shape
            np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance, err_msg=name)
    np.testing.assert_allclose(one.log_probs, other.log_probs, rtol=0, atol=tolerance)
    for name, values in one.gates.items():
        np.testing.assert_allclose(values, other.gates[name], rtol=0, atol=tolerance, err_msg=name)
