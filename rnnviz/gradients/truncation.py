"""Backpropagation through time cut short: regularly, at random, and by lag, on a `SmallRNN`, in float64.

The full gradient of W_hh is a sum over pairs of a loss at t and a step s ≤ t, and truncating weights it:

    ∂L/∂W_hh = Σ_t Σ_{s≤t} w_{ts} · H_{s-1}ᵀ δ_{ts}          δ_{ts} = ∂L_t/∂(pre-activation at s)

with w_{ts} = ξ_{s+1} ξ_{s+2} … ξ_t, where the crossing ξ_t multiplies the gradient from step t to step t - 1.

    full     ξ_t = 1
    regular  ξ_t = 0 at the cuts, 1 elsewhere
    random   ξ_t = 1/π_t with probability π_t, else 0: independent, with mean 1, so the gradient is unbiased
             (Tallec & Ollivier 2017)

Shape letters: T steps, X inputs, H units, V symbols, N draws.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.gradients.small import SmallRNN, backwards, by_lag, unroll

MAX_NUMBERS = 1 << 26
"""Entries of the largest array one call makes (512 MiB)."""


def gradient(
    net: SmallRNN, inputs: npt.ArrayLike, labels: npt.ArrayLike, crossing: npt.ArrayLike | None = None
) -> Doubles:
    """∂L/∂W_hh (H, H), with ξ_t = crossing[t] from step t to t - 1, t from 0; None is the full gradient.

    `crossing` (N, T) gives N gradients (N, H, H). Raises ConfigError for another shape or too many draws.

    >>> gradient(SmallRNN.random(2, 3, 4), inputs=[0, 1, 0], labels=[3, 1, 2]).shape
    (3, 3)
    """
    run = unroll(net, inputs, labels)
    T, H = run.slopes.shape
    xi = np.ones(T) if crossing is None else np.asarray(crossing, np.float64)
    if xi.ndim not in (1, 2) or xi.shape[-1] != T:
        raise ConfigError(
            "crossing has a number for each of {steps} steps; received shape {shape}", steps=T, shape=xi.shape
        )
    draws = xi.size // T
    if draws * max(T, H) * H > MAX_NUMBERS:
        raise ConfigError(
            "{draws:,} draws of {units} units are too many at once; draw fewer and add up",
            draws=draws,
            units=H,
        )
    return run.states[:-1].T @ backwards(run.slopes, run.seeds, net.W_hh, xi)


def cuts(steps: int, cut: int | Sequence[int]) -> Doubles:
    """ξ (T,) of regular truncation: 0 before every `cut`-th step, or before those listed (1 .. T - 1).

    >>> cuts(5, 2).tolist()
    [1.0, 1.0, 0.0, 1.0, 0.0]
    """
    xi = np.ones(_count(steps))
    if isinstance(cut, (int, np.integer)):
        if cut < 1:
            raise ConfigError(
                "cut is every how many steps gradients stop, from 1 on; received {cut}", cut=cut
            )
        xi[cut::cut] = 0
        return xi
    where = list(cut)
    if not all(isinstance(step, (int, np.integer)) and 1 <= step < steps for step in where):
        raise ConfigError(
            "gradients can be cut before steps 1 to {steps}; received {where}", steps=steps - 1, where=where
        )
    xi[where] = 0
    return xi


def truncated_gradient(
    net: SmallRNN, inputs: npt.ArrayLike, labels: npt.ArrayLike, cut: int | Sequence[int]
) -> Doubles:
    """∂L/∂W_hh (H, H) of regular truncation: values of H cross what `cuts(T, cut)` cuts, gradients stop.

    >>> net, inputs, labels = SmallRNN.random(2, 3, 4), [0, 1, 0], [3, 1, 2]
    >>> bool((truncated_gradient(net, inputs, labels, cut=3) == gradient(net, inputs, labels)).all())
    True
    """
    return gradient(net, inputs, labels, cuts(len(np.asarray(labels)), cut))


def random_crossings(
    steps: int, keep: npt.ArrayLike, generator: np.random.Generator, draws: int | None = None
) -> Doubles:
    """ξ (T,): 1/π_t with probability π_t, else 0. `keep` is π, one number or (T,). N `draws`: (N, T).

    >>> sorted(set(random_crossings(20, 0.5, np.random.default_rng(0)).tolist()))
    [0.0, 2.0]
    """
    pi = _probabilities(steps, keep)
    if draws is not None and not 1 <= draws * steps <= MAX_NUMBERS:
        raise ConfigError(
            "draws are from 1 to {max_numbers:,} for {steps} steps; received {draws}",
            max_numbers=MAX_NUMBERS // steps,
            steps=steps,
            draws=draws,
        )
    kept = generator.random((steps,) if draws is None else (draws, steps)) < pi
    return np.where(kept, 1 / pi, 0.0)


def expected_crossing(steps: int, keep: npt.ArrayLike) -> Doubles:
    """E[ξ] (T,): π_t · 1/π_t + (1 - π_t) · 0.

    >>> expected_crossing(3, 0.5).tolist()
    [1.0, 1.0, 1.0]
    """
    pi = _probabilities(steps, keep)
    return pi * (1 / pi) + (1 - pi) * 0.0


def expected_gradient(
    net: SmallRNN, inputs: npt.ArrayLike, labels: npt.ArrayLike, keep: npt.ArrayLike
) -> Doubles:
    """The exact mean (H, H) of the randomly truncated gradients: their value at the mean of independent ξ_t.

    >>> net, inputs, labels = SmallRNN.random(2, 3, 4), [0, 1, 0], [3, 1, 2]
    >>> np.allclose(expected_gradient(net, inputs, labels, keep=0.5), gradient(net, inputs, labels))
    True
    """
    return gradient(net, inputs, labels, expected_crossing(len(np.asarray(labels)), keep))


def pair_weights(crossing: npt.ArrayLike) -> Doubles:
    """w (T, T), lower-triangular: what the loss at step t (row) weighs at step s ≤ t (column).

    >>> pair_weights([1, 2, 0]).tolist()
    [[1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    xi = np.asarray(crossing, np.float64)
    if xi.ndim != 1 or not len(xi):
        raise ConfigError("crossing is a row of numbers, (T,); received shape {shape}", shape=xi.shape)
    out = np.zeros((len(xi), len(xi)))
    for t in range(len(xi)):
        out[t, t] = 1
        out[t, :t] = out[t - 1, :t] * xi[t]
    return out


def lag_gradients(net: SmallRNN, inputs: npt.ArrayLike, labels: npt.ArrayLike) -> Doubles:
    """The part of ∂L/∂W_hh of each lag t - s, (T, H, H): τ + 1 of them sum to the gradient cut at τ steps.

    >>> lag_gradients(SmallRNN.random(2, 3, 4), inputs=[0, 1, 0], labels=[3, 1, 2]).shape
    (3, 3, 3)
    """
    run = unroll(net, inputs, labels)
    T, H = run.slopes.shape
    if T * H * H > MAX_NUMBERS:
        raise ConfigError(
            "{steps:,} lags of {units} × {units} numbers are too many; use a shorter text or a smaller net",
            steps=T,
            units=H,
        )
    return by_lag(run.states, run.slopes, run.seeds, net.W_hh)


class Clipped(NamedTuple):
    """A gradient after clipping, its factor (1: short enough), and its norm before."""

    gradient: Doubles
    scale: float
    norm: float


def clip(gradient: npt.ArrayLike, theta: float) -> Clipped:
    """min(1, θ/‖g‖) g, for an array of any shape taken as one vector (Pascanu, Mikolov & Bengio 2013).

    Raises ConfigError unless θ > 0 and the gradient is finite.

    >>> short, scale, norm = clip([3, 4], theta=2.5)
    >>> short.tolist(), scale, norm
    ([1.5, 2.0], 0.5, 5.0)
    """
    g = np.array(gradient, np.float64)
    if not (theta > 0 and math.isfinite(theta)):
        raise ConfigError("theta is a length above 0; received {theta}", theta=theta)
    if not np.isfinite(g).all():
        raise ConfigError("the gradient holds values that are not finite, and no scale mends that")
    largest = float(np.abs(g).max(initial=0)) or 1.0
    norm = largest * float(np.linalg.norm(g / largest))  # its square may be too large for a float
    scale = min(1.0, theta / norm) if norm else 1.0
    return Clipped(g * scale, scale, norm)


def _count(steps: int) -> int:
    if steps < 1:
        raise ConfigError("there is at least one step; received {steps}", steps=steps)
    return steps


def _probabilities(steps: int, keep: npt.ArrayLike) -> Doubles:
    pi = np.asarray(keep, np.float64)
    if pi.shape not in ((), (_count(steps),)) or not np.all((pi > 0) & (pi <= 1)):
        raise ConfigError(
            "keep is the probability of going on, above 0 and at most 1, one number or {steps}; "
            "received {keep!r}",
            steps=steps,
            keep=keep,
        )
    return np.broadcast_to(pi, (steps,))
