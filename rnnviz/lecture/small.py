"""A recurrent network small enough to show every number of it, in float64.

    H_t = tanh(X_t W_xh + H_{t-1} W_hh + b_h)    O_t = H_t W_hq + b_q
    L = (1/T) Σ_t -log softmax(O_t)[label_t]

Inputs are one-hot: a character picks a row of W_xh. Shape letters: T steps, X inputs, H units, V symbols.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

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


class Unrolled(NamedTuple):
    """What a net did with a text."""

    states: Doubles  # (T + 1, H), from zeros on
    slopes: Doubles  # (T, H), tanh' at each step
    seeds: Doubles  # (T, H), ∂L/∂O W_hqᵀ: what each step's loss alone asks of its state
    loss: float  # L, nats
    log_probs: Doubles  # (T, V), nats
    errors: Doubles  # (T, V), ∂L/∂O


def unroll(net: SmallRNN, inputs: Sequence[int], labels: Sequence[int]) -> Unrolled:
    """Read T `inputs`, rows of W_xh, with as many `labels`, numbers of symbols."""
    T = len(inputs)
    states = np.zeros((T + 1, len(net.b_h)))
    for t, x in enumerate(inputs):
        states[t + 1] = np.tanh(net.W_xh[x] + states[t] @ net.W_hh + net.b_h)
    logits = states[1:] @ net.W_hq + net.b_q  # (T, V)
    log_probs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    at_labels = np.arange(T), np.asarray(labels)
    errors = np.exp(log_probs)
    errors[at_labels] -= 1
    errors /= T
    loss = -float(log_probs[at_labels].mean())
    return Unrolled(states, 1 - states[1:] ** 2, errors @ net.W_hq.T, loss, log_probs, errors)


def backwards(slopes: Doubles, seeds: Doubles, W_hh: Doubles) -> Doubles:
    """δ_t = ∂L/∂A_t (T, H), A_t being what tanh is of; `seeds` (T, H) enter at each step."""
    deltas, adjoint = np.empty_like(slopes), np.zeros(slopes.shape[1])
    for t in reversed(range(len(slopes))):
        deltas[t] = (seeds[t] + adjoint) * slopes[t]
        adjoint = deltas[t] @ W_hh.T
    return deltas


def weight_gradients(net: SmallRNN, inputs: Sequence[int], seen: Unrolled) -> dict[str, Doubles]:
    """∂L by every weight of a net that has `seen` T inputs, by its name and in its shape; not clipped."""
    delta = backwards(seen.slopes, seen.seeds, net.W_hh)
    return {
        "W_xh": np.eye(len(net.W_xh))[list(inputs)].T @ delta,
        "W_hh": seen.states[:-1].T @ delta,
        "b_h": delta.sum(axis=0),
        "W_hq": seen.states[1:].T @ seen.errors,
        "b_q": seen.errors.sum(axis=0),
    }
