"""Gradients of a loss, or of the last state, with respect to every earlier state: they vanish or explode.

    ∂L/∂h_t             L = -log P(target | x_1 .. x_T), for every t ≤ T; for an LSTM ∂L/∂c_t too
    ‖∂h_T/∂h_t‖         the product of the Jacobians between

Both are total derivatives, through every layer, with c_t fixed; ∂/∂c_t includes the path through h_t = o ⊙
tanh(c_t). (Bengio, Simard & Frasconi 1994; Pascanu, Mikolov & Bengio 2013.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rnnviz.arrays import Doubles, Floats, read_only
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.lab.analysis.backward import Exponents, sweep
from rnnviz.lab.analysis.linearisation import Reading, read
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_model import Network

MAX_LOSS = 10_000
"""Characters between a loss and the first state, at most."""

MAX_JACOBIAN = 1_000
"""Characters of a product of Jacobians, at most: each takes a product of two H × H matrices."""

Norm = Literal["frobenius", "spectral"]

Of = Literal["state", "loss"]


@dataclass(frozen=True, eq=False, repr=False)
class StateNorms:
    """Norms of derivatives with respect to every earlier state; T characters, L layers, read-only arrays.

    target   the symbol of the loss; None for a Jacobian's norms
    hidden   (T + 1, L) float64; row k is for h_{T-k}, the last for the state after the start symbol
    cell     (T + 1, L) float64, for c_{T-k}; None for cells without one
    """

    text: str
    target: int | None
    hidden: Doubles
    cell: Doubles | None

    def __repr__(self) -> str:
        return f"<StateNorms of {len(self.text):,} characters>"


@checked
def jacobian(
    model: Network,
    text: str,
    *,
    at: int | None = None,
    of: Of = "state",
    character: str | None = None,
    norm: Norm = "frobenius",
) -> StateNorms:
    """‖∂h_T/∂h_t‖ for every t ≤ T, and for an LSTM ‖∂h_T/∂c_t‖: how much gradient flows back to each state.

    at         T, the characters read; None: the whole text
    of         "state": h_T, the top layer's, up to 1,000 characters; "loss": L = -log P(x_{T+1} | x_1 .. x_T)
               in nats, with the norms ‖∂L/∂h_t‖, up to 10,000 characters
    character  of a loss, the character whose log P counts; None: the actual one, or after the text the most
               probable one
    norm       "frobenius", √H at lag 0, or "spectral", the largest singular value, 1 at lag 0, which takes
               several times as long; equal for a loss, whose gradient is a vector

    Returns norms (T + 1, L), lag 0 first. Follows Pascanu, Mikolov & Bengio 2013. Raises ConfigError for a
    model that is no network, an `at` outside 1 .. T and unknown options, EmptyTextError, TextError for a text
    that is too long, CheckpointError if the network's states overflow.

    >>> import rnnviz
    >>> model = rnnviz.load("timemachine-gru")
    >>> norms = rnnviz.gradients.jacobian(model, "machine", norm="spectral")
    >>> norms.hidden.shape, round(float(norms.hidden[0, 0]), 3)  # lags 0 to T, layers; ∂h_T/∂h_T is 1
    ((8, 1), 1.0)
    >>> rnnviz.gradients.jacobian(model, "machine", of="loss", character="s").hidden.shape
    (8, 1)
    """
    if norm not in get_args(Norm):
        raise ConfigError("norm is 'frobenius' or 'spectral'; received {norm!r}", norm=norm)
    if of not in get_args(Of):
        raise ConfigError("of is 'state' or 'loss'; received {of!r}", of=of)
    reading = read(model, text, stop=at, limit=MAX_LOSS if of == "loss" else MAX_JACOBIAN)
    if of == "state":
        return _swept(reading, np.eye(reading.top.shape[1], dtype=np.float32), norm, None)
    T, targets = len(reading.text), reading.targets(character)
    return _swept(reading, reading.seeds(targets, slice(T, None)), norm, int(targets[T]))


def spectral(matrix: Floats | Doubles) -> float:
    """The largest singular value of a matrix; inf if its entries have overflowed."""
    return float(np.linalg.norm(matrix, 2)) if np.isfinite(matrix).all() else math.inf


def _swept(reading: Reading, seeds: Floats, norm: Norm, target: int | None) -> StateNorms:
    T, L = len(reading.text), len(reading.layers)
    hidden = np.zeros((T + 1, L))
    cell = np.zeros((T + 1, L)) if CELLS[reading.weights.cell].has_cell else None

    def measure(adjoints: Floats, exponents: Exponents) -> float:
        # The exponent, the same for all rows, comes last: squares of small numbers would otherwise be 0.
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
