"""Rank and entropy beside each character's cost: against whole predictions, for every kind of model."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.networks.cells import CELLS
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.networks.prediction import entropy, normalised, rank
from rnnviz.scoring.perplexity import UniformModel
from rnnviz.scoring.tracer import trace
from rnnviz.text.vocabulary import Vocabulary
from tests.support.closeness import assert_states
from tests.support.models import TEXT, tiny, with_tensors
from tests.support.pieces import costs as costs_of
from tests.support.pieces import pieces
from tests.support.recorded import make_record

OTHER = "A traveller! He is 道 quiet; zzz Time.\n" * 3


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.data())
def test_a_rank_is_a_place_in_the_sorted_row(row: list[int], data: st.DataObject) -> None:
    target = data.draw(st.integers(0, len(row) - 1))
    falling = sorted(row, reverse=True)
    scores = np.array([row, row], np.float32)
    # Equals share the first of their places.
    assert rank(scores, np.array([target, target])).tolist() == [falling.index(row[target]) + 1] * 2


def test_entropies_on_paper() -> None:
    p = np.array([[0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3]])
    expected = [1.5 * math.log(2), math.log(3)]
    assert entropy(*normalised(np.log(p) + 1000)).tolist() == pytest.approx(expected)
    certain = entropy(*normalised(np.array([[0.0, -1000.0]], np.float32)))
    assert (certain.tolist(), certain.dtype) == ([0.0], np.float32)


def each_prediction(model: NumpyModel | NgramModel, ids: np.ndarray) -> np.ndarray:
    """log P before each symbol, (T, V), by the parts that don't score."""
    if isinstance(model, NgramModel):
        return np.array([model.log_probs(ids[:t]) for t in range(len(ids))])
    return trace(model, OTHER).log_probs[:-1]


@pytest.mark.parametrize("piece", [7, 4096])
@pytest.mark.parametrize(
    "model",
    [
        *(tiny(cell, name=cell) for cell in CELLS),
        *(NgramModel.fit(TEXT, order=n, name=f"{n}-gram") for n in (1, 2, 3, 6)),
    ],
    ids=lambda model: model.name,
)
def test_rank_and_entropy_are_those_of_the_whole_prediction(model: Any, piece: int) -> None:
    ids = model.vocabulary.encode(OTHER)
    rows, parts = each_prediction(model, ids), pieces(model, OTHER, piece_chars=piece)
    assert np.mean(np.concatenate([p.rank for p in parts]) != rank(rows, ids)) < 0.02  # equals to rounding
    expected = -(np.exp(rows) * rows).sum(1)
    np.testing.assert_allclose(np.concatenate([p.entropy for p in parts]), expected, rtol=1e-5, atol=1e-6)
    costs = rows[np.arange(len(ids)), ids] - model.vocabulary.unknown_cost * (ids == 0)
    np.testing.assert_allclose(np.concatenate([p.nll for p in parts]), -costs, rtol=1e-5)
    assert_states([c for p in parts for c in p.nll], costs_of(model, OTHER, piece_chars=piece))


def test_uniform_prediction_ranks_all_first() -> None:
    (part,) = pieces(UniformModel(Vocabulary(("a", "b"))), "ab道")
    assert part.rank.tolist() == [1, 1, 1]
    assert part.entropy.tolist() == pytest.approx([math.log(3)] * 3)


@pytest.mark.parametrize("cell", CELLS)
def test_equals_share_a_rank_however_the_text_is_read(cell: str, tmp_path: Path) -> None:
    """A readout of nothing but three different biases: whole groups of characters are equally likely."""
    places = np.arange(tiny(cell).vocabulary.size)
    model = with_tensors(tiny(cell), readout_weight=0.0, readout_bias=places % 3)
    ids = model.vocabulary.encode(OTHER)
    sizes = np.bincount(places % 3, minlength=3)
    more_probable = np.array([sizes[1] + sizes[2], sizes[2], 0])[ids % 3]
    (part,) = pieces(model, OTHER)
    stored = make_record(tmp_path, model, OTHER)
    for ranks in (trace(model, OTHER).rank, part.rank, stored.ranks(0, len(stored))):
        np.testing.assert_array_equal(ranks, 1 + more_probable)
