"""The way back: against finite differences, eigenvalues and sums that are written otherwise."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rnnviz.arrays import Doubles
from rnnviz.lecture.machine import Machine
from rnnviz.lecture.scenes import scenes
from rnnviz.lecture.small_rnn import unroll

STEPS = {one.name: one for one in scenes()[6].steps}


def computed(name: str, **values: Any) -> dict[str, Any]:
    """Every name that a step's code leaves behind."""
    step = STEPS[name]
    usual = {key: control.default for key, control in step.controls.items()}
    found: dict[str, Any] = {}
    exec(step.code(usual | values), found)
    return found


def loss(word: Machine, W_hh: Doubles) -> float:
    return unroll(replace(word.net, W_hh=W_hh), word.ids, word.targets).loss


def test_three_steps_back_add_up_to_what_the_loss_changes_with_each_weight() -> None:
    found = computed("back", walked=3)
    word = Machine(steps=3)
    for place in np.ndindex(4, 4):
        step = np.zeros((4, 4))
        step[place] = 1e-6
        slope = (loss(word, word.net.W_hh + step) - loss(word, word.net.W_hh - step)) / 2e-6
        assert found["dW_hh"][place] == pytest.approx(slope, abs=1e-8)
    np.testing.assert_array_equal(found["term"], 0)  # H_0 is
    np.testing.assert_array_equal(computed("back", walked=3, stateless=True)["handed"], 0)


@pytest.mark.parametrize("rho", [0.8, 1.25])
def test_the_linear_gradient_follows_the_largest_eigenvalue_and_tanh_damps_it(rho: float) -> None:
    found = computed("dial", rho=rho, k=40)
    linear, tanh = np.transpose(found["sizes"])
    assert max(abs(found["eigenvalues"])) == pytest.approx(rho)
    assert linear[-1] == pytest.approx(
        np.linalg.norm(found["power"] @ found["g"]) / np.linalg.norm(found["g"])
    )
    assert (linear[-1] / linear[-9]) ** (1 / 8) == pytest.approx(rho, rel=0.05)
    assert tanh[-1] < linear[-1]


def test_a_cut_keeps_a_third_and_is_the_sum_of_its_pieces() -> None:
    found = computed("cut", T=6, tau=2)
    word = Machine()
    np.testing.assert_allclose(found["full"], word.gradients()["W_hh"])
    pieces = [word.pairs()[s : s + 2, s : s + 2].sum(axis=(0, 1)) for s in (0, 2, 4)]
    np.testing.assert_allclose(found["part"], sum(pieces))
    assert (found["kept"], found["all_kept"]) == (44, 132)


def test_random_cuts_are_right_on_average_and_their_spread_is_exact() -> None:
    found = computed("random", pi=0.7)
    draws = len(found["z"])
    full = found["terms"].sum()
    assert abs(found["mean"][-1] - full) < 3 * found["spread"] / np.sqrt(draws)
    assert found["z"].std() == pytest.approx(found["spread"], rel=0.2)
