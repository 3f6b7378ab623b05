"""A recurrent network small enough to show every number, in float64.

    H_t = tanh(X_t W_xh + H_{t-1} W_hh + b_h)    O_t = H_t W_hq + b_q
    L = (1/T) Σ_t -log softmax(O_t)[label_t]     nats

Inputs are one-hot: a character picks a row of W_xh. Shape letters: T steps, X inputs, H units, V symbols.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Doubles


@dataclass(frozen=True, eq=False)
class SmallRNN:
    """One recurrent layer and its output."""

    W_xh: Doubles  # (X, H)
    W_hh: Doubles  # (H, H)
    b_h: Doubles  # (H,)
    W_hq: Doubles  # (H, V)
    b_q: Doubles  # (V,)


@dataclass(frozen=True, eq=False)
class Unrolled:
    """The forward pass of a net over a text: all time steps, the first in row 0."""

    x: Doubles  # (T, X), one-hot
    before: Doubles  # (T, H), H_{t-1}; zeros at first
    state: Doubles  # (T, H), H_t
    slopes: Doubles  # (T, H), tanh' at each step
    output: Doubles  # (T, V), O_t
    probabilities: Doubles  # (T, V), P_t
    losses: Doubles  # (T,), ℓ_t, nats
    errors: Doubles  # (T, V), ∂L/∂O_t

    @property
    def loss(self) -> float:
        """L, nats."""
        return float(self.losses.mean())

    @property
    def perplexity(self) -> float:
        """exp(L)."""
        return float(np.exp(self.loss))


def unroll(net: SmallRNN, inputs: Sequence[int], labels: Sequence[int]) -> Unrolled:
    """The forward pass over T `inputs`, rows of W_xh, with as many `labels`, indices of symbols."""
    T = len(inputs)
    states = np.zeros((T + 1, len(net.b_h)))
    for t, x in enumerate(inputs):
        states[t + 1] = np.tanh(net.W_xh[x] + states[t] @ net.W_hh + net.b_h)
    output = states[1:] @ net.W_hq + net.b_q
    # No maximum is subtracted from so small a net's outputs: exp overflows beyond 709, and |O| is at most the
    # sum of a column of |W_hq| and |b_q|.
    probabilities = np.exp(output) / np.exp(output).sum(axis=1, keepdims=True)
    return Unrolled(
        x=np.eye(len(net.W_xh))[list(inputs)],
        before=states[:-1],
        state=states[1:],
        slopes=1 - states[1:] ** 2,
        output=output,
        probabilities=probabilities,
        losses=-np.log(probabilities[range(T), labels]),
        errors=(probabilities - np.eye(len(net.b_q))[list(labels)]) / T,
    )


def deltas(net: SmallRNN, forward: Unrolled) -> Doubles:
    """δ_t = ∂L/∂A_t (T, H), with the pre-activations A_t = X_t W_xh + H_{t-1} W_hh + b_h."""
    # `adjoint` is the part of ∂L/∂H_t (H,) that comes back from the later steps; none after the last.
    delta, adjoint = np.empty_like(forward.slopes), np.zeros(len(net.b_h))
    for t in reversed(range(len(delta))):
        delta[t] = (forward.errors[t] @ net.W_hq.T + adjoint) * forward.slopes[t]
        adjoint = delta[t] @ net.W_hh.T
    return delta


def weight_gradients(net: SmallRNN, forward: Unrolled) -> dict[str, Doubles]:
    """∂L by every weight of a net, by name and in its shape, from its pass `forward`; not clipped."""
    delta = deltas(net, forward)
    return {
        "W_xh": forward.x.T @ delta,
        "W_hh": forward.before.T @ delta,
        "b_h": delta.sum(axis=0),
        "W_hq": forward.state.T @ forward.errors,
        "b_q": forward.errors.sum(axis=0),
    }
