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
    ("cell", "change"),
    [
        ("gru", Intervention((3,), "clamp", 1.0, layer=1)),
        ("gru", Intervention((0, 4, 7), "scale", 0.5, start=20, stop=60)),
        ("lstm", Intervention(Unit(0, 5), "zero", quantity="cell")),
        ("rnn", Intervention(directions.random_direction(12, seed=9, layer=1), "zero")),
        ("mlp", Intervention((2,), "clamp", -1.0, layer=0)),
        ("gru", Zero(7, layer=1, start=9)),
    ],
)
def test_every_change_costs_what_reading_under_it_alone_costs(cell: str, change: Intervention) -> None:
    model = tiny_torch(cell, layers=2)
    result = effect(model, SHORT, change, controls=3)
    base = rnnviz.trace(model, SHORT)
    every = (change, *result.controls)
    for loss, tried in zip(result.losses.estimate, every, strict=True):
        assert loss == pytest.approx(
            (rnnviz.trace(model, SHORT, change=tried).nll - base.nll).mean(), abs=1e-6
        )
        assert (tried.action, tried.value, tried.start, tried.stop) == (
            change.action,
            change.value,
            change.start,
            change.stop,
        )
        assert (tried.layer, tried.quantity, len(tried.units)) == (
            change.layer,
            change.quantity,
            len(change.units),
        )
    assert [*result.units, *result.directions] == result.losses.estimate[1:].tolist()
    assert result.beyond == sum(result.losses.estimate[1:] < result.loss)
    largest = max(np.quantile(result.units, 0.95), np.quantile(result.directions, 0.95))
    assert result.lead.estimate == pytest.approx(result.loss - largest)
    assert result.within is result.conditional is None


def test_controls_are_other_units_and_drawn_by_the_seed() -> None:
    change = Intervention((3, 8))
    first, again, other = (effect(tiny_torch("gru"), SHORT, change, controls=20, seed=s) for s in (0, 0, 1))
    assert first.controls == again.controls != other.controls
    for control in first.controls[:20]:
        assert not {3, 8} & set(control.units)
        assert len(set(control.units)) == 2
    assert all(isinstance(d, directions.Direction) for control in first.controls[20:] for d in control.units)


def test_a_loss_inside_a_target_is_of_what_is_predicted_there() -> None:
    text = quoted(900)
    inside = rnnviz.units.target("quotes", text)
    change = Intervention((4,))
    result = effect(built(), text, change, target=inside, controls=2)
    extra = rnnviz.trace(built(), text, change=change).nll - rnnviz.trace(built(), text).nll
    inside_mask = np.concatenate(([False], inside.values[:-1]))
    assert result.within.characters == inside_mask.sum()
    assert result.within.inside.estimate[0] == pytest.approx(extra[inside_mask].mean(), abs=1e-6)
    assert result.within.outside.estimate[0] == pytest.approx(extra[~inside_mask].mean(), abs=1e-6)
    apart = result.within.difference
    assert apart.estimate[0] == pytest.approx(
        extra[inside_mask].mean() - extra[~inside_mask].mean(), abs=1e-6
    )
    largest = max(np.quantile(apart.estimate[1:3], 0.95), np.quantile(apart.estimate[3:], 0.95))
    assert result.conditional.estimate == pytest.approx(apart.estimate[0] - largest)


NOISE = np.random.default_rng(0).normal(0, 0.001, (400, 1))


def make_effect(lead: float, noise: float = 1.0, within: Within | None = None) -> Effect:
    """The effect of a change that costs so much more than its two controls."""
    losses = resample((NOISE - NOISE.mean()) * noise * [1.0, 0.0, 0.0] + [lead, 0.0, 0.0], block=4)
    return Effect(Intervention((1,)), (Intervention((2,)), Intervention((3,))), losses, within, 400)


def make_within(lead: float, noise: float = 1.0, characters: int = 9) -> Within:
    losses = make_effect(lead, noise).losses
    return Within("quotes", characters, losses, losses, losses)


@pytest.mark.parametrize(
    ("result", "codes"),
    [
        (make_effect(0.02), ["loss", "more"]),
        (make_effect(0.02, noise=1000), ["loss", "unsure"]),
        (make_effect(-0.01), ["loss", "nothing"]),
        (effect(tiny_torch("gru"), "It's", Intervention((1,)), controls=1), ["loss", "too-short"]),
        (make_effect(0.02, within=make_within(0.02)), ["loss", "more", "part", "part-more"]),
        (make_effect(0.02, within=make_within(0.02, noise=1000)), ["loss", "more", "part", "part-unsure"]),
        (make_effect(0.02, within=make_within(-0.02)), ["loss", "more", "part", "part-nothing"]),
        (make_effect(0.02, within=make_within(np.nan, characters=0)), ["loss", "more", "no-part"]),
    ],
)
def test_an_effect_says_what_is_true_of_it(result: Effect, codes: list[str]) -> None:
    sentences = result.sentences()
    assert [sentence.code.removeprefix("effect.") for sentence in sentences] == codes
    facts, (row,) = result.facts(), result.table().rows
    assert sentences[0].values["loss"].value == facts["loss"][0]
    assert sentences[0].values["units"] + sentences[0].values["directions"] == facts["beyond_random"]
    assert (row[0].value, row[4].value) == (facts["loss"][0], facts["lead"][0])
    assert not result.panels()
