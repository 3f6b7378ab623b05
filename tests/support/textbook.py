"""The recurrences as the textbook writes them, a step and a layer at a time, on torch's tensors: what every
engine is held against (`tests.lab.engines.test_conformance`), and what other tests read and differentiate.

Nothing here comes from `rnnviz.networks.cells`. A layer's tensors are torch's: W_x (G·H, X), W_h (G·H, H) and
a bias beside each, the blocks of the G gates on top of one another; W_x and b alone where there is no W_h.

Shape letters: B texts, T steps, L layers, H units, X inputs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, sigmoid, tanh

from rnnviz.networks.config import ModelConfig

Parts = dict[str, Tensor]
"""What a step gives, by name, (B, H) each: "hidden", an LSTM's "cell", and the gates."""

Change = Callable[[str, Tensor], Tensor]
"""What "hidden" or "cell" becomes, before anything reads it."""


STEPS: dict[str, Callable[..., Parts]] = {}
"""The steps by their cells' names."""


def textbook_step(step: Callable[..., Parts]) -> Callable[..., Parts]:
    """Enter a cell's step into STEPS."""
    STEPS[step.__name__] = step
    return step


def _gates(tensors: Sequence[Tensor], count: int) -> list[tuple[Any, ...]]:
    """The tensors of each gate."""
    return list(zip(*(tensor.chunk(count) for tensor in tensors), strict=True))


def _sum(x: Tensor, h: Tensor, W_x: Tensor, W_h: Tensor, b_x: Tensor, b_h: Tensor) -> Tensor:
    return x @ W_x.T + b_x + h @ W_h.T + b_h


@textbook_step
def mlp(x: Tensor, h: Tensor, c: Tensor, tensors: Sequence[Tensor], phi: Any, change: Change) -> Parts:
    """H_t = φ(X_t W_xh + b_h)."""
    W, b = tensors
    return {"hidden": phi(x @ W.T + b)}


@textbook_step
def rnn(x: Tensor, h: Tensor, c: Tensor, tensors: Sequence[Tensor], phi: Any, change: Change) -> Parts:
    """H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h). Elman 1990."""
    return {"hidden": phi(_sum(x, h, *tensors))}


@textbook_step
def gru(x: Tensor, h: Tensor, c: Tensor, tensors: Sequence[Tensor], phi: Any, change: Change) -> Parts:
    """H_t = Z_t ⊙ H_{t-1} + (1 - Z_t) ⊙ H̃_t. Cho et al. 2014, reset after the product."""
    tensors_r, tensors_z, (W_x, W_h, b_x, b_h) = _gates(tensors, 3)
    r, z = sigmoid(_sum(x, h, *tensors_r)), sigmoid(_sum(x, h, *tensors_z))
    n = tanh(x @ W_x.T + b_x + r * (h @ W_h.T + b_h))
    return {"hidden": z * h + (1 - z) * n, "reset": r, "update": z, "candidate": n}


@textbook_step
def lstm(x: Tensor, h: Tensor, c: Tensor, tensors: Sequence[Tensor], phi: Any, change: Change) -> Parts:
    """C_t = F_t ⊙ C_{t-1} + I_t ⊙ C̃_t and H_t = O_t ⊙ tanh(C_t). Hochreiter & Schmidhuber 1997, Gers 2000."""
    tensors_i, tensors_f, tensors_g, tensors_o = _gates(tensors, 4)
    i, f, o = (sigmoid(_sum(x, h, *part)) for part in (tensors_i, tensors_f, tensors_o))
    g = tanh(_sum(x, h, *tensors_g))
    c = change("cell", f * c + i * g)
    return {"hidden": o * tanh(c), "cell": c, "input": i, "forget": f, "output": o, "candidate": g}


