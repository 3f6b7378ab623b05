"""Many short texts read side by side cost what each costs alone."""

from typing import Any

import numpy as np
import pytest

from rnnviz.networks import side_by_side
from rnnviz.networks.abreast import CHUNK
from rnnviz.networks.short_texts import ROWS
from tests.conftest import tiny

CELLS: list[tuple[str, dict[str, Any]]] = [
    ("mlp", {}),
    ("rnn", {}),
    ("rnn", {"activation": "relu", "layers": 2}),
    ("gru", {}),
    ("gru", {"layers": 2, "embedding_size": 0}),
    ("lstm", {"layers": 2}),
    ("mingru", {"layers": 2}),
    ("gru", {"tied": True, "embedding_size": 12}),
]


def some(count: int, longest: int, symbols: int) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, symbols, n) for n in rng.integers(0, longest, count)]


@pytest.mark.parametrize(("cell", "options"), CELLS)
def test_each_text_costs_what_it_costs_alone(cell: str, options: dict[str, Any]) -> None:
    model = tiny(cell, **options)
    texts = some(2 * ROWS + 3, 3 * CHUNK, model.vocabulary.size)
    found = model.short_texts().advance(texts)
    for ids, log_p in zip(texts, found, strict=True):
        assert log_p == pytest.approx(model.scorer().advance(ids), rel=1e-4, abs=1e-5)


def test_the_order_and_the_neighbours_make_no_difference() -> None:
    model = tiny("gru")
    texts = some(50, 150, model.vocabulary.size)
    together = model.short_texts().advance(texts)
    backwards = model.short_texts().advance(texts[::-1])[::-1]
    for one, other in zip(together, backwards, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_a_long_text_among_them_is_read_as_long_texts_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnviz.networks.short_texts.LEAST", 200)
    model = tiny("gru")
    texts = [
        *some(5, 100, model.vocabulary.size),
        np.ones(side_by_side.LEAST, np.int64),
        np.ones(201, np.int64),
    ]
    found = model.short_texts().advance(texts)
    for ids, log_p in zip(texts[5:], found[5:], strict=True):
        assert np.array_equal(log_p, model.scorer().advance(ids))


def test_no_texts_and_empty_ones() -> None:
    scorer = tiny("gru").short_texts()
    assert scorer.advance([]) == []
    empty, one = scorer.advance([np.empty(0, np.int64), np.ones(1, np.int64)])
    assert (len(empty), len(one)) == (0, 1)
