"""The slopes of a cell's step, by dual numbers through its record.

A dual is a value and its derivatives by what it rests on (Wengert 1964, "A simple automatic derivative
evaluation program"): a block of x or of u, the states before, or a second state. A record is elementwise, so
each is one number a unit: of pre-activations a_t = x_t W_x + h_{t-1} W_h + b, ∂h_t/∂a_t is what a sweep back
through time multiplies (Werbos 1990, "Backpropagation through time").

The record's second state is cut off: ∂c_t/∂(…) and ∂h_t/∂c_t are found apart, as a sweep needs them.

They come from pre-activations: 1 - h² of a saturated unit has no digits left in float32, 1/cosh²(a) has all.
Likewise σ'(a) = σ(a) σ(-a), and `rest` of a sigmoid is σ(-a).

Shape letters: n steps, G blocks, P parts, H units, X inputs; … any leading dimensions.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np

from rnnviz.arrays import Array, Floats
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_engine import Layer

BLOCK = 64
"""Steps whose slopes are found at a time: they stay in the processor's cache."""

Tangents = dict[tuple[str, Any], Any]
"""A value's derivatives by ("x", block), ("u", block), ("before", state) and ("now", second state)."""


def _operator(value: Callable[..., Any], *slopes: Callable[..., Any]) -> Callable[..., "Dual"]:
    """An operation on two duals, or on a dual and a number, with its slopes towards either."""

    def apply(a: "Dual", b: Any) -> Any:
        if isinstance(b, np.ndarray):
            return NotImplemented  # blocks: numpy maps over them
        b = b if isinstance(b, Dual) else Dual(b, {})
        to_a, to_b = (slope(a.value, b.value) for slope in slopes)
        return _chain(value(a.value, b.value), (a, to_a), (b, to_b))

    return apply


class Dual:
    """`value` (…, H) and its derivatives, numbers or (…, H); `rest`: 1 - value with all digits, if known."""

    def __init__(self, value: Any, by: Tangents, rest: Any = None) -> None:
        self.value, self.by, self.rest = value, by, rest

    __add__ = _operator(operator.add, lambda a, b: 1.0, lambda a, b: 1.0)
    __sub__ = _operator(operator.sub, lambda a, b: 1.0, lambda a, b: -1.0)
    __mul__ = _operator(operator.mul, lambda a, b: b, lambda a, b: a)

    def __neg__(self) -> "Dual":
        return _chain(-self.value, (self, -1.0))


def _chain(value: Any, *terms: tuple[Dual, Any], rest: Any = None) -> Dual:
    """A dual of `value`, whose slope towards each of the given duals stands beside it.

    Derivatives that are one array stay one, and are multiplied once: x + u has the same by either.
    """
    made: dict[tuple[tuple[int, int], ...], Any] = {}
    by: Tangents = {}
    for key in dict.fromkeys(key for dual, _ in terms for key in dual.by):
        ways = [(dual.by[key], slope) for dual, slope in terms if key in dual.by]
        same = tuple((id(tangent), id(slope)) for tangent, slope in ways)
        if same not in made:
            made[same] = reduce(operator.add, (_times(*way) for way in ways))
        by[key] = made[same]
    return Dual(value, by, rest)


def _times(a: Any, b: Any) -> Any:
    if isinstance(a, float) and a == 1:
        return b
    return a if isinstance(b, float) and b == 1 else a * b


def _sigmoid(a: Dual) -> Dual:
    value, rest = 1 / (1 + np.exp(-a.value)), 1 / (1 + np.exp(a.value))
    return _chain(value, (a, value * rest), rest=rest)


def _tanh(a: Dual) -> Dual:
    e = np.exp(-2 * np.abs(a.value))  # can't overflow, as cosh can
    return _chain(np.tanh(a.value), (a, 4 * e / (1 + e) ** 2))


def _relu(a: Dual) -> Dual:
    return _chain(np.maximum(a.value, 0), (a, (a.value > 0).astype(a.value.dtype)))


def _positive(a: Dual) -> Dual:
    below = _sigmoid(Dual(np.minimum(a.value, 0), {("a", 0): 1.0}))
    slope = np.where(a.value >= 0, a.value.dtype.type(1), below.by["a", 0])
    return _chain(np.maximum(a.value, 0) + below.value, (a, slope))


class _Duals:
    """The namespace of duals, and of arrays of them, one a block."""

    sigmoid, tanh, positive = (np.frompyfunc(function, 1, 1) for function in (_sigmoid, _tanh, _positive))

    def __init__(self, activation: str) -> None:
        self.phi = self.tanh if activation == "tanh" else np.frompyfunc(_relu, 1, 1)
        self.cut: dict[str, Tangents] = {}

    def rest(self, z: Dual) -> Dual:
        return _chain(1 - z.value if z.rest is None else z.rest, (z, -1.0))

    def state(self, name: str, value: Dual) -> Dual:
        self.cut[name] = value.by
        return Dual(value.value, {("now", name): 1.0})


