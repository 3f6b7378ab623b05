"""Connectivity: which earlier characters a prediction rests on.

    ‖∂ log P(x_{t+1} | x_1 .. x_t) / ∂ e_s‖        e_s the embedding (or one-hot vector) of character s ≤ t

A derivative is the effect of an infinitely small change, not a contribution: in a saturated network a
decisive character can have a gradient near 0.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles, Floats, Ids, read_only
from rnnviz.checks import checked
from rnnviz.findings import Json, Panel, Reported, report
from rnnviz.lab.analysis.backward import Exponents, norms, sweep
from rnnviz.lab.analysis.linearisation import Reading, check_place, read
from rnnviz.networks.numpy_model import Network
from rnnviz.reprs import Drawn

MAX_SQUARE = 1_000
"""Characters of a T × T connectivity, at most."""

MAX_ROW = 10_000
"""Characters before one prediction, at most."""


@dataclass(frozen=True, eq=False, repr=False)
class Connectivity(Drawn):
    """Connectivity of each prediction of a text of T characters. All arrays are read-only.

    targets  (T,)    the symbols whose log P was differentiated, one a row
    norms    (T, T)  float32, nats; row t, column s (both from 0): the prediction after t + 1 characters, with
             respect to character s; 0 above the diagonal and below 1e-45
    log10    (T, T)  float32, the decimal logarithm of the norm, without that lower limit; -inf where the norm
             is 0
    start    (T,)    float32, the norms with respect to the start symbol
    """

    REPORT = "rnnviz.lab.reports.connectivity"

    text: str
    targets: Ids
    norms: Floats
    log10: Floats
    start: Floats

    def __repr__(self) -> str:
        return f"<Connectivity of {len(self):,} characters>"

    def __len__(self) -> int:
        return len(self.targets)

    @cached_property
    def normalised(self) -> Floats:
        """(T, T) `norms` without the start symbol, each row divided by its sum; a row of zeros stays one."""
        return shares(self.log10)

    def panels(self) -> list[Panel]:
        """The square: row t is the connectivity of the prediction of character t; row 0 is empty."""
        square: list[Panel] = report(self).panels(self)
        return square


@dataclass(frozen=True, eq=False, repr=False)
class ConnectivityRow(Reported):
    """Connectivity of one prediction to each of the t characters before it. All arrays are read-only.

    target  the symbol whose log P was differentiated
    norms   (t,) float32, for each character; `start`, for the start symbol
    log10   (t,) float32, the decimal logarithm of `norms`; -inf where the norm is 0
    """

    REPORT = "rnnviz.lab.reports.connectivity_row"

    text: str
    target: int
    norms: Floats
    log10: Floats
    start: float

    def __repr__(self) -> str:
        return f"<ConnectivityRow after {len(self):,} characters>"

    def __len__(self) -> int:
        return len(self.norms)

    @cached_property
    def shares(self) -> Floats:
        """(t,) `norms` divided by their sum."""
        return shares(self.log10)

    def facts(self) -> Json:
        """The values that --json prints: one entry a character, counted from 0."""
        columns = zip(self.text, self.norms.tolist(), self.shares.tolist(), strict=True)
        characters = [
            {"position": t, "character": c, "norm": norm, "share": share}
            for t, (c, norm, share) in enumerate(columns)
        ]
        return {"at": len(self), "characters": characters}


@overload
def connectivity(
    model: Network, text: str, *, at: None = None, character: str | None = None
) -> Connectivity: ...
@overload
def connectivity(model: Network, text: str, *, at: int, character: str | None = None) -> ConnectivityRow: ...
@checked
def connectivity(
    model: Network, text: str, *, at: int | None = None, character: str | None = None
) -> Connectivity | ConnectivityRow:
    """‖∂ log P(x_{t+1} | x_1..x_t) / ∂ e_s‖ for all s ≤ t: which characters each prediction rests on.

    text       T characters, at most 1,000; for one prediction 10,000
    at         one prediction after `at` characters, 1 .. T, as a row; None: all predictions
    character  the character whose log P is differentiated; None: the actual one, after the last character the
               most probable one

    Returns norms (T, T), or (at,). Follows Madsen, "Visualizing memorization in RNNs" (Distill, 2019). Raises
    ConfigError for a model that is no network, an `at` outside the text or more than one `character`,
    EmptyTextError, TextError for a text that is too long, CheckpointError if the network's states overflow.

    >>> import rnnviz
    >>> model = rnnviz.load("timemachine-gru")
    >>> rnnviz.gradients.connectivity(model, "machine").norms.shape
    (7, 7)
    >>> rnnviz.gradients.connectivity(model, "machine", at=4, character="h").norms.shape
    (4,)
    """
    if at is not None:
        return connectivity_row(model, text, at=at, character=character)
    reading = read(model, text, limit=MAX_SQUARE, square=True)
    T = len(reading.text)
    targets = reading.targets(character)
    seeds = reading.seeds(targets, slice(1, None))
    lengths = np.zeros((T, T + 1))  # the first column is the start symbol's

    def on_input(t: int, begin: int, x: Floats, exponents: Exponents) -> None:
        # Rows `begin` and on are the predictions after T - begin, T - begin - 1, … characters.
        lengths[T - begin - len(x) : T - begin, t] = norms(x, exponents)[::-1]

    # One sweep for all predictions: the sweep goes from the end to the beginning, and the adjoint of each
    # prediction joins when it passes it. So the latest prediction comes first, and `on_input` turns rows
    # round again.
    sweep(reading.layers, seeds[::-1], T, joining=True, on_input=on_input)
    values, log10 = _with_logarithms(lengths[:, 1:])
    return Connectivity(reading.text, targets[1:], values, log10, _with_logarithms(lengths[:, 0])[0])


def connectivity_row(
    model: Network, text: str, *, at: int | None = None, character: str | None = None
) -> ConnectivityRow:
    """One row of `connectivity`: the prediction after `at` characters of `text`, or after all of it."""
    reading = read(model, text, stop=at, limit=MAX_ROW)
    return _row(reading, len(reading.text), character)


class GradientRows:
    """Rows of `connectivity` for one text of at most 10,000 characters, each computed on request. The text is
    read once for all rows, which saves half the work of each. Raises as `connectivity_row` does.

    >>> import rnnviz
    >>> rows = GradientRows(rnnviz.load("timemachine-gru"), "machine")
    >>> rows.row(4).norms.shape, rows.row(7, character="s").target != rows.row(7).target
    ((4,), True)
    """

    def __init__(self, model: Network, text: str) -> None:
        self._reading = read(model, text, limit=MAX_ROW)

    def row(self, at: int, *, character: str | None = None) -> ConnectivityRow:
        """The row of the prediction after `at` characters, as `connectivity_row` gives it."""
        return _row(self._reading, check_place(self._reading.text, at), character)


def _row(reading: Reading, t: int, character: str | None) -> ConnectivityRow:
    """The row after t characters of a reading of at least t characters."""
    targets = reading.targets(character)
    gradients = np.zeros((t + 1, reading.layers[0].layer.W_x.shape[1]), np.float32)
    powers = np.zeros(t + 1, np.int32)

    def on_input(step: int, begin: int, x: Floats, exponents: Exponents) -> None:
        # A copy: the sweep goes on to write in its working arrays. The norms of all steps are taken at once
        # below.
        gradients[step], powers[step] = x[0], exponents[0]

    sweep(reading.layers, reading.seeds(targets, slice(t, t + 1)), t, on_input=on_input)
    values, log10 = _with_logarithms(norms(gradients, powers))
    return ConnectivityRow(reading.text[:t], int(targets[t]), values[1:], log10[1:], float(values[0]))


def shares(logs: npt.NDArray[np.floating[Any]]) -> Floats:
    """Each row's shares from its decimal logarithms (…, T); all 0 where the gradient is 0 throughout."""
    with np.errstate(under="ignore"):
        # The largest entry of each row becomes 1, so that no power overflows.
        scaled = np.exp2((logs - row_maxima(logs)) / math.log10(2))
        scaled /= np.maximum(scaled.sum(axis=-1, keepdims=True), np.float32(1e-30))
    return read_only(scaled.astype(np.float32))


def row_maxima(logs: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
    """The largest entry of each row of logarithms, (…, 1), as a finite number."""
    maxima = logs.max(axis=-1, keepdims=True)
    # A row of -inf has no gradient at all: subtracting -inf from it would make NaN.
    return np.asarray(np.where(np.isfinite(maxima), maxima, maxima.dtype.type(0)))


def _with_logarithms(lengths: Doubles) -> tuple[Floats, Floats]:
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        return read_only(lengths.astype(np.float32)), read_only(np.log10(lengths).astype(np.float32))
