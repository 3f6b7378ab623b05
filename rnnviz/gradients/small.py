"""A recurrent net small enough to show every number of it, in float64.

    H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h)   O_t = H_t W_hq + b_q   L = (1/T) Σ_t -log softmax(O_t)[label_t]

Shape letters: T steps, X inputs, H units, V symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.networks.numpy_model import Network, weights_of

Activation = Literal["tanh", "relu", "identity"]


@dataclass(frozen=True, eq=False)
class SmallRNN:
    """One recurrent layer and its output, copied to float64. Raises ConfigError where shapes disagree.

    >>> net = SmallRNN.random(inputs=2, units=3, symbols=4)
    >>> net.W_xh.shape, net.W_hh.shape, net.W_hq.shape
    ((2, 3), (3, 3), (3, 4))
    """

    W_xh: Doubles  # (X, H)
    W_hh: Doubles  # (H, H)
    b_h: Doubles  # (H,)
    W_hq: Doubles  # (H, V)
    b_q: Doubles  # (V,)
    activation: Activation = "tanh"

    def __post_init__(self) -> None:
        for name in ("W_xh", "W_hh", "b_h", "W_hq", "b_q"):
            object.__setattr__(self, name, np.array(getattr(self, name), np.float64))
        H, V = self.b_h.size, self.b_q.size
        X = self.W_xh.shape[:1]
        check_shapes(self, W_xh=(*X, H), W_hh=(H, H), b_h=(H,), W_hq=(H, V), b_q=(V,))
        if self.activation not in ("tanh", "relu", "identity"):
            raise ConfigError(
                "activation is tanh, relu or identity; received {activation!r}", activation=self.activation
            )

    @classmethod
    def random(cls, inputs: int, units: int, symbols: int, *, seed: int = 0, scale: float = 0.5) -> SmallRNN:
        """A tanh net of X, H, V = `inputs`, `units`, `symbols`, its numbers normal with deviation `scale`."""
        draw = np.random.default_rng(seed).standard_normal
        shapes = ((inputs, units), (units, units), (units,), (units, symbols), (symbols,))
        W_xh, W_hh, b_h, W_hq, b_q = (scale * draw(shape) for shape in shapes)
        return cls(W_xh, W_hh, b_h, W_hq, b_q)

    @classmethod
    def of(cls, model: Network) -> SmallRNN:
        """The net of an rnn with one layer, else ConfigError. Inputs are integers, rows of W_xh."""
        config = getattr(model, "config", None)
        weights = weights_of(model) if config and config.cell == "rnn" and config.layers == 1 else None
        if weights is None or (layer := weights.layers[0]).table is None or layer.W_h is None:
            raise ConfigError("a small net is made of an rnn with one layer and a vocabulary that isn't huge")
        # The table includes the bias.
        arrays = layer.table, layer.W_h.T, np.zeros(layer.units), weights.readout.T, weights.bias
        W_xh, W_hh, b_h, W_hq, b_q = (np.asarray(array, np.float64) for array in arrays)
        return cls(W_xh, W_hh, b_h, W_hq, b_q, "relu" if layer.activation == "relu" else "tanh")


def check_shapes(net: object, **shapes: tuple[int, ...]) -> None:
    """Raise ConfigError unless the named arrays of `net` have these shapes."""
    for name, shape in shapes.items():
        received = getattr(net, name).shape
        if received != shape:
            raise ConfigError(
                "{name} should be {shape}; received {received}", name=name, shape=shape, received=received
            )


class Unrolled(NamedTuple):
    """What a net did with a text."""

    states: Doubles  # (T + 1, H), from zeros on
    slopes: Doubles  # (T, H), φ' at each step
    seeds: Doubles  # (T, H), ∂L/∂O W_hqᵀ: what each step's loss alone asks of its state
    loss: float  # L, nats
    log_probs: Doubles  # (T, V), nats
    errors: Doubles  # (T, V), ∂L/∂O


def unroll(net: SmallRNN, inputs: npt.ArrayLike, labels: npt.ArrayLike) -> Unrolled:
    """Read `inputs`, (T, X) numbers or (T,) rows of W_xh, with `labels` (T,), integers below V.

    Raises ConfigError if there are none, or they don't fit the net.

    >>> run = unroll(SmallRNN.random(2, 3, 4), inputs=[0, 1, 0], labels=[3, 1, 2])
    >>> run.states.shape, run.log_probs.shape
    ((4, 3), (3, 4))
    """
    x, y = np.asarray(inputs), np.asarray(labels)
    V = len(net.b_q)
    if x.ndim == 1 and np.issubdtype(x.dtype, np.integer) and len(x):
        if not (x.min() >= 0 and x.max() < len(net.W_xh)):
            raise ConfigError(
                "inputs pick rows 0 to {last} of W_xh; received {smallest} to {largest}",
                last=len(net.W_xh) - 1,
                smallest=x.min(),
                largest=x.max(),
            )
        driven = net.W_xh[x] + net.b_h
    elif x.ndim == 2 and x.shape[1] == len(net.W_xh) and len(x):
        driven = x @ net.W_xh + net.b_h
    else:
        raise ConfigError(
            "inputs are (T, {inputs}), or (T,) integers, T ≥ 1; received shape {shape}",
            inputs=len(net.W_xh),
            shape=x.shape,
        )
    T = len(driven)
    if y.shape != (T,) or not np.issubdtype(y.dtype, np.integer) or y.min() < 0 or y.max() >= V:
        raise ConfigError(
            "labels are ({steps},) integers from 0 to {last}; received {dtype} of shape {shape}",
            steps=T,
            last=V - 1,
            dtype=y.dtype,
            shape=y.shape,
        )
    states, slopes = forwards(driven, net.W_hh, net.activation)
    logits = states[1:] @ net.W_hq + net.b_q  # (T, V)
    logits -= logits.max(axis=1, keepdims=True)
    log_probs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    errors = np.exp(log_probs)
    errors[np.arange(T), y] -= 1
    errors /= T
    loss = -float(log_probs[np.arange(T), y].mean())
    return Unrolled(states, slopes, errors @ net.W_hq.T, loss, log_probs, errors)


def forwards(driven: Doubles, W_hh: Doubles, activation: Activation = "tanh") -> tuple[Doubles, Doubles]:
    """States (T + 1, H) from zeros on and slopes φ' (T, H), where `driven` is X W_xh + b_h (T, H)."""
    T, H = driven.shape
    states, slopes = np.zeros((T + 1, H)), np.ones((T, H))
    for t in range(T):
        a = driven[t] + states[t] @ W_hh  # (H,)
        if activation == "tanh":
            states[t + 1] = np.tanh(a)
            slopes[t] = 1 - states[t + 1] ** 2
        elif activation == "relu":
            states[t + 1], slopes[t] = np.maximum(a, 0), a > 0
        else:
            states[t + 1] = a
    return states, slopes


