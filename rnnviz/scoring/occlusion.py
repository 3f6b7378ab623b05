"""Occlusion: a prediction without one of the characters before it (Zeiler & Fergus 2014, arXiv:1311.2901).

A character is left out, or another input replaces it, and the network reads on from the state before it. Each
such text is one of a batch that reads side by side; a text joins the batch right after its character.

Shape letters: n characters, B texts side by side, G blocks, H units, L layers.
"""

from collections.abc import Sequence

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.networks.numpy_engine import NetworkReader, Weights, side_by_side
from rnnviz.networks.threads import single_blas_thread
from rnnviz.scoring.trace import Trace

MAX_OMISSIONS = 64
"""Characters before a prediction that are left out in turn: 64 readings by a 384-unit LSTM take 50 ms."""

TEXTS_PER_GROWTH = 16
"""Texts that join before the batch grows: each batch size records a step, so growing by one would be slow."""


def occlusion_bits(trace: Trace, t: int, last: int = MAX_OMISSIONS) -> Doubles:
    """Bits by which log P of character t of a traced text falls when an earlier character is left out and the
    text read on from there: (min(t, last),), the nearest character at the end. Negative where log P rises.

    >>> import rnnviz
    >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "the machine")
    >>> occlusion_bits(trace, 10).round(1)[-4:].tolist()
    [3.3, 2.9, 1.2, 13.7]
    """
    if t == 0:
        return np.zeros(0)
    first, target = max(0, t - last), int(trace.ids[t])
    before = [trace.state_after(s) for s in range(first, t)]
    # One thread: BLAS would share even a small product among cores, and wait for a core in use elsewhere.
    with single_blas_thread(1):
        tops = states_without_each(trace.weights, trace.ids[first:t], before)
        shorter_scores = target_scores(trace.weights, tops, target)
        whole_score = target_scores(trace.weights, trace.state_after(t)[0][-1:], target)
    return np.asarray((whole_score - shorter_scores) / np.log(2))


def target_scores(weights: Weights, top: Floats, target: int, against: int | None = None) -> Doubles:
    """(B,) log P of `target` in nats, less log P of `against` if given, for states (B, H) of the top
    layer.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a relu network may explode
        logits = weights.logits(top).astype(np.float64)
        # The exponential of a large logit would overflow.
        logits -= logits.max(axis=1, keepdims=True)
        baseline = np.log(np.exp(logits).sum(axis=1)) if against is None else logits[:, against]
        return np.asarray(logits[:, target] - baseline)


def states_without_each(
    weights: Weights,
    ids: Ids,
    before: Sequence[tuple[Floats, Floats | None]],
    instead: Floats | None = None,
) -> Floats:
    """The top layer's states (B, H) after `ids` (n,): text b leaves out character b of `ids`. `before` are
    the B states before these characters. `instead` (G·H,) replaces the character's sum W_x e + b in the
    first layer; None: the character is left out.
    """
    B, last = len(before), len(ids) - 1
    # Of "abcd", text 0 reads b c d from the state before a, text 1 reads c d from the state before b, and
    # text 2 reads d. So text s - 1 joins at character s, and all that have joined read the same one.
    start = side_by_side(before)
    if instead is not None:
        hidden, cell = driven_states(weights, start, np.broadcast_to(instead, (1, B, len(instead))))
        start = hidden[1], None if cell is None else cell[1]
    state = tuple(None if part is None else part.copy() for part in start)  # (L, B, H) each
    for begin in range(1, min(B, last) + 1, TEXTS_PER_GROWTH):
        wide = min(B, begin + TEXTS_PER_GROWTH - 1)
        group = tuple(None if part is None else part[:, :wide] for part in state)
        reader = NetworkReader(weights, (group[0], group[1]), texts=wide)  # type: ignore[arg-type]
        for s in range(begin, min(wide, last) + 1):
            for part, first in zip((reader.hidden, reader.cell), start, strict=True):
                if part is not None and first is not None:
                    part[0, :, s - 1] = first[:, s - 1]  # joins here: overwrites what it read while waiting
            reader.read(ids[s : s + 1])
        # The group was read in arrays of its own width; its states go back into the batch.
        for part, new in zip(group, (reader.hidden, reader.cell), strict=True):
            if part is not None and new is not None:
                part[:] = new[0]
    reader = NetworkReader(weights, (state[0], state[1]), texts=B)  # type: ignore[arg-type]
    reader.read(ids[B + 1 :])
    final: Floats = reader.hidden[0, -1]
    final[last:] = start[0][-1, last:]  # the text without its last character ends there: nothing is read
    return final


def initial_states(
    weights: Weights, state: tuple[Floats, Floats | None], rows: Floats
) -> tuple[Floats, Floats | None]:
    """Arrays of states (n + 1, L, B, H) for `rows` (n, B, G·H): the first is `state`, the others are 0."""
    hidden, cell = weights.states(len(rows) + 1, rows.shape[1])
    hidden[0] = state[0]
    if cell is not None and state[1] is not None:
        cell[0] = state[1]
    return hidden, cell


def driven_states(
    weights: Weights, state: tuple[Floats, Floats | None], rows: Floats
) -> tuple[Floats, Floats | None]:
    """The states (n + 1, L, B, H) from `state` on, with `rows` (n, B, G·H) as the first layer's sums W_x e +
    b.
    """
    hidden, cell = initial_states(weights, state, rows)
    weights.run(np.zeros(rows.shape[:2], np.int64), hidden, cell, first_rows=rows)
    return hidden, cell
