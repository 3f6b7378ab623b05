"""Traces: costs and ranks as defined, windows, and the most probable characters."""

import math
from importlib import import_module

import numpy as np
import pytest

from rnnviz import ModelConfig
from rnnviz.networks.cells import CELLS
from rnnviz.scoring.tracer import trace
from rnnviz.text.vocabulary import UNICODE_SCALAR_VALUES, Vocabulary
from tests.support.closeness import assert_states
from tests.support.models import network, random_tensors
from tests.support.traces import TEXT, VOCABULARY, assert_same_trace, spread_network


def test_costs_ranks_and_perplexity_as_defined() -> None:
    text_trace = trace(spread_network(), TEXT)
    log_probs = text_trace.log_probs.astype(float)
    unknown = math.log(UNICODE_SCALAR_VALUES - len(VOCABULARY.characters))
    total = 0.0
    for t, character in enumerate(TEXT):
        symbol = VOCABULARY.characters.index(character) + 1 if character in VOCABULARY.characters else 0
        nll = -log_probs[t, symbol] + (0 if symbol else unknown)
        total += nll
        assert text_trace.ids[t] == symbol
        assert text_trace.known[t] == (symbol != 0)
        assert text_trace.nll[t] == pytest.approx(nll, abs=1e-5)
        assert text_trace.perplexity[t] == pytest.approx(math.exp(total / (t + 1)), rel=1e-5)
        assert text_trace.rank[t] == 1 + sum(text_trace.log_probs[t] > text_trace.log_probs[t, symbol])
    assert text_trace.nll.dtype == text_trace.perplexity.dtype == np.float64
    assert [TEXT[t] for t in np.flatnonzero(~text_trace.known)] == ["\t", "z", "z", "z"]


@pytest.mark.parametrize("cell", CELLS)
def test_windows_and_states_are_rows_of_the_whole(cell: str) -> None:
    text_trace = trace(spread_network(cell), TEXT)
    for start, stop in ((0, 0), (0, 1), (3, 9), (len(TEXT) - 1, len(TEXT))):
        assert_states(text_trace.log_probs_at(start, stop), text_trace.log_probs[start:stop])
        for name, values in text_trace.gates_at(start, stop).items():
            assert_states(values, text_trace.gates[name][start:stop])
    for t in (1, len(TEXT)):
        for state, rows in zip(text_trace.state_after(t), (text_trace.hidden, text_trace.cell), strict=True):
            assert_states(state, None if rows is None else rows[t - 1])
    assert text_trace.log_probs_at(len(TEXT), len(TEXT) + 1).shape == (1, VOCABULARY.size)


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("size", [30, 300])  # whole rows of the larger one are never sorted, but for ties
def test_top_is_sorted_with_ties_by_id_and_holds_probabilities(size: int, ties: bool) -> None:
    vocabulary = Vocabulary(tuple(map(chr, range(0x4E00, 0x4E00 + size))))
    config = ModelConfig("gru", vocabulary.size, 4)
    tensors = random_tensors(config) | {"readout.bias": np.arange(size + 1) % 10}
    tensors["readout.weight"] *= not ties
    text_trace = trace(network(config, vocabulary, tensors), "一丁")
    for k in (1, 5, 35, 1000):
        ids, probabilities = text_trace.top_at(0, 3, k)
        expected = np.argsort(-text_trace.log_probs, axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(ids, expected)
        np.testing.assert_allclose(
            probabilities, np.exp(np.take_along_axis(text_trace.log_probs, expected, axis=1)), rtol=1e-5
        )
        symbols, shares = zip(*text_trace.top(1, k), strict=True)
        assert list(symbols) == [vocabulary.symbol(n) for n in ids[1].tolist()]
        assert shares == pytest.approx(probabilities[1].tolist(), rel=1e-5)


def test_a_large_vocabulary_takes_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = trace(spread_network(), TEXT)
    assert_same_trace(expected, expected)  # its predictions are made
    monkeypatch.setattr(import_module("rnnviz.scoring.tracer"), "LOGITS_ENTRIES", VOCABULARY.size * 5)
    assert_same_trace(trace(spread_network(), TEXT), expected)
