"""A probe finds what is written along a direction, says how many units hold it, and has its controls."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz import units
from rnnviz.lab.analysis import evidence, ranking
from rnnviz.lab.analysis.activations import Unit
from rnnviz.lab.analysis.directions import Direction
from rnnviz.lab.analysis.probing import probe, random_labels
from rnnviz.lab.analysis.searching import Searcher
from rnnviz.lab.analysis.targets import Target
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import KINDS, ModelConfig
from tests.support.built import VOCABULARY, quoted
from tests.support.models import TEXT
from tests.support.torch_models import tiny_torch

H = 32


@cache
def written() -> tuple[CharModel, Direction]:
    """An Elman network of two layers: a latch for quotes in the first is written along one direction of the
    second, among the echoes of the text along all others, so that no unit holds it.
    """
    V, random = VOCABULARY.size, np.random.default_rng(5)
    opens, closes = VOCABULARY.encode("“”").tolist()
    W_x, W_h = random.normal(size=(H, V + 1)), np.zeros((H, H))
    W_h[1:, 1:] = 0.8 * random.normal(size=(H - 1, H - 1)) / np.sqrt(H) * 2
    W_x[0], W_x[0, opens], W_x[0, [closes, VOCABULARY.start]] = 0, 8, -8
    W_h[0, 0] = 3
    turned = np.linalg.qr(random.normal(size=(H, H)))[0]  # its columns: the direction, then the rest
    parameters = {
        "recurrence.weight_ih_l0": W_x,
        "recurrence.weight_hh_l0": W_h,
        "recurrence.weight_ih_l1": 0.02 * turned * np.concatenate(([1.0], np.full(H - 1, 3.0))),
        "recurrence.weight_hh_l1": np.zeros((H, H)),
        "readout.weight": random.normal(size=(V, H)),
        "readout.bias": np.zeros(V),
    } | {f"recurrence.bias_{direction}_l{n}": np.zeros(H) for direction in ("ih", "hh") for n in (0, 1)}
    model = CharModel(ModelConfig("rnn", V, H, 2, 0), VOCABULARY, name="written")
    model.load_state_dict(
        {name: torch.tensor(weights, dtype=torch.float32) for name, weights in parameters.items()}
    )
    return model.requires_grad_(False).eval(), Direction("written", turned[:, 0], layer=1)


@cache
def read() -> rnnviz.Trace:
    return rnnviz.trace(written()[0], quoted(24_000))


def test_probe_finds_a_direction_that_no_unit_holds() -> None:
    _, along = written()
    result = probe(read(), units.target("quotes", read().text), layer=1)
    assert result.score > 0.999
    assert result.few[0].score < 0.8
    assert result.direction().vector @ along.vector > 0.99
    assert result.direction().layer == 1
    assert (result.held, result.verdict) == ("spread", "learned")
    assert 0.4 < np.mean(result.control) < 0.6
    assert result.selectivity == pytest.approx(result.score - np.mean(result.control))


def test_a_unit_that_holds_it_is_named() -> None:
    result = probe(read(), units.target("quotes", read().text), layer=0)
    assert result.few[0].units == (Unit(0, 0),)
    assert result.held == "one"
    assert result.shares[0] == pytest.approx(1, abs=0.01)
    assert result.direction().vector[0] > 0.9


def planted(n: int = 24_000, columns: int = 40) -> tuple[Target, np.ndarray]:
    random = np.random.default_rng(1)
    mask = np.arange(n) % 61 < 25
    return Target("planted", mask), random.normal(size=(n, columns))


def test_a_unit_that_only_helps_another_is_chosen_next() -> None:
    target, states = planted()
    noise = 3 * np.random.default_rng(2).normal(size=len(target))
    states[:, 5] = (
        target.values + noise
    )  # what 5 holds is seen once 20, which tells nothing alone, is taken away
    states[:, 20] = noise + 0.1 * states[:, 20]
    result = probe(states, target)
    assert [unit.unit for unit in result.few[1].units] == [5, 20]
    assert result.few[0].score < 0.6 < 0.99 < result.few[1].score


def test_a_graded_target_is_read_by_its_ranks() -> None:
    _, states = planted()
    height = states[:, :8].sum(axis=1)
    states[:, 3] = 10 + 5 * states[:, 3]
    result = probe(states, Target("height", np.exp(height)))
    assert result.measure == "correlation"
    assert result.score > 0.99
    assert result.few[3].score == pytest.approx(result.score, abs=0.001)
    even = Direction("even", (np.arange(40) < 8) * np.where(np.arange(40) == 3, 0.2, 1.0))
    assert result.direction().vector @ even.vector > 0.99
    assert max(map(abs, result.control)) < 0.1


def test_probe_of_noise_says_nothing() -> None:
    target, states = planted()
    result = probe(states, target, controls=10)
    assert (result.verdict, result.held) == ("nothing", None)
    assert abs(result.selectivity) < 0.03


def test_the_last_few_characters_are_a_rival() -> None:
    ids = read().ids
    three_ago = Target("three ago", np.concatenate(([False] * 3, np.isin(ids[:-3], ids[:4]))))
    result = probe(read(), three_ago, layer=1, controls=1)
    assert result.context.number in (4, 8)  # two characters don't reach so far
    assert result.context.score > 0.999
    assert result.character < result.score - 0.02
    assert result.verdict == "context"


def test_remembering_is_more_than_the_last_few_characters_tell() -> None:
    target = units.target("quotes", read().text)
    result = probe(
        read(),
        target,
        layer=1,
        controls=1,
        untrained=[np.random.default_rng(3).normal(size=(len(target), 4))],
    )
    searcher = Searcher(read(), layer=1)
    split = searcher.split(target)
    first, second = split.fitting, split.second
    scores = {
        k: ranking.score(
            evidence.predicted(read().ids, target.values, k, first)[second], target.values[second]
        )
        for k in evidence.CONTEXT_LENGTHS
    }
    rival = result.context
    assert rival.score == pytest.approx(scores[rival.number]) == pytest.approx(max(scores.values()))
    assert 0 < rival.low < result.score - rival.score < rival.high
    assert rival.p < 0.05
    assert result.lead[0] < result.score - max(result.untrained) < result.lead[1]
    assert result.verdict == "remembers"
    changes: list[tuple[dict[str, Any], str]] = [
        ({"context": replace(rival, low=-0.001)}, "context"),
        ({"context": replace(rival, low=None, high=None)}, "learned"),
        ({"context": replace(rival, score=result.score - 0.019)}, "context"),
        ({"context": None}, "learned"),
        ({"lead": None, "untrained": ()}, "learned"),
        ({"lead": (-0.01, 0.2)}, "untrained"),
        ({"untrained": (result.score,)}, "untrained"),
        ({"interval": None}, "short"),
        ({"interval": (0.499, 1.0)}, "nothing"),  # chance is in the interval
        ({"control": ()}, "learned"),
    ]
    for changed, expected_verdict in changes:
        assert replace(result, **changed).verdict == expected_verdict


def test_little_text_or_a_rare_target_gets_no_verdict() -> None:
    target, states = planted(2_000)
    states[:, 3] += 3 * target.values
    short = probe(states, target)
    assert (short.verdict, short.held) == ("short", None)
    once = np.zeros(24_000, np.bool_)
    once[1000] = True
    assert probe(planted()[1], Target("once", once)).verdict == "same text"


def runs(mask: np.ndarray) -> list[tuple[bool, int]]:
    """The runs of a mask whose end joins its beginning, in order of length."""
    turned = np.roll(mask, -int(np.flatnonzero(mask != np.roll(mask, 1))[0]))
    edges = np.flatnonzero(np.diff(turned)) + 1
    return sorted((bool(part[0]), len(part)) for part in np.split(turned, edges))


@pytest.mark.parametrize("begins", [False, True])
def test_random_labels_keep_the_lengths_of_runs(begins: bool) -> None:
    mask = np.repeat(np.arange(10) % 2 == begins, [3, 1, 4, 1, 5, 9, 2, 6, 5, 7])
    labellings = [random_labels(mask, np.random.default_rng(seed)) for seed in range(20)]
    assert {labels.sum() for labels in labellings} == {mask.sum()}
    assert all(runs(labels) == runs(mask) for labels in labellings)
    assert len({labels.tobytes() for labels in labellings}) > 15
    # Few runs have few orders: such labels too are elsewhere.
    once = np.arange(1000) // 100 == 5
    assert all((random_labels(once, np.random.default_rng(s)) & once).sum() < 51 for s in range(20))


def test_the_same_seed_draws_the_same_control() -> None:
    target, states = planted(2_000, 8)
    control, other, third = (probe(states, target, seed=seed).control for seed in (0, 0, 1))
    assert control == other != third


@pytest.mark.parametrize("cell", CELLS)
def test_all_states_that_can_be_searched_can_be_probed(cell: str) -> None:
    model = tiny_torch(cell, layers=2)
    traced = rnnviz.trace(model, (TEXT * 5)[:1500])
    for quantity in KINDS[cell].quantities[:2]:
        result = probe(traced, units.target("vowel", traced.text), quantity=quantity, controls=1)
        assert result.quantity == quantity == result.direction(1).quantity
        assert (result.layers, result.weights.shape, result.direction(1).layer) == ((0, 1), (2, 12), 1)
        assert result.direction(1) == Direction("probe", result.weights[1], layer=1, quantity=quantity)
    assert result.facts() == probe(traced, "vowel", quantity=quantity, controls=1).facts()


def test_fewer_units_than_eight_and_states_that_exploded() -> None:
    target, states = planted(2_000, 3)
    states[:, 0] += target.values
    states[5, 1], states[6, 1], states[:, 2] = np.inf, np.nan, 0.5
    result = probe(states, target)
    assert [len(subset.units) for subset in result.few] == [1, 2]
    assert np.isfinite(result.weights).all()
