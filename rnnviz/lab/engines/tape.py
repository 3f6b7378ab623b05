"""A cell's record as instructions for one row of a batch at one time step, forward and back.

The record runs once, on stand-ins that note each operation. The chain rule, from the last note to the first,
gives the notes of the way back (reverse accumulation, Linnainmaa 1970). No slope is derived by hand, and a
new cell trains as quickly as the others. Values that the way back needs are kept, unless one subtraction
gives them again.

`kernels` carries out instructions `(operation, result, one argument, another)`. The last three number vectors
of H units: PLACE_SIZE times one of the places below, plus the vector's number in that place.

    X, U       the blocks of X_t W_x + b and of H_{t-1} W_h, in torch's order
    OLD, NEW   the state before the step and after it; OLD_C and NEW_C an LSTM's C
    KEPT       values kept for the way back. Its last instructions overwrite them with the gradients of U, and
               of the blocks of X whose gradient differs from U's
    ROOM       values that are forgotten after the step
    D, D_C     the gradient of the state after the step; at the end, of the state before it, without the part
               that passes through W_h
"""

# The GRU's tape, worked out (torch's order of blocks: 0 reset, 1 update, 2 candidate; d is D, later D's new
# value):
#
#     forward                                 backward
#     ROOM0 = X0 + U0                         ROOM0 = 1 - KEPT1               made again, not kept
#     ROOM1 = X1 + U1                         ROOM1 = D * KEPT0               gradient of 1 - z
#     KEPT3 = sigmoid(ROOM0)      r           ROOM2 = D * ROOM0               of n
#     KEPT1 = sigmoid(ROOM1)      z           ROOM3 = -ROOM1                  of z, through 1 - z
#     ROOM2 = KEPT3 * U2                      ROOM4 = D * OLD                 of z, through z * h
#     ROOM3 = X2 + ROOM2                      ROOM5 = D * KEPT1               of h, without W_h
#     KEPT0 = tanh(ROOM3)         n           ROOM6 = ROOM3 + ROOM4           of z
#     ROOM4 = KEPT1 * OLD                     ROOM7 = ROOM2 * (1 - KEPT0^2)   of n's sum, and so of X2
#     ROOM5 = 1 - KEPT1                       ROOM8 = ROOM7 * KEPT2           of r
#     ROOM6 = ROOM5 * KEPT0                   KEPT2 = ROOM7 * KEPT3           of U2
#     NEW = ROOM4 + ROOM6                     ROOM9 = ROOM6 * z * (1 - z)     of U1 and X1
#     KEPT2 = U2                              KEPT0 = ROOM8 * r * (1 - r)     of U0 and X0
#                                             KEPT1 = ROOM9
#                                             KEPT3 = ROOM7
#                                             D = ROOM5
#
# After the way back KEPT0 .. KEPT2 are the gradients of U0 .. U2, in one piece for the product with W_h.
# Those of X0 and X1 are the same vectors; X2's is KEPT3, as r is between U2 and the sum. `sources` says so:
# 0, 1, 3.
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rnnviz.networks.cells import CELLS

ADD, MUL, NEG, REST, SIGMOID, TANH, RELU, POSITIVE, PUT, ZERO = range(10)
TO_SIGMOID, TO_TANH, TO_RELU, TO_POSITIVE = range(10, 14)
"""Operations of the way back; their arguments are the gradient of a result, and the result."""

PLACES = X, U, OLD, OLD_C, NEW, NEW_C, KEPT, ROOM, D, D_C = range(10)
PLACE_SIZE = 64

_BACK = {SIGMOID: TO_SIGMOID, TANH: TO_TANH, RELU: TO_RELU, POSITIVE: TO_POSITIVE}


class Tape(NamedTuple):
    """The instructions of a cell.

    forward, backward  (n, 4) instructions each
    kept_vectors, room_vectors  vectors in KEPT and ROOM
    products           blocks of U: as many as of X, or 0
    sources            for each block of X, the vector of KEPT that becomes its gradient
    """

    forward: npt.NDArray[np.int64]
    backward: npt.NDArray[np.int64]
    kept_vectors: int
    room_vectors: int
    products: int
    sources: npt.NDArray[np.int64]


class _Value:
    """The result of an operation, which a record takes for an array; without one, a vector from before the
    step."""

    def __init__(self, notes: "_Notes", operation: int = -1, *args: "_Value", at: int = -1) -> None:
        self.notes, self.operation, self.args, self.at = notes, operation, args, at
        if operation >= 0:
            notes.made.append(self)

    def __add__(self, other: "_Value") -> "_Value":
        return _Value(self.notes, ADD, self, other)

    # Of a subtraction and its chain rule only their parts are there: fewer operations to write a kernel for.
    def __sub__(self, other: "_Value") -> "_Value":
        return self + -other

    def __mul__(self, other: "_Value") -> "_Value":
        return _Value(self.notes, MUL, self, other)

    def __neg__(self) -> "_Value":
        return _Value(self.notes, NEG, self)

    def back(self, d: "_Value") -> "list[_Value]":
        """The gradient of each argument, from the gradient `d` of this result."""
        if self.operation == ADD:
            return [d, d]
        if self.operation == MUL:
            left, right = self.args
            return [d * right, d * left]
        # The slope of 1 - a is that of -a.
        if self.operation in (NEG, REST):
            return [-d]
        return [_Value(self.notes, _BACK[self.operation], d, self)]


