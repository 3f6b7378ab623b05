"""The torch engine, step by step: any cell's record on tensors, on any device, with gradients where they are wanted.

torch's fused layers are faster, and keep neither the lower layers' states nor C; on a GPU they round to TF32.

Shape letters: B texts, G blocks of a cell's weights, H units, X inputs, L layers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from rnnviz.arrays import Floats, Ids
from rnnviz.networks import cells
from rnnviz.networks.cells import CELLS
from rnnviz.networks.threads import Threads, worth_trying
from rnnviz.networks.torch_network import TorchNetwork


class Torch:
    """The namespace of tensors; see `rnnviz.networks.cells`."""

    sigmoid, tanh = staticmethod(torch.sigmoid), staticmethod(torch.tanh)

    def __init__(self, activation: str = "tanh") -> None:
        self.phi = torch.tanh if activation == "tanh" else torch.relu

    def rest(self, z: Tensor) -> Tensor:
        """See above."""
        return 1 - z

    def positive(self, a: Tensor) -> Tensor:
        """See above."""
        return torch.relu(a) + torch.sigmoid(a.clamp_max(0))

    def state(self, name: str, value: Tensor) -> Tensor:
        """See above."""
        return value


class Layer:
    """One layer's weights in the order of its cell's record; `tensors` as `ModelConfig.layer_names` has them."""

    def __init__(self, cell: str, tensors: Sequence[Tensor], activation: str = "tanh") -> None:
        self.kind, self.xp = CELLS[cell], Torch(activation)
        self.W_x, self.W_h, self.b, self.b_u = cells.parameters(self.kind, tensors)

    def blocks(self, rows: Tensor) -> Tensor:
        """Rows (…, G·H) as a record takes them, (G, …, H)."""
        return rows.unflatten(-1, (len(self.kind.blocks), -1)).movedim(-2, 0)

    def from_inputs(self, x: Tensor) -> Tensor:
        """X W_x + b, (…, G·H)."""
        return F.linear(x, self.W_x, self.b)

    def step(self, rows: Tensor, h: Tensor, c: Tensor | None = None) -> cells.Parts:
        """The parts after one step from the states (B, H), of `rows` (B, G·H) of X W_x + b: h, of an LSTM c, …"""
        x, u = self.blocks(rows), None
        if self.kind.linear:
            found = self.kind.step(self.xp, x)
            return {"h": found["keep"] * h + found["write"], **found}
        if self.W_h is not None:
            product = h @ self.W_h.T
            if self.b_u is not None:
                product = F.pad(self.b_u, (len(self.W_h) - len(self.b_u), 0)) + product
            u = self.blocks(product)
        states: list[Any] = [h] if c is None else [h, c]
        return self.kind.step(self.xp, x, u, *states)


class TorchEngine:
    """Reads texts to score them where the model is; see `rnnviz.networks.batched_scoring.Engine`."""

    def __init__(self, model: TorchNetwork) -> None:
        self._model, self.size = model, model.config.vocabulary_size
        self.threads = self.alone = Threads(worth_trying(model.device.type))

    def parts(self, rows: int) -> int:
        """One: torch's own threads share each product."""
        return 1

    def zeros(self, rows: int) -> tuple[Floats, ...]:
        """The state before a text, `rows` times."""
        return tuple(part.cpu().numpy() for part in self._model.zero_state(rows))

    def states(self, inputs: Ids, state: tuple[Floats, ...]) -> tuple[Tensor, tuple[Floats, ...]]:
        """The top layer's H (T, B, H) after each of the inputs (B, T), and the state after the last."""
        device = self._model.device
        with torch.inference_mode():
            before = tuple(torch.from_numpy(np.ascontiguousarray(part)).to(device) for part in state)
            x = self._model.embed(torch.from_numpy(np.ascontiguousarray(inputs)).to(device))
            top, after = self._model.hidden(x, before)
        return top.transpose(0, 1), tuple(part.cpu().numpy() for part in after)

    def logits(self, top: Tensor) -> Floats:
        """O (n, V) of rows (n, H) of the top layer."""
        with torch.inference_mode():
            found = F.linear(top, self._model.readout_weight, self._model.readout.bias)
        return np.asarray(found.float().cpu().numpy())
