"""Back through time: why gradients vanish or explode, on two tiny nets.

    ∂L/∂H_{t-1} = (∂L/∂H_t ⊙ φ'(A_t)) W_hhᵀ        A_t = X_t W_xh + H_{t-1} W_hh + b_h

Where φ is linear, k steps back multiply by W_hh^k, whose norm goes as ρ^k for large k; ρ, the largest
eigenvalue modulus, is what `Dial` sets. The first steps of a matrix that isn't normal may do otherwise, and
tanh's slopes mostly damp. `Chain` has one unit: its gradient is a sum over lags that can be cut (Tallec &
Ollivier 2017).
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rnnviz import gradients
from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.gradients import small

UNITS = 6
LAGS = 40
STEPS = 12
"""Time steps of a chain."""

WEIGHT = 1.1
"""The chain's: large enough for a gradient from many steps back."""


@dataclass(frozen=True)
class Dial:
    """A small rnn whose W_hh has the spectral radius ρ, and the gradient that flows back through it.

    eigenvalues   (H,) of `matrix`, which is W_hh (H, H)
    linear, tanh  (K + 1,) ‖∂L/∂H_{T-k}‖ for k = 0 .. K, where φ is the identity, and tanh
    power         (K + 1,) ρ^k, which the linear network follows in the long run
    """

    radius: float
    matrix: Doubles
    eigenvalues: npt.NDArray[np.complex128]
    linear: Doubles
    tanh: Doubles
    power: Doubles


@lru_cache(maxsize=512)
def dial(radius: float, seed: int = 0, *, units: int = UNITS, lags: int = LAGS) -> Dial:
    """The network of a seed with its W_hh scaled to `radius` = max |eigenvalue|, over `lags` steps.

    Only W_hh depends on `radius`. Raises ConfigError for a radius that is not above 0 and at most 10.

    >>> [bool(dial(radius).linear[-1] < 1) for radius in (0.8, 1.2)]
    [True, False]
    """
    if not 0 < radius <= 10:
        raise ConfigError("the dial goes from above 0 to 10; received {radius}", radius=radius)
    unit, inputs, last = network(seed, units, lags)
    matrix = unit * radius
    _, slopes = small.forwards(inputs, matrix)
    seeds = np.zeros((lags, units))
    seeds[-1] = last
    bent = small.backwards(slopes, seeds, matrix)  # (K, H)
    straight = small.backwards(np.ones_like(slopes), seeds, matrix)

    def curve(deltas: Doubles) -> Doubles:
        norms = np.linalg.norm(deltas @ matrix.T, axis=1)  # (K,), of H_0 .. H_{T-1}
        return np.append(norms, np.linalg.norm(last))[::-1]

    return Dial(
        radius,
        matrix,
        gradients.eigenvalues(matrix),
        curve(straight),
        curve(bent),
        radius ** np.arange(lags + 1.0),
    )


@lru_cache(maxsize=32)
def network(seed: int, units: int = UNITS, lags: int = LAGS) -> tuple[Doubles, Doubles, Doubles]:
    """A dial's W_hh (H, H) with ρ = 1, X_t W_xh + b_h (K, H), and ∂L/∂H_T (H,) of length 1.

    >>> [array.shape for array in network(0)]
    [(6, 6), (40, 6), (6,)]
    """
    generator = np.random.default_rng(seed)
    matrix = gradients.scaled(generator.standard_normal((units, units)), 1.0)
    # Small inputs keep tanh steep, so that W_hh decides, not φ.
    inputs = 0.02 * generator.standard_normal((lags, units))
    last = generator.standard_normal(units)
    return matrix, inputs, last / np.linalg.norm(last)


@dataclass(frozen=True)
class Chain:
    """h_t = tanh(x_t + w h_{t-1}): its states (T + 1,) from 0 on, and `terms` (T,), ∂h_T/∂w split by lag."""

    w: float
    states: Doubles
    terms: Doubles

    @property
    def gradient(self) -> float:
        """∂h_T/∂w."""
        return float(self.terms.sum())

    def truncated(self, steps: int) -> float:
        """The gradient through the last `steps` steps alone."""
        if not 1 <= steps <= len(self.terms):
            raise ConfigError(
                "the cut leaves 1 to {count} steps; received {steps}", count=len(self.terms), steps=steps
            )
        return float(self.terms[:steps].sum())


def chain(w: float, seed: int = 0, *, steps: int = STEPS) -> Chain:
    """The chain of weight `w` on `steps` inputs drawn by `seed`.

    >>> one = chain(0.9)
    >>> one.truncated(12) == one.gradient
    True
    """
    inputs = 0.3 * np.random.default_rng(seed).standard_normal((steps, 1))
    W_hh, last = np.array([[w]]), np.eye(steps)[:, -1:]  # L = h_T
    states, slopes = small.forwards(inputs, W_hh)
    return Chain(w, states[:, 0], small.by_lag(states, slopes, last, W_hh)[:, 0, 0])


def random_weights(keep: float, draws: int, seed: int = 0, *, steps: int = STEPS) -> Doubles:
    """(N, T) the factor of each lag's term in each draw: π^-k until the cut, 0 beyond; 1 on average.

    At every step back the gradient goes on with probability π = `keep`.

    >>> random_weights(1.0, draws=1, steps=3).tolist()
    [[1.0, 1.0, 1.0]]
    """
    generator = np.random.default_rng(seed)
    return _products(gradients.random_crossings(steps - 1, keep, generator, draws))


def random_truncation(c: Chain, keep: float, draws: int, seed: int = 0) -> Doubles:
    """(N,) estimates of the chain's gradient, each cut at random; unbiased.

    >>> random_truncation(chain(0.9), keep=0.5, draws=4).shape
    (4,)
    """
    return random_weights(keep, draws, seed, steps=len(c.terms)) @ c.terms


def expected(c: Chain, keep: float) -> float:
    """The exact mean of `random_truncation`: the crossings are independent, so their means give it.

    >>> round(expected(chain(0.9), keep=0.5) / chain(0.9).gradient, 6)
    1.0
    """
    mean = gradients.expected_crossing(len(c.terms) - 1, keep)
    return float((_products(mean[None]) @ c.terms)[0])


def spread(c: Chain, keep: float) -> float:
    """The exact standard deviation of one estimate of `random_truncation`: lags j and k have weights whose
    product is π^-min(j, k) on average. Draws show less of it where hardly one of them goes far.

    >>> spread(chain(0.9), keep=1.0)
    0.0
    """
    expected(c, keep)  # refuses what is no probability
    lags = np.arange(len(c.terms))
    product = keep ** -np.minimum(lags[:, None], lags).astype(np.float64)
    return math.sqrt(max(0.0, float(c.terms @ (product - 1.0) @ c.terms)))


def _products(crossings: Doubles) -> Doubles:
    """(N, T): 1 at lag 0, and the product of the first k crossings (N, T - 1) at lag k."""
    weights = np.ones((len(crossings), crossings.shape[1] + 1))
    np.cumprod(crossings, axis=1, out=weights[:, 1:])
    return weights