class _Notes:
    """The namespace `xp` that notes each operation; blocks are numpy's arrays of `_Value`."""

    def __init__(self, activation: str) -> None:
        self.made: list[_Value] = []
        self.sigmoid, self.tanh, self.rest, self.positive, self.phi = (
            # Blocks are object arrays, so that x[:2] + u[:2] notes an operation for each block. frompyfunc
            # does the same for functions; the default argument binds each operation where a loop variable
            # would be the last one.
            np.frompyfunc(lambda a, operation=operation: _Value(self, operation, a), 1, 1)
            for operation in (SIGMOID, TANH, REST, POSITIVE, TANH if activation == "tanh" else RELU)
        )

    def state(self, name: str, value: _Value) -> _Value:
        return value

    def vectors(self, place: int, indices: Sequence[int] = (0,)) -> Any:
        """Vectors of a place, as they are before the step."""
        return np.array([_Value(self, at=place * PLACE_SIZE + n) for n in indices], dtype=object)


@cache
def tape(cell: str, activation: str) -> Tape:
    """The instructions of a cell."""
    kind, notes = CELLS[cell], _Notes(activation)
    x, u = notes.vectors(X, kind.stored), notes.vectors(U, kind.stored)
    before = [notes.vectors(place)[0] for place in (OLD, OLD_C)[: 1 + kind.has_cell]]
    if kind.linear:
        parts = kind.step(notes, x)
        # A linear cell's own step is the recurrence itself; here it is a step like the others.
        after = [parts["keep"] * before[0] + parts["write"]]
    else:
        parts = kind.step(notes, x, u, *before)
        after = [parts[name] for name in "hc"[: len(before)]]
    # The way there is complete. Operations on gradients, from the last result to the first, are the way back.
    way_there = list(notes.made)
    slopes = {value: notes.vectors(place)[0] for value, place in zip(after, (D, D_C), strict=False)}
    # Each value's gradient is complete when its turn comes: whatever reads it was noted later. A value that
    # nothing reads has no gradient, and costs nothing.
    for value in reversed(way_there):
        for arg, d in zip(value.args, value.back(slopes[value]), strict=True) if value in slopes else ():
            slopes[arg] = slopes[arg] + d if arg in slopes else d
    back = notes.made[len(way_there) :]

    # Values of the way there that the way back reads are kept, unless they outlive the step anyway, or one
    # subtraction gives them again.
    at = {value: place * PLACE_SIZE for value, place in zip(after, (NEW, NEW_C), strict=False)}
    lost = [
        v for v in dict.fromkeys(arg for value in back for arg in value.args) if v not in at and v not in back
    ]
    again = [value for value in lost if value.operation == REST]
    saved = [v for v in [*lost, *(a for value in again for a in value.args)] if v not in again and _passes(v)]
    slots = {value: KEPT * PLACE_SIZE + n for n, value in enumerate(dict.fromkeys(saved))}
    # What has an operation is made in its slot of KEPT; a vector of U is copied there, as the next step's U
    # lies there.
    targets = at | {value: slot for value, slot in slots.items() if value.operation >= 0}
    forward, room = _laid_out(way_there, targets, [(slots[v], v) for v in slots if v not in targets])

    # The gradients of U come first in KEPT: `kernels` multiplies them with W_h as they lie.
    grads = [slopes[u[kind.stored.index(n)]] for n in range(len(u))] if kind.mixes else []
    products = len(grads)
    for block in x:
        if slopes[block] not in grads:
            grads.append(slopes[block])
    outs = [(KEPT * PLACE_SIZE + n, d) for n, d in enumerate(grads)]
    outs += [(place * PLACE_SIZE, slopes.get(h)) for h, place in zip(before, (D, D_C), strict=False)]
    backward, backward_room = _laid_out([*again, *back], at | slots, outs)
    sources = [grads.index(slopes[x[kind.stored.index(n)]]) for n in range(len(x))]
    return Tape(
        forward, backward, max(len(slots), len(grads)), max(room, backward_room), products, np.array(sources)
    )


def _passes(value: _Value) -> bool:
    """Whether a value is lost after the step unless it is kept."""
    return value.operation >= 0 or value.at // PLACE_SIZE == U


def _laid_out(
    values: list[_Value], at: dict[_Value, int], outs: list[tuple[int, _Value | None]]
) -> tuple[npt.NDArray[np.int64], int]:
    """Instructions that make `values`, and the number of vectors in ROOM.

    at    where a value goes; other values go into ROOM
    outs  places and the values that they get in the end, zeros for None: made there at once where no later
          instruction reads the place's old content, else copied at the end

    ROOM has a vector for each result: all lie in the core's cache. No result overwrites an argument, as the
    compiler then couldn't take several numbers at a time.
    """
    at, room, rows = dict(at), 0, list[list[int]]()
    # The last instruction that reads each place: after it the place may be overwritten.
    read = {at.get(arg, arg.at): n for n, value in enumerate(values) for arg in value.args}
    for place, output in outs:
        if output in values and output not in at and read.get(place, -1) < values.index(output):
            at[output] = place
    for value in values:
        if value not in at:
            at[value] = ROOM * PLACE_SIZE + room
            room += 1
        args = [at.get(arg, arg.at) for arg in value.args]
        rows.append([value.operation, at[value], args[0], args[-1]])
    for place, output in outs:
        if output is None:
            rows.append([ZERO, place, 0, 0])
        elif (source := at.get(output, output.at)) != place:
            rows.append([PUT, place, source, 0])
    return np.array(rows, np.int64), room
