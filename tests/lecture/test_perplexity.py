"""Perplexity's three cases exactly, and what likelihood and perplexity make of texts of different lengths."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.lecture import perplexity
from rnnviz.networks.ngram import NgramModel
from rnnviz.reading import scoring
from tests.conftest import TEXT, tiny


def test_the_three_cases_exactly() -> None:
    assert perplexity.perplexity([1.0] * 7) == 1
    assert perplexity.perplexity([0.9, 0.0, 1.0]) == math.inf
    for size in (2, 7, 28, 49, 69, 3843):
        assert perplexity.perplexity([Fraction(1, size)] * 13) == size


def test_hand_computed() -> None:
    assert perplexity.perplexity([0.5, 0.125]) == pytest.approx(4.0, rel=1e-15)  # sqrt(2 · 8)
    assert perplexity.surprisal(0.25) == math.log(4)
    assert perplexity.surprisal(0.0) == math.inf
    assert perplexity.surprisal(1.0) == 0


@given(st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=30))
def test_it_is_exp_of_the_mean_surprisal(probabilities: list[float]) -> None:
    mean = sum(map(perplexity.surprisal, probabilities)) / len(probabilities)
    assert perplexity.perplexity(probabilities) == pytest.approx(math.exp(mean), rel=1e-9)


@pytest.mark.parametrize("kind", ["gru", "ngram"])
def test_an_ending_is_scored_after_its_beginning(kind: str) -> None:
    model = NgramModel.fit(TEXT, order=3) if kind == "ngram" else tiny("gru")
    whole = scoring.perplexity(model, text="The Time Traveller")
    parts = (
        perplexity.continuation(model, "", "The Time"),
        perplexity.continuation(model, "The Time", " Traveller"),
    )
    nats = sum(float(part.nats.sum()) for part in parts)
    assert math.exp(nats / 18) == pytest.approx(whole.perplexity, rel=1e-6)
    assert parts[1].perplexity == pytest.approx(math.exp(parts[1].nats.mean()))
    assert parts[1].log10 == pytest.approx(-parts[1].nats.sum() / math.log(10))


def test_likelihood_falls_with_length_and_perplexity_does_not() -> None:
    flat = NgramModel.fit(TEXT, order=3)
    cut = perplexity.prefixes(flat, TEXT[:200])
    assert (np.diff(cut.log10) < 0).all()
    assert cut.perplexity[99] == pytest.approx(scoring.perplexity(flat, text=TEXT[:100]).perplexity, rel=1e-9)
    np.testing.assert_allclose(cut.bits, np.arange(1, 201) * np.log2(cut.perplexity), rtol=1e-9)
