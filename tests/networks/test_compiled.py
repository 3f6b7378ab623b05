"""rnnviz.networks.compiled: what numba compiles gives what a plain loop gives, however threads share it."""

import subprocess
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rnnviz import TrainConfig, corpora
from rnnviz.errors import ConfigError
from rnnviz.networks import compiled, dropout
from rnnviz.networks.bptt import Rows
from rnnviz.runs import training_state
from rnnviz.runs.folder import RunFolder
from rnnviz.training import speed
from rnnviz.training.trainer import Trainer
from rnnviz.training.tuning import own_python

needs_numba = pytest.mark.skipif(not compiled.ready(), reason="no numba, or a torch without sgemm_")
needs_blocks = pytest.mark.skipif(
    not compiled.ready() or not compiled.blocks_bfloat16(),
    reason="no numba, a torch without brgemm, or a processor without bfloat16",
)
PRODUCTS = [
    pytest.param(compiled.SGEMM, id="sgemm"),
    pytest.param(
        compiled.BRGEMM, id="brgemm", marks=pytest.mark.skipif(not compiled.blocks(), reason="no brgemm")
    ),
]
PARTS = {"tanh": (1, 1, 1), "relu": (1, 1, 1), "gru": (4, 3, 1), "lstm": (4, 4, 2)}
"""Parts of the inputs and of W_hh, and tensors of a state, by kind."""


def textbook(kind: str, x: Tensor, w: Tensor, first: list[Tensor]) -> list[Tensor]:
    """A plain loop over time, in the numbers' own precision: H (T, B, H), and the last C of an lstm."""
    h, found = first[0], []
    c = first[-1]
    for step in x:
        from_h = h @ w.T
        if kind == "lstm":
            i, f, g, o = (step + from_h).chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        elif kind == "gru":
            x_n, x_r, x_z, b_n = step.chunk(4, -1)
            h_r, h_z, h_n = from_h.chunk(3, -1)
            r, z = (x_r + h_r).sigmoid(), (x_z + h_z).sigmoid()
            n = (x_n + r * (h_n + b_n)).tanh()
            h = (1 - z) * n + z * h
        else:
            h = (step + from_h).tanh() if kind == "tanh" else (step + from_h).relu()
        found.append(h)
    return [torch.stack(found), *([c] if kind == "lstm" else [])]


def gradients(results: list[Tensor], wanted: list[Tensor]) -> list[Tensor]:
    """Of a loss that reaches all of the results."""
    loss = sum(
        (out * torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view(out.shape)).sum() for out in results
    )
    return list(torch.autograd.grad(loss, wanted))


@needs_numba
@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(sorted(PARTS)),
    T=st.integers(1, 6),
    B=st.integers(1, 9),
    H=st.integers(1, 70),
    symbols=st.integers(1, 5),
    threads=st.integers(1, 5),
    by=st.sampled_from([compiled.SGEMM, compiled.BRGEMM] if compiled.blocks() else [compiled.SGEMM]),
    looked_up=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_it_is_a_plain_loop_in_double_precision(
    kind: str, T: int, B: int, H: int, symbols: int, threads: int, by: int, looked_up: bool, seed: int
) -> None:
    """Batches of fewer rows than threads, and of units that fill no line, among them."""
    inputs, gates, parts = PARTS[kind]
    generator = torch.Generator().manual_seed(seed)

    def numbers(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    ids = torch.randint(symbols, (T, B), generator=generator)
    x = numbers(symbols, inputs * H) if looked_up else numbers(T, B, inputs * H)
    w, first = numbers(gates * H, H) / H**0.5, [numbers(B, H) for _ in range(parts)]
    torch.set_num_threads(threads)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "_products", lambda _: by)
        x, w, *first = ours = [one.requires_grad_() for one in (x, w, *first)]
        out = list(compiled.unroll(kind, Rows(x, ids) if looked_up else x, w, first))
        found = gradients(out, ours)
    x, w, *first = exact = [one.detach().double().requires_grad_() for one in ours]
    right = textbook(kind, x[ids] if looked_up else x, w, first)
    for mine, theirs in zip([*out, *found], [*right, *gradients(right, exact)], strict=True):
        torch.testing.assert_close(mine.double(), theirs, rtol=2e-4, atol=2e-5)


