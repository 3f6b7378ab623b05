"""A network's steps in torch, on several texts side by side: what is differentiated.

Shape letters: n characters, G blocks, H units, L layers, B texts side by side.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnviz.arrays import Doubles, Floats
from rnnviz.networks import numpy_engine, torch_engine
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_engine import Weights


class _Layer(torch_engine.Layer):
    """A layer of the numpy engine in torch."""

    def __init__(self, layer: numpy_engine.Layer) -> None:
        self.kind, self.xp = CELLS[layer.cell], torch_engine.Torch(layer.activation)
        self.W_x, self.W_h, self.b, self.b_u = (
            None if values is None else torch.from_numpy(values)
            for values in (layer.W_x, layer.W_h, layer.b, layer.b_u)
        )


class Unrolled:
    """A network that is asked for y: log P of the symbol `target`, less that of `against` if there is one."""

    def __init__(self, weights: Weights, target: int, against: int | None) -> None:
        self._target, self._against = target, against
        self._layers = [_Layer(layer) for layer in weights.layers]
        self._readout, self._bias = torch.from_numpy(weights.readout), torch.from_numpy(weights.bias)

    def read(
        self, state: tuple[Floats, Floats | None], baseline: Floats, away: Doubles, places: Doubles
    ) -> Doubles:
        """y (B,) of texts whose inputs are `baseline` (G·H,) + `places` (B,) times `away` (n, G·H)."""
        with torch.no_grad():
            return np.asarray(self._along(state, _path(baseline, away, places)).numpy(), np.float64)

    def slopes(
        self,
        state: tuple[Floats, Floats | None],
        baseline: Floats,
        away: Doubles,
        places: Doubles,
        shares: Doubles,
    ) -> Doubles:
        """∂y/∂input (n, G·H) of the same texts, added up with `shares` (B,)."""
        inputs = _path(baseline, away, places).requires_grad_()
        (found,) = torch.autograd.grad(self._along(state, inputs).sum(), inputs)
        return np.asarray(np.einsum("b,nbx->nx", shares, found.numpy().astype(np.float64)))

    def _along(self, state: tuple[Floats, Floats | None], inputs: Tensor) -> Tensor:
        """y (B,) after inputs (n, B, G·H) that follow `state`, (L, H)."""
        hidden, cell = (self._abreast(part, inputs.shape[1]) for part in state)
        for rows in inputs:
            for n, layer in enumerate(self._layers):
                if n:
                    rows = layer.from_inputs(hidden[n - 1])
                found = layer.step(rows, hidden[n], cell[n])
                hidden[n], cell[n] = found["h"], found.get("c")
        logits = torch.nn.functional.linear(hidden[-1], self._readout, self._bias)
        if self._against is not None:
            return logits[:, self._target] - logits[:, self._against]
        return torch.log_softmax(logits, dim=1)[:, self._target]

    def _abreast(self, state: Floats | None, texts: int) -> list[Any]:
        """One of the states of each layer, (B, H) each."""
        if state is None:
            return [None] * len(self._layers)
        return [torch.from_numpy(layer.copy()).expand(texts, -1) for layer in state]


def _path(baseline: Floats, away: Doubles, places: Doubles) -> Tensor:
    """Inputs (n, B, G·H)."""
    inputs = baseline + away[:, None] * places[:, None]
    return torch.from_numpy(np.asarray(inputs, np.float32))
