"""Backpropagation through time, written out: what trains an rnn or a gru on a CPU.

torch's CPU layers add up the gradient of W_hh at each step. Here a step back holds only the recursion,

    ∂L/∂a_t = ∂L/∂h_t ⊙ (a factor that the forward pass already fixes, found for all steps at once)
    ∂L/∂h_{t-1} = ∂L/∂h_{t-1} from the readout + ∂L/∂a_t W_hh

and ∂L/∂W_hh = Σ_t ∂L/∂a_tᵀ h_{t-1} is one product at the end (Werbos 1990). Results equal torch's to
rounding. torch's lstm, by oneDNN, is faster than this. Everything is float32, time first: (T, B, ·).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.nn import functional as F

from rnnviz.networks.config import ModelConfig
from rnnviz.networks.torch_network import TorchNetwork


class Layer(NamedTuple):
    """One layer's parameters as `unroll` takes them; `kind` is "gru", "tanh" or "relu".

    w_x   (gates·H, X); b (gates·H,) all the biases that can be added to the inputs' part
    w_h   (gates·H, H)
    b_hn  (H,), the bias inside a gru's reset product, or None
    """

    kind: str
    w_x: Tensor
    b: Tensor
    w_h: Tensor
    b_hn: Tensor | None


def suits(config: ModelConfig, parameter: Tensor) -> bool:
    """Whether this is faster than torch for a network with such parameters."""
    return (
        config.cell in ("rnn", "gru") and parameter.device.type == "cpu" and parameter.dtype == torch.float32
    )


def layers(config: ModelConfig, model: TorchNetwork) -> list[Layer]:
    """The layers of a model with tensors named as in `config.shapes()`."""
    named: dict[str, Tensor] = dict(model.named_parameters())
    H, found = config.hidden_size, []
    for n in range(config.layers):
        w_x, w_h, b_x, b_h = (named[name] for name in config.layer_names(n))
        if config.cell == "gru":
            b = b_x + torch.cat([b_h[: 2 * H], torch.zeros_like(b_h[2 * H :])])
            found.append(Layer("gru", w_x, b, w_h, b_h[2 * H :]))
        else:
            found.append(Layer(config.activation, w_x, b_x + b_h, w_h, None))
    return found


def states(layers: Sequence[Layer], inputs: Tensor, first: Tensor) -> tuple[Tensor, Tensor]:
    """The top layer's H (B, T, H), and every layer's last state (L, B, H).

    `inputs` (T, B, gates·H) are X_t W_xh + b of the first layer; `first` (L, B, H) the states before.
    """
    h, last = inputs, []
    for n, layer in enumerate(layers):
        x = F.linear(h, layer.w_x, layer.b) if n else inputs
        h = unroll(layer.kind, x, layer.w_h, first[n], layer.b_hn)  # (T, B, H)
        last.append(h[-1])
    return h.transpose(0, 1), torch.stack(last)


def unroll(kind: str, inputs: Tensor, w_hh: Tensor, first: Tensor, b_hn: Tensor | None = None) -> Tensor:
    """H (T, B, H): all steps of one layer, from the state `first` (B, H); see `Layer` for `b_hn`.

    `inputs` (T, B, gates·H) are X_t W_xh plus all other biases; gates and `w_hh` (gates·H, H) as in torch.
    """
    if kind == "gru":
        return cast(Tensor, _GRU.apply(inputs, w_hh, first, b_hn))  # type: ignore[no-untyped-call]
    return cast(Tensor, _RNN.apply(inputs, w_hh, first, kind))  # type: ignore[no-untyped-call]


def _states(inputs: Tensor, first: Tensor) -> Tensor:
    states = inputs.new_empty(len(inputs) + 1, *first.shape)
    states[0] = first
    return states


def _weight_gradient(d: Tensor, states: Tensor) -> Tensor:
    """Σ_t d_tᵀ h_{t-1}, of d (T, B, G) and states (T + 1, B, H)."""
    return d.flatten(0, 1).T @ states[:-1].flatten(0, 1)


class _RNN(torch.autograd.Function):
    """h_t = φ(x_t + h_{t-1} W_hh), φ tanh or relu."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, w_hh: Tensor, h0: Tensor, kind: str) -> Tensor:
        states, w = _states(inputs, h0), w_hh.T.contiguous()
        activate = torch.tanh_ if kind == "tanh" else torch.relu_
        for t in range(len(inputs)):
            activate(torch.addmm(inputs[t], states[t], w, out=states[t + 1]))
        ctx.save_for_backward(states, w_hh)
        ctx.kind = kind
        return states[1:]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        states, w_hh = ctx.saved_tensors
        d_states = gradients[0].contiguous()
        slope = 1 - states[1:] ** 2 if ctx.kind == "tanh" else (states[1:] > 0).to(states.dtype)
        d, d_h = torch.empty_like(d_states), d_states[-1].clone()
        for t in range(len(d) - 1, -1, -1):
            torch.mul(d_h, slope[t], out=d[t])
            if t:
                torch.addmm(d_states[t - 1], d[t], w_hh, out=d_h)
        return d, _weight_gradient(d, states), d[0] @ w_hh, None


class _GRU(torch.autograd.Function):
    """r, z = σ(x + h W_hh); n = tanh(x_n + r ⊙ (h W_hn + b_hn)); h' = (1 - z) ⊙ n + z ⊙ h."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, w_hh: Tensor, h0: Tensor, b_hn: Tensor) -> Tensor:
        H = h0.shape[-1]
        states, w = _states(inputs, h0), w_hh.T.contiguous()
        gates = inputs.clone()  # becomes r, z and h W_hn + b_hn
        gates[..., 2 * H :] = b_hn
        new = torch.empty_like(states[1:])
        for t in range(len(inputs)):
            gates[t].addmm_(states[t], w)
            r, z, from_h = gates[t].chunk(3, dim=-1)
            gates[t][:, : 2 * H].sigmoid_()
            torch.addcmul(inputs[t][:, 2 * H :], r, from_h, out=new[t]).tanh_()
            torch.lerp(new[t], states[t], z, out=states[t + 1])
        ctx.save_for_backward(states, gates, new, w_hh)
        return states[1:]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        states, gates, new, w_hh = ctx.saved_tensors
        d_states = gradients[0].contiguous()
        T, B, H = new.shape
        r, z, from_h = gates.chunk(3, dim=-1)
        to_new = (1 - z) * (1 - new**2)
        factor = new.new_empty(T, B, 3, H)
        torch.mul(to_new * from_h, r * (1 - r), out=factor[:, :, 0])
        torch.mul(states[:-1] - new, z * (1 - z), out=factor[:, :, 1])
        torch.mul(to_new, r, out=factor[:, :, 2])
        d_h, d = torch.empty_like(new), torch.empty_like(factor)
        d_h[-1] = d_states[-1]
        for t in range(T - 1, -1, -1):
            torch.mul(d_h[t].unsqueeze(1), factor[t], out=d[t])
            before = torch.addcmul(d_states[t - 1], d_h[t], z[t]) if t else d_h[t] * z[t]
            before.addmm_(d[t].flatten(1), w_hh)
            if t:
                d_h[t - 1] = before
        d_inputs = d.clone()
        torch.mul(d_h, to_new, out=d_inputs[:, :, 2])
        return (
            d_inputs.flatten(2),
            _weight_gradient(d.flatten(2), states),
            before,
            d[:, :, 2].sum((0, 1)),
        )
