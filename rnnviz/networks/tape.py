"""A cell's record as instructions for one row of a batch at one time step, forward and back. `kernels`
does them.

The record runs once, on stand-ins that note what is asked of them. Read from the last note to the first, the
chain rule gives the notes of the way back (reverse accumulation, Linnainmaa 1970): no slope is derived by
hand, and a new cell trains as quickly as the others. What the way back needs of the way there is kept; what
one subtraction gives again isn't.

An instruction is `(operation, result, one argument, another)`; the last three are numbers of vectors of H
numbers: SIZE times one of the places below, and which one there.

    X, U       the blocks of X_t W_x + b and of H_{t-1} W_h, where torch stacks them
    OLD, NEW   the state before the step and after it; OLD_C and NEW_C an LSTM's C
    KEPT       what the step keeps for the way back, whose last instructions overwrite it with the gradients
               of U, and of those blocks of X that have another
    ROOM       what is forgotten after the step
    D, D_C     the gradient of the state after the step, and at the end of the one before it, but for what
               passes through W_h
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rnnviz.networks.cells import CELLS

ADD, MUL, NEG, REST, SIGMOID, TANH, RELU, POSITIVE, PUT, ZERO = range(10)
TO_SIGMOID, TO_TANH, TO_RELU, TO_POSITIVE = range(10, 14)
"""Gradients: of a result's, and of the result."""

PLACES = X, U, OLD, OLD_C, NEW, NEW_C, KEPT, ROOM, D, D_C = range(10)
SIZE = 64

ROWS = 512
"""Of the gates' gradient, and of the states, that W_hh's gradient in bfloat16 is made of at a time."""

_BACK = {SIGMOID: TO_SIGMOID, TANH: TO_TANH, RELU: TO_RELU, POSITIVE: TO_POSITIVE}


class Tape(NamedTuple):
    """The instructions, (n, 4) each; the vectors that KEPT and ROOM have; blocks of U (as many as of X, or
    none) and of gradients; and for each block of X where its gradient is in KEPT.
    """

    forward: npt.NDArray[np.int64]
    backward: npt.NDArray[np.int64]
    kept: int
    room: int
    products: int
    sources: npt.NDArray[np.int64]


class _Value:
    """What an operation gives, in a record's place for an array; without one, what is there before."""

    def __init__(self, notes: "_Notes", operation: int = -1, *args: "_Value", at: int = -1) -> None:
        self.notes, self.operation, self.args, self.at = notes, operation, args, at
        if operation >= 0:
            notes.made.append(self)

    def __add__(self, other: "_Value") -> "_Value":
        return _Value(self.notes, ADD, self, other)

    def __sub__(self, other: "_Value") -> "_Value":
        return self + -other

    def __mul__(self, other: "_Value") -> "_Value":
        return _Value(self.notes, MUL, self, other)

    def __neg__(self) -> "_Value":
        return _Value(self.notes, NEG, self)

    def back(self, d: "_Value") -> "list[_Value]":
        """The gradient of each argument, of this one's."""
        if self.operation == ADD:
            return [d, d]
        if self.operation == MUL:
            one, other = self.args
            return [d * other, d * one]
        if self.operation in (NEG, REST):
            return [-d]
        return [_Value(self.notes, _BACK[self.operation], d, self)]


class _Notes:
    """The namespace that a record is run on; blocks are numpy's arrays of `_Value`."""

    def __init__(self, activation: str) -> None:
        self.made: list[_Value] = []
        self.sigmoid, self.tanh, self.rest, self.positive, self.phi = (
            np.frompyfunc(lambda a, operation=operation: _Value(self, operation, a), 1, 1)
            for operation in (SIGMOID, TANH, REST, POSITIVE, TANH if activation == "tanh" else RELU)
        )

    def state(self, name: str, value: _Value) -> _Value:
        return value

    def there(self, place: int, indices: Sequence[int] = (0,)) -> Any:
        """Vectors that are there before the step."""
        return np.array([_Value(self, at=place * SIZE + n) for n in indices], dtype=object)


@cache
def tape(cell: str, activation: str) -> Tape:
    """The instructions of a cell."""
    kind, notes = CELLS[cell], _Notes(activation)
    x, u = notes.there(X, kind.stored), notes.there(U, kind.stored)
    before = [notes.there(place)[0] for place in (OLD, OLD_C)[: 1 + kind.has_cell]]
    if kind.linear:
        found = kind.step(notes, x)
        after = [found["keep"] * before[0] + found["write"]]
    else:
        found = kind.step(notes, x, u, *before)
        after = [found[name] for name in "hc"[: len(before)]]
    there = list(notes.made)
    slopes = {value: notes.there(place)[0] for value, place in zip(after, (D, D_C), strict=False)}
    for value in reversed(there):
        for arg, d in zip(value.args, value.back(slopes[value]), strict=True) if value in slopes else ():
            slopes[arg] = slopes[arg] + d if arg in slopes else d
    back = notes.made[len(there) :]

    at = {value: place * SIZE for value, place in zip(after, (NEW, NEW_C), strict=False)}
    lost = [
        v for v in dict.fromkeys(arg for value in back for arg in value.args) if v not in at and v not in back
    ]
    again = [value for value in lost if value.operation == REST]
    kept = [v for v in [*lost, *(a for value in again for a in value.args)] if v not in again and _passes(v)]
    slots = {value: KEPT * SIZE + n for n, value in enumerate(dict.fromkeys(kept))}
    made = at | {value: slot for value, slot in slots.items() if value.operation >= 0}
    forward, room = _laid_out(there, made, [(slots[v], v) for v in slots if v not in made])

    grads = [slopes[u[kind.stored.index(n)]] for n in range(len(u))] if kind.mixes else []
    products = len(grads)
    for block in x:
        if slopes[block] not in grads:
            grads.append(slopes[block])
    outs = [(KEPT * SIZE + n, d) for n, d in enumerate(grads)]
    outs += [(place * SIZE, slopes.get(h)) for h, place in zip(before, (D, D_C), strict=False)]
    backward, more = _laid_out([*again, *back], at | slots, outs)
    sources = [grads.index(slopes[x[kind.stored.index(n)]]) for n in range(len(x))]
    return Tape(forward, backward, max(len(slots), len(grads)), max(room, more), products, np.array(sources))


def _passes(value: _Value) -> bool:
    """Whether it is gone after the step, unless it is kept."""
    return value.operation >= 0 or value.at // SIZE == U


def _laid_out(
    values: list[_Value], at: dict[_Value, int], outs: list[tuple[int, _Value | None]]
) -> tuple[npt.NDArray[np.int64], int]:
    """Instructions that make `values`, each where `at` says or else in ROOM, and put some into `outs`, zeros
    for None: at once where what lies there isn't read any more, or else at the end. And how many vectors ROOM
    has: one for each result, as all lie in the core's cache. No result lies where an argument does: the
    compiler couldn't take several numbers at a time.
    """
    at, room, rows = dict(at), 0, list[list[int]]()
    read = {at.get(arg, arg.at): n for n, value in enumerate(values) for arg in value.args}
    for place, found in outs:
        if found in values and found not in at and read.get(place, -1) < values.index(found):
            at[found] = place
    for value in values:
        if value not in at:
            at[value] = ROOM * SIZE + room
            room += 1
        args = [at.get(arg, arg.at) for arg in value.args]
        rows.append([value.operation, at[value], args[0], args[-1]])
    for place, found in outs:
        if found is None:
            rows.append([ZERO, place, 0, 0])
        elif (made := at.get(found, found.at)) != place:
            rows.append([PUT, place, made, 0])
    return np.array(rows, np.int64), room
