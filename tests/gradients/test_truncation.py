"""Truncated backpropagation and clipping: against autograd, enumeration, and 10,000 draws."""

from collections.abc import Collection
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch.nn import functional as F

from rnnviz.gradients import (
    SmallRNN,
    clip,
    cuts,
    expected_crossing,
    expected_gradient,
    gradient,
    lag_gradients,
    pair_weights,
    random_crossings,
    truncated_gradient,
    unroll,
)
from tests.conftest import TEXT, tiny

Doubles = npt.NDArray[np.float64]

T, X, H, V = 12, 3, 4, 5
INPUTS = np.random.default_rng(1).standard_normal((T, X))
LABELS = np.random.default_rng(2).integers(0, V, T)
NETS = [
    replace(SmallRNN.random(X, H, V, seed=seed), activation=activation)
    for seed, activation in ((3, "tanh"), (4, "relu"), (5, "identity"))
]


def assert_close(found: Doubles, expected: Doubles) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def by_autograd(net: SmallRNN, cut: Collection[int] = ()) -> tuple[Doubles, float]:
    """∂L/∂W_hh with the state detached before the steps of `cut`, and the loss."""
    arrays = (net.W_xh, net.W_hh, net.b_h, net.W_hq, net.b_q, INPUTS)
    W_xh, W_hh, b_h, W_hq, b_q, x = map(torch.tensor, arrays)
    W_hh.requires_grad_()
    activate: Any = {"tanh": torch.tanh, "relu": torch.relu, "identity": lambda a: a}[net.activation]
    h, outputs = torch.zeros(H, dtype=torch.float64), []
    for t in range(T):
        h = activate(x[t] @ W_xh + (h.detach() if t in cut else h) @ W_hh + b_h)
        outputs.append(h @ W_hq + b_q)
    loss = F.cross_entropy(torch.stack(outputs), torch.tensor(LABELS))
    loss.backward()
    assert W_hh.grad is not None
    return W_hh.grad.numpy(), loss.item()


@pytest.mark.parametrize("net", NETS, ids=lambda net: net.activation)
class TestGradients:
    @pytest.mark.parametrize("cut", [1, 3, 5, T, [4], [2, 7, 8], []])
    def test_a_cut_is_a_detached_state(self, net: SmallRNN, cut: Any) -> None:
        where = set(range(cut, T, cut)) if isinstance(cut, int) else set(cut)
        expected, loss = by_autograd(net, where)
        assert_close(truncated_gradient(net, INPUTS, LABELS, cut), expected)
        assert unroll(net, INPUTS, LABELS).loss == pytest.approx(loss)
        if not where:
            assert_close(gradient(net, INPUTS, LABELS), expected)

    def test_lags_add_up(self, net: SmallRNN) -> None:
        lags = lag_gradients(net, INPUTS, LABELS)
        assert_close(lags.sum(axis=0), gradient(net, INPUTS, LABELS))
        assert_close(lags[0], truncated_gradient(net, INPUTS, LABELS, 1))  # a cut before every step

    def test_enumerating_all_random_truncations(self, net: SmallRNN) -> None:
        pi = np.linspace(0.3, 1, 7)
        kept = np.array(list(product((0, 1), repeat=7)))  # (128, 7)
        probabilities = np.prod(np.where(kept, pi, 1 - pi), axis=1)
        mean = np.tensordot(probabilities, gradient(net, INPUTS[:7], LABELS[:7], kept / pi), 1)
        full = gradient(net, INPUTS[:7], LABELS[:7])
        assert_close(mean, full)
        assert_close(expected_gradient(net, INPUTS[:7], LABELS[:7], pi), full)

    def test_the_mean_of_ten_thousand_draws(self, net: SmallRNN) -> None:
        n = 10_000
        crossings = random_crossings(T, 0.7, np.random.default_rng(5), n)
        draws = gradient(net, INPUTS, LABELS, crossings)
        assert draws.shape == (n, H, H)
        assert_close(draws[7], gradient(net, INPUTS, LABELS, crossings[7]))
        full, mean = gradient(net, INPUTS, LABELS), draws.mean(axis=0)
        # A relu that no truncation reaches has a gradient without chance: the floor is for that one.
        error = np.maximum(draws.std(axis=0, ddof=1) / np.sqrt(n), 1e-12)
        z = (mean - full) / error
        # Within its standard error: all entries together, and none of 16 beyond what chance allows.
        assert np.sqrt((z**2).mean()) < 1.5
        assert np.abs(z).max() < 3.5
        # While regular truncation's error is no chance: many standard errors away.
        assert np.abs(truncated_gradient(net, INPUTS, LABELS, 3) - full).max() > 5 * error.max()


@pytest.mark.parametrize(("cut", "expected"), [(2, [1, 1, 0, 1, 0]), ([3], [1, 1, 1, 0, 1]), (7, [1] * 5)])
def test_cuts(cut: Any, expected: list[int]) -> None:
    assert cuts(5, cut).tolist() == expected


def test_draws_are_zero_or_one_over_pi() -> None:
    pi = np.array([1.0, 0.5, 0.25])
    found = random_crossings(3, pi, np.random.default_rng(0), 20_000)
    assert ((found == 0) | (found == 1 / pi)).all()
    assert (found > 0).mean(axis=0) == pytest.approx(pi, abs=0.02)
    np.testing.assert_array_equal(random_crossings(3, pi, np.random.default_rng(0), 20_000), found)
    assert random_crossings(3, 0.5, np.random.default_rng(0)).shape == (3,)
    np.testing.assert_allclose(expected_crossing(3, pi), 1)


def test_weights_of_pairs() -> None:
    np.testing.assert_array_equal(
        pair_weights([1, 2, 0, 3]), [[1, 0, 0, 0], [2, 1, 0, 0], [0, 0, 1, 0], [0, 0, 3, 1]]
    )


def test_a_shipped_rnn_is_one() -> None:
    model = tiny("rnn")
    net = SmallRNN.of(model)
    ids = model.vocabulary.encode(TEXT[:20])
    inputs = np.append(model.vocabulary.start, ids[:-1])
    logits = model(torch.tensor(inputs)[None])[0][0]
    run = unroll(net, inputs, ids)
    assert run.loss == pytest.approx(float(F.cross_entropy(logits, torch.tensor(ids))), rel=1e-5)
    assert gradient(net, inputs, ids).shape == (12, 12)


@pytest.mark.parametrize(("theta", "scale"), [(10, 1), (5, 1), (2.5, 0.5), (1, 0.2)])
def test_length(theta: float, scale: float) -> None:
    found = clip([[3.0, 0.0], [0.0, 4.0]], theta)
    assert (found.scale, found.norm) == pytest.approx((scale, 5))
    np.testing.assert_allclose(found.gradient, np.array([[3, 0], [0, 4]]) * scale)


def test_extremes() -> None:
    assert clip(np.zeros(3), 1).scale == 1
    assert np.linalg.norm(clip([3e200, 4e200], 1).gradient) == pytest.approx(1)
