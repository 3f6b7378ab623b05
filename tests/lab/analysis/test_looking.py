"""Projections, gates and comparisons: known answers."""

import math
from typing import Any

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz.findings import Number
from rnnviz.lab.analysis.gating import Gates, gates
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.networks.config import Cell, ModelConfig
from rnnviz.text.vocabulary import Vocabulary
from tests.support.closeness import assert_states
from tests.support.models import TEXT
from tests.support.torch_models import tiny_torch


def test_traces_projected_together_share_the_plane_of_all_their_states() -> None:
    model = tiny_torch("gru", layers=2)
    texts = (TEXT[:30], TEXT[40:90], "")
    traces = [rnnviz.trace(model, text) for text in texts]
    together = rnnviz.units.project(traces, 3)
    every = np.concatenate([trace.hidden[:, 1] for trace in traces]).astype(np.float64)
    variance, axes = np.linalg.eigh(np.cov(every.T))
    for path, trace in zip(together, traces, strict=True):
        np.testing.assert_allclose(path.mean, every.mean(axis=0))
        np.testing.assert_allclose(np.abs(path.axes @ axes[:, :-4:-1]), np.eye(3), atol=1e-6)
        np.testing.assert_allclose(path.explained, variance[:-4:-1] / variance.sum(), atol=1e-9)
        np.testing.assert_allclose(path.points, path.place(trace.hidden[:, 1]), atol=1e-12)
    (alone,) = rnnviz.units.project(traces[:1])
    np.testing.assert_array_equal(alone.points, rnnviz.units.project(traces[0]).points)


def test_a_projection_keeps_what_it_says_it_explains() -> None:
    traced = rnnviz.trace(tiny_torch("gru", layers=2), TEXT)
    projection = rnnviz.units.project(traced, 12)
    states = traced.hidden[:, 1]
    assert projection.explained.sum() == pytest.approx(1)
    assert (np.diff(projection.explained) <= 1e-12).all()
    np.testing.assert_allclose(projection.points @ projection.axes + projection.mean, states, atol=1e-5)
    np.testing.assert_allclose(projection.axes @ projection.axes.T, np.eye(12), atol=1e-9)
    assert (projection.axes[np.arange(12), np.abs(projection.axes).argmax(axis=1)] > 0).all()
    two = rnnviz.units.project(traced)
    np.testing.assert_allclose(two.points, projection.points[:, :2])
    np.testing.assert_allclose(two.place(states[5:9]), two.points[5:9], atol=1e-6)
    assert rnnviz.units.project(traced, 3, layer=None).axes.shape == (3, 24)
    assert rnnviz.units.project(traced, 3, quantity="update").points.shape == (len(TEXT), 3)


@pytest.mark.parametrize("text", ["", "a", "ab"])
def test_a_short_text_has_fewer_axes(text: str) -> None:
    projection = rnnviz.units.project(rnnviz.trace(tiny_torch("gru"), text), 3)
    assert projection.points.shape == (len(text), 3)
    assert not projection.points[:, max(len(text) - 1, 0) :].any()


def zeros(cell: Cell, characters: str, units: int = 1) -> CharModel:
    """A network with weights of 0, which expects all of its V symbols alike."""
    vocabulary = Vocabulary(tuple(sorted(characters)))
    model = CharModel(ModelConfig(cell, vocabulary.size, units, 1, 0), vocabulary).requires_grad_(False)
    for weight in model.parameters():
        weight.zero_()
    return model.eval()


def pictures(layer_gates: Gates) -> list[Any]:
    return [panel.picture for panel in layer_gates.panels()]


def constant(cell: Cell, gate: float) -> CharModel:
    """A network whose gates have one value each, whatever it reads."""
    model = zeros(cell, "ab", units=2)
    keeps = slice(2, 4)  # torch: reset, update, … and input, forget, …
    model.state_dict()["recurrence.bias_ih_l0"][keeps] = torch.tensor([math.log(gate / (1 - gate)), 50.0])
    return model


