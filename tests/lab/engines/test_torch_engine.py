"""rnnviz.lab.engines.torch_engine: all steps at once, and stretches side by side, are those one by one."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from rnnviz.lab.engines.torch_engine import scan
from rnnviz.lab.engines.torch_model import CharModel, TorchEngine
from tests.support.long_texts import STRETCHED, assert_as_in_sequence, reader
from tests.support.torch_models import in_torch, tiny_torch


def loop(keep: Tensor, write: Tensor, first: Tensor) -> Tensor:
    """H_t = A_t ⊙ H_{t-1} + B_t, a step after another."""
    states, h = [], first
    for t in range(keep.shape[1]):
        h = keep[:, t] * h + write[:, t]
        states.append(h)
    return torch.stack(states, dim=1)


@pytest.mark.parametrize("decay", [0.0, 1e-30, 0.5, 0.999, 0.999999, 1.0, "all of them"])
def test_ten_thousand_steps_lose_no_digits(decay: float | str) -> None:
    generator = torch.Generator().manual_seed(0)
    write = torch.randn(1, 10_000, 8, generator=generator)
    if isinstance(decay, str):  # sigmoids of exactly 0 and 1, and all between
        keep = torch.sigmoid(30 * torch.randn(1, 10_000, 8, generator=generator))
    else:
        keep = torch.full_like(write, decay)
    first = torch.ones(1, 8)
    exact = loop(keep.double(), write.double(), first.double())
    assert float((scan(keep, write, first) - exact).abs().max() / exact.abs().max()) < 1e-5


def shut(gate: float) -> CharModel:
    """A minGRU of one unit whose update gate stands at σ(`gate`) for ever, its candidate at 1."""
    model = tiny_torch("mingru", hidden_size=1)
    for parameter in model.recurrence.parameters():
        parameter.zero_()
    model.recurrence.bias_ih_l0.copy_(torch.tensor([gate, 0.5]))  # type: ignore[operator, union-attr]
    return model


def test_written_share_keeps_digits_beside_gate_near_one() -> None:
    """1 - σ(15) has two digits in float32, σ(-15) seven."""
    exact = 1 - (1 / (1 + np.exp(-15.0))) ** 10_000
    h, _ = shut(15.0).hidden(torch.zeros(1, 10_000, 6))
    assert float(h[0, -1, 0]) == pytest.approx(exact, rel=1e-3)


def test_a_gate_of_exactly_one_has_finite_gradients() -> None:
    model = shut(1000.0).requires_grad_()
    x = torch.ones(1, 3, 6, requires_grad=True)
    for gradient in torch.autograd.grad(model.hidden(x)[0].sum(), [x, *model.recurrence.parameters()]):
        assert gradient.isfinite().all()


def test_recurrence_stays_float32_under_autocast() -> None:
    """σ(8) would be 1 in bfloat16, and nothing ever forgotten."""
    with torch.autocast("cpu", torch.bfloat16):
        h, _ = shut(8.0).hidden(torch.zeros(1, 4000, 6))
    assert h.dtype == torch.float32
    assert float(h[0, -1, 0]) == pytest.approx(1 - (1 / (1 + np.exp(-8.0))) ** 4000, rel=1e-3)


@pytest.mark.parametrize("settings", STRETCHED, ids=lambda s: "-".join(map(str, s.values())))
def test_costs_ranks_and_entropies_are_those_of_a_reading_in_sequence(settings: dict[str, Any]) -> None:
    network = reader(scale=8.0, **settings)
    assert_as_in_sequence(network, TorchEngine(in_torch(network)))
