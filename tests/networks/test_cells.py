"""The recurrences against numbers worked out by hand, the concatenated form and torch's own cells."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from rnnviz.errors import ConfigError
from rnnviz.networks.cells import (
    GRUParameters,
    LSTMParameters,
    MLPParameters,
    RNNParameters,
    gru_step,
    lstm_step,
    mlp_step,
    rnn_step,
    rnn_step_concatenated,
)


def close(found: Tensor, expected: object, tolerance: float = 1e-6) -> bool:
    return torch.allclose(found, torch.as_tensor(expected, dtype=found.dtype), rtol=0, atol=tolerance)


def one(value: float) -> Tensor:
    return torch.tensor([[value]])


# Scalars, so that every value below can be checked with a pocket calculator.
X, H, C = one(0.5), one(-0.8), one(0.6)
GRU = GRUParameters(
    one(0.3), one(0.7), torch.tensor([0.1]),
    one(-0.4), one(0.2), torch.tensor([0.05]),
    one(0.9), one(-0.6), torch.tensor([0.2]), torch.tensor([-0.1]),
)  # fmt: skip
LSTM = LSTMParameters(
    one(0.3), one(0.7), torch.tensor([0.1]),
    one(-0.4), one(0.2), torch.tensor([0.05]),
    one(0.25), one(-0.5), torch.tensor([-0.2]),
    one(0.9), one(-0.6), torch.tensor([0.2]),
)  # fmt: skip


def test_mlp_by_hand() -> None:
    p = MLPParameters(torch.tensor([[0.5, 1.0], [-0.25, 1.0]]), torch.tensor([0.1, -1.0]))
    step = mlp_step(p, torch.tensor([[1.0, 2.0]]))
    assert close(step.from_input, [[0.0, 3.0]])
    assert close(step.from_state, [[0.0, 0.0]])
    assert close(step.bias, [[0.1, -1.0]])
    assert close(step.pre_activation, [[0.1, 2.0]])
    assert close(step.state, [[0.0996680, 0.9640276]])


def test_rnn_by_hand() -> None:
    p = RNNParameters(torch.tensor([[0.5], [-0.25]]), one(3.0), torch.tensor([0.1]))
    step = rnn_step(p, torch.tensor([[1.0, 2.0]]), one(0.2))
    assert close(step.from_input, [[0.0]])
    assert close(step.from_state, [[0.6]])
    assert close(step.pre_activation, [[0.7]])
    assert close(step.state, [[0.6043678]])


def test_relu_cuts_what_is_negative() -> None:
    p = RNNParameters(torch.tensor([[1.0, -1.0]]), torch.zeros(2, 2), torch.zeros(2), "relu")
    assert close(rnn_step(p, one(0.5), torch.zeros(1, 2)).state, [[0.5, 0.0]])


def test_gru_by_hand() -> None:
    step = gru_step(GRU, X, H)
    assert close(step.reset.pre_activation, [[-0.31]])
    assert close(step.reset.value, [[0.4231147]])
    assert close(step.update.pre_activation, [[-0.31]])
    assert close(step.update.value, [[0.4231147]])
    assert close(step.candidate.from_state, [[0.4231147 * 0.38]])
    assert close(step.candidate.value, [[0.6700223]])
    assert close(step.state, [[0.0480342]])


def test_gru_with_the_textbook_reset_by_hand() -> None:
    step = gru_step(GRU, X, H, reset="before")
    assert close(step.candidate.from_state, [[0.4231147 * 0.48 - 0.1]])
    assert close(step.candidate.value, [[0.6369918]])
    assert close(step.state, [[0.0289794]])


def test_lstm_by_hand() -> None:
    step = lstm_step(LSTM, X, H, C)
    assert close(step.input.value, [[0.4231147]])
    assert close(step.forget.value, [[0.4231147]])
    assert close(step.output.value, [[0.5805423]])
    assert close(step.candidate.value, [[0.8110193]])
    assert close(step.cell, [[0.5970231]])
    assert close(step.state, [[0.3105482]])


def random_gru(x: int, h: int, seed: int) -> GRUParameters:
    g = torch.Generator().manual_seed(seed)
    parts = [torch.randn(*shape, generator=g) for _ in range(3) for shape in ((x, h), (h, h), (h,))]
    return GRUParameters(*parts, torch.randn(h, generator=g))


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_concatenated_form_is_the_same(activation: str) -> None:
    g = torch.Generator().manual_seed(0)
    shapes = ((5, 7), (7, 7), (7,), (4, 5), (4, 7))
    w_x, w_h, b, x, h = (torch.randn(*shape, generator=g, dtype=torch.float64) for shape in shapes)
    p = RNNParameters(w_x, w_h, b, activation)  # type: ignore[arg-type]
    step = rnn_step(p, x, h)
    assert close(rnn_step_concatenated(p, x, h), step.state)
    assert close(step.from_input + step.from_state + step.bias, step.pre_activation)


def test_where_the_reset_acts_makes_a_difference_unless_it_is_one() -> None:
    p = random_gru(5, 7, seed=1)
    g = torch.Generator().manual_seed(2)
    x, h = torch.randn(4, 5, generator=g), torch.randn(4, 7, generator=g)
    after, before = gru_step(p, x, h), gru_step(p, x, h, reset="before")
    assert (after.state - before.state).abs().max() > 1e-2
    assert close(after.reset.value, before.reset.value)
    open_reset = {f: getattr(p, f) for f in p.__dataclass_fields__} | {"b_r": torch.full((7,), 100.0)}
    p = GRUParameters(**open_reset)
    after, before = gru_step(p, x, h), gru_step(p, x, h, reset="before")
    assert close(after.reset.value, torch.ones(4, 7))
    assert close(after.state, before.state)


def test_an_open_update_gate_keeps_the_state() -> None:
    p = random_gru(3, 4, seed=3)
    p = GRUParameters(**{f: getattr(p, f) for f in p.__dataclass_fields__} | {"b_z": torch.full((4,), 100.0)})
    h = torch.tensor([[0.1, -0.2, 0.3, -0.4]])
    assert close(gru_step(p, torch.ones(1, 3), h).state, h)


def test_gru_is_the_cell_of_torch() -> None:
    torch.manual_seed(4)
    cell, x, h = nn.GRUCell(5, 7), torch.randn(3, 5), torch.randn(3, 7)
    with torch.no_grad():
        w, u = cell.weight_ih.T.split(7, 1), cell.weight_hh.T.split(7, 1)
        b, c = cell.bias_ih.split(7), cell.bias_hh.split(7)
        p = GRUParameters(w[0], u[0], b[0] + c[0], w[1], u[1], b[1] + c[1], w[2], u[2], b[2], c[2])
        assert close(gru_step(p, x, h).state, cell(x, h))


def test_lstm_is_the_cell_of_torch() -> None:
    torch.manual_seed(5)
    cell, x, h, c = nn.LSTMCell(5, 7), torch.randn(3, 5), torch.randn(3, 7), torch.randn(3, 7)
    with torch.no_grad():
        w, u = cell.weight_ih.T.split(7, 1), cell.weight_hh.T.split(7, 1)
        b = (cell.bias_ih + cell.bias_hh).split(7)
        p = LSTMParameters(*(part for n in (0, 1, 3, 2) for part in (w[n], u[n], b[n])))
        step = lstm_step(p, x, h, c)
        expected_h, expected_c = cell(x, (h, c))
        assert close(step.state, expected_h)
        assert close(step.cell, expected_c)


def test_gates_squash() -> None:
    p = random_gru(2, 6, seed=6)
    step = gru_step(p, torch.randn(8, 2), torch.randn(8, 6))
    for gate in (step.reset, step.update):
        assert close(gate.value, 1 / (1 + (-gate.pre_activation).exp()))
        assert ((gate.value > 0) & (gate.value < 1)).all()
    assert close(step.candidate.value, step.candidate.pre_activation.tanh())


def test_every_part_is_batch_by_units() -> None:
    gru, lstm = (
        gru_step(GRU, X.expand(3, 1), H.expand(3, 1)),
        lstm_step(LSTM, X.expand(3, 1), H.expand(3, 1), C.expand(3, 1)),
    )
    gates = [gru.reset, gru.update, gru.candidate, lstm.input, lstm.forget, lstm.output, lstm.candidate]
    for gate in gates:
        parts = (gate.from_input, gate.from_state, gate.bias, gate.pre_activation, gate.value)
        assert {tuple(part.shape) for part in parts} == {(3, 1)}
        assert close(gate.from_input + gate.from_state + gate.bias, gate.pre_activation)


def test_a_wrong_input_is_named_with_both_shapes() -> None:
    with pytest.raises(ConfigError, match=r"X_t must be \(B, 1\).*received \(1, 2\)"):
        gru_step(GRU, torch.zeros(1, 2), H)


def test_a_wrong_state_is_named_with_both_shapes() -> None:
    with pytest.raises(ConfigError, match=r"a state must be \(B, H\) = \(1, 1\); received \(2, 1\)"):
        lstm_step(LSTM, X, torch.zeros(2, 1), C)


def test_an_unknown_reset_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'after' or 'before'.*received 'during'"):
        gru_step(GRU, X, H, reset="during")  # type: ignore[arg-type]
