"""The recurrences as the textbook writes them: one time step, every part named and returned.

    mlp    H_t = φ(X_t W_xh + b_h)                                 no hidden state: sees only X_t
    rnn    H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h)                  Elman 1990
    gru    R_t, Z_t gates; H_t = Z_t ⊙ H_{t-1} + (1 - Z_t) ⊙ H̃_t   Cho et al. 2014
    lstm   I_t, F_t, O_t gates; C_t = F_t ⊙ C_{t-1} + I_t ⊙ C̃_t    Hochreiter & Schmidhuber 1997
           H_t = O_t ⊙ tanh(C_t)

These functions are for reading, teaching and checking. What runs fast is
`rnnviz.networks.torch_model`, which holds the same parameters in torch's fused layers and is
equal to this module to 1e-5.

Shapes everywhere: X_t (B, X), H and C (B, H), weights from inputs (X, H),
weights from the state (H, H), biases (H,).

This module knows nothing of characters, layers or training.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import torch
from torch import Tensor

from rnnviz.errors import ConfigError
from rnnviz.networks.config import Activation


def activate(x: Tensor, activation: Activation) -> Tensor:
    """φ, elementwise."""
    return torch.tanh(x) if activation == "tanh" else torch.relu(x)


@dataclass(frozen=True)
class MLPParameters:
    """One hidden layer without a hidden state."""

    W_xh: Tensor
    b_h: Tensor
    activation: Activation = "tanh"


@dataclass(frozen=True)
class RNNParameters:
    """One hidden layer with a hidden state."""

    W_xh: Tensor
    W_hh: Tensor
    b_h: Tensor
    activation: Activation = "tanh"


@dataclass(frozen=True)
class GRUParameters:
    """Reset gate (r), update gate (z) and candidate (h).

    b_hh is the candidate's second bias: where the reset gate acts after the
    product with W_hh, as in torch and cuDNN, it stands inside the gated part.
    The textbook's form has none.
    """

    W_xr: Tensor
    W_hr: Tensor
    b_r: Tensor
    W_xz: Tensor
    W_hz: Tensor
    b_z: Tensor
    W_xh: Tensor
    W_hh: Tensor
    b_h: Tensor
    b_hh: Tensor


@dataclass(frozen=True)
class LSTMParameters:
    """Input (i), forget (f) and output (o) gates and candidate (c)."""

    W_xi: Tensor
    W_hi: Tensor
    b_i: Tensor
    W_xf: Tensor
    W_hf: Tensor
    b_f: Tensor
    W_xo: Tensor
    W_ho: Tensor
    b_o: Tensor
    W_xc: Tensor
    W_hc: Tensor
    b_c: Tensor


Parameters = MLPParameters | RNNParameters | GRUParameters | LSTMParameters


@dataclass(frozen=True)
class RNNStep:
    """The parts of one step of `mlp` or `rnn`, each (B, H).

    `from_state` is H_{t-1} W_hh; for an mlp, which has no state, it is zero.
    The three parts before it add up to `pre_activation`, and φ of that is
    `state`.
    """

    from_input: Tensor
    from_state: Tensor
    bias: Tensor
    pre_activation: Tensor
    state: Tensor


@dataclass(frozen=True)
class GateStep:
    """The parts of one gate, each (B, H): two products, the bias, their sum and its squashed value."""

    from_input: Tensor
    from_state: Tensor
    bias: Tensor
    pre_activation: Tensor
    value: Tensor


@dataclass(frozen=True)
class GRUStep:
    """The parts of one step of `gru`. The `candidate`'s `from_state` is already gated by the reset."""

    reset: GateStep
    update: GateStep
    candidate: GateStep
    state: Tensor


@dataclass(frozen=True)
class LSTMStep:
    """The parts of one step of `lstm`: four gates, the new cell C_t and the new state H_t."""

    input: GateStep
    forget: GateStep
    output: GateStep
    candidate: GateStep
    cell: Tensor
    state: Tensor


def check(parameters: Parameters, x: Tensor, *states: Tensor) -> None:
    """Raise ConfigError, naming the shapes, unless inputs and states fit the parameters."""
    weights = {f.name: getattr(parameters, f.name) for f in fields(parameters) if f.name.startswith("W_")}
    first = next(iter(weights.values()))
    if x.dim() != 2 or x.shape[1] != first.shape[0]:
        raise ConfigError(
            "X_t must be (B, {shape}), batch by inputs; received {shape2}",
            shape=first.shape[0],
            shape2=tuple(x.shape),
        )
    for state in states:
        if tuple(state.shape) != (x.shape[0], first.shape[1]):
            raise ConfigError(
                "a state must be (B, H) = {value}; received {shape}",
                value=(x.shape[0], first.shape[1]),
                shape=tuple(state.shape),
            )