@pytest.mark.parametrize(
    ("cell", "keeps", "other"), [("gru", "update", "reset"), ("lstm", "forget", "input")]
)
def test_gates_that_do_not_move_have_the_time_constant_of_their_value(
    cell: Cell, keeps: str, other: str
) -> None:
    layer_gates = gates(rnnviz.trace(constant(cell, 0.95), "abba"))
    assert layer_gates.time_constant[0] == pytest.approx(-1 / math.log(0.95), rel=1e-5)
    assert layer_gates.time_constant[1] == math.inf
    assert (layer_gates.high[keeps].tolist(), layer_gates.low[keeps].tolist()) == ([1, 1], [0, 0])
    assert (layer_gates.high[other].tolist(), layer_gates.low[other].tolist()) == ([0, 0], [0, 0])
    assert layer_gates.mean[other].tolist() == [0.5, 0.5]
    assert "candidate" not in layer_gates.mean
    gate_points = {name.code: places for name, places in pictures(layer_gates)[0].groups}
    assert gate_points[f"gate.{keeps}"].tolist() == [[0, 1], [0, 1]]  # never shut, always open


def test_the_median_constant_has_an_interval_where_the_text_is_long_enough() -> None:
    model = tiny_torch("lstm", layers=2)
    text = "".join(np.random.default_rng(1).choice(list(TEXT), 900).tolist())
    layer_gates = gates(rnnviz.trace(model, text), layer=1)
    assert layer_gates.median.estimate == pytest.approx(np.median(layer_gates.time_constant))
    assert layer_gates.median.low < layer_gates.median.estimate < layer_gates.median.high
    short = gates(rnnviz.trace(model, "machine"))
    assert not short.median.enough
    for some_gates, code in ((layer_gates, "gates.median"), (short, "gates.median-unsure")):
        (sentence,) = some_gates.sentences()
        assert (sentence.code, sentence.values["median"].value) == (code, some_gates.median.estimate)
    lines = pictures(layer_gates)[1]
    assert lines.curves[0][1].tolist() == sorted(layer_gates.time_constant, reverse=True)
    assert layer_gates.facts()["median_interval"] == [layer_gates.median.low, layer_gates.median.high]


def test_a_comparison_lines_models_up() -> None:
    comparison = rnnviz.units.compare([tiny_torch("gru"), tiny_torch("lstm")], TEXT[:60])
    a, b = (rnnviz.trace(m, TEXT[:60]) for m in (tiny_torch("gru"), tiny_torch("lstm")))
    assert_states(comparison.difference(), (b.nll - a.nll) / math.log(2))
    np.testing.assert_allclose(comparison.difference(1, 0), -comparison.difference())
    rows = comparison.facts()["networks"]
    (sentence,) = comparison.sentences()
    assert sentence.values["perplexity"] == Number(comparison.perplexity[:, -1].min(), "perplexity", 2)
    assert [network["perplexity"] for network in rows] == comparison.perplexity[:, -1].tolist()
    assert [row[0] for row in comparison.table().rows] == [network["model"] for network in rows]
    running, *expected = comparison.panels(9)
    assert [values.tolist() for _name, values in running.picture.curves] == comparison.perplexity.tolist()
    for panel, read in zip(expected, (a, b), strict=True):
        assert_states(panel.picture.values, [p for _character, p in read.top(10, 8)])
    assert not rnnviz.units.compare([tiny_torch("gru")], TEXT[:60]).sentences()


def test_different_vocabularies_are_compared_over_what_both_know() -> None:
    three_symbols, other = zeros("rnn", "ab"), zeros("rnn", "bcd")  # one in three, one in four
    comparison = rnnviz.units.compare([three_symbols, other], "abc")
    assert comparison.known.tolist() == [[True, True, False], [False, True, True]]
    unknown = [model.vocabulary.unknown_cost for model in (three_symbols, other)]
    expected = math.log(4 / 3) + np.array([unknown[1], 0, -unknown[0]])
    np.testing.assert_allclose(comparison.difference(), expected / math.log(2), rtol=1e-6)
