"""Curves of training runs: what is drawn, and that axes stand still while a run goes on."""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from rnnviz.figures import themes
from rnnviz.figures.themes import THEMES
from rnnviz.lab.reports import training

START = {
    "event": "start", "total_characters": 10_000, "validation_characters": 500,
    "uniform": 40, "unigram": 18.0, "ngram": 5.0, "ngram_order": 6,
}  # fmt: skip


def progress(n: int, perplexity: float = 10.0, **fields: Any) -> dict[str, Any]:
    return {
        "event": "progress",
        "step": n,
        "characters": 100 * n,
        "train_perplexity": perplexity,
        "gradient_norm": 0.5,
        "learning_rate": 0.003,
        "clip": 1.0,
        **fields,
    }


def report(n: int, perplexity: float | None) -> dict[str, Any]:
    return {**progress(n), "event": "report", "validation_perplexity": perplexity}


EVENTS = [START, *(progress(n, 40 / (1 + n / 9)) for n in range(1, 60)), report(20, 9.0), report(59, 4.4)]


def test_curves_are_what_the_events_say() -> None:
    run_curves = training.curves(
        [*EVENTS, {"event": "passed", "step": 50, "characters": 5000, "seconds": 12.0}]
    )
    assert run_curves.characters[:2].tolist() == [100, 200]
    assert run_curves.validation_at.tolist() == [2000, 5900]
    assert run_curves.validation.tolist() == [9.0, 4.4]
    assert run_curves.passed == 5000
    assert run_curves.total == 10_000
    assert training.baselines(run_curves) == [("uniform", 40), ("unigram", 18.0), ("ngram", 5.0)]


def test_empty_or_odd_events_draw_a_figure() -> None:
    for events in ([], [{}], [{"event": "progress", "characters": "many", "train_perplexity": True}]):
        run_curves = training.curves(events)
        assert go.Figure(training.figure(run_curves)).data
        assert go.Figure(training.details(run_curves)).data
        assert all(math.isfinite(end) for end in training.extent([run_curves]))
    odd = training.curves([START, progress(1, math.nan), progress(2, math.inf)])
    assert np.isnan(odd.train).all()
    assert training.figure(odd)["data"][0]["y"] == [None, None]


def test_a_held_out_figure_is_a_dot_at_the_end_where_there_is_no_validation_text() -> None:
    end = {"event": "finished", "held_out": 4.2}
    bare = [START, *(progress(n) for n in range(1, 60)), report(59, None), end]
    run_curves = training.curves(bare)
    assert (run_curves.held_out_at.tolist(), run_curves.held_out.tolist()) == ([10_000], [4.2])
    dot = next(trace for trace in training.figure(run_curves)["data"] if trace["name"] == "held_out")
    assert (dot["x"], dot["y"]) == ([10_000], [4.2])
    assert dot["marker"]["size"] > 5
    assert training.curves([*EVENTS, end]).held_out.tolist() == []  # the curve is of validation text


def test_a_long_run_is_thinned_and_keeps_its_ends() -> None:
    events = [START, *(progress(n) for n in range(1, 5000))]
    run_curves = training.curves(events)
    assert len(run_curves.characters) <= training.MAX_POINTS + 1
    assert run_curves.characters[0] == 100
    assert run_curves.characters[-1] == 499_900


def test_a_run_that_is_over_in_a_moment_is_drawn_from_its_reports() -> None:
    run_curves = training.curves([START, progress(50), *(report(n, None) for n in range(1, 51))])
    assert len(run_curves.characters) == 50
    assert np.isnan(run_curves.validation).all()


def test_the_axis_stands_still_while_the_curve_falls() -> None:
    ends = {training.extent([training.curves(EVENTS[:n])]) for n in range(1, len(EVENTS) + 1)}
    assert len(ends) == 1
    low, high = ends.pop()
    assert 10**low < 5 < 40 < 10**high
    deep = training.extent([training.curves([*EVENTS, report(60, 1.01)])])
    assert deep[0] <= 0


