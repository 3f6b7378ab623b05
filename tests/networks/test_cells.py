"""The recurrences against numbers worked out by hand and torch's own cells."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from rnnviz import ModelConfig
from rnnviz.networks.config import Cell
from tests.networks.textbook import LETTERS, Parameters, of_torch, step


def close(found: Tensor, expected: object, tolerance: float = 1e-6) -> bool:
    return torch.allclose(found, torch.as_tensor(expected, dtype=found.dtype), rtol=0, atol=tolerance)


def scalars(**values: float) -> dict[str, Tensor]:
    return {name: torch.tensor([v] if name.startswith("b") else [[v]]) for name, v in values.items()}


# Scalars, so that every value below can be checked with a pocket calculator.
X, H, C = torch.tensor([[0.5]]), torch.tensor([[-0.8]]), torch.tensor([[0.6]])
GATES = {"W_xr": 0.3, "W_hr": 0.7, "b_r": 0.1, "W_xz": -0.4, "W_hz": 0.2, "b_z": 0.05}
GRU = scalars(**GATES, W_xh=0.9, W_hh=-0.6, b_h=0.2, b_hh=-0.1)
LSTM = scalars(
    W_xi=0.3, W_hi=0.7, b_i=0.1, W_xf=-0.4, W_hf=0.2, b_f=0.05,
    W_xo=0.25, W_ho=-0.5, b_o=-0.2, W_xc=0.9, W_hc=-0.6, b_c=0.2,
)  # fmt: skip


def by_hand(found: dict[str, Tensor], **expected: list[float] | float) -> None:
    for name, value in expected.items():
        assert close(found[name], [value if isinstance(value, list) else [value]]), name


def test_mlp_and_rnn_by_hand() -> None:
    p = {"W_xh": torch.tensor([[0.5, 1.0], [-0.25, 1.0]]), "b_h": torch.tensor([0.1, -1.0])}
    found = step("mlp", p, torch.tensor([[1.0, 2.0]]), torch.zeros(1, 2))
    by_hand(found, from_input=[0.0, 3.0], from_state=[0.0, 0.0], pre_activation=[0.1, 2.0])
    by_hand(found, state=[0.0996680, 0.9640276])

    p = {"W_xh": torch.tensor([[0.5], [-0.25]]), **scalars(W_hh=3.0, b_h=0.1)}
    found = step("rnn", p, torch.tensor([[1.0, 2.0]]), torch.tensor([[0.2]]))
    by_hand(found, from_input=0.0, from_state=0.6, pre_activation=0.7, state=0.6043678)


def test_relu_cuts_what_is_negative() -> None:
    p = {"W_xh": torch.tensor([[1.0, -1.0]]), "W_hh": torch.zeros(2, 2), "b_h": torch.zeros(2)}
    by_hand(step("rnn", p, X, torch.zeros(1, 2), activation="relu"), state=[0.5, 0.0])


def test_gru_by_hand() -> None:
    gates = {"reset": 0.4231147, "update": 0.4231147}
    by_hand(step("gru", GRU, X, H), **gates, candidate=0.6700223, state=0.0480342)
    by_hand(step("gru", GRU, X, H, reset="before"), **gates, candidate=0.6369918, state=0.0289794)


def test_lstm_by_hand() -> None:
    found = step("lstm", LSTM, X, H, C)
    by_hand(found, input=0.4231147, forget=0.4231147, output=0.5805423, candidate=0.8110193)
    by_hand(found, cell=0.5970231, state=0.3105482)


def test_min_gru_by_hand() -> None:
    """Feng et al. 2024, algorithm 6, with 1 - Z_t in Z_t's place."""
    p = scalars(W_xz=-0.4, b_z=0.05, W_xh=0.9, b_h=0.2)
    by_hand(step("mingru", p, X, H), update=0.4625702, candidate=1.15, state=0.2479881)
    by_hand(step("mingru", {**p, "b_h": torch.tensor([-0.95])}, X, H), candidate=0.3775407, state=-0.1671550)


def test_where_the_reset_acts_makes_a_difference_unless_it_is_one() -> None:
    _, p, x, h, _ = random("gru")
    after, before = step("gru", p, x, h), step("gru", p, x, h, reset="before")
    assert (after["state"] - before["state"]).abs().max() > 1e-2
    assert close(after["reset"], before["reset"])
    p = {**p, "b_r": torch.full((7,), 100.0)}
    assert close(step("gru", p, x, h)["state"], step("gru", p, x, h, reset="before")["state"])


def test_an_open_update_gate_keeps_the_state() -> None:
    _, p, x, h, _ = random("gru")
    assert close(step("gru", {**p, "b_z": torch.full((7,), 100.0)}, x, h)["state"], h)


def random(cell: Cell) -> tuple[nn.Module, Parameters, Tensor, Tensor, Tensor]:
    """One of torch's cells, its parameters by the textbook's names, X (3, 5), H and C (3, 7)."""
    torch.manual_seed(4)
    kinds: dict[str, Any] = {"rnn": nn.RNNCell, "gru": nn.GRUCell, "lstm": nn.LSTMCell}
    module: nn.Module = kinds[cell](5, 7).requires_grad_(False)
    tensors = {f"recurrence.{name}_l0": w for name, w in module.named_parameters()}
    (p,) = of_torch(ModelConfig(cell, 9, 7), tensors)
    return module, p, torch.randn(3, 5), torch.randn(3, 7), torch.randn(3, 7)


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_a_step_is_that_of_torchs_cell(cell: Cell) -> None:
    module, p, x, h, c = random(cell)
    found = step(cell, p, x, h, c)
    assert {tuple(part.shape) for part in found.values()} == {(3, 7)}
    if cell == "lstm":
        expected, expected_c = module(x, (h, c))
        assert close(found["cell"], expected_c)
    else:
        expected = module(x, h)
    assert close(found["state"], expected)
    assert {name[2:-1] for name in p if name.startswith("W")} == {"x", "h"}
    assert {name[-1] for name in p} == set(LETTERS[cell])
