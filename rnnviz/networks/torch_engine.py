"""The torch engine, step by step: any cell's record on tensors, on any device, with gradients where they are wanted.

torch's fused layers are faster, and keep neither the lower layers' states nor C; on a GPU they round to TF32.

Shape letters: B texts, G blocks of a cell's weights, H units, X inputs, L layers.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rnnviz.networks import cells
from rnnviz.networks.cells import CELLS


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
        return torch.nn.functional.linear(x, self.W_x, self.b)

    def step(self, rows: Tensor, h: Tensor, c: Tensor | None = None) -> cells.Parts:
        """The parts after one step from the states (B, H), of `rows` (B, G·H) of X W_x + b: h, of an LSTM c, …"""
        x, u = self.blocks(rows), None
        if self.kind.linear:
            found = self.kind.step(self.xp, x)
            return {"h": found["keep"] * h + found["write"], **found}
        if self.W_h is not None:
            product = h @ self.W_h.T
            if self.b_u is not None:
                product = torch.nn.functional.pad(self.b_u, (len(self.W_h) - len(self.b_u), 0)) + product
            u = self.blocks(product)
        states: list[Any] = [h] if c is None else [h, c]
        return self.kind.step(self.xp, x, u, *states)