@needs_numba
@pytest.mark.parametrize("kind", sorted(PARTS))
@pytest.mark.parametrize("by", PRODUCTS)
def test_a_pass_back_needs_no_more_and_no_fewer_threads_than_are_there(
    kind: str, by: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever trains may set their number between the two."""
    monkeypatch.setattr(compiled, "_products", lambda _: by)
    inputs, gates, parts = PARTS[kind]
    x, w = torch.linspace(-1, 1, 2 * 5 * inputs * 48).view(2, 5, -1), torch.linspace(-1, 1, gates * 48 * 48)
    found = []
    for forward, back in ((1, 1), (3, 3), (3, 2), (2, 3), (3, 1), (1, 3)):
        ours = [x.clone().requires_grad_(), (w.view(-1, 48) / 7).requires_grad_()]
        torch.set_num_threads(forward)
        out = list(compiled.unroll(kind, *ours, [torch.zeros(5, 48) for _ in range(parts)]))
        torch.set_num_threads(back)
        found.append(gradients(out, ours))
    for others in found[1:]:
        torch.testing.assert_close(others, found[0], rtol=1e-4, atol=1e-4)


@needs_blocks
@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(sorted(PARTS)),
    T=st.sampled_from([1, 2, 5, 131]),
    B=st.integers(1, 9),
    H=st.integers(1, 35).map(lambda half: 2 * half),
    threads=st.integers(1, 5),
    seed=st.integers(0, 1000),
)
def test_in_bfloat16_what_meets_w_hh_is_rounded_and_nothing_else(
    kind: str, T: int, B: int, H: int, threads: int, seed: int
) -> None:
    """Of numbers that bfloat16 has the products are exact: the first step is that of double precision. All
    steps and their gradients are as near as seven bits can be.
    """
    inputs, gates, parts = PARTS[kind]
    generator = torch.Generator().manual_seed(seed)

    def numbers(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator).bfloat16().float()

    ids = torch.randint(7, (T, B), generator=generator)
    x, w, first = numbers(7, inputs * H), numbers(gates * H, H) / 64, [numbers(B, H) for _ in range(parts)]
    torch.set_num_threads(threads)
    x, w, *first = ours = [one.requires_grad_() for one in (x, w, *first)]
    with torch.autocast("cpu", torch.bfloat16):
        assert compiled._products(H) == compiled.BFLOAT16
        out = list(compiled.unroll(kind, Rows(x, ids), w, first))
    found = gradients(out, ours)
    x, w, *first = exact = [one.detach().double().requires_grad_() for one in ours]
    right = textbook(kind, x[ids], w, first)
    torch.testing.assert_close(out[0][0].double(), right[0][0], rtol=2e-5, atol=2e-6)  # the first step's H
    for mine, theirs in zip([*out, *found], [*right, *gradients(right, exact)], strict=True):
        assert mine.dtype == torch.float32
        if kind != "relu":  # whose slope jumps
            assert (mine - theirs).norm() <= 0.02 * theirs.norm() + 1e-6
    # Odd sizes have no pairs of rows: float32.
    with torch.autocast("cpu", torch.bfloat16):
        assert compiled._products(H + 1) == compiled.BRGEMM


@needs_numba
@pytest.mark.parametrize("p", [0.001, 0.4, 0.999])
def test_masks_are_what_torch_draws(p: float) -> None:
    """Bit for bit, and the generator stands at the same place after them."""
    ours, theirs = torch.Generator().manual_seed(5), torch.Generator().manual_seed(5)
    compiled.prepare(False)
    for count in (1, 5, 1247, 1248, 1249, 40_000, 3):
        mine = dropout.drop(torch.ones(count), p, ours)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiled, "mask", lambda *_: None)
            right = dropout.drop(torch.ones(count), p, theirs)
        assert torch.equal(mine, right)
        assert torch.equal(ours.get_state(), theirs.get_state())
    assert dropout.drop(torch.ones(2, 3), p, ours, rows=True).shape == (2, 3)


@needs_numba
def test_a_torch_that_draws_otherwise_draws_itself() -> None:
    def other(words: Any, place: int, lowest: int, scale: float, mask: Any) -> int:
        mask[:] = 0
        return place

    assert compiled._draws_as_torch(compiled._fill())
    assert not compiled._draws_as_torch(other)


@needs_numba
@pytest.mark.parametrize("kind", sorted(PARTS))
def test_huge_inputs_saturate_and_no_number_stays_none(kind: str) -> None:
    inputs, gates, parts = PARTS[kind]
    w, first = torch.full((gates * 16, 16), 0.01), [torch.zeros(1, 16) for _ in range(parts)]
    for size in (-1e30, -200.0, -88.0, -1e-6, 1e-6, 88.0, 200.0, 1e30):
        x = torch.full((3, 1, inputs * 16), size, requires_grad=True)
        out = compiled.unroll(kind, x, w, first)
        right = textbook(kind, x.detach().double(), w.double(), [one.double() for one in first])
        torch.testing.assert_close(out[0].double(), right[0], rtol=1e-6, atol=1e-37)
        (slope,) = torch.autograd.grad(out[0].sum(), x)
        assert slope.isfinite().all()
    x = torch.zeros(3, 1, inputs * 16)
    assert compiled.unroll(kind, x, w * float("nan"), first)[0].isnan().all()


@needs_numba
def test_what_passes_memory_on_and_what_uses_it_agree() -> None:
    """`compiled` doesn't import these: they load numba."""
    from rnnviz.networks import kernels, products

    assert compiled.ROWS == products.ROWS
    for name in ("SGEMM", "BRGEMM", "BFLOAT16"):
        assert getattr(compiled, name) == getattr(products, name)
    assert [compiled.KINDS.index(kind) for kind in ("tanh", "relu", "gru", "lstm")] == list(kernels.KINDS)


@needs_numba
def test_a_second_pass_back_is_refused() -> None:
    """Gates are gone by then: torch says so, in place of giving something else."""
    x = torch.zeros(2, 1, 16, requires_grad=True)
    loss = compiled.unroll("tanh", x, torch.eye(16), [torch.zeros(1, 16)])[0].sum()
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="inplace operation"):
        loss.backward()


