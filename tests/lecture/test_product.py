"""Two products added against one product."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.errors import ConfigError
from rnnviz.lecture import product


def test_the_product_by_hand() -> None:
    factors = product.Factors(
        np.array([[2.0]]), np.array([[3.0, -1.0]]), np.array([[1.0, 4.0]]), np.array([[0.5, 1.0], [2.0, 0.0]])
    )
    np.testing.assert_array_equal(factors.sum_of_products(), [[14.5, -1.0]])
    np.testing.assert_array_equal(factors.product_of_concatenations(), [[14.5, -1.0]])


@given(seed=st.integers(0, 9999), rows=st.integers(1, 5), inputs=st.integers(1, 4), units=st.integers(1, 6))
def test_two_products_added_are_one_product(seed: int, rows: int, inputs: int, units: int) -> None:
    factors = product.Factors.drawn(seed, rows=rows, inputs=inputs, units=units)
    assert factors.largest_difference() < 1e-6


def test_a_matrix_is_changed_for_one_of_its_size_only() -> None:
    factors = product.Factors.drawn(1)
    assert (factors.X.shape, factors.H.shape) == ((3, 1), (3, 4))
    changed = factors.changed("X", [[1], [2.5], [-3]])
    np.testing.assert_array_equal(changed.X[:, 0], [1, 2.5, -3])
    np.testing.assert_array_equal(changed.W_hh, factors.W_hh)
    for name, values in (
        ("Y", [[1.0]]),
        ("X", [[1.0]]),
        ("X", [[1.0], [2.0], [float("nan")]]),
        ("X", [[1.0], [2.0], [10.0]]),
        ("X", [["a"], [2.0], [1.0]]),
    ):
        with pytest.raises(ConfigError):
            factors.changed(name, values)
    with pytest.raises(ConfigError, match=r"H should be \(3, 4\)"):
        product.Factors(factors.X, factors.W_xh, factors.H[:2], factors.W_hh)
