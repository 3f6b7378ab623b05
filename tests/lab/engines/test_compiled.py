"""rnnviz.lab.engines.compiled: what numba compiles at the edges of its numbers and of memory.

That it computes what the record says stands in the conformance table.
"""

import subprocess
from typing import Any

import pytest
import torch
from torch import Tensor

from rnnviz import ModelConfig, TrainConfig
from rnnviz.errors import ConfigError
from rnnviz.lab.engines import compiled, torch_engine
from rnnviz.lab.fit import speed_trial
from rnnviz.lab.fit.process_settings import own_python
from rnnviz.lab.fit.trainer import Trainer
from rnnviz.networks.cells import CELLS
from rnnviz.text import corpora

needs_numba = pytest.mark.skipif(not compiled.ready(), reason="no numba, or a torch without sgemm_")
KINDS = [("rnn", "relu"), *((cell, "tanh") for cell in CELLS if compiled.trains(cell))]


class Case:
    """A layer of a cell, what it reads, and where it begins."""

    def __init__(
        self,
        kind: tuple[Any, Any],
        T: int,
        B: int,
        H: int,
        symbols: int = 7,
        scale: float = 1.0,
    ) -> None:
        generator = torch.Generator().manual_seed(0)
        self.config = ModelConfig(kind[0], 9, H, embedding_size=3, activation=kind[1])
        shapes = self.config.shapes()
        self.tensors = [
            scale * torch.randn(shapes[name], generator=generator) / H**0.5
            for name in self.config.layer_names(0)
        ]
        self.ids = torch.randint(symbols, (T, B), generator=generator)
        self.table = torch.randn(symbols, shapes[self.config.layer_names(0)[0]][0], generator=generator)
        self.first = [torch.randn(B, H, generator=generator) for _ in range(1 + CELLS[kind[0]].has_cell)]

    def ours(self) -> list[Tensor]:
        """States, and the gradients of their sum."""
        leaves = [tensor.clone().requires_grad_() for tensor in (self.table, *self.tensors, *self.first)]
        table, tensors, first = leaves[0], leaves[1 : 1 + len(self.tensors)], leaves[1 + len(self.tensors) :]
        results = compiled.layer(self.config, tensors, compiled.TableRows(table, self.ids), first)
        loss = torch.cat([result.flatten() for result in results]).sum()
        return [*results, *torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True)]

    def exact(self) -> Tensor:
        """The states by the record, a step after another, in double precision."""
        states = [h.double() for h in self.first]
        tensors = [tensor.double() for tensor in self.tensors]
        layer = torch_engine.TorchLayer(self.config.cell, tensors, self.config.activation)
        order = [k * len(states[0][0]) + n for k in layer.kind.stored for n in range(len(states[0][0]))]
        steps = []
        for ids in self.ids:
            parts = layer.step(self.table.double()[ids][:, order], *states)
            states = [parts[name] for name in "hc"[: len(states)]]
            steps.append(states[0])
        return torch.stack(steps)


@needs_numba
@pytest.mark.parametrize("looked_up", [True, False])
def test_rows_and_states_in_bfloat16_are_read_as_numbers(looked_up: bool) -> None:
    """As whoever trains under autocast has them: compiled code reads float32 from memory."""
    case = Case(("gru", "tanh"), 3, 2, 16)
    low, first = case.table.bfloat16(), [h.bfloat16() for h in case.first]
    rows = compiled.TableRows(low, case.ids) if looked_up else low[case.ids]
    case.table, case.first = low.float(), [h.float() for h in first]
    assert torch.equal(compiled.layer(case.config, case.tensors, rows, first)[0], case.ours()[0])


@needs_numba
@pytest.mark.parametrize("kind", KINDS)
def test_huge_inputs_saturate_and_no_number_stays_none(kind: tuple[str, str]) -> None:
    case = Case(kind, 3, 1, 16, symbols=1, scale=0.1)
    for size in (-1e30, -200.0, -88.0, -1e-6, 1e-6, 88.0, 200.0, 1e30):
        case.table.fill_(size)
        ours, exact = case.ours(), case.exact()
        torch.testing.assert_close(ours[0].double(), exact, rtol=1e-5, atol=1e-6)
        for slope in ours if abs(size) < 1e3 else ():
            assert slope.isfinite().all()
    case.table.fill_(float("nan"))
    assert case.ours()[0].isnan().all()


@needs_numba
def test_a_second_pass_back_is_refused() -> None:
    """Gates are gone by then: torch says so, in place of giving something else."""
    case = Case(("gru", "tanh"), 2, 1, 16)
    loss = compiled.layer(case.config, case.tensors, case.table[case.ids].requires_grad_(), case.first)[
        0
    ].sum()
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="inplace operation"):
        loss.backward()


@needs_numba
@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_row_that_is_not_there_is_refused(wrong: int) -> None:
    """Compiled code would read, and write, whatever lies at that place."""
    case = Case(("rnn", "tanh"), 2, 2, 16, symbols=3)
    case.ids[0, 1] = wrong
    with pytest.raises(IndexError):
        compiled.layer(case.config, case.tensors, compiled.TableRows(case.table, case.ids), case.first)


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


def test_torch_layers_train_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a run that began with it goes on; who asks for it by name is told."""
    monkeypatch.setattr(compiled, "ready", lambda: False)
    monkeypatch.setattr(compiled, "prepared", lambda _: False)
    corpus = corpora.from_text("a machine of brass and quartz, " * 100)
    trainer = Trainer(RECIPE, corpus, device="cpu")
    trainer.model.engine = "numba"
    assert trainer.model.backward_pass() == "torch"
    trainer.step()
    with pytest.raises(ConfigError, match=r"pip install .*\[lab\]"):
        speed_trial.find_fastest_settings(RECIPE, corpus, device="cpu", engine="numba")


@pytest.mark.slow
def test_numba_is_loaded_by_training_alone() -> None:
    code = (
        "import sys, rnnviz; from rnnviz.lab.engines import compiled; from rnnviz.lab.fit import trainer\n"
        "compiled.ready(); assert 'numba' not in sys.modules and 'llvmlite' not in sys.modules"
    )
    subprocess.run(**own_python("-c", code), check=True)
