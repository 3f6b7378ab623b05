"""Backpropagation through time, written out: what trains an rnn or a gru on a CPU, and an lstm where it is
faster than torch's layer.

torch's CPU layers add up the gradient of W_hh at each step. Here a step back holds only the recursion,

    ∂L/∂a_t = ∂L/∂h_t ⊙ (a factor that the forward pass already fixes, found for several steps at once)
    ∂L/∂h_{t-1} = ∂L/∂h_{t-1} from the readout + ∂L/∂a_t W_hh

and ∂L/∂W_hh = Σ_t ∂L/∂a_tᵀ h_{t-1} is one product for several steps (Werbos 1990). Results equal torch's to
rounding. Everything is float32, time first: (T, B, ·).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.nn import functional as F

from rnnviz.networks.config import ModelConfig
from rnnviz.networks.torch_network import State, TorchNetwork

AT_ONCE = 1 << 16
"""Numbers of H that are gone back through at a time: few enough that what is made of them is still in the
processor's cache when it is used, and enough that the calls don't count.
"""

sigmoid_slope, tanh_slope = (
    torch.ops.aten.sigmoid_backward.grad_input,
    torch.ops.aten.tanh_backward.grad_input,
)
"""d y (1 - y) and d (1 - y²) of d and y, in one go; they write `grad_input`."""


class Rows(NamedTuple):
    """Inputs (T, B, G) that are looked up when they are needed: rows of `table` (N, G), by `ids` (T, B)."""

    table: Tensor
    ids: Tensor


def looked_up(inputs: Tensor | Rows) -> Tensor:
    """Inputs (T, B, G) as one tensor."""
    return F.embedding(inputs.ids, inputs.table) if isinstance(inputs, Rows) else inputs


class Layer(NamedTuple):
    """One layer's parameters as `unroll` takes them; `kind` is "lstm", "gru", "tanh" or "relu".

    w_x   (parts·H, X), of a gru n, r, z and zeros
    b     (parts·H,), all the biases that can be added to the inputs' part, and of a gru the one inside the
          reset product
    w_h   (gates·H, H) as in torch
    """

    kind: str
    w_x: Tensor
    b: Tensor
    w_h: Tensor


def suits(config: ModelConfig, parameter: Tensor) -> bool:
    """Whether this can be used for a network with such parameters, and is surely faster than torch: of an
    lstm that depends on its size and the processor.
    """
    return config.cell != "lstm" and can(config, parameter)


def can(config: ModelConfig, parameter: Tensor) -> bool:
    """Whether this can be used for a network with such parameters."""
    kinds = ("rnn", "gru", "lstm")
    return config.cell in kinds and parameter.device.type == "cpu" and parameter.dtype == torch.float32


def layers(config: ModelConfig, model: TorchNetwork) -> list[Layer]:
    """The layers of a model with tensors named as in `config.shapes()`."""
    named: dict[str, Tensor] = dict(model.named_parameters())
    found = []
    for n in range(config.layers):
        w_x, w_h, b_x, b_h = (named[name] for name in config.layer_names(n))
        if config.cell == "gru":
            rows, b = cast(tuple[Tensor, Tensor], _Parts.apply(w_x, b_x, b_h))  # type: ignore[no-untyped-call]
            found.append(Layer("gru", rows, b, w_h))
        else:
            kind = "lstm" if config.cell == "lstm" else config.activation
            found.append(Layer(kind, w_x, b_x + b_h, w_h))
    return found


class _Parts(torch.autograd.Function):
    """A gru's w_x (3H, X) and biases (3H,) as a Layer's, in one of torch's steps where slices are twenty."""

    @staticmethod
    def forward(ctx: Any, w_x: Tensor, b_x: Tensor, b_h: Tensor) -> tuple[Tensor, Tensor]:
        H = len(w_x) // 3
        rows = torch.cat([w_x[2 * H :], w_x[: 2 * H], w_x.new_zeros(H, w_x.shape[1])])
        return rows, torch.cat([b_x[2 * H :], b_x[: 2 * H] + b_h[: 2 * H], b_h[2 * H :]])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        d, d_b = gradients
        H = len(d) // 4
        return torch.cat([d[H : 3 * H], d[:H]]), torch.cat([d_b[H : 3 * H], d_b[:H]]), d_b[H:]


