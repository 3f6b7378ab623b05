"""The curve of a scored text: exact values on axes that show them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.figures import perplexity
from rnnviz.figures.axes import ticks
from rnnviz.scoring.breakdown import Curve


def curve(running: list[float], rolling: list[float], window: int = 2) -> Curve:
    return Curve(np.arange(1, len(running) + 1) * 10, np.array(running), np.array(rolling), window)


CURVE = curve([900, 12, 8, 6, 5.5], [900, 9, 4, 3, 5], window=20)


def test_the_first_characters_do_not_press_the_rest_into_a_strip() -> None:
    low, high = perplexity.extent({"gru": CURVE})
    assert math.log10(12) < high < math.log10(20)
    assert math.log10(2) < low < math.log10(3)


def test_a_text_shorter_than_a_window_is_seen_but_for_its_beginning() -> None:
    low, high = perplexity.extent({"gru": curve([900.0, *range(40, 20, -1)], [5.0] * 21, window=50)})
    assert math.log10(39) < high < math.log10(60)
    assert low < math.log10(5)


def beyond(*curves: Curve) -> list[tuple[int, int, float, bool]]:
    named = dict(zip("ab", curves, strict=False))
    cuts = perplexity.beyond(named, perplexity.extent(named))
    return [(cut.model, cut.position, cut.value, cut.above) for cut in cuts]


def test_a_line_that_leaves_the_axis_is_marked_with_its_value() -> None:
    dip = curve([900, *[4.0, 5.0] * 20], [0.5, *[4.0, 5.0] * 20], window=20)
    assert beyond(CURVE, dip) == [(0, 10, 900, True), (1, 10, 900, True), (1, 10, 0.5, False)]


def test_a_line_that_stays_within_the_axis_has_none() -> None:
    assert beyond(curve([4.0, 5.0] * 20, [4.0, 5.0] * 20)) == []


def test_infinity_is_marked_where_it_is() -> None:
    cut = perplexity.beyond({"gru": curve([4, 5, 5, 5], [4, 3, math.nan, math.inf])}, (0.0, 1.0))
    assert [(place.position, place.value, place.above) for place in cut] == [(40, math.inf, True)]


@pytest.mark.parametrize("rolling", [[math.nan, math.inf, 3.0], [3.0]])
def test_a_few_characters_have_an_axis(rolling: list[float]) -> None:
    low, high = perplexity.extent({"gru": curve([3.0] * len(rolling), rolling, window=50)})
    assert low < math.log10(3) < high
    assert ticks(low, high)[0]


@given(low=st.floats(0, 250), span=st.floats(0.12, 50))
def test_every_axis_has_a_few_numbers_within_it(low: float, span: float) -> None:
    values, texts = ticks(low, low + span)
    assert 2 <= len(values) == len(texts) <= 13
    assert len(set(texts)) == len(texts)
    assert values == sorted(values)
    assert all(low - 1e-6 <= math.log10(v) <= low + span + 1e-6 for v in values)
    assert all(len(text) <= 12 for text in texts)


@pytest.mark.parametrize(
    ("low", "high", "written"),
    [
        (0, 7, ["1", "100", "10,000", "10⁶"]),
        (5.1, 6.1, ["2·10⁵", "5·10⁵", "10⁶"]),
        (0, 2, ["1", "2", "5", "10", "20", "50", "100"]),
        (math.log10(3.19), math.log10(4.1), ["3.2", "3.4", "3.6", "3.8", "4"]),
    ],
)
def test_large_numbers_are_powers(low: float, high: float, written: list[str]) -> None:
    assert ticks(low, high)[1] == written