def backwards(slopes: Doubles, seeds: Doubles, W_hh: Doubles, crossing: Doubles | None = None) -> Doubles:
    """δ_t = ∂L/∂(pre-activation at t), (T, H), with ξ_t = crossing[t] from step t to t - 1.

    `seeds` (T, H) are the derivatives that enter at each step. N rows of `crossing` (N, T) give (N, T, H).
    """
    T, H = slopes.shape
    xi = np.ones(T) if crossing is None else crossing
    deltas, adjoint = np.empty((*xi.shape, H)), np.zeros(H)
    for t in range(T - 1, -1, -1):
        deltas[..., t, :] = (seeds[t] + adjoint) * slopes[t]
        adjoint = deltas[..., t, :] @ W_hh.T * xi[..., t, None]  # (H,) or (N, H)
    return deltas


def by_lag(states: Doubles, slopes: Doubles, seeds: Doubles, W_hh: Doubles) -> Doubles:
    """The part of ∂L/∂W_hh of each lag, (T, H, H); arguments as `backwards` has them."""
    T, H = slopes.shape
    out, delta = np.empty((T, H, H)), seeds * slopes
    for lag in range(T):
        out[lag] = states[: T - lag].T @ delta  # delta (T - lag, H)
        delta = (delta[1:] @ W_hh.T) * slopes[: T - lag - 1]
    return out
