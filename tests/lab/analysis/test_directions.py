"""A direction is used as a unit is: held along an axis it is the unit, exactly; projected out it is gone."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz.lab.analysis import directions
from rnnviz.lab.analysis.activations import Unit
from rnnviz.lab.analysis.directions import Direction
from rnnviz.lab.analysis.interventions import Intervention
from rnnviz.lab.analysis.targets import Target, target
from rnnviz.networks.cells import CELLS
from tests.support.closeness import assert_states
from tests.support.models import TEXT
from tests.support.torch_models import tiny_torch

SHORT = TEXT[:60]
H = 12  # of `tiny`


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(("action", "value"), [("clamp", 0.37), ("zero", 0.0), ("scale", -1.3)])
@pytest.mark.parametrize("chosen_units", [[Unit(1, 5)], [Unit(1, 2), Unit(1, 7)]])
def test_along_axes_it_is_the_units(cell: str, action: Any, value: float, chosen_units: list[Unit]) -> None:
    model = tiny_torch(cell, layers=2)
    axes = [Direction(str(unit), np.eye(H)[unit.unit], unit.layer) for unit in chosen_units]
    trace = rnnviz.trace(model, SHORT, change=Intervention(axes, action, value, start=3))
    other = rnnviz.trace(model, SHORT, change=Intervention(chosen_units, action, value, start=3))
    assert_states(trace.hidden, other.hidden)
    assert_states(trace.nll, other.nll)


@pytest.mark.parametrize("quantity", ["hidden", "cell"])
def test_a_clamped_direction_has_its_value_and_the_rest_of_the_state_is_left_alone(quantity: str) -> None:
    model = tiny_torch("lstm", layers=2)
    along = directions.random_direction(H, seed=4, layer=1, quantity=quantity)
    change = Intervention(along, "clamp", 0.8)
    assert (change.layer, change.quantity, change.units) == (1, quantity, (along,))
    changed, before = rnnviz.trace(model, SHORT, change=change), rnnviz.trace(model, SHORT)
    np.testing.assert_allclose(along.along(changed), 0.8, atol=1e-6)
    # At the first step the states were the same before the change: they differ along the direction alone.
    first = Intervention(along, "clamp", 0.8, start=1)
    apart = (
        getattr(rnnviz.trace(model, SHORT, change=first), quantity)[0, 1] - getattr(before, quantity)[0, 1]
    )
    across = apart - (apart @ along.vector) * along.vector
    assert np.abs(across).max() < 1e-6 < np.abs(apart).max()
    assert_states(changed.hidden[:, 0], before.hidden[:, 0])  # nothing below it


def test_directions_that_are_not_at_right_angles_each_have_their_value() -> None:
    model = tiny_torch("gru")
    two = [Direction("a", np.eye(H)[0]), Direction("b", np.eye(H)[0] + np.eye(H)[1])]
    changed = rnnviz.trace(model, SHORT, change=Intervention(two, "clamp", 0.25))
    for direction in two:
        np.testing.assert_allclose(direction.along(changed), 0.25, atol=1e-6)


def test_a_difference_of_means_points_to_where_the_target_holds() -> None:
    read = rnnviz.trace(tiny_torch("gru", layers=2), TEXT[:300])
    where = target("vowel", read.text)
    along = directions.mean_difference(read, where, layer=1)
    states = read.hidden[:, 1].astype(np.float64)
    apart = states[where.values].mean(axis=0) - states[~where.values].mean(axis=0)
    np.testing.assert_allclose(along.vector, apart / np.linalg.norm(apart), atol=1e-6)
    graded = Target("height", states @ np.eye(H)[4])
    assert directions.mean_difference(read, graded, layer=1).vector[4] > 0
    for mostly in (0.0, 1.0):  # its median is its lowest value, or its highest
        rare = Target(
            "rare", np.where(states[:, 4] > np.quantile(states[:, 4], 0.2 + 0.6 * (1 - mostly)), 1.0, 0.0)
        )
        assert directions.mean_difference(read, rare, layer=1).vector[4] > 0


def test_a_random_direction_has_length_1_and_is_always_the_same() -> None:
    every = [directions.random_direction(64, seed) for seed in range(200)]
    assert all(np.linalg.norm(direction.vector) == pytest.approx(1) for direction in every)
    assert directions.random_direction(64, 3) == every[3] != every[4]
    assert len(set(every)) == 200


def test_directions_are_values() -> None:
    direction = Direction("a", [3.0, 4.0], layer=1)
    assert direction == Direction("another name", [0.6, 0.8], layer=1) != Direction("a", [3.0, 4.0])
    assert not direction.vector.flags.writeable
    change = Intervention(direction, "clamp", 1.0)
    assert change == pickle.loads(pickle.dumps(change)) == replace(change, value=1.0)
    assert len({change, Intervention(direction, "clamp", 1.0), replace(change, value=2.0)}) == 2
