"""A prediction without one of the characters before it (Zeiler & Fergus 2014, arXiv:1311.2901).

A character is left out, or another input stands in its place, and the network reads on from the state before
it. Each character makes a text of its own; they are read side by side, and each joins behind its character.

Shape letters: n characters, B texts side by side, G parts of a cell, H units, L layers.
"""

from collections.abc import Sequence

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.networks.batch import Batch
from rnnviz.networks.stepping import Weights
from rnnviz.networks.threads import ours
from rnnviz.reading.trace import Trace

LAST = 64
"""Characters before a prediction that are left out: a 384-unit LSTM reads on without each in 50 ms."""


def left_out(trace: Trace, t: int, last: int = LAST) -> Doubles:
    """How many bits log P of character t of a traced text falls by when a character before it is left out and
    the text is read on from there: (min(t, last),), the nearest one at the end. Negative where it rises.

    >>> import rnnviz
    >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "the machine")
    >>> left_out(trace, 10).round(1)[-4:].tolist()
    [3.3, 2.9, 1.2, 13.7]
    """
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
    batch = Batch(weights, len(before))
    for text, state in enumerate(before):
        batch.start(text, state)
    if instead is not None:
        batch.step(ids[:1], driven=instead[None])
    for s in range(1, len(ids)):
        batch.first(min(s, len(before))).step(ids[s : s + 1])
    return np.asarray(batch.hidden[-1])
