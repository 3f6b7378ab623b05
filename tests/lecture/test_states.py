"""Three rules for a state against plain counts, and what they cost against sums on paper."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rnnviz
from rnnviz.lecture import counts, states
from rnnviz.networks import checkpoint
from rnnviz.networks.numpy_model import NumpyModel


@pytest.fixture(scope="module")
def rnn() -> NumpyModel:
    return checkpoint.load_numpy(checkpoint.find("timemachine-rnn"))


def test_what_a_rule_needs_is_its_sum_on_paper(rnn: NumpyModel) -> None:
    assert (rnn.vocabulary.size, rnn.config.hidden_size) == (69, 256)
    assert states.costs("append", 2, rnn) == states.Costs(pytest.approx(2 * np.log2(69)), 69**3, 2)
    for t in (1, 50, 10_000):
        last, net = states.costs("last", t, rnn), states.costs("rnn", t, rnn)
        assert last == states.Costs(pytest.approx(np.log2(69)), 69 * 69, 1)
        assert net == states.Costs(256 * 32, 125_509, 256 * 256 + 256 * 69)


def test_storing_everything_is_the_smaller_state_at_first_and_the_larger_table_soon(rnn: NumpyModel) -> None:
    net = states.costs("rnn", 1, rnn)
    everything = [states.costs("append", t, rnn) for t in range(1, 2000)]
    assert [found.bits > net.bits for found in everything].index(True) + 1 == 1342
    assert [found.stored > net.stored for found in everything[:22]].index(True) + 1 == 2
    assert np.all(np.diff([found.bits for found in everything]) > 0)


@given(context=st.text("ab", max_size=4), read=st.text("abc", max_size=30))
def test_followers_are_counted_one_by_one(context: str, read: str) -> None:
    found = Counter(
        read[i + len(context)]
        for i in range(len(read) - len(context))
        if read[i : i + len(context)] == context
    )
    assert states.followers(context, read) == found


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("the dark machine stood", "the grey machine stood"),
        ("same", "same"),
        ("abc", "abcdef"),
        ("he saw", "I met\u6f22"),
    ],
)
def test_how_far_apart_texts_are(rnn: NumpyModel, left: str, right: str) -> None:
    read = counts.book()[0]
    found = {kind: states.apart(kind, left, right, read, rnn) for kind in states.KINDS}
    T = min(len(left), len(right))
    for t in range(1, T + 1):
        same = left[:t] == right[:t]
        assert found["append"][t - 1] == (not same)
        if left[t - 1] == right[t - 1]:
            assert found["last"][t - 1] == 0
        if same:
            assert found["rnn"][t - 1] == 0
        p, q = (np.exp(rnnviz.trace(rnn, text[:t]).log_probs[-1].astype(float)) for text in (left, right))
        assert found["rnn"][t - 1] == pytest.approx(np.maximum(p - q, 0).sum(), abs=1e-6)
    assert {len(values) for values in found.values()} == {T}
    assert all(((values >= 0) & (values <= 1)).all() for values in found.values())


def test_characters_are_as_far_apart_as_what_follows_them(rnn: NumpyModel) -> None:
    read = "abacad" + "bcbb"
    # After a: b c d, once each; after b: a, c, b.
    assert states.apart("last", "a", "b", read, rnn) == pytest.approx([1 / 3])
    assert states.apart("last", "a", "z", read, rnn) == pytest.approx([1])
