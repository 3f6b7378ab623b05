"""What units are worth: equal to reading without them one by one; nothing where nothing depends on them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import rnnviz
from rnnviz.lab.analysis import ablation, directions
from rnnviz.lab.analysis.ablation import Ablation, ablate
from rnnviz.lab.analysis.directions import Direction
from rnnviz.lab.analysis.interventions import Intervention
from rnnviz.networks.cells import CELLS
from tests.support.built import UNUSED, built, quoted
from tests.support.models import TEXT
from tests.support.torch_models import tiny_torch

SHORT = TEXT[:120]


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("batch", [5, 64])
def test_a_loss_is_that_of_reading_without_the_unit(cell: str, batch: int) -> None:
    model = tiny_torch(cell, layers=2)
    base = rnnviz.trace(model, SHORT)
    ablation = ablate(model, SHORT, layer=1, batch=batch)
    assert ablation.units.tolist() == list(range(12))
    assert ablation.baseline == pytest.approx(base.perplexity[-1], rel=1e-6)
    for unit in range(12):
        without = rnnviz.trace(model, SHORT, change=Intervention((unit,), "zero", layer=1))
        assert ablation.loss[unit] == pytest.approx((without.nll - base.nll).mean(), abs=1e-6)
        assert ablation.perplexity[unit] == pytest.approx(without.perplexity[-1], rel=1e-5)
    assert ablation.loss[ablation.order[0]] == ablation.loss.max()


def test_units_and_random_directions_can_be_held_at_their_means() -> None:
    model = tiny_torch("lstm", layers=2)
    base = rnnviz.trace(model, SHORT)
    ablation = ablate(model, SHORT, layer=1, units=[7, 2], controls=3, to="mean", batch=2)
    assert (ablation.units.tolist(), ablation.random.units.tolist()) == ([7, 2], [0, 1, 2])
    along = [directions.random_direction(12, seed=seed, layer=1) for seed in range(3)]
    silenced = [*(Direction(str(unit), np.eye(12)[unit], 1) for unit in (7, 2)), *along]
    for direction, loss in zip(silenced, [*ablation.loss, *ablation.random.loss], strict=True):
        # The state after the last character predicts nothing that is scored.
        mean = float((base._states[:-1, 1] @ direction.vector).mean())
        without = rnnviz.trace(model, SHORT, change=Intervention(direction, "clamp", mean))
        assert loss == pytest.approx((without.nll - base.nll).mean(), abs=1e-6)


def test_a_ranking_replicates_where_both_halves_rank_alike() -> None:
    text = "".join(np.random.default_rng(0).choice(list(TEXT), 400).tolist())
    ablation = ablate(tiny_torch("rnn"), text)
    base = rnnviz.trace(tiny_torch("rnn"), text).nll
    losses = [
        rnnviz.trace(tiny_torch("rnn"), text, change=Intervention((unit,))).nll - base for unit in range(12)
    ]
    places = [
        np.argsort(np.argsort([loss[half].sum() for loss in losses]))
        for half in (slice(200), slice(200, 400))
    ]
    assert ablation.replication == pytest.approx(np.corrcoef(*places)[0, 1], abs=0.02)
    assert ablate(built(), quoted(1000)).needed < 1000


def test_reading_stops_once_the_ranking_replicates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablation, "FIRST_TEST_CHARS", 100)
    text = quoted(1000)
    early, late = (ablate(built(), text, until=until) for until in (-1.0, 2.0))
    assert early.characters == 100
    assert late.characters == len(text)
    first = ablate(built(), text[:100])
    np.testing.assert_allclose(early.loss, first.loss, atol=1e-6)
    assert early.baseline == pytest.approx(first.baseline, rel=1e-6)
    np.testing.assert_allclose(late.loss, ablate(built(), text).loss, atol=1e-6)


def test_only_a_unit_that_surely_costs_more_than_random_directions_is_counted() -> None:
    ablation = ablate(built(), quoted(3000), controls=3)
    np.testing.assert_allclose(ablation.lead.estimate, ablation.loss - ablation.random.loss.max(), atol=1e-9)
    assert ablation.beyond == int((ablation.lead.low > 0).sum()) > 0
    # A unit that leads here and trails there, by a little less, is ahead on the whole.
    largest = ablation.random.passages[:, int(ablation.random.loss.argmax())]
    signs = np.random.default_rng(0).permutation(np.arange(len(largest)) % 2)
    swing = np.where(signs == 0, 1.0, -0.95) * np.abs(largest).max()
    doubtful = replace(ablation, sums=(largest + swing)[None, :, None], units=ablation.units[:1])
    assert doubtful.lead.estimate[0] > 0
    assert doubtful.beyond == 0
    assert ablate(built(), "It's.", controls=3).beyond is None
    assert replace(ablation, random=None).beyond is None


def test_a_loss_has_an_interval_and_is_told_apart_by_a_target() -> None:
    text = quoted(1000)
    inside = rnnviz.units.target("quotes", text)
    ablation = ablate(built(), text, units=[4, UNUSED], target=inside)
    for named in ("quotes", "(?s)“[^”]*", inside.values):
        assert (
            ablate(built(), text, units=[4, UNUSED], target=named).facts()["inside"]
            == inside.values[:-1].sum()
        )
    assert ablation.interval.low[0] < ablation.loss[0] < ablation.interval.high[0]
    np.testing.assert_allclose(ablation.interval.estimate, ablation.loss, atol=1e-9)
    alone = rnnviz.units.effect(built(), text, Intervention((4,)), target=inside, controls=1).within
    assert ablation.within.difference.estimate == pytest.approx([alone.difference.estimate[0], 0], abs=1e-6)


@pytest.fixture(scope="module")
def ranked() -> Ablation:
    return ablate(built(), quoted(1000), controls=3)


def noisy(ablation: Ablation) -> Ablation:
    noise = np.random.default_rng(3).normal(size=ablation.sums.shape)
    return replace(ablation, sums=noise, random=None)


def turning(ablation: Ablation) -> Ablation:
    """The second half of the text ranks the units the other way round."""
    passages = ablation.sums.shape[1]
    turns = np.sign(np.arange(passages) - passages // 2 + 0.5)[:, None]
    return replace(ablation, sums=-ablation.sums * turns)


RANDOM = ["beyond", "random"]


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (lambda ranked: ranked, ["most", *RANDOM]),
        (lambda ranked: replace(ranked, random=None), ["most"]),
        (lambda ranked: replace(ranked, ranked=False), ["whole", *RANDOM]),
        (noisy, ["no-ranking", "needed"]),
        (turning, ["no-ranking", "unforeseeable"]),
        (lambda _: ablate(built(), "It's.", units=[1, 2]), ["whole"]),
        (
            lambda ranked: replace(ranked, units=ranked.units[:2], sums=ranked.sums[..., :2], random=None),
            ["too-short"],
        ),
    ],
)
def test_an_ablation_says_what_is_true_of_it(
    change: Callable[[Ablation], Ablation], codes: list[str], ranked: Ablation
) -> None:
    ablation = change(ranked)
    assert [sentence.code.removeprefix("ablation.") for sentence in ablation.sentences()] == codes
    listed = ablation.table().rows
    assert bool(listed) == (ablation.replicates or not ablation.ranked)
    assert bool(ablation.panels()) == ("most" in codes)
    facts = {unit["unit"]: unit for unit in ablation.facts()["units"]}
    assert all(row[1].value == facts[row[0].value]["loss"] for row in listed)
    if panels := ablation.panels():
        assert panels[0].picture.values == [facts[unit]["loss"] for unit in panels[0].picks]
        assert panels[0].picks == ablation.order.tolist()
