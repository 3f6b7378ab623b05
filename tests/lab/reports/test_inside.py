"""The pictures of the inside of a network: what is in them, and what they refuse."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from rnnviz.figures.pictures import draw
from rnnviz.figures.themes import COLOUR_LEVELS, DARK, LIGHT, THEMES, Theme
from rnnviz.findings import Bars, Heat, Histogram, Lines, Points, Square

TANH = ("diverging", -1.0, 1.0)


def draw_valid(finding: Any, theme: Theme = LIGHT) -> dict[str, Any]:
    """What is drawn of a finding, by Plotly's own word a figure."""
    figure = draw(finding, theme=theme)
    go.Figure(figure)
    return figure


@pytest.mark.parametrize("theme", list(THEMES.values()), ids=list(THEMES))
def test_a_table_has_a_colour_for_each_value_and_the_first_row_above(theme: Theme) -> None:
    values = np.array([[-1.0, 0.0, 1.0], [1.0, np.nan, -3.0]])
    figure = draw_valid(Heat(values, TANH, "", ""), theme=theme)
    assert figure["data"][0]["z"].tolist() == [
        [0, COLOUR_LEVELS // 2, COLOUR_LEVELS - 1],
        [COLOUR_LEVELS - 1, COLOUR_LEVELS // 2, 0],
    ]
    low, high = figure["layout"]["yaxis"]["range"]
    assert low > high


def test_a_connectivity_is_empty_where_nothing_flows() -> None:
    none = -np.inf
    log10 = np.array([[none, none, none], [0.0, none, none], [-2.0, -9.0, none]], np.float32)
    figure = draw_valid(Square(log10, "", ""))
    assert figure["data"][0]["z"].tolist() == [
        [0, 0, 0],
        [COLOUR_LEVELS - 1, 0, 0],
        [(COLOUR_LEVELS - 1) // 2, 0, 0],
    ]


@pytest.mark.parametrize("length", [1, 2, 6, 7, 61, 300, 2000, 12_345])
def test_places_in_a_text_are_counted_from_one(length: int) -> None:
    """As the words beside a picture count them; where the data are, nothing moves."""
    wide = draw_valid(Heat(np.zeros((2, length)), TANH, "", ""))["layout"]
    assert "tickvals" not in wide["yaxis"]
    for layout in (wide, draw_valid(Lines([("a", np.ones(length))], "", "", places=True))["layout"]):
        ticks = layout["xaxis"]
        assert [int(text.replace(",", "")) - 1 for text in ticks["ticktext"]] == ticks["tickvals"]
        assert ticks["tickvals"][0] == 0
        assert ticks["tickvals"][-1] < length
        assert min(length, 3) <= len(ticks["tickvals"]) <= 7


def test_lines_know_their_names_and_a_logarithm_leaves_out_what_it_cannot_show() -> None:
    figure = draw_valid(
        Lines([("<b>one", np.array([1.0, 0.1, 0.0])), ("two", np.ones(3))], "", "", first=5, log=True)
    )
    line = figure["data"][0]
    assert line["name"] == "&lt;b&gt;one"
    assert line["x"].tolist() == [5.0, 6.0, 7.0]
    assert np.isnan(line["y"]).tolist() == [False, False, True]
    assert figure["layout"]["xaxis"]["range"] == [4.5, 7.5]


@pytest.mark.parametrize(
    ("values", "ends"),
    [([1.0, 1e-4, 0.0], (-4.2, 0.2)), ([1.0, 1.0], (-0.05, 0.05)), ([10.0], (0.95, 1.05))],
)
def test_a_logarithmic_axis_has_room_at_both_ends(values: list[float], ends: tuple[float, float]) -> None:
    layout = draw_valid(Lines([("a", np.array(values))], "", "", log=True))["layout"]
    assert layout["yaxis"]["range"] == pytest.approx(ends)
    assert layout["xaxis"]["range"] == [-0.5, max(len(values), 2) - 0.5]


def test_a_rankings_bars_begin_where_it_does_one_is_chosen_and_names_are_no_markup() -> None:
    figure = draw_valid(
        Bars(["<i>", "2"], [0.9, 0.6], "", levels=[("by chance", 0.7)], first=0.5, last=1.0, chosen=1)
    )
    assert figure["data"][0]["base"] == 0.5
    assert figure["data"][0]["x"] == pytest.approx([0.4, 0.1])
    assert figure["layout"]["yaxis"]["ticktext"] == ["&lt;i&gt;", "2"]
    assert figure["data"][0]["marker"]["color"] == [LIGHT.bar, LIGHT.model]


@pytest.mark.parametrize(
    ("bars", "low", "high"),
    [
        (Bars(["a", "b"], [1.0, 3.0], ""), 0, 3.09),
        (Bars(["a", "b"], [-1.0, 3.0], ""), -1.12, 3.12),
        (Bars(["a", "b"], [-4.0, -1.0], ""), -4.12, 0.12),
        (Bars(["a"], [0.0], ""), 0, 0.03),
        (Bars(["a", "b"], [3.0, 2.5], "", errors=np.array([0.5, 1.5])), 0, 4.12),
        (Bars(["a", "b"], [3.0, 1.0], "", errors=np.array([0.5, np.nan])), 0, 3.605),
        (
            Bars(["a"], [0.1], "", errors=np.array([0.3])),
            -0.218,
            0.418,
        ),  # an interval that holds 0 is seen to
        (Bars(["a"], [-4.0], "", errors=np.array([4.5])), -8.77, 0.77),
        (Bars(["a"], [1.0], "", levels=[("below", -1.0), ("above", 3.0)]), -1.12, 3.12),
        (Bars(["a"], [0.9], "", first=0.5), 0.5, 0.912),
        (Bars(["a"], [0.9], "", first=0.5, last=1.0), 0.5, 1.015),
        (Bars(["a"], [0.4], "", first=0.5, last=1.0), 0.382, 1.018),
    ],
)
def test_a_rankings_axis_holds_its_bars_its_whiskers_and_its_levels(
    bars: Bars, low: float, high: float
) -> None:
    figure = draw_valid(bars)
    assert figure["layout"]["xaxis"]["range"] == pytest.approx([low, high])


def test_a_rankings_whiskers_stand_on_their_bars_and_none_where_there_is_no_number() -> None:
    (bar,) = draw_valid(Bars(["a", "b"], [3.0, 1.0], "", errors=np.array([0.5, np.nan])))["data"]
    assert bar["error_x"]["array"] == [0.5, 0]
    assert "error_x" not in draw_valid(Bars(["a"], [3.0], ""))["data"][0]


def test_a_rankings_levels_are_told_apart_and_named_on_the_side_with_room() -> None:
    levels = [("low", 0.6), ("high", 0.9), ("<i>", 0.7)]
    layout = draw_valid(Bars(["a", "b"], [0.9, 0.6], "", levels=levels, first=0.5, last=1.0))["layout"]
    names, lines = layout["annotations"], layout["shapes"]
    assert [name["text"] for name in names] == ["low 0.600", "high 0.900", "&lt;i&gt; 0.700"]
    assert [name["x"] for name in names] == [line["x0"] for line in lines] == [0.6, 0.9, 0.7]
    assert [name["xanchor"] for name in names] == ["left", "right", "left"]
    # Each has a row to itself above the frame, and the colour of its line.
    rows = [name["yshift"] for name in names]
    assert np.all(np.diff(rows) >= names[0]["font"]["size"])
    assert layout["margin"]["t"] >= rows[-1] + names[-1]["font"]["size"]
    assert [name["font"]["color"] for name in names] == [line["line"]["color"] for line in lines]
    for attribute in ("color", "dash"):
        assert len({line["line"][attribute] for line in lines}) == 3
    bottom, top = layout["yaxis"]["range"]
    assert bottom > 1 > 0 > top, "the first name is on top"


def test_a_histogram_shows_shares_and_only_where_there_is_something() -> None:
    figure = draw_valid(Histogram(np.array([0, 3, 1, 0]), np.linspace(-1, 1, 5), "", ""), theme=DARK)
    assert figure["data"][0]["y"] == [0, 0.75, 0.25, 0]
    assert figure["layout"]["xaxis"]["range"] == [-0.5, 0.5]


@pytest.mark.parametrize(("bound", "largest"), [("diagonal", 1), ("circle", 3)])
def test_points_have_their_names_and_a_line_that_bounds_them(bound: Any, largest: int) -> None:
    groups = {"one": np.zeros((3, 2)), "other": np.full((2, 2), largest)}
    figure = draw_valid(Points(list(groups.items()), bound, "", ""))
    assert [(t["name"], len(t["x"])) for t in figure["data"]] == [("one", 3), ("other", 2)]
    (shape,) = figure["layout"]["shapes"]
    assert {abs(shape[end]) for end in ("x0", "x1")} == ({0, 1} if bound == "diagonal" else {1})
    # A circle is round: one unit is as long up as across.
    assert figure["layout"]["yaxis"].get("scaleanchor") == ("x" if bound == "circle" else None)


def test_colours_come_from_the_theme_alone() -> None:
    for picture in (
        Lines([("a", np.ones(3))], "", ""),
        Bars(["a"], [1.0], "", levels=[("b", 0.5)]),
        Heat(np.zeros((2, 2)), TANH, "", ""),
    ):
        light, dark = (str(draw_valid(picture, theme=theme)) for theme in (LIGHT, DARK))
        assert not any(colour in dark for colour in (LIGHT.grid, LIGHT.axis, LIGHT.muted))
        assert not any(colour in light for colour in (DARK.grid, DARK.axis, DARK.muted))