def mlp_step(p: MLPParameters, x: Tensor) -> RNNStep:
    """H_t = φ(X_t W_xh + b_h), for X_t of shape (B, X)."""
    check(p, x)
    from_input = x @ p.W_xh
    bias = p.b_h.expand_as(from_input)
    pre = from_input + bias
    return RNNStep(from_input, torch.zeros_like(pre), bias, pre, activate(pre, p.activation))


def rnn_step(p: RNNParameters, x: Tensor, h: Tensor) -> RNNStep:
    """H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h), for X_t (B, X) and H_{t-1} (B, H)."""
    check(p, x, h)
    from_input, from_state = x @ p.W_xh, h @ p.W_hh
    bias = p.b_h.expand_as(from_input)
    pre = from_input + from_state + bias
    return RNNStep(from_input, from_state, bias, pre, activate(pre, p.activation))


def rnn_step_concatenated(p: RNNParameters, x: Tensor, h: Tensor) -> Tensor:
    """The same H_t (B, H) from one product: φ([X_t, H_{t-1}] [W_xh; W_hh] + b_h)."""
    check(p, x, h)
    return activate(torch.cat([x, h], dim=1) @ torch.cat([p.W_xh, p.W_hh], dim=0) + p.b_h, p.activation)


def _gate(x: Tensor, w_x: Tensor, h: Tensor, w_h: Tensor, b: Tensor) -> GateStep:
    from_input, from_state = x @ w_x, h @ w_h
    pre = from_input + from_state + b
    return GateStep(from_input, from_state, b.expand_as(pre), pre, torch.sigmoid(pre))


def gru_step(
    p: GRUParameters, x: Tensor, h: Tensor, *, reset: Literal["after", "before"] = "after"
) -> GRUStep:
    """One step of a gated recurrent unit, for X_t (B, X) and H_{t-1} (B, H).

        R_t = σ(X_t W_xr + H_{t-1} W_hr + b_r)        Z_t = σ(X_t W_xz + H_{t-1} W_hz + b_z)
        after:   H̃_t = tanh(X_t W_xh + R_t ⊙ (H_{t-1} W_hh + b_hh) + b_h)
        before:  H̃_t = tanh(X_t W_xh + (R_t ⊙ H_{t-1}) W_hh + b_hh + b_h)
        H_t = Z_t ⊙ H_{t-1} + (1 - Z_t) ⊙ H̃_t

    The textbook resets the state *before* the product; torch's and cuDNN's
    fused layers reset *after* it, which lets one product serve all three
    parts. `rnnviz.networks.torch_model` runs "after", so that is the default; no choice of
    parameters makes the two equal.
    """
    check(p, x, h)
    r = _gate(x, p.W_xr, h, p.W_hr, p.b_r)
    z = _gate(x, p.W_xz, h, p.W_hz, p.b_z)
    from_input = x @ p.W_xh
    if reset == "after":
        from_state = r.value * (h @ p.W_hh + p.b_hh)
    elif reset == "before":
        from_state = (r.value * h) @ p.W_hh + p.b_hh
    else:
        raise ConfigError(
            "reset is 'after' or 'before' the product with W_hh; received {reset!r}", reset=reset
        )
    pre = from_input + from_state + p.b_h
    candidate = GateStep(from_input, from_state, p.b_h.expand_as(pre), pre, torch.tanh(pre))
    return GRUStep(r, z, candidate, z.value * h + (1 - z.value) * candidate.value)


def lstm_step(p: LSTMParameters, x: Tensor, h: Tensor, c: Tensor) -> LSTMStep:
    """One step of long short-term memory, for X_t (B, X), H_{t-1} and C_{t-1} (B, H).

    I_t, F_t, O_t = σ(X_t W_x· + H_{t-1} W_h· + b_·)     C̃_t = tanh(X_t W_xc + H_{t-1} W_hc + b_c)
    C_t = F_t ⊙ C_{t-1} + I_t ⊙ C̃_t                     H_t = O_t ⊙ tanh(C_t)
    """
    check(p, x, h, c)
    i = _gate(x, p.W_xi, h, p.W_hi, p.b_i)
    f = _gate(x, p.W_xf, h, p.W_hf, p.b_f)
    o = _gate(x, p.W_xo, h, p.W_ho, p.b_o)
    linear = _gate(x, p.W_xc, h, p.W_hc, p.b_c)
    candidate = GateStep(
        linear.from_input,
        linear.from_state,
        linear.bias,
        linear.pre_activation,
        torch.tanh(linear.pre_activation),
    )
    cell = f.value * c + i.value * candidate.value
    return LSTMStep(i, f, o, candidate, cell, o.value * torch.tanh(cell))
