"""Parts of a trace, its table, its file, and many traces at once."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest

import rnnviz
from rnnviz.errors import CheckpointError, ConfigError
from rnnviz.networks.cells import CELLS
from rnnviz.scoring import tracer
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace
from tests.support.closeness import assert_states
from tests.support.traces import TEXT, assert_same_trace, spread_network


def test_a_file_without_a_name_is_refused_as_the_file() -> None:
    with pytest.raises(CheckpointError, match=r"^the file is not a trace that can be read"):
        Trace.load(io.BytesIO(b"no trace"))


@pytest.mark.parametrize("window", [slice(5, 12), slice(None), slice(4, 4), slice(9, 2), slice(-3, 10_000)])
@pytest.mark.parametrize("cell", CELLS)
def test_slice_of_a_trace_equals_the_whole_there(cell: str, window: slice) -> None:
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


def test_states_frame_has_a_row_per_character_unit_and_quantity() -> None:
    text_trace = trace(spread_network("lstm"), TEXT)
    frame = text_trace.states_frame("cell", "forget")
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
        assert row.value.item() == text_trace.values(quantity)[position, layer, unit]
    two_units = text_trace.states_frame(layer=1, units=[3, 0])
    table = two_units.pivot(index="position", columns="unit", values="value")
    np.testing.assert_array_equal(table[3], text_trace.hidden[:, 1, 3])
    assert set(two_units.quantity) == {"hidden"}
    assert len(trace(spread_network(), "").states_frame()) == 0


def test_frame_without_pandas_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match=r"pip install .*\[notebook\]"):
        trace(spread_network(), TEXT).states_frame()
    with pytest.raises(ConfigError, match=r"trace\.columns\(\)"):
        trace(spread_network(), TEXT).frame()


def test_frame_has_a_row_per_character() -> None:
    text_trace = trace(spread_network("lstm"), TEXT)
    frame = text_trace.frame(k=2)
    assert list(frame) == [
        *("position", "character", "nll", "rank", "entropy", "top_1", "p_1", "top_2", "p_2")
    ]
    assert "".join(frame.character) == TEXT
    for name in ("nll", "rank"):
        np.testing.assert_array_equal(frame[name], getattr(text_trace, name))
    np.testing.assert_array_equal(frame.entropy, text_trace.entropy[:-1])
    for t in (0, 7, len(TEXT) - 1):
        row = frame.loc[t]
        characters, probabilities = zip(*text_trace.top(t, 2), strict=True)
        assert (row.top_1, row.top_2) == characters
        assert (row.p_1, row.p_2) == pytest.approx(probabilities, rel=1e-6)
    assert len(text_trace.frame(k=0).columns) == 5
    assert len(text_trace[:0].frame()) == 0


@pytest.mark.parametrize("text", [TEXT, ""])
@pytest.mark.parametrize("cell", CELLS)
def test_saved_trace_loads_the_same(cell: str, text: str, tmp_path: Path) -> None:
    text_trace = trace(spread_network(cell, layers=2), text)
    text_trace.save(tmp_path / "trace")  # no ending is added
    again = Trace.load(tmp_path / "trace")
    assert_same_trace(text_trace, again)
    assert (again.model_name, again.vocabulary) == (text_trace.model_name, text_trace.vocabulary)
    assert_states(again.logits, text_trace.logits)
    assert not again.hidden.flags.writeable
    assert_same_trace(Trace.load(io.BytesIO(text_trace[3:8].to_bytes())), text_trace[3:8])


TEXTS = ["a cab", "", TEXT, "世界" * 40, "bad\r\nbeef", TEXT * 3, "a"]


@pytest.mark.parametrize("cell", CELLS)
def test_batch_of_traces_equals_single_traces(cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracer, "MAX_BATCH_TEXTS", 3)
    model = spread_network(cell)
    text_trace = rnnviz.trace(model, TEXTS)
    assert [batch_trace.text for batch_trace in text_trace] == [text.replace("\r\n", "\n") for text in TEXTS]
    for batch_trace, item in zip(text_trace, TEXTS, strict=True):
        assert_same_trace(batch_trace, trace(model, item), 1e-4)
    assert rnnviz.trace(model, []) == []
    change = rnnviz.units.Clamp(3, 1.0)
    for batch_trace, item in zip(rnnviz.trace(model, TEXTS, change=change), TEXTS, strict=True):
        assert_same_trace(batch_trace, rnnviz.trace(model, item, change=change))
        assert (batch_trace.hidden[:, 0, 3] == 1).all()
