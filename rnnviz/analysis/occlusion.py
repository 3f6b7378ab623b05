"""A prediction without one of the characters before it (Zeiler & Fergus 2014, arXiv:1311.2901).

A character is left out, or another input stands in its place, and the network reads on from the state before
it. Each character makes a text of its own; they are read side by side, and each joins behind its character.

Shape letters: n characters, B texts side by side, G blocks, H units, L layers.
"""

from collections.abc import Sequence

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.networks.numpy_engine import NetworkReader, Weights, side_by_side
from rnnviz.networks.threads import ours
from rnnviz.scoring.trace import Trace

LAST = 64
"""Characters before a prediction that are left out: a 384-unit LSTM reads on without each in 50 ms."""

JOIN = 16
"""Texts that join in one batch: a step is recorded for each number of texts."""


def left_out(trace: Trace, t: int, last: int = LAST) -> Doubles:
    """How many bits log P of character t of a traced text falls by when a character before it is left out and
    the text is read on from there: (min(t, last),), the nearest one at the end. Negative where it rises.

    >>> import rnnviz
    >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "the machine")
    >>> left_out(trace, 10).round(1)[-4:].tolist()
    [3.3, 2.9, 1.2, 13.7]
    """
    if t == 0:
        return np.zeros(0)
    first, target = max(0, t - last), int(trace.ids[t])
    before = [trace.state_after(s) for s in range(first, t)]
    # BLAS would share products this small among cores, and wait for whichever another program is using.
    with ours(1):
        tops = without_each(trace.weights, trace.ids[first:t], before)
        left = scores(trace.weights, tops, target)
        whole = scores(trace.weights, trace.state_after(t)[0][-1:], target)
    return np.asarray((whole - left) / np.log(2))


def scores(weights: Weights, top: Floats, target: int, against: int | None = None) -> Doubles:
    """log P of `target`, less that of `against` if there is one, (B,), for states (B, H) of the top layer."""
    with np.errstate(over="ignore", invalid="ignore"):  # a relu network may explode
        logits = weights.logits(top).astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True)
        other = np.log(np.exp(logits).sum(axis=1)) if against is None else logits[:, against]
        return np.asarray(logits[:, target] - other)


def without_each(
    weights: Weights,
    ids: Ids,
    before: Sequence[tuple[Floats, Floats | None]],
    instead: Floats | None = None,
) -> Floats:
    """The top layer's states (B, H) after `ids` (n,), each time without another of the first B: `before` are
    the states before these. `instead` of it stands what the first layer adds up, (G·H,); None: nothing.
    """
    B, last = len(before), len(ids) - 1
    start = side_by_side(before)
    if instead is not None:
        hidden, cell = driven(weights, start, np.broadcast_to(instead, (1, B, len(instead))))
        start = hidden[1], None if cell is None else cell[1]
    state = tuple(None if part is None else part.copy() for part in start)  # (L, B, H) each
    for begin in range(1, min(B, last) + 1, JOIN):
        wide = min(B, begin + JOIN - 1)
        own = tuple(None if part is None else part[:, :wide] for part in state)
        reader = NetworkReader(weights, (own[0], own[1]), texts=wide)  # type: ignore[arg-type]
        for s in range(begin, min(wide, last) + 1):
            for part, first in zip((reader.hidden, reader.cell), start, strict=True):
                if part is not None and first is not None:
                    part[0, :, s - 1] = first[:, s - 1]  # it joins; what it has read in waiting is no matter
            reader.read(ids[s : s + 1])
        for part, new in zip(own, (reader.hidden, reader.cell), strict=True):
            if part is not None and new is not None:
                part[:] = new[0]
    reader = NetworkReader(weights, (state[0], state[1]), texts=B)  # type: ignore[arg-type]
    reader.read(ids[B + 1 :])
    found: Floats = reader.hidden[0, -1]
    found[last:] = start[0][-1, last:]  # after the last character nothing is read
    return found


def beginning(
    weights: Weights, state: tuple[Floats, Floats | None], rows: Floats
) -> tuple[Floats, Floats | None]:
    """States (n + 1, L, B, H), the first one `state`, the others 0, for `rows` (n, B, G·H) to be read."""
    hidden, cell = weights.states(len(rows) + 1, rows.shape[1])
    hidden[0] = state[0]
    if cell is not None and state[1] is not None:
        cell[0] = state[1]
    return hidden, cell


def driven(
    weights: Weights, state: tuple[Floats, Floats | None], rows: Floats
) -> tuple[Floats, Floats | None]:
    """The states (n + 1, L, B, H) from `state` on where the first layer adds up `rows` (n, B, G·H)."""
    hidden, cell = beginning(weights, state, rows)
    weights.run(np.zeros(rows.shape[:2], np.int64), hidden, cell, driven=rows)
    return hidden, cell
