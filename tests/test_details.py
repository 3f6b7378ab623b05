"""Rank and entropy beside each character's cost: against whole predictions, for every kind of model."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.details import entropy, rank
from rnnviz.ngram import NgramModel
from rnnviz.scoring import UniformModel, pieces
from rnnviz.trace import trace
from rnnviz.vocabulary import Vocabulary
from tests.conftest import TEXT, tiny

OTHER = "A traveller! He is 道 quiet; zzz Time.\n" * 3


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.data())
def test_a_rank_is_a_place_in_the_sorted_row(row: list[int], data: st.DataObject) -> None:
    target = data.draw(st.integers(0, len(row) - 1))
    order = sorted(range(len(row)), key=lambda i: (-row[i], i))
    scores = np.array([row, row], np.float32)
    assert rank(scores, np.array([target, target])).tolist() == [order.index(target) + 1] * 2


def test_entropies_on_paper() -> None:
    p = np.array([[0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3]])
    expected = [1.5 * math.log(2), math.log(3)]
    assert entropy(np.log(p)).tolist() == pytest.approx(expected)
    assert entropy(np.log(p) + 1000).tolist() == pytest.approx(expected)
    assert entropy(np.log(p), np.zeros(2)).tolist() == pytest.approx(expected)
    certain = entropy(np.array([[0.0, -1000.0]], np.float32))
    assert (certain.tolist(), certain.dtype) == ([0.0], np.float32)


@pytest.mark.parametrize("piece", [7, 4096])
@pytest.mark.parametrize("cell", ["mlp", "rnn", "gru", "lstm"])
def test_a_network_tells_what_its_trace_tells(cell: str, piece: int) -> None:
    model = tiny(cell)
    expected = trace(model, OTHER)
    parts = list(pieces(model, text=OTHER, piece=piece, details=True))
    np.testing.assert_array_equal(np.concatenate([p.rank for p in parts]), expected.rank)
    np.testing.assert_allclose(
        np.concatenate([p.entropy for p in parts]), expected.entropy[:-1], rtol=1e-5, atol=1e-6
    )
    plain = np.concatenate([p.nll for p in pieces(model, text=OTHER, piece=piece)])
    np.testing.assert_array_equal(np.concatenate([p.nll for p in parts]), plain)


@pytest.mark.parametrize("piece", [7, 4096])
@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_an_ngram_model_tells_what_its_distributions_tell(order: int, piece: int) -> None:
    model = NgramModel.fit(TEXT, order=order)
    ids = model.vocabulary.encode(OTHER)
    rows = np.array([model.log_probs(ids[:t]) for t in range(len(ids))])
    parts = list(pieces(model, text=OTHER, piece=piece, details=True))
    np.testing.assert_array_equal(np.concatenate([p.rank for p in parts]), rank(rows, ids))
    expected = -(np.exp(rows) * rows).sum(1)
    np.testing.assert_allclose(np.concatenate([p.entropy for p in parts]), expected, rtol=1e-6)
    plain = np.concatenate([p.nll for p in pieces(model, text=OTHER)])
    np.testing.assert_array_equal(np.concatenate([p.nll for p in parts]), plain)


def test_a_uniform_model_ranks_by_integer() -> None:
    (part,) = pieces(UniformModel(Vocabulary(("a", "b"))), text="ab道", details=True)
    assert part.rank is not None
    assert part.entropy is not None
    assert part.rank.tolist() == [2, 3, 1]
    assert part.entropy.tolist() == pytest.approx([math.log(3)] * 3)


def test_nobody_pays_for_what_was_not_asked() -> None:
    (part,) = pieces(UniformModel(Vocabulary(("a",))), text="a")
    assert part.rank is None
    assert part.entropy is None