@textbook_step
def mingru(x: Tensor, h: Tensor, c: Tensor, tensors: Sequence[Tensor], phi: Any, change: Change) -> Parts:
    """As a GRU, of gates that see X_t alone. Feng et al. 2024, algorithm 6, with 1 - Z_t for their Z_t."""
    (W_z, b_z), (W_n, b_n) = _gates(tensors, 2)
    z, a = sigmoid(x @ W_z.T + b_z), x @ W_n.T + b_n
    n = torch.where(a >= 0, a + 0.5, sigmoid(a))
    return {"hidden": z * h + (1 - z) * n, "update": z, "candidate": n}


@dataclass(frozen=True)
class Read:
    """Texts as the loop read them: nodes of one graph.

    steps   T lists of L layers' parts
    logits  (T, B, V)
    """

    steps: list[list[Parts]]
    logits: Tensor

    def part(self, name: str) -> Tensor:
        """A part, (T, L, B, H); "logits" or "log_probs", (T, B, V)."""
        if name == "logits":
            return self.logits
        if name == "log_probs":
            return self.logits.log_softmax(dim=-1)
        return torch.stack([torch.stack([parts[name] for parts in step]) for step in self.steps])


def tensors_of(model: Any) -> dict[str, Tensor]:
    """A CharModel's tensors in float64, named as in `ModelConfig.shapes()`."""
    return {name: tensor.detach().double() for name, tensor in model.state_dict().items()}


def embedded(config: ModelConfig, tensors: Mapping[str, Tensor], ids: Tensor) -> Tensor:
    """X (B, T, X) of inputs (B, T): rows of the embedding, or one-hot vectors."""
    if config.embedding_size:
        return tensors["embedding.weight"][ids]
    return torch.eye(config.vocabulary_size + 1).to(tensors["readout.bias"])[ids]


def read_out(config: ModelConfig, tensors: Mapping[str, Tensor], top: Tensor) -> Tensor:
    """Logits (…, V) of the top layer's states (…, H)."""
    W = tensors["embedding.weight"][:-1] if config.tied else tensors["readout.weight"]
    return top @ W.T + tensors["readout.bias"]


def read_text(model: Any, text: str, **options: Any) -> Read:
    """Read the start symbol and a text from zeros; `options` are those of `read`."""
    ids = torch.tensor([[model.vocabulary.start, *model.vocabulary.encode(text).tolist()]])
    tensors = tensors_of(model)
    return read(model.config, tensors, embedded(model.config, tensors, ids), **options)


def read(
    config: ModelConfig,
    tensors: Mapping[str, Tensor],
    x: Tensor,
    state: Sequence[Tensor] | None = None,
    change: Callable[[int, int, str, Tensor], Tensor] = lambda t, layer, name, value: value,
) -> Read:
    """Read X (B, T, X) from a state, (L, B, H) for H and for an LSTM's C, or from zeros.

    `change(t, layer, name, value)` is what "hidden" or "cell" (B, H) becomes after input t.
    """
    assert config.cell in STEPS, f"write the formulas of {config.cell} in this file: docs/cells.md shows how"
    zeros = x.new_zeros(config.layers, len(x), config.hidden_size)
    h, c = (list(part) for part in (*(state or [zeros]), zeros)[:2])
    steps = []
    for t, below in enumerate(x.unbind(1)):
        layer_parts = []
        for n in range(config.layers):
            layer_tensors = [tensors[name] for name in config.layer_names(n)]

            def changed(name: str, value: Tensor, t: int = t, n: int = n) -> Tensor:
                return change(t, n, name, value)

            parts = STEPS[config.cell](
                below, h[n], c[n], layer_tensors, getattr(torch, config.activation), changed
            )
            below = h[n] = parts["hidden"] = changed("hidden", parts["hidden"])
            c[n] = parts.get("cell", c[n])
            layer_parts.append(parts)
        steps.append(layer_parts)
    return Read(
        steps, read_out(config, tensors, torch.stack([layer_parts[-1]["hidden"] for layer_parts in steps]))
    )