def test_the_lines_to_beat_are_named_and_their_labels_hold_no_markup() -> None:
    words = {**training.ENGLISH, "ngram": "<b>6-gram"}
    figure = training.figure(training.curves(EVENTS), words)
    labels = [a["text"] for a in figure["layout"]["annotations"]]
    assert labels[:3] == ["uniform guess 40", "letter frequencies 18", "&lt;b&gt;6-gram 5"]
    at = [a["y"] for a in figure["layout"]["annotations"][:3]]
    assert at == pytest.approx([math.log10(v) for v in (40, 18, 5)])


PASSED = {"event": "passed", "step": 3, "characters": 300, "seconds": 1}
UNSEEN = [{k: v for k, v in one.items() if k != "validation_perplexity"} for one in EVENTS]
ENDED = {"event": "finished", "held_out": 4.9, "step": 50}  # whose dot is at the right end


@pytest.mark.parametrize(
    ("events", "x", "y"),
    [(EVENTS, "right", "top"), ([*EVENTS, PASSED], "right", "bottom"), ([*UNSEEN, ENDED], "left", "top")],
)
def test_the_label_of_the_line_that_curves_end_beside_is_where_they_are_not(
    events: list[dict[str, Any]], x: str, y: str
) -> None:
    label = training.figure(training.curves(events))["layout"]["annotations"][2]
    assert (label["xanchor"], label["yanchor"]) == (x, y)


def test_clipped_steps_are_marked_and_no_norm_leaves_its_panel() -> None:
    events = [
        START,
        progress(1, gradient_norm=3.0),
        progress(2, gradient_norm=1e9),
        progress(3, gradient_norm=0),
    ]
    data = {trace["name"]: trace for trace in training.details(training.curves(events))["data"]}
    assert data["clipped"]["y"] == [3.0, training.NORM_AXIS_FACTOR, None]
    assert data["gradient"]["y"] == [3.0, training.NORM_AXIS_FACTOR, 1 / training.NORM_AXIS_FACTOR]


def test_a_run_that_diverged_ends_where_it_did_on_an_axis_of_its_norms() -> None:
    steps = [progress(n, 10.0**n, gradient_norm=10.0 ** (2 * n), clip=None) for n in range(2, 6)]
    last = [progress(6, gradient_norm=None, clip=None), {"event": "diverged", "step": 6}]
    run = training.curves([START, progress(1, gradient_norm=0.1, clip=None), *steps, *last], clip=None)
    assert run.norm.tolist()[:-1] == [0.1, 1e4, 1e6, 1e8, 1e10]
    assert math.isnan(run.norm[-1])
    assert run.total == 600, "the axis ends with the run"
    huge = training.curves([START, progress(1, 3e260)])
    assert np.isfinite(huge.train.astype(np.float32)).all(), "a browser draws it"
    assert np.isnan(run.clipped).all()
    figure = training.details(run)
    assert figure["layout"]["yaxis"]["range"] == [-2, 10]
    assert figure["layout"]["shapes"] == []


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_runs_are_compared_by_name(theme: themes.Theme) -> None:
    run_curves, bare = training.curves(EVENTS), training.curves([progress(1, 7.0)])
    figure = training.compared(
        {"a <b>": run_curves, "bare": bare, **{f"r{n}": run_curves for n in range(9)}}, theme=theme
    )
    assert [t["name"] for t in figure["data"][:2]] == ["a &lt;b&gt;", "bare"]
    assert figure["data"][1]["y"] == [7.0]  # no validation: its training perplexity
    looks = {(t["line"]["color"], t["line"]["dash"]) for t in figure["data"]}
    assert len(looks) == len(figure["data"])
    drawn = go.Figure(figure)
    assert (drawn.layout.showlegend, drawn.layout.xaxis.title.text) == (True, "characters read")
    assert training.compared({})["data"] == []
