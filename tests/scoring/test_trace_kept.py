"""Parts of a trace, its table, its file, and many traces at once."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest

import rnnviz
from rnnviz.errors import ConfigError
from rnnviz.networks.cells import CELLS
from rnnviz.scoring import tracer
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace
from tests.support.closeness import assert_states
from tests.support.traces import TEXT, assert_same_trace, spread_network


@pytest.mark.parametrize("window", [slice(5, 12), slice(None), slice(4, 4), slice(9, 2), slice(-3, 10_000)])
@pytest.mark.parametrize("cell", CELLS)
def test_a_part_of_a_trace_is_what_the_whole_says_there(cell: str, window: slice) -> None:
    whole, part = trace(spread_network(cell), TEXT), trace(spread_network(cell), TEXT)[window]
    start, stop, _ = window.indices(len(TEXT))
    rows = slice(start, max(start, stop) + 1)
    assert (part.text, len(part)) == (TEXT[window], len(TEXT[window]))
    for name in ("ids", "known", "hidden", "nll", "rank", *(["cell"] if cell == "lstm" else [])):
        assert_states(getattr(part, name), getattr(whole, name)[window])
    assert_states(part.entropy, whole.entropy[rows])
    np.testing.assert_allclose(part.log_probs, whole.log_probs[rows], rtol=1e-5, atol=1e-5)
    for name, values in part.gates.items():
        np.testing.assert_allclose(values, whole.gates[name][window], rtol=1e-5, atol=1e-5)
    for state, same in zip(part.state_after(0), whole.state_after(start), strict=True):
        assert_states(state, same)
    means = np.cumsum(whole.nll[window]) / np.arange(1, len(part) + 1)  # of its own characters
    np.testing.assert_allclose(part.perplexity, np.exp(means), rtol=1e-5)
    assert not part.perplexity.flags.writeable
    assert_states(part[1:3].nll, part.nll[1:3])


def test_a_frame_has_a_row_for_each_character_unit_and_quantity() -> None:
    found = trace(spread_network("lstm"), TEXT)
    frame = found.states_frame("cell", "forget")
    assert list(frame.columns) == ["position", "character", "layer", "unit", "quantity", "value"]
    assert len(frame) == len(TEXT) * 2 * 10 * 2
    for position, layer, unit, quantity in ((0, 0, 0, "cell"), (9, 1, 7, "forget"), (20, 0, 9, "cell")):
        row = frame[
            (frame.position == position)
            & (frame.layer == layer)
            & (frame.unit == unit)
            & (frame.quantity == quantity)
        ]
        assert row.character.item() == TEXT[position]
        assert row.value.item() == found.values(quantity)[position, layer, unit]
    few = found.states_frame(layer=1, units=[3, 0])
    table = few.pivot(index="position", columns="unit", values="value")
    np.testing.assert_array_equal(table[3], found.hidden[:, 1, 3])
    assert set(few.quantity) == {"hidden"}
    assert len(trace(spread_network(), "").states_frame()) == 0


def test_without_pandas_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match=r"pip install .*\[notebook\]"):
        trace(spread_network(), TEXT).states_frame()
    with pytest.raises(ConfigError, match=r"trace\.columns\(\)"):
        trace(spread_network(), TEXT).frame()


def test_a_frame_has_a_row_for_each_character_with_what_was_expected_there() -> None:
    found = trace(spread_network("lstm"), TEXT)
    frame = found.frame(k=2)
    assert list(frame) == [
        *("position", "character", "nll", "rank", "entropy", "top_1", "p_1", "top_2", "p_2")
    ]
    assert "".join(frame.character) == TEXT
    for name in ("nll", "rank"):
        np.testing.assert_array_equal(frame[name], getattr(found, name))
    np.testing.assert_array_equal(frame.entropy, found.entropy[:-1])
    for t in (0, 7, len(TEXT) - 1):
        row = frame.loc[t]
        characters, probabilities = zip(*found.top(t, 2), strict=True)
        assert (row.top_1, row.top_2) == characters
        assert (row.p_1, row.p_2) == pytest.approx(probabilities, rel=1e-6)
    assert len(found.frame(k=0).columns) == 5
    assert len(found[:0].frame()) == 0


@pytest.mark.parametrize("text", [TEXT, ""])
@pytest.mark.parametrize("cell", CELLS)
def test_a_stored_trace_comes_back_the_same(cell: str, text: str, tmp_path: Path) -> None:
    found = trace(spread_network(cell, layers=2), text)
    found.save(tmp_path / "trace")  # no ending is added
    again = Trace.load(tmp_path / "trace")
    assert_same_trace(found, again)
    assert (again.model_name, again.vocabulary) == (found.model_name, found.vocabulary)
    assert_states(again.logits, found.logits)
    assert not again.hidden.flags.writeable
    assert_same_trace(Trace.load(io.BytesIO(found[3:8].to_bytes())), found[3:8])


TEXTS = ["a cab", "", TEXT, "世界" * 40, "bad\r\nbeef", TEXT * 3, "a"]


@pytest.mark.parametrize("cell", CELLS)
def test_many_traces_are_those_of_one_by_one(cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracer, "MAX_BATCH_TEXTS", 3)
    model = spread_network(cell)
    found = rnnviz.trace(model, TEXTS)
    assert [each.text for each in found] == [text.replace("\r\n", "\n") for text in TEXTS]
    for one, each in zip(found, TEXTS, strict=True):
        assert_same_trace(one, trace(model, each), 1e-4)
    assert rnnviz.trace(model, []) == []
    held = rnnviz.units.Clamp(3, 1.0)
    for one, each in zip(rnnviz.trace(model, TEXTS, change=held), TEXTS, strict=True):
        assert_same_trace(one, rnnviz.trace(model, each, change=held))
        assert (one.hidden[:, 0, 3] == 1).all()
