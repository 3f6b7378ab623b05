"""The Tracer: after any edit it holds what a fresh trace would, and what was handed out stays as it was."""

import math
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.errors import TextError
from rnnviz.networks.cells import CELLS
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import Tracer, trace
from tests.support.models import with_tensors
from tests.support.traces import ARRAYS, TEXT, VOCABULARY, assert_same_trace, spread_network

CHARACTERS = st.sampled_from(
    [*"abc ,.\n\r\t", "\r\n", "é", "e\u0301", "世", "界", "龍", "😀", "👩‍🚀", "\u202eא", "z", "\x00"]
)
PIECES = st.lists(CHARACTERS, max_size=12).map("".join)


@st.composite
def edits(draw: st.DrawFn) -> list[str]:
    """Successive whole texts, each an edit of the one before: a part of it replaced, at its ends too."""
    texts = [""]
    for _ in range(draw(st.integers(1, 8))):
        text = texts[-1]
        at = draw(st.integers(0, len(text)) | st.just(len(text)))
        to = draw(st.integers(at, len(text)) | st.just(len(text)))
        often = draw(st.sampled_from([0, 1, 1, 30]))  # the last goes beyond the first room for rows
        texts.append(text[:at] + draw(PIECES) * often + text[to:])
    return texts


@pytest.mark.parametrize("cell", CELLS)
@given(texts=edits())
def test_tracer_after_edits_equals_a_fresh_trace(cell: str, texts: list[str]) -> None:
    tracer, old = Tracer(spread_network(cell)), ""
    earlier_traces: list[tuple[Trace, dict[str, Any]]] = []
    for raw in texts:
        text_trace = tracer.extend(raw)
        text = raw.replace("\r\n", "\n").replace("\r", "\n")
        assert text_trace.text == text
        prefix = max(n for n in range(len(text) + 1) if old.startswith(text[:n]))
        assert (tracer.computed, tracer.changed) == (len(text) - prefix, (prefix, len(text)))
        assert_same_trace(text_trace, trace(spread_network(cell), raw))
        earlier_traces.append(
            (
                text_trace,
                {
                    name: np.copy(getattr(text_trace, name))
                    for name in ARRAYS
                    if getattr(text_trace, name) is not None
                },
            )
        )
        old = text
    for text_trace, copies in earlier_traces:
        for name, values in copies.items():
            np.testing.assert_array_equal(getattr(text_trace, name), values, err_msg=name)


@pytest.mark.parametrize("cell", CELLS)
def test_typing_a_long_text_equals_reading_it(cell: str) -> None:
    text = (TEXT * 30)[:700]
    tracer = Tracer(spread_network(cell))
    places = set()
    for end in range(len(text) + 1):
        text_trace = tracer.extend(text[:end])
        assert tracer.computed == min(end, 1)
        places.add(text_trace.entropy.ctypes.data)
    assert len(places) <= 3  # room for 256 rows, then twice as many and again: copying stays rare
    assert_same_trace(text_trace, trace(spread_network(cell), text))


def test_an_array_taken_from_a_trace_outlives_it_unchanged() -> None:
    tracer = Tracer(spread_network("lstm"))
    row = tracer.extend("abcde").hidden[4:, 1]
    costs = tracer.extend("abcde").nll[2:]
    before, before_costs = row.copy(), costs.copy()
    tracer.extend("abcdf")
    tracer.extend("a")
    tracer.extend("abbbbbbbbbb")
    np.testing.assert_array_equal(row, before)
    np.testing.assert_array_equal(costs, before_costs)


def test_arrays_are_read_only_and_stay_so() -> None:
    text_trace = trace(spread_network("lstm"), "abc")
    arrays = [getattr(text_trace, name) for name in ARRAYS] + [
        text_trace.log_probs,
        *text_trace.gates.values(),
    ]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        text_trace.hidden.setflags(write=True)
    with pytest.raises(FrozenInstanceError):
        text_trace.text = ""  # type: ignore[misc]


def test_half_a_character_is_refused_and_the_tracer_goes_on() -> None:
    tracer = Tracer(spread_network())
    tracer.extend("ab")
    with pytest.raises(TextError, match="half of a surrogate pair"):
        tracer.extend("ab\ud83d")
    text_trace = tracer.extend("abc")
    assert tracer.computed == 1
    assert_same_trace(text_trace, trace(spread_network(), "abc"))


def test_impossible_costs_overflow_to_infinity_without_a_warning() -> None:
    never = np.arange(VOCABULARY.size) == VOCABULARY.encode("a")[0]
    text_trace = trace(with_tensors(spread_network(), readout_bias=-3000.0 * never), "aa")
    assert text_trace.nll[0] > 2000
    assert math.isinf(text_trace.perplexity[1])