@needs_numba
@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_row_that_is_not_there_is_refused(wrong: int) -> None:
    """Compiled code would read, and write, whatever lies at that place."""
    ids = torch.tensor([[0, wrong], [2, 1]])
    with pytest.raises(IndexError):
        compiled.unroll("tanh", Rows(torch.zeros(3, 16), ids), torch.eye(16), [torch.zeros(2, 16)])


RECIPE = TrainConfig(
    "gru",
    32,
    embedding_size=8,
    batch=8,
    steps=16,
    characters=2_000,
    dropout_weight=0.3,
    dropout_output=0.2,
)


@needs_numba
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bfloat16", [False, pytest.param(True, marks=needs_blocks)])
def test_a_saved_and_restored_run_goes_on_bit_for_bit(threads: int, bfloat16: bool, tmp_path: Any) -> None:
    corpus = corpora.from_text("a machine of brass and quartz, " * 100)
    torch.set_num_threads(threads)

    def trainer() -> Trainer:
        made = Trainer(replace(RECIPE, precision="bfloat16" if bfloat16 else "float32"), corpus, device="cpu")
        made.model.engine = "numba"
        assert made.model.backward_pass(bfloat16=bfloat16) == "numba"
        return made

    whole, first, second = trainer(), trainer(), trainer()
    while not whole.done:
        whole.step()
    for _ in range(7):
        first.step()
    folder = RunFolder(tmp_path)
    training_state.save(folder, first)
    training_state.restore(folder, second)
    while not second.done:
        second.step()
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(weight, second.model.state_dict()[name]), name


def test_without_it_the_other_backward_pass_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a run that began with it goes on; who asks for it by name is told."""
    monkeypatch.setattr(compiled, "ready", lambda: False)
    monkeypatch.setattr(compiled, "prepared", lambda _: False)
    trainer = Trainer(RECIPE, corpora.from_text("a machine of brass and quartz, " * 100), device="cpu")
    trainer.model.engine = "numba"
    assert trainer.model.backward_pass() == "rnnviz"
    assert trainer.model.backward_pass(bfloat16=True) == "torch"
    trainer.step()
    with pytest.raises(ConfigError, match=r"pip install .*\[fast\]"):
        speed.fastest(RECIPE, 20, device="cpu", engine="numba")


def test_numba_is_loaded_by_training_alone() -> None:
    code = (
        "import sys, rnnviz; from rnnviz.networks import compiled; from rnnviz.training import trainer\n"
        "compiled.ready(); assert 'numba' not in sys.modules and 'llvmlite' not in sys.modules"
    )
    subprocess.run(**own_python("-c", code), check=True)
