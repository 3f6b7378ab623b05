"""Slopes: the local derivatives of a cell's step, by dual numbers.

A dual is a value with its derivatives: by a block of x or of u, by the states before, or by a second state
(Wengert 1964, "A simple automatic derivative evaluation program"). A cell's recorded step is elementwise, so
each derivative is one number a unit. For pre-activations a_t = x_t W_x + h_{t-1} W_h + b, backpropagation
through time multiplies by ∂h_t/∂a_t (Werbos 1990, "Backpropagation through time").

The recorded step's second state is cut off: ∂c_t/∂(…) and ∂h_t/∂c_t are separate, as a sweep needs them.

Derivatives come from pre-activations: 1 - h² of a saturated unit has no digits left in float32, 1/cosh²(a)
has all. Likewise σ'(a) = σ(a) σ(-a), and `rest` of a sigmoid is σ(-a).

Shape letters: n steps, G blocks, P parts, H units, X inputs; … any leading dimensions.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from rnnviz.arrays import Array, Floats, Mask
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_engine import Layer

BLOCK_STEPS = 64
"""Steps whose slopes are computed together: they stay in the processor's cache."""

UNIT_SLOPE = 1.0
"""The slope 1: `_times` recognises this very object, and skips the product."""

Tangents = dict[tuple[str, Any], Any]
"""A value's derivatives by ("x", block), ("u", block), ("before", state) and ("now", second state)."""

Part = tuple[str, str, int]
"""A part of the slopes, in sort order: the state it enters; its source "u", "x" or "ux" (both alike); the
block.
"""

Taken = tuple[slice | list[int], Floats]


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
    """`value` (…, H) and its derivatives, numbers or (…, H). `rest` is 1 - value with all digits, if
    known.
    """

    def __init__(self, value: Any, by: Tangents, rest: Any = None) -> None:
        self.value, self.by, self.rest = value, by, rest

    __add__ = _operator(operator.add, lambda a, b: UNIT_SLOPE, lambda a, b: UNIT_SLOPE)
    __sub__ = _operator(operator.sub, lambda a, b: UNIT_SLOPE, lambda a, b: -1.0)
    __mul__ = _operator(operator.mul, lambda a, b: b, lambda a, b: a)

    def __neg__(self) -> "Dual":
        return _chain(-self.value, (self, -1.0))


def _chain(value: Any, *terms: tuple[Dual, Any], rest: Any = None) -> Dual:
    """A dual of `value` by the chain rule, given each dual argument with the slope towards it.

    Equal products are computed once and stay one array: x + u has the same derivative by either, which
    `_parts` recognises by identity.
    """
    products: dict[tuple[tuple[int, int], ...], Any] = {}
    by: Tangents = {}
    for key in dict.fromkeys(key for dual, _ in terms for key in dual.by):
        ways = [(dual.by[key], slope) for dual, slope in terms if key in dual.by]
        # By identity, not by value: comparing arrays would cost as much as multiplying them.
        same = tuple((id(tangent), id(slope)) for tangent, slope in ways)
        if same not in products:
            products[same] = reduce(operator.add, (_times(*way) for way in ways))
        by[key] = products[same]
    return Dual(value, by, rest)


def _times(a: Any, b: Any) -> Any:
    return b if a is UNIT_SLOPE else a if b is UNIT_SLOPE else a * b


def _sigmoid(a: Dual) -> Dual:
    value, rest = 1 / (1 + np.exp(-a.value)), 1 / (1 + np.exp(a.value))
    return _chain(value, (a, value * rest), rest=rest)


def _tanh(a: Dual) -> Dual:
    e = np.exp(-2 * np.abs(a.value))  # can't overflow, as cosh can
    return _chain(np.tanh(a.value), (a, 4 * e / (1 + e) ** 2))


def _relu(a: Dual) -> Dual:
    return _chain(np.maximum(a.value, 0), (a, (a.value > 0).astype(a.value.dtype)))


def _positive(a: Dual) -> Dual:
    below = _sigmoid(Dual(np.minimum(a.value, 0), {("a", 0): UNIT_SLOPE}))
    slope = np.where(a.value >= 0, a.value.dtype.type(1), below.by["a", 0])
    return _chain(np.maximum(a.value, 0) + below.value, (a, slope))


class _Duals:
    """The operations of a recorded step, for duals and arrays of duals, one a block."""

    sigmoid, tanh, positive = (np.frompyfunc(function, 1, 1) for function in (_sigmoid, _tanh, _positive))

    def __init__(self, activation: str) -> None:
        self.phi = self.tanh if activation == "tanh" else np.frompyfunc(_relu, 1, 1)
        self.cut: dict[str, Dual] = {}

    def rest(self, z: Dual) -> Dual:
        return _chain(1 - z.value if z.rest is None else z.rest, (z, -1.0))

    def state(self, name: str, value: Dual) -> Dual:
        self.cut[name] = value
        return Dual(value.value, {("now", name): UNIT_SLOPE})


def _blocks(name: str, values: Array | None) -> Any:
    """Duals of the blocks (G, …, H), as an array that a recorded step can unpack and slice."""
    if values is None:
        return None
    # Duals in an object array: numpy then maps a cell's operations over the blocks, as over numbers.
    return np.array([Dual(block, {(name, k): UNIT_SLOPE}) for k, block in enumerate(values)], object)


