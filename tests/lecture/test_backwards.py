"""The dial's and the chain's gradients against autograd; random truncation against the full gradient."""

import math

import numpy as np
import pytest
import torch

from rnnviz.lecture import backwards


@pytest.mark.parametrize("radius", [0.5, 1.0, 1.3])
def test_the_dials_gradients_are_autograds(radius: float) -> None:
    dial = backwards.dial(radius, 3, lags=12)
    assert np.abs(dial.eigenvalues).max() == pytest.approx(radius)
    _, inputs, last = backwards.network(3, lags=12)
    for kind, expected in (("tanh", dial.tanh), ("linear", dial.linear)):
        matrix = torch.tensor(dial.matrix)
        states = [torch.zeros(backwards.UNITS, dtype=torch.float64, requires_grad=True)]
        for x in torch.tensor(inputs):
            state = x + states[-1] @ matrix
            states.append(torch.tanh(state) if kind == "tanh" else state)
            states[-1].retain_grad()
        (states[-1] @ torch.tensor(last)).backward()
        norms = [float(s.grad.norm()) for s in reversed(states) if s.grad is not None]
        np.testing.assert_allclose(norms, expected, rtol=1e-10)


def test_the_radius_decides_in_the_long_run_alone() -> None:
    """A gradient may grow where ρ < 1, for a while, and fall where ρ > 1 with tanh: both happen."""
    for radius in (0.6, 0.9, 1.0, 1.1, 1.4):
        matrix = backwards.dial(radius, 2).matrix
        sizes = [np.linalg.norm(np.linalg.matrix_power(matrix, k), 2) for k in (8, 40, 1000)]
        rates = [float(size) ** (1 / k) for size, k in zip(sizes, (8, 40, 1000), strict=True)]
        assert all(rate >= radius * (1 - 1e-9) for rate in rates), "never below ρ"
        assert rates[-1] == pytest.approx(radius, rel=2e-3)
    below, above = backwards.dial(0.9, 1), backwards.dial(1.3, 2)
    assert (np.diff(below.linear) > 0).sum() == 16
    assert above.linear[-1] > 1e4
    assert above.tanh[-1] < 1e-3


@pytest.mark.parametrize("w", [-1.2, 0.3, 0.95])
@pytest.mark.parametrize("cut", [1, 3, 12])
def test_a_cut_stops_gradients_and_lets_values_cross(w: float, cut: int) -> None:
    """Cut after all 12 steps, it is the whole gradient."""
    chain = backwards.chain(w, 2)
    weight = torch.tensor(w, dtype=torch.float64, requires_grad=True)
    h = torch.zeros((), dtype=torch.float64)
    for t, x in enumerate(torch.tensor(0.3 * np.random.default_rng(2).standard_normal(12))):
        h = torch.tanh(x + weight * (h.detach() if t == 12 - cut else h))
    h.backward()
    assert weight.grad is not None
    assert float(h.detach()) == pytest.approx(chain.states[-1], rel=1e-12)
    assert chain.truncated(cut) == pytest.approx(float(weight.grad), rel=1e-12)
    assert chain.truncated(12) == chain.gradient


@pytest.mark.parametrize("keep", [0.5, 0.7, 0.9, 1.0])
def test_random_truncation_is_right_on_average(keep: float) -> None:
    chain = backwards.chain(backwards.WEIGHT, 1)
    assert backwards.expected(chain, keep) == pytest.approx(chain.gradient, rel=1e-12)
    draws = backwards.random_truncation(chain, keep, 10_000, seed=4)
    error = draws.std(ddof=1) / math.sqrt(len(draws))
    assert abs(draws.mean() - chain.gradient) < 3 * error + 1e-12, "never cut, each draw is the full gradient"
    assert abs(chain.truncated(3) - chain.gradient) > 10 * error, "regular truncation is not"


def test_each_lags_weight_is_one_on_average_and_by_hand() -> None:
    weights = backwards.random_weights(0.5, 100, steps=4)
    assert {tuple(row) for row in weights} == {(1, 0, 0, 0), (1, 2, 0, 0), (1, 2, 4, 0), (1, 2, 4, 8)}
    weights = backwards.random_weights(0.8, 20_000)
    error = weights.std(axis=0) / math.sqrt(len(weights))
    assert (np.abs(weights.mean(axis=0) - 1) <= 4 * error + 1e-12).all()


@pytest.mark.parametrize("keep", [0.4, 0.8, 1.0])
def test_an_estimate_is_the_textbooks_recursion(keep: float) -> None:
    """z_t = ∂f_t/∂w + ξ_t ∂f_t/∂h_{t-1} z_{t-1}, one step after another; where ξ = 1 it is ∂h_t/∂w."""
    chain = backwards.chain(backwards.WEIGHT, 3)
    generator = np.random.default_rng(5)
    crossings = np.where(generator.random((50, backwards.STEPS - 1)) < keep, 1 / keep, 0)
    found = backwards.random_truncation(chain, keep, 50, seed=5)
    for crossing, estimate in zip(crossings, found, strict=True):
        z = 0.0
        for t in range(1, backwards.STEPS + 1):
            xi = crossing[backwards.STEPS - t] if t > 1 else 0
            slope = 1 - chain.states[t] ** 2
            z = slope * chain.states[t - 1] + xi * slope * chain.w * z
        assert z == pytest.approx(estimate, rel=1e-12)
