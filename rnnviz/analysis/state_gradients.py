"""What a loss, and the last state, owe to every earlier state: gradients that vanish or explode.

    ∂L/∂h_t             L = -log P(target | x_1 .. x_T), for every t ≤ T; for an lstm ∂L/∂c_t too
    ‖∂h_T/∂h_t‖         the product of the Jacobians between

Both are total derivatives, through every layer, with c_t fixed; ∂/∂c_t includes the path through h_t = o ⊙
tanh(c_t). (Bengio, Simard & Frasconi 1994; Pascanu, Mikolov & Bengio 2013.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rnnviz.analysis.backward import Exponents, sweep
from rnnviz.analysis.linearisation import Reading, read
from rnnviz.arrays import Doubles, Floats, read_only
from rnnviz.errors import ConfigError
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_model import Network

MAX_LOSS = 10_000
"""Characters between a loss and the first state."""

MAX_JACOBIAN = 1_000
"""Characters of a product of Jacobians: each takes one of H × H by H × H."""

Norm = Literal["frobenius", "spectral"]


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
    return _swept(reading, reading.seeds(targets, slice(T, None)), "frobenius", int(targets[T]))


def jacobian_norms(
    model: Network, text: str, *, norm: Norm = "frobenius", at: int | None = None
) -> StateNorms:
    """‖∂h_T/∂h_t‖ for every t ≤ T, h_T the top layer's state after `at` characters (None: all; up to 1,000).

    "frobenius" is √H at lag 0; "spectral" the largest singular value, 1 at lag 0, which takes several times
    as long. Raises as `state_gradients` does, and ConfigError for another norm.

    >>> import rnnviz
    >>> norms = jacobian_norms(rnnviz.load("timemachine-gru"), "machine", norm="spectral")
    >>> round(float(norms.hidden[0, 0]), 3)  # ∂h_T/∂h_T is the identity
    1.0
    """
    check_norm(norm)
    reading = read(model, text, stop=at, limit=MAX_JACOBIAN)
    return _swept(reading, np.eye(reading.top.shape[1], dtype=np.float32), norm, None)


def check_norm(norm: str) -> None:
    """Raise ConfigError for a norm that is none of the two."""
    if norm not in get_args(Norm):
        raise ConfigError("norm is 'frobenius' or 'spectral'; received {norm!r}", norm=norm)


def spectral(matrix: Floats | Doubles) -> float:
    """The largest singular value of a matrix; inf if its numbers have overflowed."""
    return float(np.linalg.norm(matrix, 2)) if np.isfinite(matrix).all() else math.inf


def _swept(reading: Reading, seeds: Floats, norm: Norm, target: int | None) -> StateNorms:
    T, L = len(reading.text), len(reading.layers)
    hidden = np.zeros((T + 1, L))
    cell = np.zeros((T + 1, L)) if CELLS[reading.weights.cell].has_cell else None

    def measure(adjoints: Floats, exponents: Exponents) -> float:
        # The exponent comes last, or the squares of small numbers would be 0; it is the same for all rows.
        if norm == "spectral":
            size = spectral(adjoints)
        else:
            size = math.sqrt(np.einsum("kx,kx->", adjoints, adjoints, dtype=np.float64))
        return float(np.ldexp(size, exponents[0]))

    def on_state(t: int, layer: int, state: Floats, c: Floats | None, exponents: Exponents) -> None:
        hidden[T - t, layer] = measure(state, exponents)
        if cell is not None and c is not None:
            cell[T - t, layer] = measure(c, exponents)

    sweep(reading.layers, seeds, T, together=len(seeds) > 1, on_state=on_state)
    return StateNorms(reading.text, target, read_only(hidden), None if cell is None else read_only(cell))
