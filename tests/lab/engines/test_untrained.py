"""Networks before training: drawn as torch's layers are."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz import units
from rnnviz.lab.analysis import controls, matching
from rnnviz.lab.analysis.searching import Searcher
from rnnviz.lab.engines import torch_model
from rnnviz.lab.engines.custom import CustomModel
from rnnviz.lab.engines.untrained import tensors, untrained
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import ModelConfig
from rnnviz.text.vocabulary import Vocabulary
from tests.support.foreign_networks import long_memory

VOCABULARY = Vocabulary(tuple(map(chr, range(97, 97 + 26))))


@pytest.mark.parametrize(
    ("cell", "embedding", "tied"),
    [*itertools.product(CELLS, (40, 0), (False,)), ("gru", 64, True)],
)
def test_untrained_tensors_have_torch_distribution(cell: str, embedding: int, tied: bool) -> None:
    config = ModelConfig(cell, VOCABULARY.size, hidden_size=64, layers=2, embedding_size=embedding, tied=tied)
    theirs = [torch_model.untrained(config, VOCABULARY, seed=seed).state_dict() for seed in range(20)]
    ours = [tensors(config, seed) for seed in range(20)]
    assert ours[0].keys() == theirs[0].keys()
    for name, shape in config.shapes().items():
        our_numbers, their_numbers = (
            np.sort(
                np.concatenate([np.asarray(tensors_by_name[name]).ravel() for tensors_by_name in networks])
            )
            for networks in (ours, theirs)
        )
        assert ours[0][name].shape == shape
        assert float(our_numbers.mean()) == pytest.approx(0, abs=0.15 * float(our_numbers.std()))
        assert float(our_numbers.std()) == pytest.approx(float(their_numbers.std()), rel=0.1)
        if name != "embedding.weight" or tied:  # uniform: it has ends
            np.testing.assert_allclose(
                our_numbers[[0, -1]], their_numbers[[0, -1]], rtol=0.05, atol=0.05 * our_numbers.std()
            )


def test_copies_begin_as_the_recipe_on_the_card_says() -> None:
    config = ModelConfig("rnn", VOCABULARY.size, hidden_size=64, embedding_size=0)
    model = torch_model.untrained(config, VOCABULARY, seed=0)
    recipes: list[Any] = [
        {"cell": "rnn", "initialisation": "normal", "sigma": 0.25},
        {"cell": "rnn", "initialisation": "identity", "sigma": 0.25},
        {"initialisation": ["normal"], "sigma": "wide"},  # a file's card may say anything
        "none",
    ]
    for recipe, spread, diagonal in zip(recipes, (0.25, 0.0, 0.07, 0.07), (0.0, 1.0, 0.0, 0.0), strict=True):
        model.card = {"recipe": recipe}
        W_hh = untrained(model).weights.layers[0].W_h
        assert W_hh[~np.eye(64, dtype=bool)].std() == pytest.approx(spread, abs=0.01)
        assert np.diag(W_hh).mean() == pytest.approx(diagonal, abs=0.1)


def counter(seed: int) -> CustomModel:
    """A function, whose copies can't be drawn."""
    weights = np.random.default_rng(seed).normal(size=(4, 3)).astype(np.float32)

    def step(ids: Any, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        h = 0.9 * state["h"] + weights[ids]
        return h, {"h": h}

    return rnnviz.adapt_step(step, state={"h": np.zeros(3)}, characters="ab c")


@pytest.mark.parametrize("fresh", [long_memory, counter])
def test_own_network_is_compared_with_fresh_copies(
    fresh: Callable[[int], Any],
) -> None:
    text = "ab c ba cab " * 20
    theirs = [rnnviz.trace(fresh(seed), text).hidden for seed in range(2)]
    network, aim = fresh(9), units.target("word-start", text)
    for model, hidden in zip(units.untrained(network, 2, fresh=fresh), theirs, strict=True):
        np.testing.assert_array_equal(rnnviz.trace(model, text).hidden, hidden)
    best = [Searcher(rnnviz.trace(fresh(seed), text)).best_column(aim) for seed in range(2)]
    (echoes,) = controls.echoes(network, text, [aim], copies=2, fresh=fresh)
    np.testing.assert_allclose(echoes, best, atol=1e-6)
    read = matching.untrained_copies(network, text, 2, fresh=fresh)
    for copy, hidden in zip(read, theirs, strict=True):
        np.testing.assert_allclose(copy.states.T, hidden[:, 0], atol=2e-3)  # float16
