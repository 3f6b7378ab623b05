"""Patching changes what it says and nothing else: against itself, the source, a plain loop, and by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz import units
from rnnviz.lab.analysis import directions, patching
from rnnviz.lab.analysis.patching import PatchControls
from rnnviz.networks.cells import CELLS
from tests.support.built import LATCHES, UNUSED, built
from tests.support.closeness import assert_states
from tests.support.models import TEXT
from tests.support.torch_models import tiny_torch

SOURCE, TARGET = TEXT[:50], TEXT[60:130]
LAYERS = {"rnn": 2, "lstm": 3, "mingru": 2}
PARTS: list[dict[str, Any]] = [
    {},
    {"layer": 0},
    {"units": [2, 7]},
    {"units": directions.random_direction(12, 1)},
    {"quantity": "hidden"},
]
each_cell = pytest.mark.parametrize(
    ("cell", "options"), [(cell, {"layers": LAYERS.get(cell, 1)}) for cell in CELLS], ids=str
)


@each_cell
@pytest.mark.parametrize("part", PARTS, ids=str)
def test_a_state_patched_into_itself_changes_nothing(
    cell: str, options: dict[str, Any], part: dict[str, Any]
) -> None:
    model = tiny_torch(cell, **options)
    plain = rnnviz.trace(model, TARGET)
    for at in (0, 1, 33, len(TARGET)):
        done = units.patch(model, TARGET, at, TARGET, at, **part)
        assert_states(done.after.hidden, plain.hidden)
        assert_states(done.after.log_probs, plain.log_probs)
        assert done.moved == pytest.approx(0, abs=1e-5)


@each_cell
def test_all_of_a_state_goes_on_as_the_source_does(cell: str, options: dict[str, Any]) -> None:
    model = tiny_torch(cell, **options)
    for at, to in ((50, 0), (0, 41), (23, 70), (31, 31)):
        done = units.patch(model, SOURCE, at, TARGET, to)
        theirs = rnnviz.trace(model, SOURCE).log_probs[at]  # a product of as many rows as SOURCE has
        np.testing.assert_allclose(done.after.log_probs[to], theirs, rtol=1e-5)
        assert done.continuation(60, seed=2) == rnnviz.sample(model, SOURCE[:at], 60, seed=2)
        # What is read afterwards is read as if it followed the source.
        joined = rnnviz.trace(model, SOURCE[:at] + TARGET[to:])
        np.testing.assert_allclose(done.after.nll[to:], joined.nll[at:], rtol=0, atol=2e-5)
        assert_states(done.after.nll[:to], done.into.nll[:to])


@each_cell
@pytest.mark.parametrize("part", PARTS, ids=str)
def test_only_the_part_is_changed(cell: str, options: dict[str, Any], part: dict[str, Any]) -> None:
    model = tiny_torch(cell, **options)
    at, to = 20, 30
    done = units.patch(model, SOURCE, at, TARGET, to, **part)
    (theirs, _), (target_state, _), (now, cells) = (
        done.source.state_after(at),
        done.into.state_after(to),
        done.after.state_after(to),
    )
    expected, chosen = theirs[0], part.get("units")
    if isinstance(chosen, list):
        expected = np.where(np.isin(np.arange(12), chosen), theirs[0], target_state[0])
    elif chosen is not None:
        expected = target_state[0] + (theirs[0] - target_state[0]) @ chosen.vector * chosen.vector
    np.testing.assert_allclose(now[0], expected, rtol=0, atol=1e-6)
    before = done.into.state_after(to)[1]
    if cells is not None and before is not None and (part == {"quantity": "hidden"} or "vector" in str(part)):
        assert np.array_equal(cells[0], before[0])
    assert done.moved > 0
    assert not done.divergence[:to].any()
    assert not done.loss[:to].any()
    p, q = (np.exp(t.log_probs[to:].astype(np.float64)) for t in (done.into, done.after))
    np.testing.assert_allclose(done.divergence[to:], (p * np.log(p / q)).sum(axis=1), atol=2e-6)


def test_an_lstms_cell_alone_changes_the_state_that_follows_from_it() -> None:
    model = tiny_torch("lstm")
    done = units.patch(model, SOURCE, 20, TARGET, 30, quantity="cell")
    cell = done.after.state_after(30)[1]
    theirs = done.source.state_after(20)[1]
    assert np.array_equal(cell, theirs)
    gate = done.into.gates["output"][29]
    np.testing.assert_allclose(done.after.state_after(30)[0], gate * np.tanh(cell), atol=1e-6)
    assert done.lengths.keys() == {(0, "cell")}


@each_cell
@pytest.mark.parametrize("part", PARTS, ids=str)
def test_all_places_hold_what_single_patches_give(
    cell: str, options: dict[str, Any], part: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patching, "MAX_TEXTS_ABREAST", 8)
    model = tiny_torch(cell, **options)
    source, target = SOURCE[:14], TARGET[:24]
    effect = units.patch(model, source, "all", target, ahead=3, **part)
    assert effect.shape == (15, 25)
    for at in (0, 3, 14):
        for to in (0, 5, 22, 24):
            done = units.patch(model, source, at, target, to, **part)
            assert effect[at, to] == pytest.approx(done.divergence[to : to + 3].mean(), abs=2e-6)


def test_a_latch_that_is_patched_alone_opens_the_quote() -> None:
    model = built()
    source, target = "abc “bad cafe", "abc .bad cafe and” so.\n"
    places = {"at": 12, "into": target, "to": 12}
    latch = units.patch(model, source, **places, units=LATCHES)
    latched = latch.after.hidden[:, 0, LATCHES]
    assert latched[12:17].min() > 0.9
    assert latched[18:].max() < -0.9  # the closing mark closes it
    unused = units.patch(model, source, **places, units=UNUSED)
    assert_states(unused.divergence, 0)
    controls = latch.controls(model, "cafe bad.\n", n=30, ahead=5)
    assert controls.kl > 3 * np.quantile(controls.elsewhere, 0.95)


def controlled(model: Any, **part: Any) -> PatchControls:
    done = units.patch(model, SOURCE, 20, TARGET, 30, **part)
    return done.controls(model, TEXT[200:260], n=6, ahead=7)


@each_cell
@pytest.mark.parametrize("part", PARTS, ids=str)
def test_controls_are_of_the_same_predictions(
    cell: str, options: dict[str, Any], part: dict[str, Any]
) -> None:
    controls = controlled(tiny_torch(cell, **options), **part)
    assert controls.random_each.shape == controls.elsewhere_each.shape == (6, 7)
    assert controls.kl == pytest.approx(controls.patched.divergence[30:37].mean())
    assert (controls.random > 0).any()
    if not part:
        assert controls.left == 0
        assert controls.apart > 0


CONTROLLED = controlled(tiny_torch("gru"), units=directions.random_direction(12, 1))
SAME = replace(CONTROLLED.patched, lengths={(0, "hidden"): 0.0})
WHOLE = replace(CONTROLLED.patched, part=patching.Part((0,), ("hidden",)))
NONE = np.zeros((0, 7))


@pytest.mark.parametrize(
    ("changed", "codes"),
    [
        ({"patched": SAME}, ["along", "same", "same-click"]),
        ({"patched": WHOLE, "kl": 9.0}, ["moves", "random", "elsewhere", "elsewhere-here"]),
        ({"kl": 9.0, "elsewhere_each": NONE}, ["along", "moves", "random"]),
        (
            {"kl": 1.0, "random_each": np.ones((6, 7)), "elsewhere_each": NONE},
            ["along", "moves", "random", "no-more-than-random"],
        ),
        (
            {"kl": 1.0, "elsewhere_each": np.ones((6, 7))},
            ["along", "moves", "random", "elsewhere", "elsewhere-here", "no-more-than-elsewhere"],
        ),
    ],
)
def test_a_patch_says_what_its_controls_allow(changed: dict[str, Any], codes: list[str]) -> None:
    controls = replace(CONTROLLED, **changed)
    sentences = controls.sentences()
    assert [sentence.code for sentence in sentences] == [f"patch.{code}" for code in codes]
    assert sentences[0].values["random"].value == np.quantile(controls.random, 0.95)
    elsewhere = controls.elsewhere
    assert sentences[0].values["high"].value == (np.quantile(elsewhere, 0.95) if len(elsewhere) else None)
    assert sentences[0].values["kl"].value == controls.kl


def test_a_patchs_table_and_pictures_hold_the_same_numbers() -> None:
    done, facts = CONTROLLED.patched, CONTROLLED.facts()
    following, lines = CONTROLLED.panels()
    assert [row["after"] for row in facts["predictions"]] == list(range(30, 71))
    assert [row[2].value for row in CONTROLLED.table().rows] == done.divergence[30:].tolist()
    assert [row["loss"] for row in facts["predictions"]] == [*done.loss[30:].tolist(), None]
    assert following.picture.after.max() == pytest.approx(done.after.top(30, 1)[0][1])
    levels = [done.divergence[30:37], np.quantile(CONTROLLED.random_each, 0.95, axis=0)]
    for (_name, curve), level in zip(lines.picture.curves, levels, strict=False):
        assert curve.tolist() == level.tolist()
    assert len(lines.picture.curves) == 3
    assert len(replace(CONTROLLED, elsewhere_each=NONE).panels()[1].picture.curves) == 2


def test_the_patch_itself_among_the_controls_is_the_patch() -> None:
    model = tiny_torch("lstm", layers=2)
    done = units.patch(model, SOURCE, 1, TARGET, 30, units=[3, 4], layer=1)
    controls = done.controls(model, SOURCE[:1], n=3, ahead=9)  # its only place
    np.testing.assert_allclose(controls.elsewhere, controls.kl, atol=1e-6)
    np.testing.assert_allclose(controls.elsewhere_left, controls.left, atol=1e-6)


def test_random_moves_are_as_long_as_the_patch() -> None:
    origin = np.ones(12, np.float32)
    states = np.zeros((6, 12), np.float32)
    change = patching._random_move(origin, 0.7, 6, 3, np.random.default_rng(0))
    change(3, states)
    np.testing.assert_allclose(np.linalg.norm(states - origin, axis=1), 0.7, rtol=1e-5)
