"""Several texts read in step, in numpy, each without a unit or a direction of its own if asked. Shape
letters: B texts, L layers, H units, G parts of a cell.
"""

from collections.abc import Callable, Mapping
from copy import copy
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.networks import linear
from rnnviz.networks.config import CELLS
from rnnviz.networks.custom import StepWeights
from rnnviz.networks.stepping import Layer, Weights, product

FEW = 4
"""Rows that are multiplied one by one: BLAS would wait for all cores over so few; see stepping.PRODUCT."""

Change = Callable[[Floats], None]
"""Changes a layer's states (B, H) in place."""

Changes = Mapping[tuple[int, str], Change]
"""The change of a layer's "hidden" states, or of an LSTM's "cell", from which the hidden ones then follow."""

NO_CHANGES: Changes = MappingProxyType({})


class Held(NamedTuple):
    """One unit of `layer` in each text, held at `values` (B,) at every step: `units` (B,), or directions of
    length 1 (B, H), whose value is v · H_t.
    """

    layer: int
    units: Ids | Doubles
    values: Floats

    def apply(self, h: Floats) -> None:
        """Hold them in the states (B, H), in place."""
        if self.units.ndim == 1:
            h[np.arange(len(h)), self.units.astype(np.int64, copy=False)] = self.values
            return
        own = np.einsum("bh,bh->b", h, self.units)[:, None]
        h[:] = (h - own * self.units) + self.values[:, None] * self.units


class Batch:
    """B texts at the same time step: `hidden` (L, B, H) and an LSTM's `cell`. A held unit is set as soon as
    its layer is computed: the layers above, the prediction and the next step see it.
    """

    def __init__(self, weights: Weights, texts: int, held: Held | None = None) -> None:
        self.weights, self._held = weights, held
        hidden, cell = weights.states(texts)  # (B, L, H)
        self.hidden = np.ascontiguousarray(hidden.swapaxes(0, 1))
        self.cell = None if cell is None else np.ascontiguousarray(cell.swapaxes(0, 1))

    def start(self, text: int, state: tuple[Floats, Floats | None]) -> None:
        """Set the `state` of one text, (L, H) each."""
        self.hidden[:, text] = state[0]
        if self.cell is not None and state[1] is not None:
            self.cell[:, text] = state[1]

    def first(self, texts: int) -> "Batch":
        """The first `texts` of these, in the same memory: a step of theirs is one of these too."""
        some = copy(self)
        some.hidden = self.hidden[:, :texts]
        some.cell = None if self.cell is None else self.cell[:, :texts]
        return some

    def step(self, ids: Ids, changes: Changes = NO_CHANGES, driven: Floats | None = None) -> Floats:
        """Read one symbol per text, (B,), or the same in all, (1,): the top layer's H (B, H), not a copy.
        `changes` are made to this step's states as soon as they are there. `driven` (1, G·H) is an input that
        is no symbol, as the first layer adds it up: it is read instead.
        """
        if isinstance(self.weights, StepWeights):
            after = self.hidden.swapaxes(0, 1)  # (B, L, H), the same memory
            ids = np.broadcast_to(ids, len(after))
            self.weights.read(ids, after.copy(), after, lambda layer: self._change(layer, changes))
            return np.asarray(self.hidden[-1])
        h: Floats = self.hidden[0]
        # A relu network may explode; torch's does so silently too.
        with np.errstate(over="ignore", invalid="ignore"):
            for n, layer in enumerate(self.weights.layers):
                if n == 0 and driven is not None:
                    x = driven
                elif layer.table is not None:
                    x = layer.table[ids]
                elif n == 0:
                    assert self.weights.embedding is not None
                    x = layer.from_inputs(self.weights.embedding[ids])
                else:
                    x = _times(h, layer.W_x) + layer.b
                h = self.hidden[n]
                if layer.cell == "gru":
                    _gru(layer, x, h)
                elif CELLS[layer.cell].linear:
                    keep, write = linear.step(x, linear.NUMPY)
                    h *= keep
                    h += write
                elif layer.cell == "lstm":
                    assert self.cell is not None
                    _lstm(layer, x, h, self.cell[n], changes.get((n, "cell")))
                else:
                    pre = x if layer.W_h is None else _times(h, layer.W_h) + x
                    h[:] = np.tanh(pre) if layer.activation == "tanh" else np.maximum(pre, 0)
                self._change(n, changes)
        return h

    def _change(self, layer: int, changes: Changes) -> None:
        h = self.hidden[layer]
        if self._held is not None and self._held.layer == layer:
            self._held.apply(h)
        if (change := changes.get((layer, "hidden"))) is not None:
            change(h)


def _lstm(layer: Layer, x: Floats, h: Floats, c: Floats, change: Change | None) -> None:
    H = layer.units
    pre = _times(h, layer.W_h)  # (B, 4 H): input, forget, output, candidate
    pre += x
    np.tanh(pre, out=pre)
    gates = pre[:, : 3 * H]
    gates *= 0.5
    gates += 0.5
    c *= gates[:, H : 2 * H]
    c += gates[:, :H] * pre[:, 3 * H :]
    if change is not None:
        change(c)
    np.tanh(c, out=h)
    h *= gates[:, 2 * H :]


def _gru(layer: Layer, x: Floats, h: Floats) -> None:
    assert layer.b_n is not None
    H = layer.units
    pre = _times(h, layer.W_h)  # (B, 3 H): reset, update, candidate
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
    """`rows` (B, X) times the transpose of `weights` (R, X): (B, R)."""
    assert weights is not None
    if len(rows) > FEW:
        return np.asarray(rows @ weights.T)
    return np.concatenate([product(row[None], weights) for row in rows])
