"""A recurrent net small enough that every number of it can be shown, read in float64.

    H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h)   O_t = H_t W_hq + b_q   L = (1/T) Σ_t -log softmax(O_t)[label_t]

Shape letters: T steps, X inputs, H units, V symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.gradients.linearisation import Doubles
from rnnviz.networks.numpy_model import weights_of

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.networks.torch_model import CharModel


@dataclass(frozen=True, eq=False)
class SmallRNN:
    """One recurrent layer and its output: W_xh (X, H), W_hh (H, H), b_h (H,), W_hq (H, V), b_q (V,).

    `activation` φ is "tanh", "relu" or "identity". Raises ConfigError where shapes disagree.
    """

    W_xh: Doubles
    W_hh: Doubles
    b_h: Doubles
    W_hq: Doubles
    b_q: Doubles
    activation: Literal["tanh", "relu", "identity"] = "tanh"

    def __post_init__(self) -> None:
        for name in ("W_xh", "W_hh", "b_h", "W_hq", "b_q"):
            object.__setattr__(self, name, np.array(getattr(self, name), np.float64))
        if self.W_xh.ndim != 2 or self.W_hq.ndim != 2:
            raise ConfigError(
                "W_xh is (X, H) and W_hq (H, V); received {shape}, {shape2}",
                shape=self.W_xh.shape,
                shape2=self.W_hq.shape,
            )
        H, V = self.W_xh.shape[1], self.W_hq.shape[1]
        shapes = {"W_hh": (H, H), "b_h": (H,), "W_hq": (H, V), "b_q": (V,)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ConfigError(
                    "{name} should be {shape}; received {shape2}",
                    name=name,
                    shape=shape,
                    shape2=getattr(self, name).shape,
                )
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
    def of(cls, model: CharModel | NumpyModel) -> SmallRNN:
        """The net of an rnn with one layer. Its inputs are the model's integers: W_xh has a row for each.

        Raises ConfigError for any other model.
        """
        config = getattr(model, "config", None)
        weights = (
            weights_of(model) if config is not None and config.cell == "rnn" and config.layers == 1 else None
        )
        if weights is None or weights.layers[0].table is None or weights.layers[0].W_h is None:
            raise ConfigError("a small net is made of an rnn with one layer and a vocabulary that isn't huge")
        layer = weights.layers[0]
        assert layer.table is not None
        assert layer.W_h is not None
        no_bias = np.zeros(layer.units)  # the table has it in it
        W_xh, W_hh = layer.table.astype(np.float64), layer.W_h.T.astype(np.float64)
        W_hq, b_q = weights.readout.T.astype(np.float64), weights.bias.astype(np.float64)
        return cls(W_xh, W_hh, no_bias, W_hq, b_q, layer.activation)


class Unrolled(NamedTuple):
    """What a net did with a text.

    states (T + 1, H) from zeros on; slopes φ' (T, H); seeds ∂L/∂O W_hqᵀ (T, H); loss L in nats.
    """

    states: Doubles
    slopes: Doubles
    seeds: Doubles
    loss: float


def unroll(net: SmallRNN, inputs: npt.ArrayLike, labels: npt.ArrayLike) -> Unrolled:
    """Read `inputs` with `labels` (T,), integers below V.

    Inputs are (T, X) numbers, or (T,) integers that pick rows of W_xh.
    Raises ConfigError if there are none, or they don't fit the net.
    """
    x, y = np.asarray(inputs), np.asarray(labels)
    V = len(net.b_q)
    if x.ndim == 1 and np.issubdtype(x.dtype, np.integer) and len(x):
        if not (x.min() >= 0 and x.max() < len(net.W_xh)):
            raise ConfigError(
                "inputs pick rows 0 to {count} of W_xh; received {min} to {max}",
                count=len(net.W_xh) - 1,
                min=x.min(),
                max=x.max(),
            )
        driven = net.W_xh[x] + net.b_h
    elif x.ndim == 2 and x.shape[1] == len(net.W_xh) and len(x):
        driven = x @ net.W_xh + net.b_h
    else:
        raise ConfigError(
            "inputs are (T, {count}), or (T,) integers, T ≥ 1; received shape {shape}",
            count=len(net.W_xh),
            shape=x.shape,
        )
    T, H = driven.shape
    if y.shape != (T,) or not np.issubdtype(y.dtype, np.integer) or y.min() < 0 or y.max() >= V:
        raise ConfigError(
            "labels are ({t},) integers from 0 to {v}; received {dtype} of shape {shape}",
            t=T,
            v=V - 1,
            dtype=y.dtype,
            shape=y.shape,
        )
    states, slopes = np.zeros((T + 1, H)), np.ones((T, H))
    for t in range(T):
        a = driven[t] + states[t] @ net.W_hh
        if net.activation == "tanh":
            states[t + 1] = np.tanh(a)
            slopes[t] = 1 - states[t + 1] ** 2
        elif net.activation == "relu":
            states[t + 1], slopes[t] = np.maximum(a, 0), a > 0
        else:
            states[t + 1] = a
    logits = states[1:] @ net.W_hq + net.b_q
    logits -= logits.max(axis=1, keepdims=True)
    log_probs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    errors = np.exp(log_probs)
    errors[np.arange(T), y] -= 1
    loss = -float(log_probs[np.arange(T), y].mean())
    return Unrolled(states, slopes, errors @ net.W_hq.T / T, loss)
