"""Backpropagation through time: the adjoints of many outputs at once.

An adjoint is a row λ_t = ∂y/∂h_t of one number y. A step takes all rows back together:

    λ_{t-1} = λ_t J_t        J_t = ∂h_t/∂h_{t-1}        ∂y/∂x_t = λ_t K_t        K_t = ∂h_t/∂x_t

Rows of earlier predictions join the sweep as it passes: a text's connectivity takes T products, not T²/2.

λ_t J_t is (λ_t ⊙ slopes) W_h, with all blocks of W_h. For many rows J_t = Σ diag(slopes) W_h is summed first,
H × H instead of G·H × H: a third of a GRU's work, half of an LSTM's, whose o goes with λ of h.

Adjoints leave float32's range in a few steps, so each row has an exponent: rescaling divides by powers of 2.

`jacobian` shows the gradients of a loss, or of the last state, with respect to every earlier state: they
vanish or explode.

    ∂L/∂h_t             L = -log P(target | x_1 .. x_T), for every t ≤ T; for an LSTM ∂L/∂c_t too
    ‖∂h_T/∂h_t‖         the product of the Jacobians between

Both are total derivatives, through every layer, with c_t fixed; ∂/∂c_t includes the path through h_t = o ⊙
tanh(c_t). (Bengio, Simard & Frasconi 1994; Pascanu, Mikolov & Bengio 2013.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles, Floats, read_only
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.lab.analysis.linearisation import Reading, read
from rnnviz.lab.analysis.slopes import Slopes
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_model import Network

MATRIX_MIN_ROWS = 24
"""Rows from which summing the parts of W_h first is quicker."""

BLOCK_STEPS = 8
"""Time steps whose matrices are computed together: they stay in the processor's cache."""

MAX_BLOCK_ENTRIES = 1 << 22
"""Matrix entries of a block, at most: bounds the memory where inputs are many."""

RESCALE_STEPS = 4
"""Time steps between two rescalings."""

Exponents = npt.NDArray[np.int32]
OnState = Callable[[int, int, Floats, "Floats | None", Exponents], None]
OnInput = Callable[[int, int, Floats, Exponents], None]


def norms(rows: Floats, exponents: Exponents) -> Doubles:
    """The Euclidean norms of rows (k, X) · 2^exponents, (k,) float64: valid down to 1e-300."""
    # In float64: squares of a row that has just joined, not rescaled yet, may leave float32's range.
    lengths: Doubles = np.sqrt(np.einsum("kx,kx->k", rows, rows, dtype=np.float64))
    return np.asarray(np.ldexp(lengths, exponents), np.float64)


