"""rnnviz.networks.compiled.recurrence: compiled, a linear recurrence is its steps one by one."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rnnviz import TrainConfig, corpora
from rnnviz.networks import compiled, linear
from rnnviz.networks.bptt import Rows
from rnnviz.networks.config import ModelConfig
from rnnviz.networks.dropout import Dropout
from rnnviz.networks.scan import TORCH
from rnnviz.networks.torch_model import CharModel, untrained
from rnnviz.text.vocabulary import Vocabulary
from rnnviz.training import speed
from rnnviz.training.trainer import Trainer

pytestmark = pytest.mark.skipif(not compiled.ready(), reason="no numba, or a torch without sgemm_")


def one_by_one(rows: Tensor, first: Tensor) -> Tensor:
    """A plain loop over time: H (B, T, H)."""
    keep, write = linear.step(rows, TORCH)
    state, found = first, []
    for t in range(rows.shape[1]):
        state = keep[:, t] * state + write[:, t]
        found.append(state)
    return torch.stack(found, dim=1)


def gradients(h: Tensor, wanted: list[Tensor]) -> tuple[Tensor, ...]:
    """Of a loss that all of the states have a part in."""
    return torch.autograd.grad((h * torch.linspace(-1, 1, h.numel()).to(h).view(h.shape)).sum(), wanted)


@settings(max_examples=80, deadline=None)
@given(
    T=st.sampled_from([1, 2, 3, 7, 40]),
    B=st.integers(1, 7),
    H=st.integers(1, 72),
    symbols=st.integers(1, 9),
    threads=st.integers(1, 5),
    looked_up=st.booleans(),
    spread=st.sampled_from([0.1, 1.0, 6.0]),
    seed=st.integers(0, 1000),
)
def test_it_is_the_step_one_after_another_in_double_precision(
    T: int, B: int, H: int, symbols: int, threads: int, looked_up: bool, spread: float, seed: int
) -> None:
    """Its gradients too. Batches of fewer rows than threads, and as many symbols as places, among them."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(symbols if looked_up else B * T, 2 * H, generator=generator) * spread
    ids = torch.randint(symbols, (B, T), generator=generator)
    first = torch.randn(B, H, generator=generator)
    wanted = [x if looked_up else x.view(B, T, -1), first]
    torch.set_num_threads(threads)
    x, first = ours = [one.requires_grad_() for one in wanted]
    out = compiled.recurrence(Rows(x, ids) if looked_up else x, first)
    found = gradients(out, ours)
    x, first = exact = [one.detach().double().requires_grad_() for one in ours]
    right = one_by_one(x[ids] if looked_up else x, first)
    for mine, theirs in zip([out, *found], [right, *gradients(right, exact)], strict=True):
        mine, theirs = mine.detach().double(), theirs.detach()
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5 * (1 + float(theirs.abs().max())))


@pytest.mark.parametrize("layers", [1, 2])
def test_a_step_of_training_is_that_of_the_scan(layers: int) -> None:
    """Loss and all gradients, with the same dropout, tied or not."""
    config = ModelConfig("mingru", 20, 32, layers=layers, embedding_size=32, tied=layers == 2)
    vocabulary = Vocabulary(tuple("abcdefghijklmnopqrs"))
    inputs = torch.randint(20, (5, 30), generator=torch.Generator().manual_seed(3))

    def found(model: CharModel, engine: str) -> list[Tensor]:
        model.engine = engine  # type: ignore[assignment]
        assert model.backward_pass() == engine
        dropout, generator = Dropout(0.2, 0.0, 0.3, 0.1), torch.Generator().manual_seed(4)
        logits, state = model(inputs, None, dropout=dropout, generator=generator)
        loss = logits.log_softmax(-1)[..., 0].mean()
        return [loss, *state, *torch.autograd.grad(loss, list(model.parameters()))]

    model = untrained(config, vocabulary, seed=1)
    for mine, theirs in zip(found(model, "numba"), found(model, "torch"), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-6)


def test_huge_inputs_saturate_and_no_number_stays_none() -> None:
    for size in (-1e30, -200.0, -88.0, -1e-6, 1e-6, 88.0, 200.0, 1e30):
        x = torch.full((1, 3, 16), size, requires_grad=True)
        h = compiled.recurrence(x, torch.zeros(1, 8))
        if abs(size) <= 200:
            assert h.isfinite().all()
            assert torch.autograd.grad(h.sum(), x)[0].isfinite().all()
    x = torch.full((1, 3, 16), float("nan"))
    assert compiled.recurrence(x, torch.zeros(1, 8)).isnan().all()


def test_a_memory_of_a_million_steps_keeps_its_digits() -> None:
    """1 - A isn't found by a subtraction, of which nothing would be left."""
    x = torch.tensor([17.0, 1.0, 0.5, 0.5]).expand(1, 2, 4).contiguous()
    h, right = compiled.recurrence(x, torch.zeros(1, 2)), one_by_one(x.double(), torch.zeros(1, 2).double())
    torch.testing.assert_close(h.double(), right, rtol=1e-5, atol=0)


@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_row_that_is_not_there_is_refused(wrong: int) -> None:
    """Compiled code would read, and write, whatever lies at that place."""
    ids = torch.tensor([[0, wrong], [2, 1]])
    with pytest.raises(IndexError):
        compiled.recurrence(Rows(torch.zeros(3, 16), ids), torch.zeros(2, 8))


def test_training_takes_it_where_it_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """And torch's scan elsewhere: for a small network, in float64, and without numba."""
    recipe = TrainConfig("mingru", 64, batch=16, steps=8, precision="float32", characters=4_000)
    assert speed.fastest(recipe, 30, device="cpu", threads=1).engine == "numba"
    assert speed.fastest(replace(recipe, batch=2), 30, device="cpu", threads=1).engine == "auto"
    trainer = Trainer(recipe, corpora.from_text("a machine of brass and quartz, " * 60), device="cpu")
    trainer.model.engine = "numba"
    assert trainer.model.backward_pass(bfloat16=True) == "numba"
    before = float(trainer.step()[0])
    while not trainer.done:
        trainer.step()
    assert float(trainer.loss) < before - 1
    assert trainer.model.double().backward_pass() == "torch"
    monkeypatch.setattr(compiled, "prepared", lambda _: False)
    assert speed.fastest(recipe, 30, device="cpu", threads=1).engine == "auto"
    assert trainer.model.float().backward_pass() == "torch"