def derivatives(layer: Layer, rows: Floats, hidden: Floats, cell: Floats | None = None) -> dict[str, Dual]:
    """The states after one step, by name, with their derivatives: the hidden state, and the second state if
    there is one. The step starts from the states (…, H) and the rows (…, G·H) of X W_x + b.
    """
    kind, xp = CELLS[layer.cell], _Duals(layer.activation)
    x, u = _blocks("x", layer.blocks(rows)), _blocks("u", layer.from_states(hidden))
    h = Dual(hidden, {("before", "hidden"): UNIT_SLOPE})
    if kind.linear:
        states = kind.step(xp, x)
        return {"hidden": states["keep"] * h + states["write"]}
    states = kind.step(
        xp, x, u, h, *([Dual(cell, {("before", "cell"): UNIT_SLOPE})] if kind.has_cell else [])
    )
    return {**xp.cut, "hidden": states["h"]}


@dataclass(frozen=True)
class Slopes:
    """One layer's local derivatives over n time steps, of one text or of … side by side.

    parts    (n, …, P, H)  of each state by a block of x and u, or of one of the two where they differ; the
             second state's before the hidden one's
    first    the number of parts that enter the second state; without one, P
    from_h   the parts that come from W_h, with its rows (K·H, H) for these; None without W_h
    from_x   the parts that come from W_x, with its rows for these, (K·H, X), or other rows each step, (n,
             K·H, X)
    keep     (n, …, H)     of the second state, or of a single one, by itself a step before; None where it is
             0
    through  (n, …, H)     of the hidden state by the second one; None without one
    begins   (n,)          whether the step reads a text's end, and so begins from no state; None: never
    """

    layer: Layer
    parts: Floats
    first: int
    from_h: Taken | None
    from_x: Taken
    keep: Floats | None
    through: Floats | None
    begins: Mask | None = None

    @property
    def flows(self) -> bool:
        """Whether a gradient flows from a state to the one before: not in an MLP."""
        return self.from_h is not None or self.keep is not None


def slopes(
    layer: Layer,
    rows: Floats,
    hidden: Floats,
    cell: Floats | None = None,
    *,
    forwards: bool = False,
    begins: Mask | None = None,
) -> Slopes:
    """One layer's slopes, from rows (n, …, G·H) of X W_x + b and the states (n + 1, …, H) before and after
    each step. `forwards` computes these states too, and writes all but the first; `begins` (n,) as in Slopes,
    of one text.
    """

    def step_duals(some: slice) -> dict[str, Dual]:
        h, c = hidden[some], None if cell is None else cell[some]
        if begins is not None:
            h, c = (
                np.where(begins[some, None], 0, h),
                None if c is None else np.where(begins[some, None], 0, c),
            )
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return derivatives(layer, rows[some], h, c)

    # Which derivatives there are depends on the cell alone, so the first step tells it for all.
    first_step, last = step_duals(slice(0, 1)), "hidden" if cell is None else "cell"
    part_keys = sorted(_parts(first_step))
    outputs: list[tuple[str, tuple[str, Any]]] = [(state, (source[0], k)) for state, source, k in part_keys]
    outputs += [(last, ("before", last)), ("hidden", ("now", "cell"))]
    before = hidden[:-1]
    parts = np.empty((*rows.shape[:-1], len(part_keys), layer.units), rows.dtype)
    keep, through = (
        np.empty_like(before) if key in first_step[state].by else None for state, key in outputs[-2:]
    )
    # Forwards each step needs the state of the one before; else all states are known, and many steps are
    # one array operation.
    steps = 1 if forwards else max(1, BLOCK_STEPS * layer.units // hidden[0].size)
    for begin in range(0, len(rows), steps):
        some = slice(begin, min(begin + steps, len(rows)))
        values = step_duals(some)
        for out, (state, key) in zip([*np.moveaxis(parts, -2, 0), keep, through], outputs, strict=True):
            if out is not None:
                out[some] = values[state].by[key]
        if forwards:
            hidden[begin + 1] = values["hidden"].value[0]
        if forwards and cell is not None:
            cell[begin + 1] = values["cell"].value[0]
    first = sum(state == last for state, _, _ in part_keys)
    from_h = None if layer.W_h is None else _taken(part_keys, "u", layer.W_h, layer.units)
    from_x = _taken(part_keys, "x", layer.W_x, layer.units)
    return Slopes(layer, parts, first, from_h, from_x, keep, through, begins)


def _parts(states: dict[str, Dual]) -> set[Part]:
    return {
        (state, "ux" if dual.by.get(("u", k)) is dual.by.get(("x", k)) else source, k)
        for state, dual in states.items()
        for source, k in dual.by
        if source in ("u", "x")
    }


def _taken(part_keys: list[Part], source: str, W: Floats, units: int) -> Taken:
    """The parts that come from `source`, as a slice if contiguous, and the rows of W for them."""
    chosen = [p for p, part in enumerate(part_keys) if source in part[1]]
    rows = W.reshape(-1, units, W.shape[1])[[part_keys[p][2] for p in chosen]].reshape(-1, W.shape[1])
    together = chosen[-1] - chosen[0] < len(chosen)
    return slice(chosen[0], chosen[-1] + 1) if together else chosen, rows
