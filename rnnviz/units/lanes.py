"""Several texts read in step, in numpy, while units are held, silenced or scaled.

Each lane is a row of a batch with a state of its own. What is done to a unit is done
right after its layer has computed it, so the layers above, the prediction and the next
time step all see the changed value. Everything that is done to a unit has one form:

    H ← factor · H + value        hold: 0 and v;  silence: 0 and 0;  scale: s and 0

Shape letters: B lanes, L layers, H units, G parts of a cell. This module knows nothing of texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.networks.config import CELLS
from rnnviz.networks.stepping import Floats, Ids, Layer, Touch, Weights, product

FEW = 4
"""Lanes that are multiplied one by one: BLAS would wait for all cores over so few; see stepping.PRODUCT."""


@dataclass(frozen=True, eq=False)
class Change:
    """What is done to entries of a layer's state (B, H) while start ≤ characters read < stop.

    `index` picks the entries, as numpy does; `value` and `factor` broadcast to them.
    `cell` says that it is an LSTM's cell C that is changed, before H follows from it.
    """

    layer: int
    index: tuple[Any, ...]
    factor: npt.ArrayLike
    value: npt.ArrayLike
    start: int = 0
    stop: float = float("inf")
    cell: bool = False
    _factor: Floats | None = field(init=False, repr=False)
    _value: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        factor = np.asarray(self.factor, np.float32)
        object.__setattr__(self, "_factor", factor if np.any(factor) else None)
        object.__setattr__(self, "_value", np.asarray(self.value, np.float32))

    def apply(self, state: Floats) -> None:
        """Do it."""
        if self._factor is None:  # a state that has grown to infinity, times 0, would be no number
            state[self.index] = self._value
        else:
            state[self.index] = state[self.index] * self._factor + self._value


def touch(changes: Sequence[Change]) -> dict[int, Touch] | None:
    """The same changes for `rnnviz.networks.stepping`, faster for one text; None if a cell is changed."""
    if any(change.cell for change in changes):
        return None

    def of(layer: int) -> Touch:
        own = [change for change in changes if change.layer == layer]

        def apply(t: int, state: Floats) -> None:
            for change in own:
                if change.start <= t < change.stop:
                    change.apply(state)

        return apply

    return {layer: of(layer) for layer in {change.layer for change in changes}}


class Lanes:
    """B texts at the same time step. `hidden` (L, B, H) and an LSTM's `cell` are the state.

    `time` counts the characters read: the start symbol's step is number 0.
    """

    def __init__(
        self, weights: Weights, lanes: int, changes: Sequence[Change] = (), *, time: int = 0
    ) -> None:
        self.weights, self.lanes, self.time = weights, lanes, time
        shape = (len(weights.layers), lanes, weights.layers[0].units)
        self.hidden = np.zeros(shape, np.float32)
        self.cell = np.zeros(shape, np.float32) if CELLS[weights.cell].has_cell else None
        self._changes = [[c for c in changes if c.layer == n] for n in range(len(weights.layers))]

    def step(self, ids: Ids) -> Floats:
        """Read one symbol per lane, (B,), or the same in all, (1,): the top layer's H (B, H), not a copy."""
        below: Floats = self.hidden[0]
        # A relu network may explode; torch's does so silently too.
        with np.errstate(over="ignore", invalid="ignore"):
            for n, layer in enumerate(self.weights.layers):
                below = self._layer(n, layer, ids, below)
        self.time += 1
        return below

    def read(self, ids: Ids) -> Floats:
        """The top layer's H after each step, (n, B, H), of symbols (n, B), or (n, 1) for all lanes."""
        out = np.empty((len(ids), self.lanes, self.hidden.shape[2]), np.float32)
        for t, symbols in enumerate(ids):
            out[t] = self.step(symbols)
        return out

    def _layer(self, n: int, layer: Layer, ids: Ids, below: Floats) -> Floats:
        if layer.table is not None:
            x = layer.table[ids]
        elif n == 0:
            assert self.weights.embedding is not None
            x = layer.from_inputs(self.weights.embedding[ids])
        else:
            x = _times(below, layer.W_x) + layer.b
        h: Floats = self.hidden[n]
        if layer.cell == "gru":
            _gru(layer, x, h)
        elif layer.cell == "lstm":
            assert self.cell is not None
            self._lstm(n, layer, x, h, self.cell[n])
        else:
            pre = x if layer.W_h is None else _times(h, layer.W_h) + x
            h[:] = np.tanh(pre) if layer.activation == "tanh" else np.maximum(pre, 0)
        self._change(n, h, cell=False)
        return h

    def _lstm(self, n: int, layer: Layer, x: Floats, h: Floats, c: Floats) -> None:
        H = layer.units
        pre = _times(h, layer.W_h)
        pre += x
        np.tanh(pre, out=pre)
        gates = pre[:, : 3 * H]
        gates *= 0.5
        gates += 0.5
        c *= gates[:, H : 2 * H]
        c += gates[:, :H] * pre[:, 3 * H :]
        self._change(n, c, cell=True)
        np.tanh(c, out=h)
        h *= gates[:, 2 * H :]

    def _change(self, n: int, state: Floats, *, cell: bool) -> None:
        for change in self._changes[n]:
            if change.cell == cell and change.start <= self.time < change.stop:
                change.apply(state)


def _gru(layer: Layer, x: Floats, h: Floats) -> None:
    assert layer.b_n is not None
    H = layer.units
    pre = _times(h, layer.W_h)
    gates, candidate = pre[:, : 2 * H], pre[:, 2 * H :]
    gates += x[:, : 2 * H]
    np.tanh(gates, out=gates)
    gates += 1
    candidate += layer.b_n
    candidate *= gates[:, :H]
    candidate += x[:, 2 * H :]
    np.tanh(candidate, out=candidate)
    h -= candidate
    h *= gates[:, H:]
    h *= 0.5
    h += candidate


def _times(rows: Floats, weights: Floats | None) -> Floats:
    """`rows` (B, X) times the transpose of `weights` (R, X)."""
    assert weights is not None
    if len(rows) > FEW:
        return np.asarray(rows @ weights.T)
    return np.concatenate([product(row[None], weights) for row in rows])
