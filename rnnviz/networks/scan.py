"""A linear recurrence over all time steps at once: H_t = A_t ⊙ H_{t-1} + B_t without a loop over time.

Two steps are one step of the same kind, with factor A_t A_{t-1} and addend A_t B_{t-1} + B_t. So neighbours
are joined, half as many steps are solved in the same way, and every other state follows from the one before
it (Blelloch 1990, "Prefix sums and their applications"): about 2 log T calls, and work in proportion to T.
There are products and sums alone, no logarithm and no quotient: decays near 0 or 1 lose no digits.

Shape letters: B rows, T time steps, G blocks of weights, H units, X inputs, L layers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rnnviz.networks import linear, selective
from rnnviz.networks.bptt import Rows, looked_up
from rnnviz.networks.config import CELLS, STATES, ModelConfig
from rnnviz.networks.torch_network import State

TORCH = linear.Functions(
    sigmoid=torch.sigmoid,
    softplus=F.softplus,
    exp=torch.exp,
    root=lambda x: torch.sqrt(-torch.expm1(2 * x)),
    expm1=torch.expm1,
    positive=lambda x: torch.relu(x) + torch.sigmoid(x.clamp_max(0)),
    at_least=torch.clamp_min,
    where=lambda condition, one, other: other.masked_fill(condition, one),
    pair=lambda one, other: torch.stack([one, other]),
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
    """One layer's H (B, T, H) of rows (B, T, G·H) of X W_x + b. Backwards it is a scan too: λ_t = ∂L/∂H_t +
    A_{t+1} ⊙ λ_{t+1}, and ∂L/∂rows_t = λ_t ⊙ ∂H_t/∂rows_t.
    """

    @staticmethod
    def forward(ctx: Any, cell: str, rows: Tensor, rate: Tensor | None, first: Tensor) -> Tensor:
        keep, write = linear.step(cell, rows, rate, TORCH)
        states = scan(keep, write, first)
        ctx.cell = cell
        ctx.save_for_backward(rows, rate, first, keep, states)
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor | None, Tensor]:
        rows, rate, first, keep, states = ctx.saved_tensors
        back = _backwards(keep[:, 1:], gradients[0])
        before = torch.cat([first[:, None], states[:, :-1]], dim=1)
        slopes, to_rate = linear.slopes(ctx.cell, rows, rate, before, TORCH)
        d_rows = torch.empty_like(rows)
        for part, slope in zip(d_rows.chunk(len(slopes), dim=-1), slopes, strict=True):
            torch.mul(back, slope, out=part)
        d_rate = None if to_rate is None else (back * to_rate).sum((0, 1))
        return None, d_rows, d_rate, back[:, 0] * keep[:, 0]


class _Selective(torch.autograd.Function):
    """One s6 layer's H (B, T, H) and its last C (B, H) of rows (B, T, 2 K + 2 N), which broadcast to
    (B, T, N, K); see `rnnviz.networks.selective`. C is found by a scan, backwards too.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, rate: Tensor, first: Tensor) -> tuple[Tensor, Tensor]:
        keep, write = linear.step("s6", rows, rate, TORCH)
        gain, skip = cast("tuple[Tensor, Tensor]", linear.shown("s6", rows, rate, TORCH))
        keep, wide = keep.flatten(2), keep.shape
        cell = scan(keep, write.flatten(2), first)
        ctx.save_for_backward(rows, rate, first, keep, cell)
        return torch.addcmul(skip, gain, cell.view(wide)).flatten(2), cell[:, -1].clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        rows, rate, first, keep, cell = ctx.saved_tensors
        wide = *cell.shape[:2], STATES, cell.shape[2] // STATES
        come, last = gradients[0].reshape(wide), gradients[1]
        gain, _ = cast("tuple[Tensor, Tensor]", linear.shown("s6", rows, rate, TORCH))
        to_cell = (come * gain).flatten(2)
        to_cell[:, -1] += last
        found = _backwards(keep[:, 1:], to_cell)
        back, now = found.view(wide), cell.view(wide)
        before = torch.cat([first[:, None], cell[:, :-1]], dim=1).view(wide)
        (step, write, _, candidate), to_rate = linear.slopes("s6", rows, rate, before, TORCH)
        of_candidate, of_skip = linear.slopes_shown(rows, rate, TORCH)
        by_channel, by_state = (back * step).sum(2), (back * write).sum(3)
        last_rows = torch.addcmul(come * of_candidate, back, candidate).sum(2)
        d_rows = torch.cat([by_channel, by_state, (come * now).sum(3), last_rows], dim=-1)
        d_rate = torch.stack([(back * to_rate).sum((0, 1)), (come * of_skip).sum((0, 1))]).flatten(1)
        return d_rows, d_rate, found[:, 0] * keep[:, 0]


