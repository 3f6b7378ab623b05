"""A linear recurrence over all time steps at once: H_t = A_t ⊙ H_{t-1} + B_t without a loop over time.

Two steps are one step of the same kind, with factor A_t A_{t-1} and addend A_t B_{t-1} + B_t. So neighbours
are joined, half as many steps are solved in the same way, and every other state follows from the one before
it (Blelloch 1990, "Prefix sums and their applications"): about 2 log T calls, and work in proportion to T.
There are products and sums alone, no logarithm and no quotient: decays near 0 or 1 lose no digits.

Shape letters: B rows, T time steps, G blocks of weights, H units, X inputs, L layers.
"""

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rnnviz.networks import linear
from rnnviz.networks.bptt import Rows, looked_up
from rnnviz.networks.config import ModelConfig

TORCH = linear.Functions(
    sigmoid=torch.sigmoid,
    positive=lambda x: torch.relu(x) + torch.sigmoid(x.clamp_max(0)),
    where=lambda condition, one, other: other.masked_fill(condition, one),
)
"""The functions of `rnnviz.networks.linear` for tensors."""


def scan(keep: Tensor, write: Tensor, first: Tensor) -> Tensor:
    """H (B, T, H) of H_t = `keep`_t ⊙ H_{t-1} + `write`_t, (B, T, H) each, from the state `first` (B, H).

    >>> keep, write = torch.full((1, 4, 1), 0.5), torch.ones(1, 4, 1)
    >>> scan(keep, write, torch.zeros(1, 1)).flatten().tolist()
    [1.0, 1.5, 1.75, 1.875]
    """
    write = torch.cat([torch.addcmul(write[:, :1], keep[:, :1], first[:, None]), write[:, 1:]], dim=1)
    return _forwards(keep, write)


def _forwards(keep: Tensor, write: Tensor) -> Tensor:
    """H_t = `keep`_t H_{t-1} + `write`_t (B, T, H) from a state of zeros."""
    T = write.shape[1]
    if T == 1:
        return write
    pairs, between = T // 2, (T + 1) // 2 - 1
    second = keep[:, 1 : 2 * pairs : 2]
    odd = _forwards(
        second * keep[:, 0 : 2 * pairs : 2],
        torch.addcmul(write[:, 1 : 2 * pairs : 2], second, write[:, 0 : 2 * pairs : 2]),
    )
    states = torch.empty_like(write)
    states[:, 0] = write[:, 0]
    states[:, 1 : 2 * pairs : 2] = odd
    torch.addcmul(write[:, 2::2], keep[:, 2::2], odd[:, :between], out=states[:, 2::2])
    return states


def _backwards(keep: Tensor, come: Tensor) -> Tensor:
    """λ_t = `come`_t + `keep`_t λ_{t+1} (B, T, H), of `come` (B, T, H) and `keep` (B, T - 1, H)."""
    T = come.shape[1]
    if T == 1:
        return come
    odd = T % 2  # then the first stands alone
    first, second = keep[:, odd::2], keep[:, odd + 1 :: 2]
    joined = torch.addcmul(come[:, odd::2][:, : T // 2], first, come[:, odd + 1 :: 2])
    even = _backwards(first[:, :-1] * second, joined)
    out = torch.empty_like(come)
    out[:, odd::2][:, : T // 2] = even
    out[:, -1] = come[:, -1]
    torch.addcmul(come[:, odd + 1 : -1 : 2], second, even[:, 1:], out=out[:, odd + 1 : -1 : 2])
    if odd:
        torch.addcmul(come[:, 0], keep[:, 0], even[:, 0], out=out[:, 0])
    return out


class _Layer(torch.autograd.Function):
    """One layer's H (B, T, H) of rows (B, T, 2 H) of X W_x + b. Backwards it is a scan too: λ_t = ∂L/∂H_t +
    A_{t+1} ⊙ λ_{t+1}, and ∂L/∂rows_t = λ_t ⊙ ∂H_t/∂rows_t.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, first: Tensor) -> Tensor:
        keep, write = linear.step(rows, TORCH)
        states = scan(keep, write, first)
        ctx.save_for_backward(rows, first, keep, states)
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        rows, first, keep, states = ctx.saved_tensors
        back = _backwards(keep[:, 1:], gradients[0])
        before = torch.cat([first[:, None], states[:, :-1]], dim=1)
        d_rows = torch.empty_like(rows)
        for part, slope in zip(d_rows.chunk(2, dim=-1), linear.slopes(rows, before, TORCH), strict=True):
            torch.mul(back, slope, out=part)
        return d_rows, back[:, 0] * keep[:, 0]


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
                values = torch.empty(shapes[name])
                if not values.is_meta:
                    most = linear.most(config, name)
                    nn.init.uniform_(values, -most, most)
                self.register_parameter(name.removeprefix("recurrence."), nn.Parameter(values))

    def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """See above."""
        return self.after(self.rows(0, x), state)

    def rows(self, n: int, x: Tensor) -> Tensor:
        """What layer n's inputs X (…, X) come to: X W_x + b (…, 2 H)."""
        return F.linear(x, getattr(self, f"weight_ih_l{n}"), getattr(self, f"bias_ih_l{n}"))

    def after(
        self,
        rows: Tensor | Rows,
        state: Tensor,
        ids: Tensor | None = None,
        between: Callable[[Tensor], Tensor] | None = None,
        by: Callable[[Tensor | Rows, Tensor], Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """`forward` from the first layer's rows (B, T, 2 H) on; in the state's type, under autocast too. With
        `ids` (B, T), and without gradients, from each symbol's (V + 1, 2 H). `between` is what a layer's H
        (B, T, H) become before the next reads them; `by` is `compiled.recurrence`, or this module's way.
        """
        last = []
        for n in range(self.config.layers):
            if by is None:
                h = self._layer(looked_up(rows).to(state.dtype), state[n], None if n else ids)
            else:
                h = by(rows, state[n])
            last.append(h[:, -1])
            if n + 1 < self.config.layers:
                rows = self.rows(n + 1, h if between is None else between(h))
        return h, torch.stack(last)

    def _layer(self, rows: Tensor, first: Tensor, ids: Tensor | None) -> Tensor:
        """One layer's H (B, T, H)."""
        if ids is None:
            return cast(Tensor, _Layer.apply(rows, first))  # type: ignore[no-untyped-call]
        keep, write = linear.step(rows, TORCH)
        return scan(F.embedding(ids, keep), F.embedding(ids, write), first)
