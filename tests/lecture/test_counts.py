"""Tables of n-grams against exact sizes and fitted models, and costs against the core's."""

import numpy as np
import pytest

import rnnviz
from rnnviz.lecture import counts
from rnnviz.networks.ngram import NgramModel
from rnnviz.text.vocabulary import Vocabulary
from tests.conftest import TEXT, tiny

RNN = tiny("rnn")


def test_a_tables_size_is_exact() -> None:
    assert counts.table_size(69, 10) == 2_446_194_060_654_759_801


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


def test_what_a_text_costs_is_what_the_core_says() -> None:
    text = "a machine ☃"
    np.testing.assert_allclose(counts.bits(RNN, text), rnnviz.trace(RNN, text).nll / np.log(2))
    model = NgramModel.fit(TEXT, order=2)
    report = rnnviz.perplexity(model, text=text)
    assert counts.bits(model, text).mean() == pytest.approx(report.bits_per_character, rel=1e-9)


def test_what_is_said_of_the_book_is_what_it_holds() -> None:
    for name, found in counts.measured().items():
        assert found == pytest.approx(getattr(counts, name), rel=1e-12), name
    read, held_out = counts.book()
    assert len(held_out) == counts.HELD_OUT
    assert len(counts.SEEN) == len(counts.NEVER) == counts.LONGEST
    grams = {read[i : i + 8] for i in range(len(read) - 7)}
    assert counts.SEEN[7] == len(grams) + 1, "and the one that begins with the start symbol"
    model = rnnviz.load("timemachine-6gram")
    assert model.seen == list(counts.SEEN[1:6])
    # What a larger n costs: counts.COSTS fall, by less and less, while contexts go missing.
    assert list(counts.COSTS) == sorted(counts.COSTS, reverse=True)
    assert list(np.diff(counts.COSTS)) == sorted(np.diff(counts.COSTS))
    assert list(counts.NEVER) == sorted(counts.NEVER)


@pytest.mark.parametrize("n", range(1, 5))
def test_a_context_is_known_where_it_stands_in_the_text(n: int) -> None:
    read, text = "abracadabra", "cabra dab"
    assert counts.known(text, n, read) == [text[max(0, t - n + 1) : t] in read for t in range(len(text))]
    long = text * 200
    expected = [(read + long)[max(0, t - n + 1) : t] in read for t in range(len(read), len(read + long))]
    assert counts.known(long, n, read, read) == expected
    assert counts.known(long, n, read)[:20] == counts.known(long[:20], n, read)


def test_different_ngrams_are_counted() -> None:
    vocabulary = Vocabulary.from_text("aabb")
    assert counts.distinct("aabab", vocabulary, longest=3) == (3, 4, 4)  # ^a aa ab ba; ^aa aab aba bab


@pytest.mark.parametrize("n", range(1, 8))
def test_a_model_s_counts_know_what_its_text_knows(n: int) -> None:
    model = rnnviz.load("timemachine-6gram")
    read = counts.book()[0]
    for text in ("the Time Traveller switched his computer off", "qx", "zzz", "and then he"):
        assert counts.met(model, text, n) == counts.known(text, n, read)
