"""The live picture as a Plotly figure: the numbers in it are the trace's, the scales don't move."""

import numpy as np
import plotly.graph_objects as go
import pytest

import rnnviz
from rnnviz.figures import live
from rnnviz.figures.themes import CELL, DARK, GATE, LIGHT, RELU, TANH
from rnnviz.reading.scoring import running
from rnnviz.text.characters import visible
from tests.conftest import tiny

TEXT = "He was <b>here</b>\tand there.\n"


def named(figure: live.Figure) -> dict[str, dict]:
    return {trace["name"]: trace for trace in figure["data"]}


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("cell", ["mlp", "rnn", "gru", "lstm"])
def test_every_quantity_of_every_cell_is_a_valid_figure(cell: str, theme: live.Theme) -> None:
    trace = rnnviz.trace(tiny(cell), TEXT)
    for quantity in live.quantities(cell):
        figure = live.figure(trace, quantity=quantity, theme=theme)
        go.Figure(figure)
        heat = named(figure)["states"]
        fixed = live.scale(quantity)
        assert (heat["zmin"], heat["zmax"]) == (fixed.low, fixed.high)
        assert np.shape(heat["z"]) == (12, len(TEXT))


def test_the_numbers_are_the_traces() -> None:
    model = tiny("gru", layers=2)
    trace = rnnviz.trace(model, TEXT)
    order = np.arange(12)[::-1]
    ngram = np.full(len(TEXT), 2.0)
    drawn = named(live.figure(trace, layer=1, start=5, stop=20, at=7, ngram_nll=ngram, order=order))
    np.testing.assert_allclose(drawn["states"]["z"], trace.hidden[5:20, 1, ::-1].T)
    np.testing.assert_allclose(drawn["model"]["y"], trace.perplexity[5:20])
    np.testing.assert_allclose(drawn["ngram"]["y"], np.exp(2.0))
    assert drawn["uniform"]["y"] == [model.vocabulary.size] * 2
    np.testing.assert_allclose(drawn["surprisal"]["y"][1:-1], np.exp(trace.nll[5:20]))
    bars = drawn["next"]
    assert bars["x"][: live.NEXT] == pytest.approx([p for _, p in trace.top(7, live.NEXT)])
    assert sum(bars["x"]) == pytest.approx(1)
    # "<" came and is not known: no bar may be marked as what came, except <unk>'s own.
    assert trace.text[7] == "<"
    marked = [y for y, colour in zip(bars["y"], bars["marker"]["color"], strict=True) if colour == LIGHT.came]
    assert all("unk" in y for y in marked)


def test_a_text_is_never_markup() -> None:
    figure = live.figure(rnnviz.trace(tiny("gru"), TEXT))
    shown = figure["layout"]["xaxis"]["ticktext"]
    assert "<" not in "".join(shown)
    assert "&lt;" in shown
    assert shown[-1] == "⏎"


def test_only_a_window_of_a_long_text_is_drawn() -> None:
    trace = rnnviz.trace(tiny("lstm"), TEXT * 20)
    assert len(named(live.figure(trace))["model"]["y"]) == live.COLUMNS


def test_an_empty_text_has_bars_and_nothing_else() -> None:
    drawn = named(live.figure(rnnviz.trace(tiny("gru"), "")))
    assert drawn["model"]["y"] == []
    assert len(drawn["next"]["x"]) == live.NEXT + 1


def test_scales_do_not_depend_on_the_text() -> None:
    axes = [live.figure(rnnviz.trace(tiny("gru"), text))["layout"]["yaxis2"]["range"] for text in ("a", TEXT)]
    assert axes[0] == axes[1]
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


def test_running_perplexity_is_the_traces() -> None:
    trace = rnnviz.trace(tiny("gru"), TEXT)
    np.testing.assert_allclose(running(trace.nll), trace.perplexity)
    assert running([1e6]).tolist() == [np.inf]
