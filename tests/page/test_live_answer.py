"""An answer of the live view: its content, its difference to what the browser holds, and its numbers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz.figures import live
from rnnviz.networks.cells import CELLS
from rnnviz.page.live_answer import (
    BrowserRows,
    Selection,
    WindowPredictions,
    colour_levels,
    content,
    find_browser_rows,
)
from rnnviz.page.shown_units import unit_reach
from rnnviz.page.text_numbers import TEXT_NUMBERS, number_values
from rnnviz.scoring.sampling import SamplingSettings
from rnnviz.scoring.text_reader import TextRead
from tests.support.models import TEXT, tiny

GRU = tiny("gru", layers=2)
LSTM = tiny("lstm")
MLP = tiny("mlp")
WINDOW = Selection(length=20, start=8, stop=16, unit=3)


@pytest.mark.parametrize(
    ("browser_selection", "changes", "unchanged", "expected"),
    [
        # A key at the end: one character is new, and the window moves by one.
        (WINDOW, {"length": 21, "start": 9, "stop": 17}, 20, BrowserRows(20, 20, 9, 16)),
        (WINDOW, {}, 20, BrowserRows(20, 20, 8, 16)),
        # A change inside the window, and one before it.
        (WINDOW, {}, 12, BrowserRows(12, 12, 8, 12)),
        (WINDOW, {}, 5, BrowserRows(5, 5, 8, 8)),
        # The reader scrolls back: the window's end is held.
        (WINDOW, {"start": 4, "stop": 12}, 20, BrowserRows(20, 20, 8, 12)),
        (WINDOW, {"start": 16, "stop": 20}, 20, BrowserRows(20, 20, 16, 16)),
        # Another unit colours the text; another quantity or layer has other states and other colours.
        (WINDOW, {"unit": 4}, 20, BrowserRows(20, 0, 8, 16)),
        (WINDOW, {"quantity": "update"}, 20, BrowserRows(20, 0, 8, 8)),
        (WINDOW, {"layer": 1}, 20, BrowserRows(20, 0, 8, 8)),
        # Nothing is held, or the network without memory comes or goes.
        (None, {}, 20, BrowserRows(0, 0, 8, 8)),
        (WINDOW, {"memoryless": True}, 20, BrowserRows(0, 0, 8, 8)),
    ],
)
def test_difference_names_rows_the_browser_holds(
    browser_selection: Selection | None, changes: dict[str, Any], unchanged: int, expected: BrowserRows
) -> None:
    assert find_browser_rows(browser_selection, replace(WINDOW, **changes), unchanged) == expected


@pytest.mark.parametrize("cell", CELLS)
def test_content_of_a_new_view_equals_the_trace(cell: str) -> None:
    model = tiny(cell)
    trace, memoryless = rnnviz.trace(model, TEXT[:20]), rnnviz.trace(MLP, TEXT[:20])
    read = TextRead(model, TEXT[:20], trace, 0, ngram=np.arange(20.0), memoryless=memoryless)
    predictions = WindowPredictions()
    predictions.reshape(SamplingSettings(0.5, top_k=9))
    arrays = content(read, WINDOW, BrowserRows(0, 0, 8, 8), predictions)
    symbols, probabilities = trace.top_at(8, 17, live.LISTED_NEXT)
    expected = {
        "ids": trace.ids,
        "nll": trace.nll,
        "ngram": np.arange(20),
        "memoryless": memoryless.nll,
        "entropy": trace.entropy[8:17],
        "next": symbols,
        "chances": probabilities,
        "states": live.scale("hidden", model.config.span).levels(trace.hidden[8:16, 0]),
        "reshaped": shaped(trace, symbols, trace.ids[8:17]),
        "memorylessNext": shaped(memoryless, symbols, trace.ids[8:17]),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(arrays[name], values, rtol=1e-4, atol=1e-6, err_msg=name)


def shaped(trace: rnnviz.Trace, symbols: np.ndarray, actual: np.ndarray) -> np.ndarray:
    """Rows of the window as the browser draws them: what `sample` would draw from."""
    P = rnnviz.sampling_distribution(trace.log_probs[8:17], temperature=0.5, top_k=9)
    listed = np.take_along_axis(P, np.column_stack([symbols, actual]), axis=1)
    return np.column_stack([listed, np.count_nonzero(P, axis=1)])


@pytest.mark.parametrize("unit", [None, 5])
def test_colours_of_a_cell_state_end_at_the_units_reach(unit: int | None) -> None:
    below, above = unit_reach(LSTM)["cell"][:, 0, slice(None) if unit is None else unit]
    levels = colour_levels(LSTM, np.stack([-below, 0 * below, above]), "cell", 0, unit)
    scale = live.scale("cell")
    assert [set(np.ravel(row)) for row in levels] == [
        {level} for level in scale.levels(np.array([scale.low, 0, scale.high]))
    ]


def test_content_leaves_out_exactly_the_rows_that_are_held() -> None:
    trace = rnnviz.trace(GRU, TEXT[:20])
    read = TextRead(
        GRU, TEXT[:20], trace, 20, memoryless=rnnviz.trace(MLP, TEXT[:20]), memoryless_unchanged=20
    )
    selection = replace(WINDOW, memoryless=True)
    whole = content(read, selection, BrowserRows(0, 0, 8, 8), WindowPredictions())
    rest = content(read, selection, BrowserRows(12, 15, 10, 13), WindowPredictions())
    assert rest.keys() == whole.keys()
    sent = {
        "states": [0, 1, 5, 6, 7],
        "unit": range(15, 20),
        "unitOfRow": range(12),
        "memorylessNext": range(9),
    }
    sent |= dict.fromkeys(("ids", "nll", "memoryless"), range(12, 20))
    # One prediction more than columns is held: those after 10 .. 13 characters, rows 2 .. 5 of the window.
    sent |= {name: [0, 1, 6, 7, 8] for name in ("next", "chances", "entropy")}
    for name, array in whole.items():
        np.testing.assert_allclose(rest[name], array[list(sent[name])], rtol=1e-5, err_msg=name)


def test_numbers_equal_their_definitions_and_are_none_where_undefined() -> None:
    trace = rnnviz.trace(GRU, "The 🐒")
    values = number_values(trace)
    assert [number.name for number in TEXT_NUMBERS if number.formula] == [*values]
    assert (values["characters"], values["unknown"]) == (5, 1)
    assert values["perplexity"] == pytest.approx(2 ** float(values["bits"] or 0))
    assert values["perplexity"] == pytest.approx(np.exp(trace.nll.mean()))
    empty = number_values(rnnviz.trace(GRU, ""))
    assert (empty["characters"], empty["unknown"]) == (0, 0)
    assert (empty["perplexity"], empty["bits"]) == (None, None)
