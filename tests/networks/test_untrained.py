"""Networks before training: drawn as torch's layers are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rnnviz
from rnnviz.networks import torch_model
from rnnviz.networks.config import CELLS, ModelConfig
from rnnviz.networks.untrained import tensors, untrained
from rnnviz.text.vocabulary import Vocabulary
from tests.conftest import TEXT, tiny

VOCABULARY = Vocabulary(tuple(map(chr, range(97, 97 + 26))))


@pytest.mark.parametrize(
    ("cell", "embedding", "tied"),
    [*itertools.product(CELLS, (40, 0), (False,)), ("gru", 64, True)],
)
def test_each_tensor_is_drawn_from_the_distribution_that_torch_draws_it_from(
    cell: str, embedding: int, tied: bool
) -> None:
    config = ModelConfig(cell, VOCABULARY.size, hidden_size=64, layers=2, embedding_size=embedding, tied=tied)
    theirs = [torch_model.untrained(config, VOCABULARY, seed=seed).state_dict() for seed in range(20)]
    ours = [tensors(config, seed) for seed in range(20)]
    assert ours[0].keys() == theirs[0].keys()
    for name, shape in config.shapes().items():
        one, other = (
            np.sort(np.concatenate([np.asarray(drawn[name]).ravel() for drawn in many]))
            for many in (ours, theirs)
        )
        assert ours[0][name].shape == shape
        middle = float(other.mean()) if ".decay" in name or cell == "s6" else 0
        assert float(one.mean()) == pytest.approx(middle, abs=0.15 * float(one.std()))
        assert float(one.std()) == pytest.approx(float(other.std()), rel=0.1)
        if name != "embedding.weight" or tied:  # uniform: it has ends
            np.testing.assert_allclose(one[[0, -1]], other[[0, -1]], rtol=0.05, atol=0.05 * one.std())


def test_a_seed_is_a_network_and_another_seed_another() -> None:
    model = tiny("lstm")
    one, same, other = (rnnviz.trace(untrained(model, seed), TEXT).hidden for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 0.01
    assert one.shape == rnnviz.trace(model, TEXT).hidden.shape


@pytest.mark.parametrize("layer", [0, 1])
def test_an_s6_begins_with_decays_and_step_sizes_of_a_known_range(layer: int) -> None:
    """a from 1 to N, and softplus(b), which is Δ for an input of 0, from 0.01 to 1."""
    config = ModelConfig("s6", VOCABULARY.size, hidden_size=512, layers=2)
    drawn = tensors(config, 0)
    a = np.exp(drawn[f"recurrence.decay_l{layer}"])
    delta = np.logaddexp(0, drawn[f"recurrence.bias_ih_l{layer}"][: 512 // 4])
    for found, low, high in ((a, 1, 4), (delta, 0.01, 1)):
        assert low * 0.999 <= found.min() < 1.2 * low + 0.05
        assert high * 1.001 >= found.max() > 0.9 * high
    assert np.abs(drawn[f"recurrence.bias_ih_l{layer}"][128:]).max() <= 1 / np.sqrt(128)
