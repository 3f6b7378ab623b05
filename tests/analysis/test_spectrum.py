"""The eigenvalues of W_hh: scaled to a radius, and what its powers do to a gradient."""

from typing import Any

import numpy as np
import pytest
import torch

from rnnviz.gradients import connectivity, eigenvalues, hidden_weights, power_norms, scaled
from tests.analysis.autograd import by_autograd, double
from tests.conftest import TEXT, tiny


def test_eigenvalues_come_largest_first() -> None:
    np.testing.assert_allclose(eigenvalues(np.diag([1.0, -3.0, 2.0])), [-3, 2, 1])
    np.testing.assert_allclose(np.abs(eigenvalues([[0.0, -2.0], [2.0, 0.0]])), [2, 2])


@pytest.mark.parametrize("rho", [0.0, 0.5, 1.0, 1.7])
def test_a_scaled_matrix_has_that_radius(rho: float) -> None:
    W = np.random.default_rng(0).standard_normal((20, 20))
    assert np.abs(eigenvalues(scaled(W, rho))[0]) == pytest.approx(rho)


@pytest.mark.parametrize("layers", [1, 2])
def test_so_has_each_layer_of_a_scaled_rnn_and_nothing_else_changes(layers: int) -> None:
    model = tiny("rnn", layers=layers)
    before = [hidden_weights(model, n) for n in range(layers)]
    found = scaled(model, 1.25)
    for n in range(layers):
        W = hidden_weights(found, n)
        assert np.abs(eigenvalues(W)[0]) == pytest.approx(1.25, rel=1e-5)
        np.testing.assert_allclose(W / W[0, 0], before[n] / before[n][0, 0], rtol=1e-4)
        np.testing.assert_array_equal(hidden_weights(model, n), before[n])
    expected = double(model)
    for n in range(layers):
        getattr(expected.recurrence, f"weight_hh_l{n}").copy_(torch.tensor(hidden_weights(found, n).T))
    np.testing.assert_allclose(
        connectivity(found, TEXT[:12]).norms, by_autograd(expected, TEXT[:12])[:, 1:], rtol=1e-4
    )


@pytest.mark.parametrize("norm", ["frobenius", "spectral"])
def test_norms_of_powers(norm: Any) -> None:
    W = np.random.default_rng(0).standard_normal((7, 7))
    order = "fro" if norm == "frobenius" else 2
    expected = [np.linalg.norm(np.linalg.matrix_power(W, k), order) for k in range(31)]  # type: ignore[call-overload]
    np.testing.assert_allclose(power_norms(W, 30, norm=norm), expected, rtol=1e-4)
    tiny_powers = power_norms(1e-20 * np.eye(3), 12, norm=norm)
    np.testing.assert_allclose(tiny_powers / tiny_powers[0], 1e-20 ** np.arange(13.0), rtol=1e-4)
    assert power_norms(1e20 * np.eye(2), 20, norm=norm)[-1] == np.inf
    np.testing.assert_array_equal(power_norms(np.zeros((2, 2)), 2, norm=norm)[1:], 0)
