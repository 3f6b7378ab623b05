"""The live picture: the numbers in it are the trace's, the scales don't move."""

import pytest

import rnnviz
from rnnviz.figures import live
from rnnviz.figures.themes import CELL, GATE, RELU, TANH
from rnnviz.networks.cells import CELLS
from rnnviz.text.characters import visible
from tests.support.closeness import assert_states
from tests.support.models import tiny

TEXT = "He was <b>here</b>\tand there.\n"


@pytest.mark.parametrize("cell", CELLS)
def test_every_quantity_of_every_cell_lies_within_its_scale(cell: str) -> None:
    model = tiny(cell, layers=2)
    trace = rnnviz.trace(model, TEXT)
    for quantity in live.quantities(cell):
        values, fixed = (
            live.heat_map_values(trace, quantity, 1, 5, 20),
            live.scale(quantity, model.config.span),
        )
        assert values.shape == (15, 12)
        assert fixed.low <= values.min() <= values.max() <= fixed.high
        assert_states(values, live.heat_map_values(trace, quantity, 1, 0, len(TEXT))[5:20])


def test_a_scale_is_that_of_the_quantity() -> None:
    assert [live.scale(q) for q in ("hidden", "cell", "update", "candidate")] == [TANH, CELL, GATE, TANH]
    assert live.scale("hidden", "relu") == RELU


@pytest.mark.parametrize(
    ("character", "mark"),
    [
        (" ", "·"),
        ("\n", "⏎"),
        ("\t", "⇥"),
        ("\x07", "␇"),
        ("\u0301", "◌\u0301"),
        ("\u200b", "U+200B"),
        ("é", "é"),
    ],
)
def test_marks(character: str, mark: str) -> None:
    assert visible(character) == mark