class LinearRecurrence(nn.Module):
    """L layers of a linear recurrence, with parameters named as in `ModelConfig.shapes`, called as torch's
    layers are: X (B, T, X) and H (L, B, H) to the top layer's H (B, T, H) and all layers' last, (L, B, H); of
    an s6 H and C, as of an LSTM.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        spread = selective.spread(config)
        self._spread = None if spread is None else torch.from_numpy(spread)
        shapes = config.shapes()
        for n in range(config.layers):
            for name in config.layer_names(n):
                values = torch.empty(shapes[name])
                for rows, low, high in linear.start(config, name) if not values.is_meta else []:
                    nn.init.uniform_(values[rows], low, high)
                self.register_parameter(name.removeprefix("recurrence."), nn.Parameter(values))

    def forward(self, x: Tensor, state: Tensor | State) -> tuple[Tensor, State]:
        """See above."""
        return self.after(self.rows(0, x), state if isinstance(state, Tensor) else state[-1])

    def rows(self, n: int, x: Tensor) -> Tensor:
        """What layer n's inputs X (…, X) come to: X W_x + b (…, G·H)."""
        return F.linear(x, getattr(self, f"weight_ih_l{n}"), getattr(self, f"bias_ih_l{n}"))

    def after(
        self,
        rows: Tensor | Rows,
        state: Tensor,
        ids: Tensor | None = None,
        between: Callable[[Tensor], Tensor] | None = None,
        by: Callable[[str, Tensor | Rows, Tensor | None, Tensor], tuple[Tensor, Tensor]] | None = None,
    ) -> tuple[Tensor, State]:
        """`forward` from the first layer's rows (B, T, G·H) on, and the state (L, B, H) that is carried: H,
        of an s6 C; in its type, under autocast too. With `ids` (B, T), and without gradients, from each
        symbol's (V + 1, G·H). `between` is what a layer's H (B, T, H) become before the next reads them;
        `by` is `compiled.recurrence`, or this module's way.
        """
        last, cell = [], []
        for n in range(self.config.layers):
            decay = getattr(self, f"decay_l{n}", None)
            rate = None
            if decay is not None:
                rate = linear.rate_of(decay, TORCH, getattr(self, f"skip_l{n}", None))
            if by is None:
                given = looked_up(rows).to(state.dtype)
                h, end = self._layer(given, rate, state[n], None if n else ids)
            else:
                h, end = by(self.config.cell, rows, rate, state[n])
            last.append(h[:, -1])
            cell.append(end)
            if n + 1 < self.config.layers:
                rows = self.rows(n + 1, h if between is None else between(h))
        states = torch.stack(last)
        return h, (states, torch.stack(cell)) if self._spread is not None else (states,)

    def _layer(
        self, rows: Tensor, rate: Tensor | None, first: Tensor, ids: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """One layer's H (B, T, H), and what is carried on, (B, H)."""
        kind = self.config.cell
        if ids is None and rate is not None and CELLS[kind].has_cell:
            return cast("tuple[Tensor, Tensor]", _Selective.apply(rows, rate, first))  # type: ignore[no-untyped-call]
        if ids is None:
            h = cast(Tensor, _Layer.apply(kind, rows, rate, first))  # type: ignore[no-untyped-call]
            return h, h[:, -1]
        if self._spread is not None:
            rows = rows[:, self._spread.to(rows.device)]
        keep, write = linear.step(kind, rows, rate, TORCH)
        h = scan(F.embedding(ids, keep), F.embedding(ids, write), first)
        end = h[:, -1]
        if (out := linear.shown(kind, rows, rate, TORCH)) is not None:
            h = torch.addcmul(F.embedding(ids, out[1]), F.embedding(ids, out[0]), h)
        return h, end
