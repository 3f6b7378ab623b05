"""Traces: equal to the model, to a plain loop and to scoring; unchanged by how the text came about."""

import math
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz import CharModel, ModelConfig
from rnnviz.networks import numpy_engine
from rnnviz.networks.config import CELLS
from rnnviz.networks.numpy_model import weights_of
from rnnviz.reading.trace import Trace, Tracer, trace
from rnnviz.text.vocabulary import UNICODE_SCALAR_VALUES, Vocabulary
from tests.networks.textbook import step

VOCABULARY = Vocabulary(tuple(sorted("\n abcdefghijklm,.世界é😀")))
TEXT = "a cab,\na bad\tbeef é 世界 😀. zzz"
ARRAYS = ("ids", "known", "hidden", "cell", "nll", "perplexity", "rank", "entropy")
KINDS = ("mlp", "rnn", "gru", "lstm", "mingru")


@cache
def make(cell: str = "gru", **options: Any) -> CharModel:
    """A random model, its weights spread far enough that states and gates vary; not to be changed."""
    torch.manual_seed(0)
    options = {"hidden_size": 10, "embedding_size": 7, "layers": 2, **options}
    model = CharModel(ModelConfig(cell, VOCABULARY.size, **options), VOCABULARY, name=f"tiny-{cell}")  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return model


def one_by_one(model: CharModel, text: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """H and C (T + 1, L, H each) and log P (T + 1, V) from the model called one character at a time.

    Row 0 is after the start symbol; C is H for cells without one.
    """
    state, states, cells, log_probs = None, [], [], []
    with torch.no_grad():
        for symbol in [VOCABULARY.start, *VOCABULARY.encode(text)]:
            logits, state = model(torch.tensor([[int(symbol)]]), state)
            states.append(state[0][:, 0].numpy().copy())
            cells.append(state[-1][:, 0].numpy().copy())
            log_probs.append(torch.log_softmax(logits[0, 0].double(), dim=0).numpy())
    return np.stack(states), np.stack(cells), np.stack(log_probs)


def assert_same(one: Trace, other: Trace, tolerance: float = 1e-5) -> None:
    assert one.text == other.text
    for name in ARRAYS:
        left, right = getattr(one, name), getattr(other, name)
        if left is None:
            assert right is None
        else:
            assert left.shape == right.shape
            np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance, err_msg=name)
    np.testing.assert_allclose(one.log_probs, other.log_probs, rtol=0, atol=tolerance)
    for name, values in one.gates.items():
        np.testing.assert_allclose(values, other.gates[name], rtol=0, atol=tolerance, err_msg=name)


