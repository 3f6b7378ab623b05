"""The way back: against the machine's gradients, eigenvalues and sums that are written otherwise."""

import numpy as np
import pytest

from rnnviz.lecture.machine import Machine
from tests.lecture.test_steps import computed


def test_three_steps_back_add_up_to_the_gradient() -> None:
    found = computed("back", walked=3)
    np.testing.assert_allclose(found["dW_hh"], Machine(steps=3).gradients()["W_hh"], atol=1e-12)
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
