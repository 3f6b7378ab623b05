"""Tables of n-grams against exact sizes and fitted models, and costs against the core's."""

from __future__ import annotations

import numpy as np
import pytest

import rnnviz
from rnnviz.errors import ConfigError
from rnnviz.lecture import counts
from rnnviz.networks.ngram import NgramModel
from tests.conftest import TEXT, tiny

RNN = tiny("rnn")


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
