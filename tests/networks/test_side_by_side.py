"""Long texts read as stretches side by side: the same costs as in sequence, whatever is remembered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from rnnviz import CharModel, ModelConfig
from rnnviz.networks import side_by_side
from rnnviz.networks.text_scorer import CharScorer, to_the_end
from rnnviz.reading import scoring
from rnnviz.text.vocabulary import Vocabulary

VOCABULARY = Vocabulary(tuple(sorted("abcdefghijklmnopqrstuvwxyz ,.\n")))
LENGTH = side_by_side.LEAST + 777
CELLS: list[dict[str, Any]] = [
    {"cell": "rnn"},
    {"cell": "rnn", "activation": "relu"},
    {"cell": "gru"},
    {"cell": "gru", "layers": 2},
    {"cell": "gru", "embedding_size": 0},
    {"cell": "lstm"},
    {"cell": "lstm", "layers": 2},
]


def model(*, scale: float = 1.0, **settings: Any) -> CharModel:
    torch.manual_seed(3)
    made = CharModel(
        ModelConfig(vocabulary_size=VOCABULARY.size, **{"hidden_size": 24, "embedding_size": 8, **settings}),
        VOCABULARY,
    )
    with torch.no_grad():
        made.readout.weight.mul_(scale)
    return made.requires_grad_(False)


def never_forgets(cell: str) -> CharModel:
    """A network whose gates are shut: what it read once stays for tens of thousands of characters."""
    made = model(cell=cell, scale=4.0)
    gate = slice(24, 48)  # a gru's update gate, an lstm's forget gate
    with torch.no_grad():
        made.recurrence.bias_ih_l0[gate] += 9.0
        if cell == "lstm":
            made.recurrence.bias_ih_l0[:24] -= 6.0
    return made


def text(n: int, seed: int = 0) -> str:
    return "".join(np.random.default_rng(seed).choice(list(VOCABULARY.characters), n)) if n else ""


def in_sequence(network: CharModel, ids: np.ndarray) -> CharScorer:
    scorer = network.scorer()
    scorer._wide = None
    return scorer


@pytest.mark.parametrize("settings", CELLS, ids=lambda s: "-".join(map(str, s.values())))
def test_costs_ranks_and_entropies_are_those_of_a_reading_in_sequence(settings: dict[str, Any]) -> None:
    network = model(scale=8.0, **settings)
    ids = np.random.default_rng(1).integers(0, VOCABULARY.size, LENGTH)  # with some that are unknown
    ours = network.scorer().advance_details(ids)
    theirs = in_sequence(network, ids).advance_details(ids)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=0, atol=1e-4)
    np.testing.assert_allclose(ours[2], theirs[2], rtol=0, atol=1e-4)
    assert np.mean(ours[1] != theirs[1]) < 1e-3  # equals to rounding may change places
    np.testing.assert_array_equal(network.scorer().advance(ids), ours[0])


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_network_that_never_forgets_is_read_again_where_a_seam_shows_it(
    cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = never_forgets(cell)
    ids = np.random.default_rng(1).integers(1, VOCABULARY.size, LENGTH)
    scorer = network.scorer()
    ours, theirs = scorer.advance(ids), in_sequence(network, ids).advance(ids)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4)
    assert scorer._wide is not None
    assert scorer._wide.read_again > LENGTH // 2

    monkeypatch.setattr(side_by_side, "TOLERANCE", 1e9)  # without a look at the seams it would be wrong
    assert np.abs(network.scorer().advance(ids) - theirs).max() > 1e-3


def test_a_forgetful_network_is_read_once() -> None:
    scorer = model(cell="gru").scorer()
    scorer.advance(np.ones(LENGTH, np.int64))
    assert scorer._wide is not None
    assert scorer._wide.read_again == 0


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_where_a_text_is_cut_changes_nothing(cell: str) -> None:
    network = model(cell=cell, scale=8.0)
    ids = np.random.default_rng(2).integers(0, VOCABULARY.size, 2 * LENGTH)
    whole = network.scorer().advance(ids)
    for cuts in ([100], [side_by_side.LEAST + 5], [7, LENGTH, LENGTH + 1]):
        scorer = network.scorer()
        parts = [scorer.advance(part) for part in np.split(ids, cuts)]
        np.testing.assert_allclose(np.concatenate(parts), whole, rtol=0, atol=1e-4)


def test_the_same_text_gives_the_same_number_to_the_last_digit() -> None:
    network = model(cell="gru")
    long = text(LENGTH)
    assert (
        scoring.perplexity(network, text=long).perplexity == scoring.perplexity(network, text=long).perplexity
    )


def test_progress_comes_while_a_long_piece_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "INTERVAL", 0.0)
    network, long = model(cell="gru"), text(LENGTH) + "ß"
    steps = list(scoring.score(network, text=long))
    report = scoring.perplexity(network, text=long)
    assert len(steps) > 20
    assert [s.characters for s in steps] == sorted(s.characters for s in steps)
    assert [s.bytes_read for s in steps] == sorted(s.bytes_read for s in steps)
    assert steps[-1].characters == LENGTH + 1
    assert steps[-1].perplexity == report.perplexity
    assert steps[len(steps) // 2].perplexity == pytest.approx(report.perplexity, rel=0.1)


def test_a_reading_can_be_left_at_any_step() -> None:
    network = model(cell="gru")
    steps = network.scorer().advancing(np.ones(LENGTH, np.int64), want=False)
    assert next(steps).characters < LENGTH
    steps.close()
    log_p, _, _ = to_the_end(network.scorer().advancing(np.ones(5, np.int64), want=False))
    assert log_p.shape == (5,)


@pytest.mark.parametrize("n", [0, 1, 2047, side_by_side.LEAST - 1, side_by_side.LEAST, 10**7])
def test_stretches_are_long_and_not_too_many(n: int) -> None:
    rows = side_by_side.count(n)
    assert 1 <= rows <= side_by_side.ROWS
    assert rows == 1 or n // rows >= side_by_side.SHORTEST > side_by_side.WARM_UP
