"""What a figure shows, as values."""

import numpy as np
import pytest

from rnnviz.figures.alt_text import extremes
from rnnviz.figures.pictures import draw
from rnnviz.figures.themes import COLOUR_LEVELS
from rnnviz.findings import Heat, Histogram, Pair


def test_bars_are_named_as_their_axis_names_them() -> None:
    figure = draw(Pair(["a", "<b>"], np.array([0.2, 0.7]), np.array([0.9, 0.1]), ("as it is", "changed"), ""))
    as_it_is, changed = extremes(figure)
    assert (as_it_is.name, as_it_is.high_at, as_it_is.high) == ("as it is", ("<b>",), 0.7)
    assert (changed.name, changed.high_at, changed.low_at) == ("changed", ("a",), ("<b>",))


def test_a_heat_map_is_told_in_its_own_values_not_in_colours() -> None:
    values = np.zeros((3, 5), np.float32)
    values[1, 4], values[2, 0] = 0.8, -0.5
    (part,) = extremes(draw(Heat(values, ("diverging", -1.0, 1.0), "", "", places="")))
    assert part.high == pytest.approx(0.8, abs=2 / COLOUR_LEVELS)
    assert part.low == pytest.approx(-0.5, abs=2 / COLOUR_LEVELS)
    assert (part.high_at, part.low_at, part.count) == (("1", "4"), ("2", "0"), 15)


def test_a_line_ends_at_its_last_value_that_is_one() -> None:
    line = {"mode": "lines", "x": [1, 2, 3, 4], "y": [4.0, np.nan, 9.0, np.nan]}
    (part,) = extremes({"data": [line], "layout": {}})
    assert (part.kind, part.last, part.high_at, part.count) == ("line", 9.0, ("3",), 2)


@pytest.mark.parametrize("values", [[], [np.nan], None])
def test_empty_part_has_no_extremes(values: object) -> None:
    assert extremes({}) == []
    assert extremes({"data": [{"type": "bar", "x": values, "y": values}], "layout": {}}) == []


def test_a_histogram_says_where_most_are() -> None:
    (part,) = extremes(draw(Histogram(np.array([1, 6, 3]), np.array([0.0, 1.0, 2.0, 3.0]), "", "")))
    assert (part.kind, part.high_at, part.high) == ("bars", ("1.5",), 0.6)
