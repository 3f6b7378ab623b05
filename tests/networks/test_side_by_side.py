"""Long texts read as stretches side by side: the same costs as in sequence, whatever is remembered."""

from typing import Any

import numpy as np
import pytest
import torch

from rnnviz import CharModel, ModelConfig
from rnnviz.arrays import Ids
from rnnviz.networks import side_by_side
from rnnviz.networks.prediction import Scores
from rnnviz.networks.progress import run
from rnnviz.networks.torch_abreast import TorchAbreast
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


def almost_forgets() -> CharModel:
    """A gru whose states keep 97 % at each step: after the warm-up 4e-4 of a difference is left."""
    made = model(cell="gru", scale=15.0)
    with torch.no_grad():
        made.recurrence.weight_hh_l0.zero_()
        made.recurrence.weight_ih_l0[24:48] = 0.0
        made.recurrence.bias_hh_l0.zero_()
        made.recurrence.bias_ih_l0[24:48] = 3.48  # σ(3.48) ** 256 = 4e-4
    return made


def remembers_in_its_cell() -> CharModel:
    """An lstm that notes symbol 1 in C for ever, and shows it in H only while it reads symbol 2."""
    made = model(cell="lstm", embedding_size=0, scale=20.0)
    shut, opened = -20.0, 40.0
    with torch.no_grad():
        for weight in made.recurrence.parameters():
            weight.zero_()
        made.recurrence.bias_ih_l0[:24] = shut  # input gate
        made.recurrence.bias_ih_l0[24:48] = -shut  # forget gate
        made.recurrence.bias_ih_l0[48:72] = 1.0  # candidate
        made.recurrence.bias_ih_l0[72:] = shut  # output gate
        made.recurrence.weight_ih_l0[:24, 1] = opened
        made.recurrence.weight_ih_l0[72:, 2] = opened
    return made


def never_settles() -> CharModel:
    """An rnn whose weights are so large that any two states, however near, part again: chaos."""
    made = model(cell="rnn", hidden_size=64, scale=4.0)
    with torch.no_grad():
        made.recurrence.weight_hh_l0.normal_(std=4 / 64**0.5, generator=torch.Generator().manual_seed(0))
    return made


def text(n: int, seed: int = 0) -> str:
    return "".join(np.random.default_rng(seed).choice(list(VOCABULARY.characters), n)) if n else ""


def symbols(n: int, lowest: int = 0) -> Ids:
    return np.random.default_rng(1).integers(lowest, VOCABULARY.size, n)


def in_sequence(network: CharModel, ids: Ids) -> Scores:
    """The scores by pieces that are too short to be cut into stretches."""
    scorer = network.scorer()
    cuts = range(side_by_side.LEAST // 2, len(ids), side_by_side.LEAST // 2)
    return Scores.joined([scorer.advance_details(part) for part in np.split(ids, cuts)])


def read_again(network: CharModel, ids: Ids) -> int:
    """How many characters the seams made it read twice, in stretches."""
    reading = side_by_side.SideBySide(TorchAbreast(network))
    ids = ids[: len(ids) - len(ids) % side_by_side.count(len(ids))]
    run(reading.score(ids, ids, network.zero_state(), want=False))
    return reading.read_again


@pytest.mark.parametrize("settings", CELLS, ids=lambda s: "-".join(map(str, s.values())))
def test_costs_ranks_and_entropies_are_those_of_a_reading_in_sequence(settings: dict[str, Any]) -> None:
    network, ids = model(scale=8.0, **settings), symbols(LENGTH)  # with some that are unknown
    ours, theirs = network.scorer().advance_details(ids), in_sequence(network, ids)
    np.testing.assert_allclose(ours.log_p, theirs.log_p, rtol=0, atol=1e-4)
    np.testing.assert_allclose(ours.entropy, theirs.entropy, rtol=0, atol=1e-4)
    assert np.mean(ours.rank != theirs.rank) < 1e-3  # equals to rounding may change places
    np.testing.assert_array_equal(network.scorer().advance(ids), ours.log_p)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_network_that_never_forgets_is_read_again_where_a_seam_shows_it(cell: str) -> None:
    network, ids = never_forgets(cell), symbols(LENGTH, 1)
    ours, theirs = network.scorer().advance(ids), in_sequence(network, ids).log_p
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4)
    assert read_again(network, ids) > LENGTH // 2


def test_a_small_difference_at_a_seam_is_mended_too() -> None:
    network, ids = almost_forgets(), np.full(LENGTH, 3)
    ours, theirs = network.scorer().advance(ids), in_sequence(network, ids).log_p
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4)
    assert 0 < read_again(network, ids) < LENGTH // 2


def test_an_lstms_cell_is_compared_at_a_seam_as_its_hidden_state_is() -> None:
    network, ids = remembers_in_its_cell(), symbols(LENGTH, 3)
    ids[side_by_side.WARM_UP :: side_by_side.SHORTEST] = 2
    without = in_sequence(network, ids).log_p
    ids[50] = 1
    ours, theirs = network.scorer().advance(ids), in_sequence(network, ids).log_p
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4)
    assert np.abs(theirs - without)[1:][ids[:-1] == 2].min() > 0.1  # what was noted is told ever after


def test_a_forgetful_network_is_read_once() -> None:
    for ids in (np.ones(LENGTH, np.int64), symbols(LENGTH)):  # of equal stretches, and of all kinds
        assert read_again(model(cell="gru"), ids) == 0


@pytest.mark.parametrize("network", [never_settles(), never_forgets("gru")], ids=["chaos", "memory"])
def test_no_text_is_read_again_more_than_twice(network: CharModel) -> None:
    for n in (LENGTH, 2 * LENGTH):
        assert n // 2 < read_again(network, symbols(n, 1)) <= 2 * n


def test_stretches_along_which_rounding_grows_are_counted_and_no_others() -> None:
    ids = np.full(LENGTH, 3)
    wild, calm, slow = never_settles().scorer(), model(cell="gru").scorer(), almost_forgets().scorer()
    ours = wild.advance(ids)
    assert np.abs(ours - in_sequence(never_settles(), ids).log_p).max() > 1e-2  # that is why
    rows = side_by_side.count(LENGTH)
    assert wild.unsettled == (rows - 1) * (LENGTH // rows)  # all but the first stretch
    calm.advance(ids)
    slow.advance(ids)
    assert (calm.unsettled, slow.unsettled) == (0, 0)  # `slow` was read again, and met the first reading
    report = scoring.perplexity(never_settles(), text=text(LENGTH))
    assert report.unsettled == wild.unsettled == report.to_json()["unsettled"]
    assert scoring.perplexity(never_settles(), text=text(LENGTH), precise=True).unsettled == 0


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
    monkeypatch.setattr("rnnviz.networks.progress.INTERVAL", 0.0)
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
    log_p, _, _ = run(network.scorer().advancing(np.ones(5, np.int64), want=False))
    assert log_p.shape == (5,)


@pytest.mark.parametrize("n", [0, 1, 2047, side_by_side.LEAST - 1, side_by_side.LEAST, 10**7])
def test_stretches_are_long_and_not_too_many(n: int) -> None:
    rows = side_by_side.count(n)
    assert 1 <= rows <= side_by_side.ROWS
    assert rows == 1 or n // rows >= side_by_side.SHORTEST > side_by_side.WARM_UP
