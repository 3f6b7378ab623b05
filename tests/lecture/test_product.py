"""Two products added against one product."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.lecture import product
from rnnviz.lecture.machine import Machine


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


def test_a_step_of_the_words_network_is_torchs() -> None:
    word = Machine()
    cell = torch.nn.RNNCell(7, 4, dtype=torch.float64)
    net = word.net
    for name, values in {
        "weight_ih": net.W_xh.T,
        "weight_hh": net.W_hh.T,
        "bias_ih": net.b_h,
        "bias_hh": 0 * net.b_h,
    }.items():
        getattr(cell, name).data = torch.tensor(values)
    state = torch.zeros(1, 4, dtype=torch.float64)
    for t in range(1, word.steps + 1):
        factors = product.Factors.of_word(t, word)
        x = torch.eye(7, dtype=torch.float64)[[word.ids[t - 1]]]
        np.testing.assert_allclose(factors.joined_inputs, torch.cat((x, state), 1).detach())
        np.testing.assert_array_equal(
            factors.joined_weights, torch.cat((cell.weight_ih.T, cell.weight_hh.T)).detach()
        )
        state = cell(x, state)
        for side in (factors.sum_of_products(), factors.product_of_concatenations()):
            np.testing.assert_allclose(np.tanh(side + net.b_h), state.detach(), rtol=1e-9)


@given(data=st.data())
def test_whatever_is_typed_both_sides_differ_by_rounding_alone(data: st.DataObject) -> None:
    factors = product.Factors.drawn(data.draw(st.integers(0, 9999)))
    for name in product.NAMES:
        shape = getattr(factors, name).shape
        entries = data.draw(
            st.lists(st.integers(-999, 999), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
        )
        factors = factors.changed(name, (np.reshape(entries, shape) / 100).tolist())
    # Five terms of at most 9.99², each rounded twice.
    assert factors.largest_difference() <= 10 * 5 * 9.99**2 * np.finfo(float).eps