@pytest.mark.parametrize(
    "options",
    [{}, {"layers": 1}, {"layers": 3}, {"embedding_size": 0}, {"embedding_size": 10, "tied": True}],
    ids=str,
)
@pytest.mark.parametrize("cell", [*KINDS, "relu"])
def test_a_trace_is_what_the_model_does(cell: str, options: dict[str, Any]) -> None:
    model = make("rnn", activation="relu", **options) if cell == "relu" else make(cell, **options)
    found = trace(model, TEXT)
    hidden, cells, log_probs = one_by_one(model, TEXT)
    steps, layers, units = len(TEXT), model.config.layers, model.config.hidden_size
    assert found.hidden.shape == (steps, layers, units)
    assert found.hidden.dtype == np.float32
    scale = np.maximum(1, np.abs(hidden[1:]))  # a relu's states have no bound
    assert np.abs((found.hidden - hidden[1:]) / scale).max() < 1e-5
    assert found.log_probs.shape == (steps + 1, VOCABULARY.size)
    assert found.log_probs.dtype == np.float32
    np.testing.assert_allclose(found.log_probs, log_probs, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.exp(found.log_probs.astype(float)).sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(
        found.entropy, -(np.exp(log_probs) * log_probs).sum(axis=1), rtol=1e-4, atol=1e-5
    )
    if CELLS[cell if cell in CELLS else "rnn"].has_cell:
        assert found.cell is not None
        np.testing.assert_allclose(found.cell, cells[1:], atol=1e-5)
    else:
        assert found.cell is None


def test_costs_ranks_and_perplexity_as_defined() -> None:
    found = trace(make(), TEXT)
    _, _, log_probs = one_by_one(make(), TEXT)
    unknown = math.log(UNICODE_SCALAR_VALUES - len(VOCABULARY.characters))
    total = 0.0
    for t, character in enumerate(TEXT):
        symbol = VOCABULARY.characters.index(character) + 1 if character in VOCABULARY.characters else 0
        nll = -log_probs[t, symbol] + (0 if symbol else unknown)
        total += nll
        assert found.ids[t] == symbol
        assert found.known[t] == (symbol != 0)
        assert found.nll[t] == pytest.approx(nll, abs=1e-5)
        assert found.perplexity[t] == pytest.approx(math.exp(total / (t + 1)), rel=1e-5)
        assert found.rank[t] == 1 + sum(found.log_probs[t] > found.log_probs[t, symbol])
    assert found.nll.dtype == found.perplexity.dtype == np.float64
    assert [TEXT[t] for t in np.flatnonzero(~found.known)] == ["\t", "z", "z", "z"]


@pytest.mark.parametrize("cell", KINDS)
def test_perplexity_is_that_of_scoring(cell: str) -> None:
    text = TEXT * 40
    report = rnnviz.perplexity(make(cell), text=text)
    assert trace(make(cell), text).perplexity[-1] == pytest.approx(report.perplexity, rel=1e-6)
    assert report.unknown == np.count_nonzero(~trace(make(cell), text).known)


def test_a_uniform_model_scores_v() -> None:
    torch.manual_seed(0)
    model = CharModel(ModelConfig("lstm", VOCABULARY.size, 8), VOCABULARY)
    with torch.no_grad():
        model.readout.weight.zero_()
        model.readout.bias.zero_()
    found = trace(model, "a cab, 世界")
    np.testing.assert_allclose(found.perplexity, VOCABULARY.size, rtol=1e-12)
    np.testing.assert_allclose(found.entropy, math.log(VOCABULARY.size), rtol=1e-7)
    assert set(found.rank.tolist()) == {1}
    assert [symbol for symbol, _ in found.top(0, 3)] == ["<unk>", *VOCABULARY.characters[:2]]


@pytest.mark.parametrize("cell", KINDS)
def test_an_empty_text_has_one_prediction(cell: str) -> None:
    found = trace(make(cell), "")
    assert len(found) == 0
    units = make(cell).config.hidden_size
    assert found.hidden.shape == (0, 2, units)
    assert found.nll.shape == found.perplexity.shape == found.rank.shape == (0,)
    assert found.log_probs.shape == (1, VOCABULARY.size)
    assert found.entropy.shape == (1,)
    assert {values.shape for values in found.gates.values()} <= {(0, 2, units)}
    np.testing.assert_allclose(found.log_probs, one_by_one(make(cell), "")[2], atol=1e-5)


@pytest.mark.parametrize("cell", KINDS)
def test_gates_are_those_of_the_cells(cell: str) -> None:
    model = make(cell)
    found = trace(model, TEXT)
    if cell in ("mlp", "rnn"):
        assert found.gates == {}
        return
    hidden, cells, _ = one_by_one(model, TEXT)
    with torch.no_grad():
        for t, symbol in enumerate(found.ids):
            x = model.embed(torch.tensor([[int(symbol)]]))[0]
            for layer, p in enumerate(model.layer_parameters()):
                h, c = (torch.from_numpy(rows[t, layer])[None] for rows in (hidden, cells))
                parts = step(cell, p, x, h, c)  # type: ignore[arg-type]
                x = parts["state"]
                assert set(found.gates) == parts.keys() - {"state", "cell"}
                for name, values in found.gates.items():
                    np.testing.assert_allclose(values[t, layer], parts[name][0], atol=1e-5, err_msg=name)
    for name, values in found.gates.items():
        if name != "candidate":
            assert ((values >= 0) & (values <= 1)).all()
        elif name == "candidate" and not CELLS[cell].linear:
            assert (abs(values) <= 1).all()
        assert values.std() > 0.01


@pytest.mark.parametrize("cell", KINDS)
def test_the_state_after_some_characters_is_a_row_of_the_whole(cell: str) -> None:
    found = trace(make(cell), TEXT)
    for t in (1, len(TEXT)):
        hidden, memory = found.state_after(t)
        np.testing.assert_array_equal(hidden, found.hidden[t - 1])
        assert (memory is None) == (found.cell is None)
        if memory is not None and found.cell is not None:
            np.testing.assert_array_equal(memory, found.cell[t - 1])
    assert repr(found) == f"<Trace of 29 characters by tiny-{cell}, perplexity {found.perplexity[-1]:.3f}>"


@pytest.mark.parametrize("cell", KINDS)
def test_windows_are_rows_of_the_whole(cell: str) -> None:
    found = trace(make(cell), TEXT)
    for start, stop in ((0, 0), (0, 1), (3, 9), (len(TEXT) - 1, len(TEXT))):
        np.testing.assert_allclose(found.log_probs_at(start, stop), found.log_probs[start:stop], atol=1e-6)
        for name, values in found.gates_at(start, stop).items():
            np.testing.assert_allclose(values, found.gates[name][start:stop], atol=1e-6)
    assert found.log_probs_at(len(TEXT), len(TEXT) + 1).shape == (1, VOCABULARY.size)


def test_top_is_sorted_and_holds_probabilities() -> None:
    found = trace(make(), TEXT)
    for t in (0, 5, len(TEXT)):
        top = found.top(t, 4)
        expected = sorted(enumerate(np.exp(found.log_probs[t])), key=lambda pair: (-pair[1], pair[0]))[:4]
        assert [symbol for symbol, _ in top] == [VOCABULARY.symbol(index) for index, _ in expected]
        assert [p for _, p in top] == pytest.approx([p for _, p in expected], rel=1e-5)
    ids, probabilities = found.top_at(2, 6, 1000)
    assert ids.shape == probabilities.shape == (4, VOCABULARY.size)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    every = [symbol for symbol, _ in found.top(3, VOCABULARY.size)]
    assert [VOCABULARY.symbol(index) for index in ids[1].tolist()] == every


def test_top_of_a_large_vocabulary_settles_ties_by_id() -> None:
    vocabulary = Vocabulary(tuple(map(chr, range(0x4E00, 0x4E00 + 300))))
    model = CharModel(ModelConfig("mlp", vocabulary.size, 4), vocabulary)
    with torch.no_grad():
        model.readout.weight.zero_()
        model.readout.bias.copy_(torch.arange(301) % 10)
    ids, probabilities = trace(model, "").top_at(0, 1, 35)
    assert ids[0].tolist() == [*range(9, 301, 10), *range(8, 58, 10)]
    assert (np.diff(probabilities) <= 0).all()
    with torch.no_grad():
        model.readout.bias.add_(torch.linspace(0, 0.9, 301))
    found = trace(model, "一丁")
    ids, _ = found.top_at(0, 3, 5)
    np.testing.assert_array_equal(ids, np.argsort(-found.log_probs, axis=1, kind="stable")[:, :5])


@pytest.mark.parametrize("cell", KINDS)
def test_a_large_vocabulary_needs_no_table_and_many_blocks(
    cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = trace(make(cell), TEXT * 3)
    expected_gates = expected.gates
    monkeypatch.setattr(numpy_engine, "TABLE_BYTES", 0)
    monkeypatch.setattr(numpy_engine, "BLOCK", 7)
    monkeypatch.setattr(numpy_engine, "PRODUCT", 35)
    monkeypatch.setattr(numpy_engine, "LOGITS", VOCABULARY.size * 5)
    monkeypatch.setattr(import_module("rnnviz.reading.trace"), "LOGITS", VOCABULARY.size * 5)
    model = make.__wrapped__(cell)  # of its own, its weights made under these limits
    found = trace(model, TEXT * 3)
    assert weights_of(model).layers[0].table is None
    assert_same(Tracer(model).extend(TEXT[:1]), trace(make(cell), TEXT[:1]))
    assert_same(found, expected)
    for name, values in found.gates.items():
        np.testing.assert_allclose(values, expected_gates[name], atol=1e-5)
