"""Networks and texts that are long enough to be read as stretches."""

from typing import Any

import numpy as np

from rnnviz import ModelConfig
from rnnviz.arrays import Ids
from rnnviz.networks.batched_scoring import MIN_SPLIT_CHARS, CharScorer, Engine
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.networks.prediction import Scores
from rnnviz.text.vocabulary import Vocabulary
from tests.support.models import network, random_tensors, with_tensors

VOCABULARY = Vocabulary(tuple(sorted("abcdefghijklmnopqrstuvwxyz ,.\n")))
LENGTH = MIN_SPLIT_CHARS + 777
STRETCHED: list[dict[str, Any]] = [
    {"cell": "rnn", "activation": "relu"},
    {"cell": "gru", "embedding_size": 0},
    {"cell": "lstm", "layers": 2},
]


def reader(*, scale: float = 1.0, **settings: Any) -> NumpyModel:
    """A random network; `scale` makes its predictions surer."""
    settings = {"hidden_size": 24, "embedding_size": 8, **settings}
    config = ModelConfig(vocabulary_size=VOCABULARY.size, **settings)
    model = network(config, VOCABULARY, random_tensors(config, seed=3))
    return with_tensors(model, readout_weight=scale * model.tensors["readout.weight"])


def symbols(n: int, lowest: int = 0) -> Ids:
    return np.random.default_rng(1).integers(lowest, VOCABULARY.size, n)


def in_sequence(network: NumpyModel, ids: Ids) -> Scores:
    """The scores by pieces that are too short to be cut into stretches."""
    scorer = network.scorer()
    cuts = range(MIN_SPLIT_CHARS // 2, len(ids), MIN_SPLIT_CHARS // 2)
    return Scores.joined([scorer.advance_details(part) for part in np.split(ids, cuts)])


def assert_as_in_sequence(network: NumpyModel, by: Engine) -> None:
    """An engine's costs, ranks and entropies of a text in stretches are those of a reading in sequence."""
    ids = symbols(LENGTH)  # with some that are unknown
    ours, theirs = (
        CharScorer(by, VOCABULARY.start, wide=True).advance_details(ids),
        in_sequence(network, ids),
    )
    np.testing.assert_allclose(ours.log_p, theirs.log_p, rtol=0, atol=1e-4)
    np.testing.assert_allclose(ours.entropy, theirs.entropy, rtol=0, atol=1e-4)
    assert np.mean(ours.rank != theirs.rank) < 1e-3  # equals to rounding may change places
    again, after = (CharScorer(by, VOCABULARY.start, wide=True) for _ in range(2))
    np.testing.assert_allclose(again.advance(ids), ours.log_p, rtol=0, atol=1e-4)
    whole = after.advance_predictions(ids)
    np.testing.assert_allclose(whole[np.arange(LENGTH), ids], ours.log_p, rtol=0, atol=1e-4)
    np.testing.assert_allclose(after.advance(ids[:9]), again.advance(ids[:9]), rtol=0, atol=1e-4)
