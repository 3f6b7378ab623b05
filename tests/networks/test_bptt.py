"""rnnviz.networks.bptt and compiled: values and gradients are those of torch's own layers."""

from typing import Any

import pytest
import torch

from rnnviz import CharModel, ModelConfig
from rnnviz.networks import bptt, compiled
from rnnviz.networks.config import Engine
from rnnviz.networks.dropout import Dropout
from rnnviz.text.vocabulary import Vocabulary

VOCABULARY = Vocabulary(tuple("abcdefgh"))
T, B, H = 9, 3, 5
CELLS: list[dict[str, Any]] = [
    {"cell": "rnn"},
    {"cell": "rnn", "activation": "relu"},
    {"cell": "gru"},
    {"cell": "lstm"},
]


def learned(
    model: CharModel, inputs: torch.Tensor, state: tuple[torch.Tensor, ...], dropout: Dropout
) -> dict[str, torch.Tensor]:
    """Logits, last state, and the gradient of a loss that reaches all of them."""
    model.zero_grad()
    state = tuple(s.clone().requires_grad_() for s in state)
    generator = torch.Generator().manual_seed(3)
    logits, last = model(inputs, state, dropout=dropout, generator=generator)
    weights = torch.linspace(-1, 1, logits.numel()).view(logits.shape)
    loss = (logits * weights).sum() + sum((k + 2) * part.square().sum() for k, part in enumerate(last))
    loss.backward()
    out = {"logits": logits.detach()} | {f"last {k}": part.detach() for k, part in enumerate(last)}
    out |= {f"d state {k}": part.grad for k, part in enumerate(state) if part.grad is not None}
    return out | {f"d {name}": p.grad for name, p in model.named_parameters() if p.grad is not None}


ENGINES = ["rnnviz", pytest.param("numba", marks=pytest.mark.skipif(not compiled.ready(), reason="no numba"))]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dropout", [Dropout(), Dropout(0.3, 0.4, 0.5)], ids=["plain", "dropout"])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("embedding", [0, 4, 50], ids=["one-hot", "embedding", "few characters"])
@pytest.mark.parametrize("cell", CELLS, ids=lambda c: "-".join(c.values()))
def test_values_and_gradients_are_torchs(
    cell: dict[str, Any],
    embedding: int,
    layers: int,
    dropout: Dropout,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(0)
    config = ModelConfig(
        vocabulary_size=VOCABULARY.size,
        hidden_size=H,
        layers=layers,
        embedding_size=min(embedding, 4),
        **cell,
    )
    model = CharModel(config, VOCABULARY)
    model.engine = engine
    assert model.backward_pass() == engine
    steps = 2 if embedding == 50 else T  # fewer characters than symbols take another way to the first layer
    inputs = torch.randint(VOCABULARY.size + 1, (B, steps))
    state = tuple(torch.randn_like(s) for s in model.zero_state(B))

    ways: list[str] = []
    module = compiled if engine == "numba" else bptt
    unroll = module.unroll

    def counted(kind: str, *rest: Any) -> tuple[torch.Tensor, ...]:
        ways.append(kind)
        return unroll(kind, *rest)

    monkeypatch.setattr(module, "unroll", counted)
    ours = learned(model, inputs, state, dropout)
    assert len(ways) == layers
    model.engine = "torch"
    theirs = learned(model, inputs, state, dropout)
    assert len(ways) == layers

    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        torch.testing.assert_close(ours[name], value, rtol=1e-4, atol=1e-5, msg=lambda m, n=name: f"{n}: {m}")


@pytest.mark.parametrize("kind", ["tanh", "relu", "gru", "lstm"])
def test_gradients_are_those_of_small_differences(kind: str) -> None:
    inputs, gates, parts = {"lstm": (4, 4, 2), "gru": (4, 3, 1)}.get(kind, (1, 1, 1))
    generator = torch.Generator().manual_seed(1)

    def numbers(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()

    assert torch.autograd.gradcheck(
        lambda x, w, *first: bptt.unroll(kind, x, w, first),
        (numbers(4, B, inputs * 2), numbers(gates * 2, 2), *(numbers(B, 2) for _ in range(parts))),
    )