class _LayerAdjoints:
    """One layer's adjoints: `state` (rows, H) is λ of h. `cell` (rows, H) is λ of c, for a cell with a second
    state; `complete` adds the part that flows through h.
    """

    def __init__(self, slopes: Slopes, rows: int, inputs: bool, by_matrix: bool) -> None:
        self.slopes, self.inputs, self.units = slopes, inputs, slopes.layer.units
        H, self.has_cell = self.units, slopes.through is not None
        # λ of c and λ of h share one array, so that one product takes both back.
        self.both = np.zeros((rows, 2 * H if self.has_cell else H), np.float32)
        self.state = self.both[:, -H:]
        self.cell = self.both[:, :H] if self.has_cell else None
        P, first = slopes.parts.shape[-2], slopes.first
        # For each state: the columns of its adjoints in `both`, and of its slopes in `parts`.
        columns = [(slice(0, H), slice(0, first)), (slice(H, 2 * H), slice(first, P))]
        self._into = columns[: 1 + self.has_cell]
        # Texts side by side would need a matrix each, so they go by parts.
        self.by_matrix = by_matrix and slopes.from_h is not None and P > 1 and slopes.parts.ndim == 3
        if self.by_matrix:
            self._stacked = _stack(slopes, inputs)
            self._product = np.empty((rows, self._stacked.shape[2]), np.float32)
            self._from = len(slopes.parts)
        else:
            self._scaled = np.empty((rows, P, H), np.float32)

    def complete(self, t: int, rows: slice) -> None:
        if self.cell is not None and self.slopes.through is not None:
            self.cell[rows] += self.state[rows] * self.slopes.through[t]

    def back(self, t: int, rows: slice) -> Floats | None:
        """Take n rows from t to t - 1; returns the adjoints of the input at t, (n, X)."""
        x = self._by_matrix(t, rows) if self.by_matrix else self._by_parts(t, rows)
        if self.slopes.begins is not None and self.slopes.begins[t]:
            self.both[rows] = 0  # a text begins at t, whatever stood before
        return x

    def _by_parts(self, t: int, rows: slice) -> Floats | None:
        slopes, d = self.slopes, self._scaled[rows]  # (n, P, H)
        for units, some in self._into:
            np.multiply(self.both[rows, None, units], slopes.parts[t, ..., some, :], out=d[:, some])
        carried = None if slopes.keep is None else self.both[rows, : self.units] * slopes.keep[t]
        self.state[rows] = 0 if slopes.from_h is None else _product(d, *slopes.from_h)
        if carried is not None and self.cell is not None:
            self.cell[rows] = carried
        elif carried is not None:
            self.state[rows] += carried
        if not self.inputs:
            return None
        parts, W = slopes.from_x
        return _product(d, parts, W if W.ndim == 2 else W[t])

    def _by_matrix(self, t: int, rows: slice) -> Floats | None:
        if t < self._from:
            self._make(t)
        # (n, H) or (n, 2H), by (H or 2H, H + X)
        product = np.matmul(self.both[rows], self._matrices[:, t - self._from], out=self._product[rows])
        self.state[rows] = product[:, : self.units]
        if self.cell is not None and self.slopes.keep is not None:
            self.cell[rows] *= self.slopes.keep[t]
        return product[:, self.units :] if self.inputs else None

    def _make(self, t: int) -> None:
        """Compute the matrices [J | K] of a block of steps up to t: (H, steps, H + X), with a cell (2H,
        …).
        """
        slopes, wide = self.slopes, self._stacked.shape[2]
        steps = min(BLOCK_STEPS, MAX_BLOCK_ENTRIES // (self.both.shape[1] * wide))
        self._from, until = max(0, t + 1 - max(1, steps)), t + 1
        parts = slopes.parts[self._from : until].transpose(2, 0, 1)
        self._matrices = np.empty((self.both.shape[1], until - self._from, wide), np.float32)
        for units, some in self._into:
            np.matmul(parts[:, :, some], self._stacked[:, some], out=self._matrices[units])
        if slopes.keep is not None and not self.has_cell:
            diagonal = np.einsum("jtj->tj", self._matrices[:, :, : self.units])
            diagonal += slopes.keep[self._from : until]


def _product(d: Floats, parts: slice | list[int], W: Floats) -> Floats:
    """The adjoints (n, H or X) through W, from the scaled rows d (n, P, H) of some parts."""
    return d[:, parts].reshape(len(d), -1) @ W


def _stack(slopes: Slopes, inputs: bool) -> Floats:
    """[W_h | W_x] by unit: (H, P, H + X), zeros where a part has only one of the two."""
    H, P = slopes.layer.units, slopes.parts.shape[1]
    out = np.zeros((H, P, H + (slopes.from_x[1].shape[1] if inputs else 0)), np.float32)
    for source, columns in ((slopes.from_h, slice(H)), (slopes.from_x if inputs else None, slice(H, None))):
        if source is not None:
            parts, rows = source
            out[:, parts, columns] = rows.reshape(-1, H, rows.shape[1]).transpose(1, 0, 2)
    return out


def sweep(
    layers: Sequence[Slopes],
    seeds: Floats,
    last: int,
    *,
    first: int = 0,
    joining: bool = False,
    together: bool = False,
    on_state: OnState | None = None,
    on_input: OnInput | None = None,
) -> None:
    """Take rows of adjoints of the top layer's h back from input `last` to input `first`.

    `seeds` (rows, H) all start at `last`; or, with `joining`, row k starts at last - k. `together` rescales
    all rows alike, for rows of one matrix. Each step calls

        on_state(t, layer, λ of h (n, H), λ of c (n, H) or None, exponents (n,)), top layer first
        on_input(t, row, λ of x (n, X) from that row on, exponents (n,)); None skips its computation

    with the working arrays, to be multiplied by 2^exponent: copy them before returning. In a network without
    recurrence, such as an MLP, each row ends after one step.
    """
    rows, top = len(seeds), len(layers) - 1
    # Each layer hands its input's adjoint down, so only the lowest may skip it.
    swept = [
        _LayerAdjoints(slopes, rows, number > 0 or on_input is not None, rows >= MATRIX_MIN_ROWS)
        for number, slopes in enumerate(layers)
    ]
    flows = any(slopes.flows for slopes in layers)
    exponents = np.zeros(rows, np.int32)
    begin = end = 0
    # A network that explodes does so silently, as torch's does.
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for t in range(last, first - 1, -1):
            joined, end = end, min(end + 1, rows) if joining else rows
            if begin == end:
                break
            swept[top].state[joined:end] = seeds[joined:end]
            some = slice(begin, end)
            if t % RESCALE_STEPS == 0:
                _rescale(swept, some, exponents, together)
            x: Floats | None = None
            for number in range(top, -1, -1):
                layer = swept[number]
                if x is not None:
                    layer.state[some] += x
                layer.complete(t, some)
                if on_state is not None:
                    cell = None if layer.cell is None else layer.cell[some]
                    on_state(t, number, layer.state[some], cell, exponents[some])
                x = layer.back(t, some)
            if on_input is not None and x is not None:
                on_input(t, begin, x, exponents[some])
            if not flows:
                begin = end


def _rescale(layers: Sequence[_LayerAdjoints], some: slice, exponents: Exponents, together: bool) -> None:
    largest = np.zeros(some.stop - some.start, np.float32)
    for layer in layers:
        rows = layer.both[some]
        np.maximum(largest, rows.max(axis=1), out=largest)
        np.maximum(largest, -rows.min(axis=1), out=largest)
    if together:
        largest[:] = largest.max()
    # Powers of 2 lose no digits. Beyond ±100 the factor itself would leave float32's range.
    by = np.maximum(np.minimum(np.frexp(largest)[1], 100), -100)
    factor = np.ldexp(np.float32(1), -by)[:, None]
    for layer in layers:
        layer.both[some] *= factor
    exponents[some] += by


MAX_LOSS = 10_000
"""Characters between a loss and the first state, at most."""

MAX_JACOBIAN = 1_000
"""Characters of a product of Jacobians, at most: each takes a product of two H × H matrices."""

Norm = Literal["frobenius", "spectral"]

Numerator = Literal["state", "loss"]


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
    of: Numerator = "state",
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
    if of not in get_args(Numerator):
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
