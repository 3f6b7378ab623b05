"""Gradients against autograd and finite differences; random truncation against the full gradient."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from rnnviz.errors import ConfigError
from rnnviz.lecture import backwards
from rnnviz.text.vocabulary import Vocabulary
from tests.conftest import tiny


@pytest.mark.parametrize("radius", [0.5, 1.0, 1.3])
def test_the_dials_gradients_are_autograds(radius: float) -> None:
    dial = backwards.dial(radius, 3, lags=12)
    _, inputs, last = backwards._network(3, backwards.UNITS, 12)
    matrix = torch.tensor(dial.matrix, requires_grad=True)
    for kind, expected in (("tanh", dial.tanh), ("linear", dial.linear)):
        states = [torch.zeros(backwards.UNITS, dtype=torch.float64, requires_grad=True)]
        for x in torch.tensor(inputs):
            state = x + states[-1] @ matrix
            states.append(torch.tanh(state) if kind == "tanh" else state)
            states[-1].retain_grad()
        loss = states[-1] @ torch.tensor(last)
        matrix.grad = None
        loss.backward()
        norms = [float(s.grad.norm()) for s in reversed(states) if s.grad is not None]
        np.testing.assert_allclose(norms, expected, rtol=1e-10)
        if kind == "tanh":
            assert matrix.grad is not None
            np.testing.assert_allclose(matrix.grad.numpy(), dial.weight_gradient, rtol=1e-9, atol=1e-14)
            assert dial.weight == pytest.approx(float(matrix.grad.norm()))


@pytest.mark.parametrize("radius", [0.4, 1.0, 1.7])
def test_the_dial_sets_the_largest_eigenvalue(radius: float) -> None:
    dial = backwards.dial(radius, 5)
    assert np.abs(dial.eigenvalues).max() == pytest.approx(radius)
    np.testing.assert_allclose(dial.matrix_power(3), dial.matrix @ dial.matrix @ dial.matrix)


def test_below_one_it_vanishes_and_above_it_explodes() -> None:
    assert backwards.dial(0.7).linear[-1] < 1e-5
    assert backwards.dial(1.3).linear[-1] > 1e2
    # In the long run each step multiplies by ρ: the slope of the curve is its logarithm.
    far = backwards.dial(0.9, 1, lags=400).linear
    assert (math.log(far[400]) - math.log(far[100])) / 300 == pytest.approx(math.log(0.9), rel=0.02)


def test_clipping_keeps_the_direction() -> None:
    np.testing.assert_allclose(backwards.clip([3.0, 4.0], 1.0), [0.6, 0.8])
    assert backwards.clip([3.0, 4.0], 5.0).tolist() == [3.0, 4.0]
    assert backwards.clip([0.0, 0.0], 1.0).tolist() == [0.0, 0.0]
    with pytest.raises(ConfigError):
        backwards.clip([1.0], 0.0)


@pytest.mark.parametrize("w", [-1.2, 0.3, 0.95])
def test_the_chains_terms_add_up_to_autograds_gradient_and_to_finite_differences(w: float) -> None:
    chain = backwards.chain(w, 2)
    inputs = torch.tensor(0.3 * np.random.default_rng(2).standard_normal(12))
    weight = torch.tensor(w, dtype=torch.float64, requires_grad=True)
    h = torch.zeros((), dtype=torch.float64)
    for x in inputs:
        h = torch.tanh(x + weight * h)
    h.backward()
    assert weight.grad is not None
    assert chain.gradient == pytest.approx(float(weight.grad), rel=1e-12)
    step = 1e-6
    difference = backwards.chain(w + step, 2).states[-1] - backwards.chain(w - step, 2).states[-1]
    assert chain.gradient == pytest.approx(difference / (2 * step), rel=1e-6)


@pytest.mark.parametrize("cut", [1, 3, 12])
def test_a_cut_stops_gradients_and_lets_values_cross(cut: int) -> None:
    chain = backwards.chain(0.9, 1)
    inputs = torch.tensor(0.3 * np.random.default_rng(1).standard_normal(12))
    weight = torch.tensor(0.9, dtype=torch.float64, requires_grad=True)
    h = torch.zeros((), dtype=torch.float64)
    for t, x in enumerate(inputs):
        h = torch.tanh(x + weight * (h.detach() if t == 12 - cut else h))
    h.backward()
    assert weight.grad is not None
    assert float(h.detach()) == pytest.approx(chain.states[-1], rel=1e-12)
    assert chain.truncated(cut) == pytest.approx(float(weight.grad), rel=1e-12)


@pytest.mark.parametrize("keep", [0.5, 0.7, 0.9])
def test_random_truncation_is_right_on_average(keep: float) -> None:
    chain = backwards.chain(backwards.WEIGHT, 1)
    assert backwards.expected(chain, keep) == pytest.approx(chain.gradient, rel=1e-12)
    draws = backwards.random_truncation(chain, keep, 10_000, seed=4)
    error = draws.std(ddof=1) / math.sqrt(len(draws))
    assert abs(draws.mean() - chain.gradient) < 3 * error
    assert abs(chain.truncated(3) - chain.gradient) > 10 * error, "regular truncation is not"


def test_each_lags_weight_is_one_on_average_and_by_hand() -> None:
    np.testing.assert_allclose(backwards.weights(np.array([2]), 0.5, 5), [[1, 2, 4, 0, 0]])
    lengths = backwards.draw(0.8, 20_000, 0)
    found = backwards.weights(lengths, 0.8, 12)
    error = found.std(axis=0) / math.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - 1) <= 4 * error).all()


def test_never_cutting_is_the_full_gradient() -> None:
    chain = backwards.chain(0.9, 0)
    assert backwards.random_truncation(chain, 1.0, 3).tolist() == pytest.approx([chain.gradient] * 3)


@pytest.mark.parametrize("bad", [0.0, -1.0, 11.0])
def test_a_dial_beyond_its_scale_is_refused(bad: float) -> None:
    with pytest.raises(ConfigError):
        backwards.dial(bad)


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_what_flows_back_in_a_model_is_autograds(cell: str) -> None:
    """Each state is cut off from the one before and handed to torch's own layer as a leaf."""
    model = tiny(cell).double()
    text = "The Time Traveller"
    flow = backwards.flow(tiny(cell), text)
    vocabulary: Vocabulary = model.vocabulary
    ids = torch.tensor([[vocabulary.start, *vocabulary.encode(text).tolist()]])
    for lag in (0, 1, 5, len(text) - 2):
        t = len(text) - 1 - lag  # characters read when the state was the one asked about
        with torch.no_grad():
            _, state = model(ids[:, : t + 1])
        leaves = tuple(part.clone().requires_grad_() for part in state)
        if lag:
            logits, _ = model(ids[:, t + 1 : len(text)], leaves)
            last = logits[0, -1]
        else:
            last = leaves[0][-1, 0] @ model.readout_weight.T + model.readout.bias
        torch.nn.functional.cross_entropy(last, ids[0, len(text)]).backward()
        assert leaves[0].grad is not None
        assert float(leaves[0].grad.norm()) == pytest.approx(flow.hidden[lag], rel=1e-4)
    assert (flow.cell is not None) == (cell == "lstm")
    assert len(flow.hidden) == len(text) - 1


def test_without_a_hidden_state_nothing_flows_back() -> None:
    flow = backwards.flow(tiny("mlp"), "The Time")
    assert flow.hidden[0] > 0
    assert not flow.hidden[1:].any()
    with pytest.raises(ConfigError, match="at least two"):
        backwards.flow(tiny("rnn"), "T")
