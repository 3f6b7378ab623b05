"""A linear recurrence over all time steps at once: H_t = A_t ⊙ H_{t-1} + B_t without a loop over time.

Two steps are one step of the same kind, with factor A_t A_{t-1} and addend A_t B_{t-1} + B_t. So neighbours
are joined, half as many steps are solved in the same way, and every other state follows from the one before
it (Blelloch 1990, "Prefix sums and their applications"): about 2 log T calls, and work in proportion to T.
There are products and sums alone, no logarithm and no quotient: decays near 0 or 1 lose no digits.

Shape letters: B rows, T time steps, G blocks of weights, H units, X inputs, L layers.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rnnviz.networks import linear
from rnnviz.networks.config import ModelConfig

# The root's slope is infinite where A is 1, which a sigmoid reaches by rounding: cut off, it is 0 there.
TORCH = linear.Functions(
    sigmoid=torch.sigmoid,
    softplus=F.softplus,
    exp=torch.exp,
    root=lambda x: torch.sqrt((-torch.expm1(2 * x)).clamp_min(1e-30)),
    positive=lambda x: torch.where(x >= 0, x + 0.5, torch.sigmoid(x)),
)
"""The functions of `rnnviz.networks.linear` for tensors, with gradients that are finite everywhere."""


def scan(keep: Tensor, write: Tensor, first: Tensor) -> Tensor:
    """H (B, T, H) of H_t = `keep`_t ⊙ H_{t-1} + `write`_t, (B, T, H) each, from the state `first` (B, H).

    >>> keep, write = torch.full((1, 4, 1), 0.5), torch.ones(1, 4, 1)
    >>> scan(keep, write, torch.zeros(1, 1)).flatten().tolist()
    [1.0, 1.5, 1.75, 1.875]
    """
    return cast(Tensor, _Scan.apply(keep, write, first))  # type: ignore[no-untyped-call]


class _Scan(torch.autograd.Function):
    """Backwards it is a scan too: λ_t = ∂L/∂H_t + A_{t+1} ⊙ λ_{t+1}, ∂L/∂A_t = λ_t ⊙ H_{t-1}."""

    @staticmethod
    def forward(ctx: Any, keep: Tensor, write: Tensor, first: Tensor) -> Tensor:
        write = write.clone()
        write[:, 0].addcmul_(keep[:, 0], first)
        states = _solve(keep, write)
        ctx.save_for_backward(keep, states, first)
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        keep, states, first = ctx.saved_tensors
        later = torch.cat([keep[:, 1:], torch.zeros_like(keep[:, :1])], dim=1).flip(1)
        back = _solve(later, gradients[0].flip(1)).flip(1)
        d_keep = torch.empty_like(back)
        torch.mul(back[:, 1:], states[:, :-1], out=d_keep[:, 1:])
        torch.mul(back[:, 0], first, out=d_keep[:, 0])
        return d_keep, back, back[:, 0] * keep[:, 0]


def _solve(keep: Tensor, write: Tensor) -> Tensor:
    """H (B, T, H) from a state of zeros."""
    T = write.shape[1]
    if T == 1:
        return write
    pairs, between = T // 2, (T + 1) // 2 - 1
    second = keep[:, 1 : 2 * pairs : 2]
    odd = _solve(
        second * keep[:, 0 : 2 * pairs : 2],
        torch.addcmul(write[:, 1 : 2 * pairs : 2], second, write[:, 0 : 2 * pairs : 2]),
    )
    states = torch.empty_like(write)
    states[:, 0] = write[:, 0]
    states[:, 1 : 2 * pairs : 2] = odd
    torch.addcmul(write[:, 2::2], keep[:, 2::2], odd[:, :between], out=states[:, 2::2])
    return states


class LinearRecurrence(nn.Module):
    """L layers of a linear recurrence, with parameters named as in `ModelConfig.shapes`, called as torch's
    layers are: X (B, T, X) and H (L, B, H) to the top layer's H (B, T, H) and all layers' last, (L, B, H).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        shapes = config.shapes()
        for n in range(config.layers):
            for name in config.layer_names(n):
                low, high = linear.start(config, name)
                values = torch.empty(shapes[name])
                if not values.is_meta:
                    nn.init.uniform_(values, low, high)
                self.register_parameter(name.removeprefix("recurrence."), nn.Parameter(values))

    def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """See above; the recurrence itself is in the state's type, under autocast too."""
        last = []
        for n in range(self.config.layers):
            W, b, *decay = (
                getattr(self, name.removeprefix("recurrence.")) for name in self.config.layer_names(n)
            )
            rate = linear.rate_of(decay[0], TORCH) if decay else None
            keep, write, _ = linear.step(self.config.cell, F.linear(x, W, b).to(state.dtype), rate, TORCH)
            x = scan(keep, write, state[n])
            last.append(x[:, -1])
        return x, torch.stack(last)
