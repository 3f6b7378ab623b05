"""What an intervention costs beside random ones: each as if read by itself, and apart inside a target."""

import numpy as np
import pytest

import rnnviz
from rnnviz.lab.analysis import directions
from rnnviz.lab.analysis.ablation import Within
from rnnviz.lab.analysis.activations import Unit
from rnnviz.lab.analysis.bootstrap import resample
from rnnviz.lab.analysis.effects import Effect, effect
from rnnviz.lab.analysis.interventions import Intervention, Zero
from tests.support.built import built, quoted
from tests.support.models import TEXT
from tests.support.torch_models import tiny_torch

SHORT = TEXT[:150]


@pytest.mark.parametrize(
    ("cell", "one"),
    [
        ("gru", Intervention((3,), "clamp", 1.0, layer=1)),
        ("gru", Intervention((0, 4, 7), "scale", 0.5, start=20, stop=60)),
        ("lstm", Intervention(Unit(0, 5), "zero", quantity="cell")),
        ("rnn", Intervention(directions.random_direction(12, seed=9, layer=1), "zero")),
        ("mlp", Intervention((2,), "clamp", -1.0, layer=0)),
        ("gru", Zero(7, layer=1, start=9)),
    ],
)
def test_every_change_costs_what_reading_under_it_alone_costs(cell: str, one: Intervention) -> None:
    model = tiny_torch(cell, layers=2)
    found = effect(model, SHORT, one, controls=3)
    base = rnnviz.trace(model, SHORT)
    every = (one, *found.controls)
    for loss, each in zip(found.losses.estimate, every, strict=True):
        assert loss == pytest.approx(
            (rnnviz.trace(model, SHORT, change=each).nll - base.nll).mean(), abs=1e-6
        )
        assert (each.action, each.value, each.start, each.stop) == (
            one.action,
            one.value,
            one.start,
            one.stop,
        )
        assert (each.layer, each.quantity, len(each.units)) == (one.layer, one.quantity, len(one.units))
    assert [*found.units, *found.directions] == found.losses.estimate[1:].tolist()
    assert found.beyond == sum(found.losses.estimate[1:] < found.loss)
    most = max(np.quantile(found.units, 0.95), np.quantile(found.directions, 0.95))
    assert found.lead.estimate == pytest.approx(found.loss - most)
    assert found.within is found.conditional is None


def test_controls_are_other_units_and_drawn_by_the_seed() -> None:
    one = Intervention((3, 8))
    first, again, other = (effect(tiny_torch("gru"), SHORT, one, controls=20, seed=s) for s in (0, 0, 1))
    assert first.controls == again.controls != other.controls
    for each in first.controls[:20]:
        assert not {3, 8} & set(each.units)
        assert len(set(each.units)) == 2
    assert all(isinstance(d, directions.Direction) for each in first.controls[20:] for d in each.units)


def test_a_loss_inside_a_target_is_of_what_is_predicted_there() -> None:
    text = quoted(900)
    inside = rnnviz.units.target("quotes", text)
    one = Intervention((4,))
    found = effect(built(), text, one, target=inside, controls=2)
    extra = rnnviz.trace(built(), text, change=one).nll - rnnviz.trace(built(), text).nll
    there = np.concatenate(([False], inside.values[:-1]))
    assert found.within.characters == there.sum()
    assert found.within.inside.estimate[0] == pytest.approx(extra[there].mean(), abs=1e-6)
    assert found.within.outside.estimate[0] == pytest.approx(extra[~there].mean(), abs=1e-6)
    apart = found.within.difference
    assert apart.estimate[0] == pytest.approx(extra[there].mean() - extra[~there].mean(), abs=1e-6)
    most = max(np.quantile(apart.estimate[1:3], 0.95), np.quantile(apart.estimate[3:], 0.95))
    assert found.conditional.estimate == pytest.approx(apart.estimate[0] - most)


NOISE = np.random.default_rng(0).normal(0, 0.001, (400, 1))


def made(lead: float, noise: float = 1.0, within: Within | None = None) -> Effect:
    """The effect of a change that costs so much more than its two controls."""
    losses = resample((NOISE - NOISE.mean()) * noise * [1.0, 0.0, 0.0] + [lead, 0.0, 0.0], block=4)
    return Effect(Intervention((1,)), (Intervention((2,)), Intervention((3,))), losses, within, 400)


def inside(lead: float, noise: float = 1.0, characters: int = 9) -> Within:
    losses = made(lead, noise).losses
    return Within("quotes", characters, losses, losses, losses)


@pytest.mark.parametrize(
    ("found", "codes"),
    [
        (made(0.02), ["loss", "more"]),
        (made(0.02, noise=1000), ["loss", "unsure"]),
        (made(-0.01), ["loss", "nothing"]),
        (effect(tiny_torch("gru"), "It's", Intervention((1,)), controls=1), ["loss", "too-short"]),
        (made(0.02, within=inside(0.02)), ["loss", "more", "part", "part-more"]),
        (made(0.02, within=inside(0.02, noise=1000)), ["loss", "more", "part", "part-unsure"]),
        (made(0.02, within=inside(-0.02)), ["loss", "more", "part", "part-nothing"]),
        (made(0.02, within=inside(np.nan, characters=0)), ["loss", "more", "no-part"]),
    ],
)
def test_an_effect_says_what_is_true_of_it(found: Effect, codes: list[str]) -> None:
    said = found.sentences()
    assert [one.code.removeprefix("effect.") for one in said] == codes
    facts, (row,) = found.facts(), found.table().rows
    assert said[0].values["loss"].value == facts["loss"][0]
    assert said[0].values["units"] + said[0].values["directions"] == facts["beyond_random"]
    assert (row[0].value, row[4].value) == (facts["loss"][0], facts["lead"][0])
    assert not found.panels()
