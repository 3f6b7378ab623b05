"""What is left in a state of each input: against a plain sum, step after step."""

import numpy as np
import pytest

from rnnviz.gradients import remaining
from rnnviz.scoring.tracer import trace
from tests.support.models import TEXT, tiny
from tests.support.torch_models import tiny_torch


@pytest.mark.parametrize("layer", [0, 1])
def test_the_sum_of_what_is_left_is_the_state(layer: int) -> None:
    model, text = tiny_torch("mingru", layers=2), TEXT[:80]
    recurrence, read = remaining(model, text, layer=layer), trace(model, text)
    for t in (1, 2, 40, 80):
        terms = recurrence.at(t)
        state = read.hidden[t - 1, layer]
        assert float(np.abs(terms.sum(axis=0) - state).max()) < 1e-5 * max(1, float(np.abs(state).max()))
        plain = [recurrence.write[s] * np.prod(recurrence.keep[s + 1 : t + 1], axis=0) for s in range(t + 1)]
        np.testing.assert_allclose(terms, plain, rtol=1e-5, atol=1e-30)
    np.testing.assert_array_equal(recurrence.at(), recurrence.at(80))


def test_a_text_that_has_ended_leaves_nothing() -> None:
    model, text = tiny("mingru", ends=True), "machine\nTime"
    terms = remaining(model, text).at()
    np.testing.assert_allclose(terms.sum(axis=0), trace(model, text).hidden[-1, 0], atol=1e-6)
    assert not terms[: len("machine\n")].any(), "the start symbol's, and the first text's"


def test_shares_are_those_of_the_terms() -> None:
    recurrence = remaining(tiny_torch("mingru"), TEXT[:30])
    shares = recurrence.shares()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert not np.triu(shares, 1).any()
    (panel,) = recurrence.panels()
    np.testing.assert_allclose(10.0**panel.picture.log10, shares[1:, 1:], rtol=1e-5)
    for t in (1, 17, 30):
        sizes = np.abs(recurrence.at(t).astype(np.float64)).sum(axis=1)
        np.testing.assert_allclose(shares[t, : t + 1], sizes / sizes.sum(), rtol=1e-5, atol=1e-12)