def _blocks(name: str, values: Array | None) -> Any:
    """Duals that a record can unpack and slice, of (G, …, H)."""
    if values is None:
        return None
    return np.array([Dual(block, {(name, k): 1.0}) for k, block in enumerate(values)], object)


def derivatives(
    layer: Layer, rows: Floats, hidden: Floats, cell: Floats | None = None
) -> dict[str, Tangents]:
    """Those of the second state, if there is one, and of the hidden state, by name: after steps from the
    states (…, H) and rows (…, G·H) of X W_x + b.
    """
    kind, xp = CELLS[layer.cell], _Duals(layer.activation)
    x, u = _blocks("x", layer.blocks(rows)), _blocks("u", layer.from_states(hidden))
    h = Dual(hidden, {("before", "hidden"): 1.0})
    if kind.linear:
        found = kind.step(xp, x)
        return {"hidden": (found["keep"] * h + found["write"]).by}
    found = kind.step(xp, x, u, h, *([Dual(cell, {("before", "cell"): 1.0})] if kind.has_cell else []))
    return {**xp.cut, "hidden": found["h"].by}


class Part(NamedTuple):
    """What enters a state: a block of the product with W_h, of that with W_x, or of both alike."""

    state: str
    block: int
    from_h: bool
    from_x: bool


@dataclass(frozen=True)
class Slopes:
    """One layer's local derivatives, n time steps of them.

    parts    (n, P, H)  of `of`, by state; where ∂/∂x and ∂/∂u of a block differ, it stands twice
    keep     (n, H)     of the second state, or of a single one, by itself before; None where there is none
    through  (n, H)     of the hidden state by the second one; None where there is none
    """

    layer: Layer
    of: tuple[Part, ...]
    parts: Floats
    keep: Floats | None
    through: Floats | None

    @cached_property
    def from_h(self) -> "Rows":
        """The parts that come from W_h, and its rows for these, (K·H, H)."""
        assert self.layer.W_h is not None
        return self._from([p for p, part in enumerate(self.of) if part.from_h], self.layer.W_h)

    @cached_property
    def from_x(self) -> "Rows":
        """The parts that come from W_x, and its rows for these, (K·H, X)."""
        return self._from([p for p, part in enumerate(self.of) if part.from_x], self.layer.W_x)

    def _from(self, parts: list[int], W: Floats) -> "Rows":
        blocks = W.reshape(-1, self.layer.units, W.shape[1])
        order = [self.of[p].block for p in parts]
        if order != list(range(len(blocks))):
            W = blocks[order].reshape(-1, W.shape[1])
        begin, end = parts[0], parts[-1] + 1
        return (slice(begin, end) if end - begin == len(parts) else parts), W


Rows = tuple[slice | list[int], Floats]
"""Parts, and the rows of a matrix that they multiply."""


def _entering(state: str, by: Tangents) -> list[Part]:
    """The parts of one state, such that those of either matrix stand together."""
    of = []
    for k in sorted({k for source, k in by if source in ("x", "u")}):
        x, u = by.get(("x", k)), by.get(("u", k))
        if u is not None:
            of.append(Part(state, k, True, x is u))
        if x is not u and x is not None:
            of.append(Part(state, k, False, True))
    return sorted(of, key=lambda part: part.from_x - part.from_h)


def slopes(layer: Layer, rows: Floats, hidden: Floats, cell: Floats | None = None) -> Slopes:
    """One layer's slopes, of rows (n, G·H) of X W_x + b and the states (n, H) before each step."""

    def found(some: slice) -> dict[str, Tangents]:
        with np.errstate(over="ignore", under="ignore"):
            return derivatives(layer, rows[some], hidden[some], None if cell is None else cell[some])

    one, last = found(slice(0, 1)), "hidden" if cell is None else "cell"
    of = [part for state, by in one.items() for part in _entering(state, by)]
    wanted: list[tuple[str, tuple[str, Any]]] = [
        (part.state, ("u" if part.from_h else "x", part.block)) for part in of
    ]
    diagonals = [(last, ("before", last)), ("hidden", ("now", "cell"))]
    parts = np.empty((len(rows), len(of), layer.units), rows.dtype)
    keep, through = (np.empty_like(hidden) if key in one[state] else None for state, key in diagonals)
    into = [*parts.swapaxes(0, 1), keep, through]
    for begin in range(0, len(rows), BLOCK):
        some = slice(begin, begin + BLOCK)
        values = found(some)
        for out, (state, key) in zip(into, wanted + diagonals, strict=True):
            if out is not None:
                out[some] = values[state][key]
    return Slopes(layer, tuple(of), parts, keep, through)
