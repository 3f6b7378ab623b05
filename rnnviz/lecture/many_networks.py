"""Networks of one kind trained at once, one a seed, for the long gap (`rnnviz.lecture.long_gap`).

The recurrences are those of `rnnviz.networks.cells`, over one more axis: S networks that share nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rnnviz.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

LETTERS, FILLERS, CUE = "abcdefgh", "wxyz", "?"
SYMBOLS = LETTERS + FILLERS + CUE
UNITS = {"rnn": 48, "gru": 26, "lstm": 22, "gru.open": 26, "lstm.open": 22, "orthogonal": 48, "mlp": 152}
"""Hidden units of each cell, so that the parameters are about as many."""

PARTS = {"gru": 3, "lstm": 4, "gru.open": 3, "lstm.open": 4}


def parameters(cell: str) -> int:
    """How many numbers a network of this cell learns.

    >>> [parameters(cell) for cell in ("rnn", "gru", "lstm", "mlp")]
    [3368, 3336, 3352, 3352]
    """
    H, V, q, parts = UNITS[cell], len(SYMBOLS), len(LETTERS), PARTS.get(cell, 1)
    return parts * (V * H + (0 if cell == "mlp" else H * H) + H) + H * q + q


class Networks:
    """As many networks of one cell as there are seeds, trained at once: a first axis S is theirs.

    weights    W_x (S, V, G·H), W_h (S, H, G·H), b (S, 1, G·H), W_q (S, H, q), b_q (S, 1, q); G parts: a GRU's
               r, z, h̃ and an LSTM's i, f, o, c̃

    >>> networks = Networks("gru", seeds=[0, 1], gap=3)
    >>> import torch
    >>> networks.read(torch.zeros(2, 4, 5, dtype=torch.long)).shape
    torch.Size([2, 4, 8])
    """

    def __init__(self, cell: str, seeds: Sequence[int], gap: int) -> None:
        import torch

        if cell not in UNITS:
            raise ConfigError(
                "a cell is one of {cells}; received {cell!r}", cells=", ".join(UNITS), cell=cell
            )
        self.cell, self.H, self.gap = cell, UNITS[cell], gap
        self.kind = cell.removesuffix(".open")
        self.generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        each = [self._begin(generator) for generator in self.generators]
        self.weights = {name: torch.stack([one[name] for one in each]).requires_grad_() for name in each[0]}
        self.states: list[Tensor] = []

    def _begin(self, generator: Any) -> dict[str, Tensor]:
        import torch

        H, wide = self.H, self.H * PARTS.get(self.cell, 1)
        shapes = {"W_x": (len(SYMBOLS), wide), "W_h": (H, wide), "b": (1, wide)}
        shapes |= {"W_q": (H, len(LETTERS)), "b_q": (1, len(LETTERS))}
        found = {
            name: (torch.rand(shape, generator=generator) * 2 - 1) / math.sqrt(H)
            for name, shape in shapes.items()
        }
        if self.cell == "mlp":
            del found["W_h"]
        if self.cell == "orthogonal":
            found["W_h"] = torch.linalg.qr(torch.randn(H, H, generator=generator))[0]
        if self.cell in PARTS:
            keep = found["b"][:, H : 2 * H]  # z or f: what is kept of the state
            keep[:] = 1.0
            if self.cell.endswith(".open"):
                keep[:] = torch.log(1 + self.gap * torch.rand(1, H, generator=generator))
                if self.kind == "lstm":
                    found["b"][:, :H] = -keep
        return found

    def read(self, ids: Tensor) -> Tensor:
        """Read ids (S, B, T) and say the letter: scores (S, B, q). `states` are those after each step."""
        import torch

        w = self.weights
        S, B, T = ids.shape
        one_hot = torch.nn.functional.one_hot(ids.transpose(1, 2).reshape(S, T * B), len(SYMBOLS))
        x = (one_hot.to(w["W_x"]) @ w["W_x"] + w["b"]).view(S, T, B, -1)
        # An LSTM's state is [h, c]. Kept as one tensor, so that its gradient is one.
        state = torch.zeros(S, B, self.H * (2 if self.kind == "lstm" else 1))
        self.states = []
        for t in range(T):
            state = self._step(x[:, t], state)
            self.states.append(state)
        return state[..., : self.H] @ w["W_q"] + w["b_q"]

    def _step(self, x: Tensor, state: Tensor) -> Tensor:
        import torch

        H = self.H
        if self.cell == "mlp":
            return torch.tanh(x)
        h = state[..., :H]
        if self.cell not in PARTS:
            return torch.tanh(torch.baddbmm(x, h, self.weights["W_h"]))
        if self.kind == "gru":
            from_state = h @ self.weights["W_h"]
            r, z = torch.sigmoid(x[..., : 2 * H] + from_state[..., : 2 * H]).chunk(2, -1)
            candidate = torch.tanh(x[..., 2 * H :] + r * from_state[..., 2 * H :])
            return candidate + z * (h - candidate)
        sums = torch.baddbmm(x, h, self.weights["W_h"])
        i, f, o = torch.sigmoid(sums[..., : 3 * H]).chunk(3, -1)
        c = f * state[..., H:] + i * torch.tanh(sums[..., 3 * H :])
        return torch.cat([o * torch.tanh(c), c], -1)


class Adam:
    """Kingma & Ba 2015 for networks side by side, each with its own rate and clipped by itself."""

    def __init__(self, weights: dict[str, Tensor], rates: Sequence[float]) -> None:
        import torch

        self.weights = list(weights.values())
        self.rates = torch.tensor(rates).view(-1, 1, 1)
        self.means = [torch.zeros_like(w) for w in self.weights]
        self.squares = [torch.zeros_like(w) for w in self.weights]
        self.count = 0

    def step(self, grads: Sequence[Tensor], theta: float | None = None) -> None:
        """One step down, with each network's gradient clipped to the norm `theta`."""
        import torch

        self.count += 1
        if theta is not None:
            norm = sum(g.square().sum((1, 2), keepdim=True) for g in grads)
            factor = torch.clamp(theta / torch.as_tensor(norm).sqrt(), max=1.0)
            grads = [g * factor for g in grads]
        first, second = 1 - 0.9**self.count, 1 - 0.999**self.count
        with torch.no_grad():
            for w, g, m, v in zip(self.weights, grads, self.means, self.squares, strict=True):
                m.lerp_(g, 0.1)
                v.lerp_(g.square(), 0.001)
                w -= self.rates * (m / first) / ((v / second).sqrt() + 1e-8)
