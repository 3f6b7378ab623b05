"""Back through time: why gradients vanish or explode, and what is done about it.

One step back multiplies the gradient with the slope of φ and with W_hh,

    ∂L/∂H_{t-1} = (∂L/∂H_t ⊙ φ'(A_t)) W_hhᵀ        A_t = X_t W_xh + H_{t-1} W_hh + b_h

so over k steps it grows or shrinks like the k-th power of the matrix, which its
largest eigenvalue modulus ρ decides. `Dial` is a small network with a dial for ρ.
`Chain` is a network of one unit, whose gradient with respect to its weight is a sum
that can be read term by term, and cut: regularly, or at random (Tallec & Ollivier 2017).

`flow` asks `rnnviz.gradients` how far back the gradient reaches in a trained model.
This module knows nothing of screens.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.gradients.backward import norms, sweep
from rnnviz.gradients.linearisation import read
from rnnviz.networks.config import CELLS

if TYPE_CHECKING:
    from rnnviz.gradients.backward import Exponents
    from rnnviz.gradients.linearisation import Floats
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.networks.torch_model import CharModel

Doubles = npt.NDArray[np.float64]
Complexes = npt.NDArray[np.complex128]

UNITS = 6
LAGS = 40
LONGEST = 400
"""Characters that `flow` goes back through."""

WEIGHT = 1.1
"""Of the chain: large enough for its gradient to come from many steps back."""


def clip(gradient: npt.ArrayLike, threshold: float) -> Doubles:
    """g · min(1, θ / ‖g‖): as long as θ at most, and in the same direction."""
    if threshold <= 0:
        raise ConfigError(
            "gradients are clipped to a positive norm; received {threshold}", threshold=threshold
        )
    g = np.asarray(gradient, np.float64)
    norm = float(np.linalg.norm(g))
    return g * min(1.0, threshold / norm) if norm > 0 else g.copy()


# Trained models.


@dataclass(frozen=True)
class Flow:
    """How the gradient of one loss fades on its way back, by lag k = 0 .. T - 1, from the newest state on.

    hidden   (T,) ‖∂L/∂H_{T-k}‖ of the top layer, where L = -log P of the character that comes after H_T
    cell     (T,) ‖∂L/∂C_{T-k}‖ of an LSTM, with what comes through H_{T-k}; None for other cells
    """

    text: str
    hidden: Doubles
    cell: Doubles | None


def flow(model: CharModel | NumpyModel, text: str) -> Flow:
    """The gradient of the last character's loss with respect to every state before it.

    Raises ConfigError for a model that is no network or a text of one character, EmptyTextError
    for none, TextError for more than LONGEST.
    """
    if len(text) == 1:
        raise ConfigError("a gradient goes back from a last character to earlier ones; give at least two")
    reading = read(model, text, limit=LONGEST, advice="cut the text's beginning off")
    last = len(reading.inputs) - 2  # the step whose prediction is about the last character
    top = len(reading.layers) - 1
    hidden = np.zeros(last)
    cell = np.zeros(last) if CELLS[reading.weights.cell].has_cell else None

    def on_state(t: int, layer: int, h: Floats, c: Floats | None, exponents: Exponents) -> None:
        if layer == top and t > 0:
            hidden[last - t] = norms(h, exponents)[0]
            if cell is not None and c is not None:
                cell[last - t] = norms(c, exponents)[0]

    seeds = reading.seeds(reading.came, slice(last, last + 1))
    if reading.weights.cell == "mlp":  # no way back: the newest state is all
        hidden[0] = float(np.linalg.norm(seeds[0].astype(np.float64)))
    else:
        sweep(reading.layers, seeds, last, on_state=on_state)
    return Flow(reading.text, hidden, cell)


# The dial.


@dataclass(frozen=True)
class Dial:
    """A small rnn whose W_hh has the spectral radius ρ, and the gradient that flows back through it.

    matrix         (H, H) W_hh; eigenvalues (H,) complex
    linear, tanh   (K + 1,) ‖∂L/∂H_{T-k}‖ for k = 0 .. K, where φ is the identity, and tanh
    power          (K + 1,) ρ^k, which both follow in the long run (tanh's from below)
    weight         ‖∂L/∂W_hh‖ of the tanh network; weight_gradient (H, H) that gradient
    """

    radius: float
    matrix: Doubles
    eigenvalues: Complexes
    linear: Doubles
    tanh: Doubles
    power: Doubles
    weight: float
    weight_gradient: Doubles

    def matrix_power(self, k: int) -> Doubles:
        """W_hh multiplied k times with itself, (H, H)."""
        return np.asarray(np.linalg.matrix_power(self.matrix, k))


@lru_cache(maxsize=512)
def dial(radius: float, seed: int = 0, *, units: int = UNITS, lags: int = LAGS) -> Dial:
    """The network of a seed with its W_hh scaled to `radius` = max |eigenvalue|, over `lags` steps.

    Inputs, first state and the gradient at the last step depend on the seed alone, so that only
    the dial moves. Raises ConfigError for a radius that is not positive.
    """
    if not 0 < radius <= 10:
        raise ConfigError("the dial goes from above 0 to 10; received {radius}", radius=radius)
    unit, inputs, last = _network(seed, units, lags)
    matrix = unit * radius
    states = np.zeros((lags + 1, units))
    for t in range(lags):
        states[t + 1] = np.tanh(inputs[t] + states[t] @ matrix)
    linear, tanh = np.empty(lags + 1), np.empty(lags + 1)
    flat, bent, weight = last.copy(), last.copy(), np.zeros_like(matrix)
    linear[0] = tanh[0] = np.linalg.norm(last)
    for k in range(lags):
        t = lags - k  # the step that is undone: H_t from H_{t-1}
        before = bent * (1 - states[t] ** 2)
        weight += np.outer(states[t - 1], before)
        flat, bent = flat @ matrix.T, before @ matrix.T
        linear[k + 1], tanh[k + 1] = np.linalg.norm(flat), np.linalg.norm(bent)
    return Dial(
        radius,
        matrix,
        np.linalg.eigvals(matrix).astype(np.complex128),
        linear,
        tanh,
        radius ** np.arange(lags + 1.0),
        float(np.linalg.norm(weight)),
        weight,
    )


@lru_cache(maxsize=32)
def _network(seed: int, units: int, lags: int) -> tuple[Doubles, Doubles, Doubles]:
    """W_hh with spectral radius 1, X_t W_xh + b_h for each step, and a gradient of length 1 at the end."""
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((units, units))
    matrix /= np.abs(np.linalg.eigvals(matrix)).max()
    # Small inputs: where tanh is steep, what W_hh does to the gradient is not drowned by φ.
    inputs = 0.02 * generator.standard_normal((lags, units))
    last = generator.standard_normal(units)
    return matrix, inputs, last / np.linalg.norm(last)


# The chain.


@dataclass(frozen=True)
class Chain:
    """h_t = tanh(x_t + w h_{t-1}), and ∂h_T/∂w as the sum over the steps it came through.

    states    (T + 1,) h_0 = 0, h_1 .. h_T
    factors   (T,) ∂h_t/∂h_{t-1} = φ'(a_t) w
    direct    (T,) ∂h_t/∂w with h_{t-1} held fixed = φ'(a_t) h_{t-1}
    terms     (T,) by lag: terms[k] = direct[T-k] · factors[T-k+1] · … · factors[T]
    """

    w: float
    states: Doubles
    factors: Doubles
    direct: Doubles
    terms: Doubles

    @property
    def gradient(self) -> float:
        """∂h_T/∂w, all of it."""
        return float(self.terms.sum())

    def truncated(self, steps: int) -> float:
        """The gradient through the last `steps` steps alone: values cross the cut, gradients stop."""
        if not 1 <= steps <= len(self.terms):
            raise ConfigError(
                "the cut leaves 1 to {count} steps; received {steps}", count=len(self.terms), steps=steps
            )
        return float(self.terms[:steps].sum())


def chain(w: float, seed: int = 0, *, steps: int = 12) -> Chain:
    """The chain of weight `w` on `steps` inputs drawn by `seed`."""
    inputs = 0.3 * np.random.default_rng(seed).standard_normal(steps)
    states = np.zeros(steps + 1)
    for t in range(steps):
        states[t + 1] = np.tanh(inputs[t] + w * states[t])
    slope = 1 - states[1:] ** 2
    factors, direct = slope * w, slope * states[:-1]
    through = np.concatenate(([1.0], np.cumprod(factors[::-1])))[:steps]
    return Chain(w, states, factors, direct, direct[::-1] * through)


def weights(lengths: npt.NDArray[np.int64], keep: float, steps: int) -> Doubles:
    """(draws, T) what each lag's term is multiplied with, where a draw went back over `lengths` lags.

    π^-k up to there and 0 beyond: ξ = 1/π with probability π at every step back, and 0 otherwise,
    so that each weight is 1 on average.
    """
    lag = np.arange(steps)
    return np.where(lag <= lengths[:, None], keep ** -lag.astype(np.float64), 0.0)


def draw(keep: float, draws: int, seed: int = 0, *, steps: int = 12) -> npt.NDArray[np.int64]:
    """(draws,) how many steps beyond the last each draw goes back, 0 .. steps - 1."""
    if not 0 < keep <= 1:
        raise ConfigError("the probability of going on lies above 0 and up to 1; received {keep}", keep=keep)
    goes_on = np.random.default_rng(seed).random((draws, steps - 1)) < keep
    return np.asarray(np.cumprod(goes_on, axis=1).sum(axis=1), np.int64)


def random_truncation(c: Chain, keep: float, draws: int, seed: int = 0) -> Doubles:
    """(draws,) estimates of the chain's gradient, each cut at random; equal to the full one on average."""
    steps = len(c.terms)
    return weights(draw(keep, draws, seed, steps=steps), keep, steps) @ c.terms


def expected(c: Chain, keep: float) -> float:
    """The exact mean of `random_truncation`, summed over every place a cut can fall."""
    steps = len(c.terms)
    lengths = np.arange(steps)
    chances = keep**lengths * np.append(np.full(steps - 1, 1 - keep), 1.0)
    return float(chances @ (weights(lengths, keep, steps) @ c.terms))