def states(
    layers: Sequence[Layer],
    inputs: Tensor | Rows,
    first: State,
    between: Callable[[Tensor], Tensor] | None = None,
    by: Callable[..., tuple[Tensor, ...]] | None = None,
) -> tuple[Tensor, State]:
    """The top layer's H (T, B, H), and every layer's last state, (L, B, H) each.

    `inputs` (T, B, parts·H) are X_t W_xh + b of the first layer; `first` are the states before, (L, B, H)
    each; `between` is what a layer's H (B, T, H) become before the next reads them; `by` does what `unroll`
    does.
    """
    x, last, h = inputs, [], None
    for n, layer in enumerate(layers):
        if h is not None:
            h = h if between is None else between(h.transpose(0, 1)).transpose(0, 1)
            x = F.linear(h, layer.w_x, layer.b)
        h, *others = (by or unroll)(layer.kind, x, layer.w_h, [part[n] for part in first])
        last.append([h[-1], *others])
    return cast(Tensor, h), tuple(torch.stack(part) for part in zip(*last, strict=True))


def unroll(kind: str, inputs: Tensor | Rows, w_hh: Tensor, first: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """H (T, B, H), and the last C (B, H) of an lstm: all steps of one layer, from `first`, (B, H) each.

    `inputs` (T, B, parts·H) are X_t W_xh + b; see `Layer` for both.
    """
    x, ids = inputs if isinstance(inputs, Rows) else (inputs, None)
    if kind == "lstm":
        return cast(tuple[Tensor, ...], _LSTM.apply(x, ids, w_hh, *first))  # type: ignore[no-untyped-call]
    if kind == "gru":
        return (cast(Tensor, _GRU.apply(x, ids, w_hh, *first)),)  # type: ignore[no-untyped-call]
    return (cast(Tensor, _RNN.apply(x, ids, w_hh, *first, kind)),)  # type: ignore[no-untyped-call]


def _states(steps: int, first: Tensor) -> Tensor:
    """Room for the states (T + 1, B, H), of which the first is known."""
    states = first.new_empty(steps + 1, *first.shape)
    states[0] = first
    return states


def _blocks(states: Tensor) -> list[slice]:
    """The time steps of `states` (T + 1, B, H), some at a time."""
    T, some = len(states) - 1, max(1, AT_ONCE // states[0].numel())
    return [slice(begin, min(T, begin + some)) for begin in range(0, T, some)]


class _Gradients:
    """What the steps of a layer, gone through block by block, give: a gradient for its inputs and W_hh."""

    def __init__(self, shape: torch.Size, ids: Tensor | None, states: Tensor, w_hh: Tensor) -> None:
        self.ids, self.states = ids, states
        self.to_x = states.new_empty(shape) if ids is None else states.new_zeros(shape)
        self.to_w = torch.zeros_like(w_hh)

    def __iter__(self) -> Iterator[tuple[slice, Tensor]]:
        """Blocks of time steps, the last first, and room for the gradient of their inputs (t, B, G), which is
        used once it is filled in.
        """
        blocks = _blocks(self.states)
        longest = blocks[0].stop
        room = (
            None
            if self.ids is None
            else self.to_x.new_empty(longest, *self.ids.shape[1:], self.to_x.shape[1])
        )
        for block in reversed(blocks):
            d = self.to_x[block] if room is None else room[: block.stop - block.start]
            yield block, d
            if self.ids is not None:
                self.to_x.index_add_(0, self.ids[block].flatten(), d.flatten(0, 1))

    def weigh(self, block: slice, d: Tensor, rows: slice = slice(None)) -> None:
        """Add Σ_t d_tᵀ h_{t-1} to some rows of W_hh's gradient, d (t, B, those)."""
        self.to_w[rows].addmm_(d.flatten(0, 1).T, self.states[block].flatten(0, 1))


def _given(x: Tensor, ids: Tensor | None, t: int, out: Tensor) -> Tensor:
    """The inputs (B, G) of step t, copied to `out`."""
    return out.copy_(x[t]) if ids is None else torch.index_select(x, 0, ids[t], out=out)


def _parts(x: Tensor, H: int) -> Tensor:
    """`x` (t, B, n·H) as (t, B, n, H)."""
    return x.view(*x.shape[:2], -1, H)


def _from_outside(d_states: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """∂L/∂h (B, H) of the last step, and of the step before each, from the readout; zeros for the first."""
    return d_states[-1].clone(), (torch.zeros_like(d_states[0]), *d_states[:-1].unbind())


class _RNN(torch.autograd.Function):
    """h_t = φ(x_t + h_{t-1} W_hh), φ tanh or relu."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ids: Tensor | None, w_hh: Tensor, h0: Tensor, kind: str) -> Tensor:
        length = len(x if ids is None else ids)
        states, w = _states(length, h0), w_hh.T.contiguous()
        activate = torch.tanh_ if kind == "tanh" else torch.relu_
        h = states.unbind()
        for t in range(length):
            activate(_given(x, ids, t, h[t + 1]).addmm_(h[t], w))
        ctx.shape = x.shape
        ctx.save_for_backward(ids, states, w_hh)
        ctx.kind = kind
        return states[1:]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        ids, states, w_hh = ctx.saved_tensors
        d_h, before = _from_outside(gradients[0])
        one, found = d_h.new_ones(()), _Gradients(ctx.shape, ids, states, w_hh)
        for block, d in found:
            h = states[1:][block]
            slope = torch.addcmul(one, h, h, value=-1) if ctx.kind == "tanh" else (h > 0).to(h.dtype)
            steps = zip(slope.unbind(), d.unbind(), before[block], strict=True)
            for factor, out, earlier in reversed(list(steps)):
                torch.mul(d_h, factor, out=out)
                torch.addmm(earlier, out, w_hh, out=d_h)
            found.weigh(block, d)
        return found.to_x, None, found.to_w, d_h, None


class _GRU(torch.autograd.Function):
    """r, z = σ(x + h W_hh); n = tanh(x_n + r ⊙ (h W_hn + b_hn)); h' = (1 - z) ⊙ n + z ⊙ h.

    Inputs have four parts: x_n, x_r, x_z and b_hn. They become n, r, z and h W_hn + b_hn.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, ids: Tensor | None, w_hh: Tensor, h0: Tensor) -> Tensor:
        length, H = len(x if ids is None else ids), h0.shape[-1]
        states, w = _states(length, h0), w_hh.T.contiguous()
        gates = w.new_empty(length, len(h0), 4 * H)
        h, each, mixed, rz = (a.unbind() for a in (states, gates, gates[..., H:], gates[..., H : 3 * H]))
        n, r, z, from_h = (part.unbind() for part in gates.chunk(4, dim=-1))
        for t in range(length):
            _given(x, ids, t, each[t])
            mixed[t].addmm_(h[t], w)
            rz[t].sigmoid_()
            n[t].addcmul_(r[t], from_h[t]).tanh_()
            torch.lerp(n[t], h[t], z[t], out=h[t + 1])
        ctx.shape = x.shape
        ctx.save_for_backward(ids, states, gates, w_hh)
        return states[1:]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        ids, states, gates, w_hh = ctx.saved_tensors
        H, found = w_hh.shape[1], _Gradients(ctx.shape, ids, states, w_hh)
        d_h, before = _from_outside(gradients[0])
        for block, d in found:
            n, r, z, from_h = gates[block].chunk(4, dim=-1)
            factor = _parts(torch.empty_like(d), H)
            of_n, of_r, of_z, of_from_h = factor.unbind(-2)
            tanh_slope(1 - z, n, grad_input=of_n)
            sigmoid_slope(of_n * from_h, r, grad_input=of_r)
            sigmoid_slope(states[block] - n, z, grad_input=of_z)
            torch.mul(of_n, r, out=of_from_h)
            mixed = d[..., H:]
            steps = zip(
                _parts(d, H).unbind(), mixed.unbind(), factor.unbind(), z.unbind(),
                before[block], strict=True,
            )  # fmt: skip
            for to_all, to_mixed, of_all, keep, earlier in reversed(list(steps)):
                torch.mul(d_h.unsqueeze(1), of_all, out=to_all)
                torch.addcmul(earlier, d_h, keep, out=d_h).addmm_(to_mixed, w_hh)
            found.weigh(block, mixed)
        return found.to_x, None, found.to_w, d_h


class _LSTM(torch.autograd.Function):
    """i, f, o = σ(x + h W_hh), g = tanh(x + h W_hh); c' = f ⊙ c + i ⊙ g; h' = o ⊙ tanh(c')."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ids: Tensor | None, w_hh: Tensor, h0: Tensor, c0: Tensor
    ) -> tuple[Tensor, Tensor]:
        length, H = len(x if ids is None else ids), h0.shape[-1]
        states, cells, w = _states(length, h0), _states(length, c0), w_hh.T.contiguous()
        gates, narrow = w.new_empty(length, len(h0), 4 * H), torch.empty_like(states[1:])  # tanh(c')
        h, c, tanh, each, two = (a.unbind() for a in (states, cells, narrow, gates, gates[..., : 2 * H]))
        i, f, g, o = (part.unbind() for part in gates.chunk(4, dim=-1))
        for t in range(length):
            _given(x, ids, t, each[t]).addmm_(h[t], w)
            two[t].sigmoid_()
            g[t].tanh_()
            o[t].sigmoid_()
            torch.mul(f[t], c[t], out=c[t + 1]).addcmul_(i[t], g[t])
            torch.mul(o[t], torch.tanh(c[t + 1], out=tanh[t]), out=h[t + 1])
        ctx.shape = x.shape
        ctx.save_for_backward(ids, states, cells, gates, narrow, w_hh)
        ctx.set_materialize_grads(False)
        return states[1:], cells[-1].clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        ids, states, cells, gates, narrow, w_hh = ctx.saved_tensors
        H, found = w_hh.shape[1], _Gradients(ctx.shape, ids, states, w_hh)
        d_h, before = _from_outside(torch.zeros_like(narrow) if gradients[0] is None else gradients[0])
        d_c = torch.zeros_like(d_h) if gradients[1] is None else gradients[1].clone()
        for block, d in found:
            i, f, g, o = gates[block].chunk(4, dim=-1)
            factor = _parts(torch.empty_like(d[..., : 3 * H]), H)
            of_i, of_f, of_g = factor.unbind(-2)
            sigmoid_slope(g, i, grad_input=of_i)
            sigmoid_slope(cells[block], f, grad_input=of_f)
            tanh_slope(i, g, grad_input=of_g)
            of_o, of_c = torch.empty_like(narrow[block]), torch.empty_like(narrow[block])
            sigmoid_slope(narrow[block], o, grad_input=of_o)
            tanh_slope(o, narrow[block], grad_input=of_c)
            steps = zip(
                d.unbind(), _parts(d[..., : 3 * H], H).unbind(), d[..., 3 * H :].unbind(),
                factor.unbind(), of_o.unbind(), of_c.unbind(), f.unbind(), before[block], strict=True,
            )  # fmt: skip
            for to_all, to_ifg, to_o, of_ifg, of_out, of_cell, keep, earlier in reversed(list(steps)):
                d_c.addcmul_(d_h, of_cell)
                torch.mul(d_c.unsqueeze(1), of_ifg, out=to_ifg)
                torch.mul(d_h, of_out, out=to_o)
                d_c.mul_(keep)
                torch.addmm(earlier, to_all, w_hh, out=d_h)
            found.weigh(block, d)
        return found.to_x, None, found.to_w, d_h, d_c
