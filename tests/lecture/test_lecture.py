"""The lecture's arithmetic against hand-computed values, the core and the textbook's cells."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import rnnviz
from rnnviz.errors import ConfigError
from rnnviz.lecture import counts, memoryless, product, recurrence
from rnnviz.networks.cells import step as textbook_step
from rnnviz.networks.ngram import NgramModel
from tests.conftest import TEXT, tiny

RNN, MLP = tiny("rnn"), tiny("mlp")


# ---- scene 1: counts --------------------------------------------------------------------------------


def test_a_tables_size_is_exact() -> None:
    assert counts.table_size(69, 10) == 2_446_194_060_654_759_801
    for symbols, n in ((0, 1), (28, 0)):
        with pytest.raises(ConfigError, match=">= 1"):
            counts.table_size(symbols, n)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_shortened_model_counts_as_a_fitted_one_but_for_the_texts_end(order: int) -> None:
    long = NgramModel.fit(TEXT, order=4)
    short, fitted = counts.shortened(long, order), NgramModel.fit(TEXT, order=order)
    assert short is counts.shortened(long, order), "made once"
    assert short.order == order
    assert short.seen == fitted.seen == long.seen[: order - 1]
    for name, array in fitted.to_tensors().items():
        difference = array.astype(int) - short.to_tensors()[name]
        assert np.abs(difference).sum() <= 4 - order  # at most one of each length that ends the text
    text = "the time traveller"
    np.testing.assert_allclose(counts.bits(short, text), counts.bits(fitted, text), rtol=0.05)
    for other in (0, 5):
        with pytest.raises(ConfigError):
            long.shortened(other)


def test_what_a_text_costs_is_what_the_core_says() -> None:
    text = "a machine ☃"
    np.testing.assert_allclose(counts.bits(RNN, text), rnnviz.trace(RNN, text).nll / np.log(2))
    model = NgramModel.fit(TEXT, order=2)
    report = rnnviz.perplexity(model, text=text)
    assert counts.bits(model, text).mean() == pytest.approx(report.bits_per_character, rel=1e-9)
    with pytest.raises(ConfigError, match="at least one character"):
        counts.bits(RNN, "")


# ---- scene 2: memoryless ----------------------------------------------------------------------------


def test_without_a_state_two_texts_that_end_alike_are_one_to_the_last_bit() -> None:
    compared = memoryless.compare(memoryless.ending(MLP, "The time"), memoryless.ending(MLP, "brass e"), 5)
    assert compared.prediction == compared.state == 0.0


def test_with_a_state_they_differ_by_what_the_core_says() -> None:
    one, other = (memoryless.ending(RNN, text) for text in ("The time", "brass e"))
    compared = memoryless.compare(one, other, 4)
    traces = [rnnviz.trace(RNN, text) for text in ("The time", "brass e")]
    p, q = (np.exp(t.log_probs[-1]) for t in traces)
    assert compared.prediction == pytest.approx(float(np.abs(p - q).max()))
    assert compared.state == pytest.approx(float(np.abs(traces[0].hidden[-1] - traces[1].hidden[-1]).max()))
    assert compared.state > 0.01
    likeliest = np.maximum(p, q)
    assert [likeliest[i] for i in compared.symbols] == sorted(likeliest, reverse=True)[:4]
    with pytest.raises(ConfigError, match="at least one character"):
        memoryless.ending(RNN, "")


# ---- scene 3: recurrence ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 3, 9999])
def test_the_small_net_is_the_textbooks_cell(seed: int) -> None:
    net = recurrence.SmallNet.drawn(seed)
    assert (net.W_xh.shape, net.W_hh.shape, net.b_h.shape) == ((3, 4), (4, 4), (4,))
    parameters = {name: torch.tensor(getattr(net, name)) for name in ("W_xh", "W_hh", "b_h")}
    h = torch.zeros(1, 4, dtype=torch.float64)
    steps = net.read([2, 1, 0, 2])
    for t, number in enumerate([2, 1, 0, 2]):
        x = torch.eye(3, dtype=torch.float64)[number : number + 1]
        wanted = textbook_step("rnn", parameters, x, h)
        for name in ("from_input", "from_state", "pre_activation", "state"):
            np.testing.assert_allclose(getattr(steps, name)[t], wanted[name][0].numpy(), atol=1e-12)
        h = wanted["state"]
    np.testing.assert_array_equal(np.round(net.W_xh, 1), net.W_xh)  # what is shown is what is used


@pytest.mark.parametrize("embedding", [0, 6])
def test_a_units_parts_add_up_to_its_state(embedding: int) -> None:
    model = tiny("rnn", embedding_size=embedding)
    text = "The lever ☃"
    taken, read = recurrence.Recurrence(model, text), rnnviz.trace(model, text)
    assert len(taken) == len(text)
    np.testing.assert_array_equal(taken.states[1:], read.hidden[:, 0])
    for t, unit in ((1, 0), (5, 11), (len(text), 3)):
        parts = taken.parts(t, unit)
        assert np.tanh(parts.pre_activation) == pytest.approx(read.hidden[t - 1, 0, unit], abs=1e-5)
        largest, rest = parts.largest(3)
        whole = parts.from_input + parts.terms[largest].sum() + rest + parts.bias
        assert whole == pytest.approx(parts.pre_activation, abs=1e-6)
        assert np.abs(parts.terms[largest]).min() >= np.abs(np.delete(parts.terms, largest)).max()
    assert len(set(taken.varied(4))) == 4


def test_only_a_plain_network_of_one_layer_is_one_sum() -> None:
    for model in (tiny("gru"), MLP, tiny("rnn", layers=2)):
        with pytest.raises(ConfigError, match="plain recurrent network"):
            recurrence.Recurrence(model, "time")
    taken = recurrence.Recurrence(RNN, "time")
    for t, unit in ((0, 0), (5, 0), (1, 12)):
        with pytest.raises(ConfigError, match="t is 1 to 4"):
            taken.parts(t, unit)


# ---- scene 4: one product ---------------------------------------------------------------------------


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


def test_the_lecture_needs_no_torch() -> None:
    code = (
        "import sys\n"
        "from rnnviz.ui.pages.learn import session, scenes\n"
        "for number in range(1, 9): scenes.scene(number)\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "False"
