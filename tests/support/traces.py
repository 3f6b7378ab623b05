"""A text with characters of every width, networks that read it, and their traces compared."""

from typing import Any

import numpy as np

from rnnviz import ModelConfig
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.scoring.trace import Trace
from rnnviz.text.vocabulary import Vocabulary
from tests.support.closeness import assert_states
from tests.support.models import network, random_tensors

VOCABULARY = Vocabulary(tuple(sorted("\n abcdefghijklm,.世界é😀")))
TEXT = "a cab,\na bad\tbeef é 世界 😀. zzz"
ARRAYS = ("ids", "known", "hidden", "cell", "nll", "perplexity", "rank", "entropy")


def spread_network(cell: str = "gru", **options: Any) -> NumpyModel:
    """A random model, its weights spread far enough that states and gates vary."""
    options = {"hidden_size": 10, "embedding_size": 7, "layers": 2, **options}
    config = ModelConfig(cell, VOCABULARY.size, **options)  # type: ignore[arg-type]
    tensors = {name: 2 * weights for name, weights in random_tensors(config).items()}
    return network(config, VOCABULARY, tensors, name=f"tiny-{cell}")


def assert_same_trace(trace: Trace, other: Trace, tolerance: float = 1e-5) -> None:
    assert trace.text == other.text
    for name in ARRAYS:
        assert np.shape(getattr(trace, name)) == np.shape(getattr(other, name)), name
        assert_states(getattr(trace, name), getattr(other, name), tolerance, name)
    np.testing.assert_allclose(trace.log_probs, other.log_probs, rtol=0, atol=tolerance)
    for name, values in trace.gates.items():
        np.testing.assert_allclose(values, other.gates[name], rtol=0, atol=tolerance, err_msg=name)
