"""What a loss, and the last state, owe to every earlier state: gradients that vanish or explode.

    ∂L/∂h_t             L = -log P(target | x_1 .. x_T), for every t ≤ T; for an lstm ∂L/∂c_t too
    ‖∂h_T/∂h_t‖         the product of the Jacobians between

Both are total derivatives, through every layer, with c_t fixed; ∂/∂c_t includes the path through h_t = o ⊙
tanh(c_t). (Bengio, Simard & Frasconi 1994; Pascanu, Mikolov & Bengio 2013.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rnnviz.arrays import Doubles, Floats
from rnnviz.errors import ConfigError
from rnnviz.gradients.backward import Exponents, norms, sweep
from rnnviz.gradients.linearisation import Reading, read
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_model import Network

MAX_LOSS = 10_000
"""Characters between a loss and the first state."""

MAX_JACOBIAN = 1_000
"""Characters of a product of Jacobians: each takes one of H × H by H × H."""

RESIDUAL, NOISE, MOST = 2e-3, np.float32(0.1), 60
"""Of the search for a largest singular value: final relative residual, noise, most steps."""

TRACKED, FALLING = 4, np.array([1, 0.5, 0.5, 0.5], np.float32)
"""Left vectors handed on to the next search, and their shares in its start."""

Norm = Literal["frobenius", "spectral"]
Measure = Callable[[int, str, Floats, Exponents], float]


@dataclass(frozen=True, eq=False, repr=False)
class StateNorms:
    """Norms of derivatives with respect to every earlier state; T characters, L layers, read-only arrays.

    target   the symbol the loss is about; None for a Jacobian's norms
    hidden   (T + 1, L) float64; row k is for h_{T-k}, the last for the state after the start symbol
    cell     (T + 1, L) float64, for c_{T-k}; None for cells without one
    """

    text: str
    target: int | None
    hidden: Doubles
    cell: Doubles | None

    def __repr__(self) -> str:
        return f"<StateNorms of {len(self.text):,} characters>"


def state_gradients(
    model: Network, text: str, *, at: int | None = None, target: str | None = None
) -> StateNorms:
    """‖∂L/∂h_t‖ and, of an lstm, ‖∂L/∂c_t‖ for every t ≤ T, where L = -log P(target | x_1 .. x_T) in nats.

    T is `at` (1 .. 10,000; None: the whole text). `target` None is the character that came, after the whole
    text the most probable one. Raises as `connectivity_row` does.

    >>> import rnnviz
    >>> state_gradients(rnnviz.load("timemachine-gru"), "machine").hidden.shape  # lags 0 to T, layers
    (8, 1)
    """
    reading = read(model, text, stop=at, limit=MAX_LOSS)
    T, targets = len(reading.text), reading.targets(target)

    def measure(layer: int, what: str, adjoint: Floats, exponents: Exponents) -> float:
        return float(norms(adjoint, exponents)[0])

    return _swept(reading, reading.seeds(targets, slice(T, None)), measure, int(targets[T]))


def jacobian_norms(
    model: Network, text: str, *, norm: Norm = "frobenius", at: int | None = None
) -> StateNorms:
    """‖∂h_T/∂h_t‖ for every t ≤ T, h_T the top layer's state after `at` characters (None: all; up to 1,000).

    "frobenius" is √H at lag 0; "spectral" the largest singular value, 1 at lag 0, by Lanczos' method (Golub &
    Kahan 1965): right to about 1e-5, and to 1e-2 at a step where another singular value overtakes the
    largest, or where many stand close to it, as a linear recurrence's do. Raises as `state_gradients` does,
    and ConfigError for another norm.

    >>> import rnnviz
    >>> norms = jacobian_norms(rnnviz.load("timemachine-gru"), "machine", norm="spectral")
    >>> round(float(norms.hidden[0, 0]), 3)  # ∂h_T/∂h_T is the identity
    1.0
    """
    if norm not in get_args(Norm):
        raise ConfigError("norm is 'frobenius' or 'spectral'; received {norm!r}", norm=norm)
    reading = read(model, text, stop=at, limit=MAX_JACOBIAN)
    H = reading.top.shape[1]
    largest: dict[tuple[int, str], Largest] = {}

    def measure(layer: int, what: str, matrix: Floats, exponents: Exponents) -> float:
        if norm == "frobenius":
            return float(np.linalg.norm(norms(matrix, exponents)))
        value = largest.setdefault((layer, what), Largest(H))(matrix)
        return float(np.ldexp(value, exponents[0]))

    return _swept(reading, np.eye(H, dtype=np.float32), measure, None)


def _swept(reading: Reading, seeds: Floats, measure: Measure, target: int | None) -> StateNorms:
    T, L = len(reading.text), len(reading.layers)
    hidden = np.zeros((T + 1, L))
    cell = np.zeros((T + 1, L)) if CELLS[reading.weights.cell].has_cell else None

    def on_state(t: int, layer: int, state: Floats, c: Floats | None, exponents: Exponents) -> None:
        hidden[T - t, layer] = measure(layer, "h", state, exponents)
        if cell is not None and c is not None:
            cell[T - t, layer] = measure(layer, "c", c, exponents)

    sweep(reading.layers, seeds, T, together=len(seeds) > 1, on_state=on_state)
    hidden.setflags(write=False)
    if cell is not None:
        cell.setflags(write=False)
    return StateNorms(reading.text, target, hidden, cell)


class Largest:
    """The largest singular value of (H, H) matrices that change little from one to the next.

    Lanczos' bidiagonalisation, fully reorthogonalised, until the residual's square, the error, doesn't show.
    It starts from the last matrix's largest left vectors (the second may overtake the first) and some noise.
    """

    def __init__(self, size: int) -> None:
        self._generator = np.random.default_rng(0)
        self._start: Floats = np.zeros(size, np.float32)

    def __call__(self, matrix: Floats) -> float:
        """σ of `matrix`, float32 (H, H); inf if its numbers have overflowed."""
        most = min(MOST, len(matrix))
        left, right = np.empty((most + 1, len(matrix)), np.float32), np.empty((most, len(matrix)), np.float32)
        bidiagonal = np.zeros((most + 1, most))
        noise = self._generator.standard_normal(len(matrix), np.float32)
        left[0] = self._start + noise * (NOISE / math.sqrt(len(noise)))
        left[0] /= np.linalg.norm(left[0])
        vectors, value, beta = np.ones((1, 1)), 0.0, 0.0
        for k in range(most + 1):
            v = _orthogonal(left[k] @ matrix, right[:k])  # (H,)
            alpha = math.sqrt(v @ v)
            if not math.isfinite(alpha):
                return math.inf
            if k > 2 or (k and (k == most or min(alpha, beta) <= RESIDUAL * bidiagonal[0, 0])):
                vectors, values, _ = np.linalg.svd(bidiagonal[: k + 1, :k], full_matrices=False)
                value = float(values[0])
                if alpha * abs(vectors[k, 0]) <= RESIDUAL * value:
                    break
            if k == most or alpha == 0:
                break
            np.divide(v, alpha, out=right[k])
            u = _orthogonal(matrix @ right[k], left[: k + 1])
            beta = math.sqrt(u @ u)
            bidiagonal[k, k], bidiagonal[k + 1, k] = alpha, beta
            np.divide(u, beta or 1, out=left[k + 1])
        kept = vectors[:, :TRACKED].astype(np.float32)
        self._start = np.asarray((kept @ FALLING[: kept.shape[1]]) @ left[: len(vectors)], np.float32)
        return value


def _orthogonal(vector: Floats, to: Floats) -> Floats:
    """`vector` made orthogonal to the orthonormal rows of `to`; twice for many, or their errors multiply."""
    for _ in range(min(len(to), 1 + (len(to) > 3))):
        vector -= (to @ vector) @ to
    return vector
