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
    every = np.concatenate([one.hidden[:, 1] for one in traces]).astype(np.float64)
    variance, axes = np.linalg.eigh(np.cov(every.T))
    for path, one in zip(together, traces, strict=True):
        np.testing.assert_allclose(path.mean, every.mean(axis=0))
        np.testing.assert_allclose(np.abs(path.axes @ axes[:, :-4:-1]), np.eye(3), atol=1e-6)
        np.testing.assert_allclose(path.explained, variance[:-4:-1] / variance.sum(), atol=1e-9)
        np.testing.assert_allclose(path.points, path.place(one.hidden[:, 1]), atol=1e-12)
    (alone,) = rnnviz.units.project(traces[:1])
    np.testing.assert_array_equal(alone.points, rnnviz.units.project(traces[0]).points)


def test_a_projection_keeps_what_it_says_it_explains() -> None:
    traced = rnnviz.trace(tiny_torch("gru", layers=2), TEXT)
    found = rnnviz.units.project(traced, 12)
    states = traced.hidden[:, 1]
    assert found.explained.sum() == pytest.approx(1)
    assert (np.diff(found.explained) <= 1e-12).all()
    np.testing.assert_allclose(found.points @ found.axes + found.mean, states, atol=1e-5)
    np.testing.assert_allclose(found.axes @ found.axes.T, np.eye(12), atol=1e-9)
    assert (found.axes[np.arange(12), np.abs(found.axes).argmax(axis=1)] > 0).all()
    two = rnnviz.units.project(traced)
    np.testing.assert_allclose(two.points, found.points[:, :2])
    np.testing.assert_allclose(two.place(states[5:9]), two.points[5:9], atol=1e-6)
    assert rnnviz.units.project(traced, 3, layer=None).axes.shape == (3, 24)
    assert rnnviz.units.project(traced, 3, quantity="update").points.shape == (len(TEXT), 3)


@pytest.mark.parametrize("text", ["", "a", "ab"])
def test_a_short_text_has_fewer_axes(text: str) -> None:
    found = rnnviz.units.project(rnnviz.trace(tiny_torch("gru"), text), 3)
    assert found.points.shape == (len(text), 3)
    assert not found.points[:, max(len(text) - 1, 0) :].any()


def zeros(cell: Cell, characters: str, units: int = 1) -> CharModel:
    """A network with weights of 0, which expects all of its V symbols alike."""
    vocabulary = Vocabulary(tuple(sorted(characters)))
    model = CharModel(ModelConfig(cell, vocabulary.size, units, 1, 0), vocabulary).requires_grad_(False)
    for weight in model.parameters():
        weight.zero_()
    return model.eval()


def pictures(found: Gates) -> list[Any]:
    return [panel.picture for panel in found.panels()]


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
    found = gates(rnnviz.trace(constant(cell, 0.95), "abba"))
    assert found.time_constant[0] == pytest.approx(-1 / math.log(0.95), rel=1e-5)
    assert found.time_constant[1] == math.inf
    assert (found.high[keeps].tolist(), found.low[keeps].tolist()) == ([1, 1], [0, 0])
    assert (found.high[other].tolist(), found.low[other].tolist()) == ([0, 0], [0, 0])
    assert found.mean[other].tolist() == [0.5, 0.5]
    assert "candidate" not in found.mean
    drawn = {name.code: places for name, places in pictures(found)[0].groups}
    assert drawn[f"gate.{keeps}"].tolist() == [[0, 1], [0, 1]]  # never shut, always open


def test_the_median_constant_has_an_interval_where_the_text_is_long_enough() -> None:
    model = tiny_torch("lstm", layers=2)
    text = "".join(np.random.default_rng(1).choice(list(TEXT), 900).tolist())
    found = gates(rnnviz.trace(model, text), layer=1)
    assert found.median.estimate == pytest.approx(np.median(found.time_constant))
    assert found.median.low < found.median.estimate < found.median.high
    short = gates(rnnviz.trace(model, "machine"))
    assert not short.median.enough
    for each, code in ((found, "gates.median"), (short, "gates.median-unsure")):
        (said,) = each.sentences()
        assert said.code == code
        median = said.values["median"]
        assert median.value == each.facts()["median"] == each.median.estimate
        assert said.values["units"] == [str(unit) for unit in each.longest]
        _points, lines = pictures(each)
        assert lines.curves[0][1].tolist() == sorted(each.time_constant, reverse=True)
    assert found.facts()["median_interval"] == [found.median.low, found.median.high]


def test_a_comparison_lines_models_up() -> None:
    found = rnnviz.units.compare([tiny_torch("gru"), tiny_torch("lstm")], TEXT[:60])
    a, b = (rnnviz.trace(m, TEXT[:60]) for m in (tiny_torch("gru"), tiny_torch("lstm")))
    assert_states(found.difference(), (b.nll - a.nll) / math.log(2))
    np.testing.assert_allclose(found.difference(1, 0), -found.difference())
    rows = found.facts()["networks"]
    (said,) = found.sentences()
    assert said.values["perplexity"] == Number(found.perplexity[:, -1].min(), "perplexity", 2)
    assert [one["perplexity"] for one in rows] == found.perplexity[:, -1].tolist()
    assert [row[0] for row in found.table().rows] == [one["model"] for one in rows]
    running, *expected = found.panels(9)
    assert [values.tolist() for _name, values in running.picture.curves] == found.perplexity.tolist()
    for panel, read in zip(expected, (a, b), strict=True):
        assert_states(panel.picture.values, [p for _character, p in read.top(10, 8)])
    assert not rnnviz.units.compare([tiny_torch("gru")], TEXT[:60]).sentences()


def test_different_vocabularies_are_compared_over_what_both_know() -> None:
    one, other = zeros("rnn", "ab"), zeros("rnn", "bcd")  # one in three, one in four
    found = rnnviz.units.compare([one, other], "abc")
    assert found.known.tolist() == [[True, True, False], [False, True, True]]
    unknown = [model.vocabulary.unknown_cost for model in (one, other)]
    expected = math.log(4 / 3) + np.array([unknown[1], 0, -unknown[0]])
    np.testing.assert_allclose(found.difference(), expected / math.log(2), rtol=1e-6)
