"""Linear recurrences: all steps at once against one after the other, in float64 and by the textbook."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rnnviz.networks import linear
from rnnviz.networks.numpy_model import weights_of
from rnnviz.networks.scan import TORCH, scan
from rnnviz.networks.torch_model import CharModel
from rnnviz.reading.scoring import perplexity
from rnnviz.reading.trace import trace
from tests.conftest import TEXT, tiny
from tests.networks.textbook import step


def loop(keep: Tensor, write: Tensor, first: Tensor) -> Tensor:
    """H_t = A_t ⊙ H_{t-1} + B_t, a step after another."""
    states, h = [], first
    for t in range(keep.shape[1]):
        h = keep[:, t] * h + write[:, t]
        states.append(h)
    return torch.stack(states, dim=1)


def by_steps(model: CharModel, x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
    """The top layer's H (B, T, H) by `rnnviz.networks.cells`, in the parameters' precision, and what all
    layers carry on (L, B, H).
    """
    states, out = list(state[-1]), []
    for t in range(x.shape[1]):
        h = x[:, t]
        for n, p in enumerate(model.layer_parameters()):
            h = states[n] = step("mingru", p, h, states[n])["state"]
        out.append(h)
    return torch.stack(out, dim=1), torch.stack(states)


@settings(max_examples=25, deadline=None)
@given(
    layers=st.integers(1, 3),
    batch=st.integers(1, 4),
    length=st.integers(1, 70),
    cut=st.integers(0, 70),
    seed=st.integers(0, 9),
)
def test_all_steps_at_once_are_those_of_the_textbook_however_they_are_cut(
    layers: int, batch: int, length: int, cut: int, seed: int
) -> None:
    model = tiny("mingru", layers=layers)
    drawn = torch.Generator().manual_seed(seed)
    x = torch.randn(batch, length, 6, generator=drawn)
    first = tuple(torch.randn(part.shape, generator=drawn) for part in model.zero_state(batch))
    whole, last = model.hidden(x, first)
    expected, carried = by_steps(model, x, first)
    assert torch.allclose(whole, expected, rtol=1e-4, atol=1e-4)
    assert torch.allclose(last[-1], carried, rtol=1e-4, atol=1e-4)
    assert torch.equal(last[0][-1], whole[:, -1])
    if 0 < cut < length:
        one, state = model.hidden(x[:, :cut], first)
        other, end = model.hidden(x[:, cut:], state)
        assert torch.allclose(torch.cat([one, other], dim=1), whole, rtol=1e-5, atol=1e-5)
        for part, of_whole in zip(end, last, strict=True):
            assert torch.allclose(part, of_whole, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("decay", [0.0, 1e-30, 0.5, 0.999, 0.999999, 1.0, "all of them"])
def test_ten_thousand_steps_lose_no_digits(decay: float | str) -> None:
    drawn = torch.Generator().manual_seed(0)
    write = torch.randn(1, 10_000, 8, generator=drawn)
    if isinstance(decay, str):
        keep = torch.sigmoid(30 * torch.randn(1, 10_000, 8, generator=drawn))
    else:
        keep = torch.full_like(write, decay)
    first = torch.ones(1, 8)
    exact = loop(keep.double(), write.double(), first.double())
    found = scan(keep, write, first)
    assert float((found - exact).abs().max() / exact.abs().max()) < 1e-5


def test_gates_shut_or_wide_open_for_ten_thousand_steps() -> None:
    """Pre-activations up to ±40: sigmoids of exactly 0 and 1, and all between."""
    drawn = torch.Generator().manual_seed(0)
    rows = 10 * torch.randn(1, 10_000, 2 * 8, generator=drawn)
    keep, write = linear.step(rows, TORCH)
    found = scan(keep, write, torch.zeros(1, 8))
    wide = linear.step(rows.double(), TORCH)
    exact = loop(*wide, torch.zeros(1, 8, dtype=torch.float64))
    assert float(((found - exact).abs() / exact.abs().clamp_min(1)).max()) < 1e-4
    plain = linear.step(rows.numpy(), linear.NUMPY)
    for one, other in zip(plain, (keep, write), strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("length", [1, 2, 7, 20])
def test_gradients_are_those_of_the_steps(length: int) -> None:
    drawn = torch.Generator().manual_seed(1)
    model = tiny("mingru", layers=2).double().requires_grad_()
    x = torch.randn(3, length, 6, generator=drawn, dtype=torch.float64, requires_grad=True)
    first = torch.randn(2, 3, 12, generator=drawn, dtype=torch.float64, requires_grad=True)
    inputs = [x, first, *model.recurrence.parameters()]
    h, last = model.hidden(x, (first,))
    weights = torch.randn(h.shape, generator=drawn, dtype=torch.float64)
    found = torch.autograd.grad((h * weights).sum() + last[-1].sin().sum(), inputs)
    expected_h, carried = by_steps(model, x, (first,))
    expected = torch.autograd.grad((expected_h * weights).sum() + carried.sin().sum(), inputs)
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, rtol=1e-9, atol=1e-11)


def test_a_gate_of_exactly_one_has_finite_gradients() -> None:
    model = tiny("mingru").requires_grad_()
    with torch.no_grad():
        for parameter in model.recurrence.parameters():
            parameter.mul_(1000)
    x = torch.tensor([-1.0, 1.0, 1.0])[:, None].expand(3, 6)[None].requires_grad_()
    h, _ = model.hidden(x)
    keep, _ = linear.step(model.recurrence.rows(0, x), TORCH)  # type: ignore[operator]
    assert (keep == 1).any()
    for found in torch.autograd.grad(h.sum(), [x, *model.recurrence.parameters()]):
        assert found.isfinite().all()


def test_a_long_text_costs_what_its_steps_cost() -> None:
    model, text = tiny("mingru", layers=2), TEXT * 20  # longer than one call's characters
    found, read = perplexity(model, text=text), trace(model, text)
    assert found.perplexity == pytest.approx(read.perplexity[-1], rel=1e-5)
    precise = perplexity(model, text=text, precise=True)
    assert found.perplexity == pytest.approx(precise.perplexity, rel=1e-5)


def shut(gate: float) -> CharModel:
    """A minGRU of one unit whose update gate stands at σ(`gate`) for ever, its candidate at 1."""
    model = tiny("mingru", hidden_size=1)
    for parameter in model.recurrence.parameters():
        parameter.zero_()
    model.recurrence.bias_ih_l0.copy_(torch.tensor([gate, 0.5]))  # type: ignore[operator, union-attr]
    return model


def test_what_is_let_in_keeps_its_digits_beside_a_gate_near_one() -> None:
    """1 - σ(15) has two digits in float32, σ(-15) seven."""
    exact = 1 - (1 / (1 + np.exp(-15.0))) ** 10_000
    h, _ = shut(15.0).hidden(torch.zeros(1, 10_000, 6))
    assert float(h[0, -1, 0]) == pytest.approx(exact, rel=1e-3)
    weights = weights_of(shut(15.0))
    hidden, _ = weights.states(10_001)
    weights.run(np.zeros(10_000, np.int64), hidden, None)
    assert float(hidden[-1, 0, 0]) == pytest.approx(exact, rel=1e-3)


def test_under_autocast_the_recurrence_stays_in_float32() -> None:
    """σ(8) would be 1 in bfloat16, and nothing ever forgotten."""
    with torch.autocast("cpu", torch.bfloat16):
        h, _ = shut(8.0).hidden(torch.zeros(1, 4000, 6))
    assert h.dtype == torch.float32
    assert float(h[0, -1, 0]) == pytest.approx(1 - (1 / (1 + np.exp(-8.0))) ** 4000, rel=1e-3)
