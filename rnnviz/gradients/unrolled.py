"""A network's steps in torch, on several texts side by side: what is differentiated.

The same weights as `rnnviz.networks.numpy_engine`, with the halves of σ(x) = (1 + tanh(x/2)) / 2 in them.

Shape letters: n characters, G parts of a cell, H units, L layers, B texts side by side.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from rnnviz.arrays import Doubles, Floats
from rnnviz.networks import linear
from rnnviz.networks.config import CELLS
from rnnviz.networks.numpy_engine import Weights
from rnnviz.networks.scan import TORCH

State = tuple[list[Tensor], list[Tensor]]
"""H and C of each layer, (B, H) each; C is of use to an lstm alone."""


class Unrolled:
    """A network that is asked for y: log P of the symbol `target`, less that of `against` if there is one."""

    def __init__(self, weights: Weights, target: int, against: int | None) -> None:
        self._cell, self._target, self._against = weights.cell, target, against
        self._layers = [
            (
                torch.from_numpy(layer.W_in.T),
                torch.from_numpy(layer.b),
                None if layer.W_h is None else torch.from_numpy(layer.W_h.T),
                None if layer.b_n is None else torch.from_numpy(layer.b_n),
                layer.activation,
            )
            for layer in weights.layers
        ]
        self._readout, self._bias = torch.from_numpy(weights.readout.T), torch.from_numpy(weights.bias)

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
        hidden, cell = _stacked([state] * inputs.shape[1])
        for x in inputs:
            hidden, cell = self._step(x, (hidden, cell))
        return self._score(hidden[-1])

    def _score(self, top: Tensor) -> Tensor:
        logits = top @ self._readout + self._bias
        if self._against is not None:
            return logits[:, self._target] - logits[:, self._against]
        return torch.log_softmax(logits, dim=1)[:, self._target]

    def _step(self, x: Tensor, state: State) -> State:
        """The states after inputs x (B, G·H), biases in them."""
        hidden, cell = state
        new_hidden: list[Tensor] = []
        new_cell: list[Tensor] = []
        for number, (W_x, b, W_h, b_n, activation) in enumerate(self._layers):
            if number:
                x = new_hidden[-1] @ W_x + b
            h, c = hidden[number], cell[number]
            if CELLS[self._cell].linear:
                keep, write = linear.step(x, TORCH)
                h = keep * h + write
            elif W_h is None:
                h = _activated(x, activation)
            elif self._cell == "rnn":
                h = _activated(x + h @ W_h, activation)
            elif self._cell == "gru":
                assert b_n is not None
                h = _gru(x, h, W_h, b_n)
            else:
                h, c = _lstm(x + h @ W_h, c)
            new_hidden.append(h)
            new_cell.append(c)
        return new_hidden, new_cell


def _path(baseline: Floats, away: Doubles, places: Doubles) -> Tensor:
    """Inputs (n, B, G·H)."""
    inputs = baseline + away[:, None] * places[:, None]
    return torch.from_numpy(np.asarray(inputs, np.float32))


def _stacked(states: Sequence[tuple[Floats, Floats | None]]) -> State:
    def layers(rows: Floats) -> list[Tensor]:
        return [torch.from_numpy(rows[:, n].copy()) for n in range(rows.shape[1])]

    hidden = np.stack([h for h, _ in states])  # (B, L, H)
    cells = [h if c is None else c for h, c in states]
    return layers(hidden), layers(np.stack(cells))


def _activated(x: Tensor, activation: str) -> Tensor:
    return torch.tanh(x) if activation == "tanh" else torch.relu(x)


def _gru(x: Tensor, h: Tensor, W_h: Tensor, b_n: Tensor) -> Tensor:
    H = h.shape[1]
    pre = h @ W_h
    gates = torch.tanh(x[:, : 2 * H] + pre[:, : 2 * H]) + 1  # twice their values
    candidate = torch.tanh(x[:, 2 * H :] + gates[:, :H] * (pre[:, 2 * H :] + b_n))
    return candidate + 0.5 * gates[:, H:] * (h - candidate)


def _lstm(pre: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    H = c.shape[1]
    parts = torch.tanh(pre)
    gates = 0.5 * parts[:, : 3 * H] + 0.5
    c = gates[:, H : 2 * H] * c + gates[:, :H] * parts[:, 3 * H :]
    return gates[:, 2 * H :] * torch.tanh(c), c
