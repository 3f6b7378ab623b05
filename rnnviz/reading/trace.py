"""Tracer: a Trace kept up to date while the text changes. `trace`: that of a text.

A keystroke costs only what follows the common prefix of the old text and the new one. A Trace is a view into
the Tracer's arrays; an edit that would overwrite rows somebody can still see goes on in new arrays.

Shape letters: T time steps, L layers, H hidden units, V symbols.
"""

from collections.abc import Generator, Sequence
from functools import partial

import numpy as np

from rnnviz.arrays import Floats, Integers
from rnnviz.networks.batched_scoring import LEAST, CharScorer, Done, NumpyEngine
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_engine import LOGITS, NO_CHANGES, Changes, StateChange, combined
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.prediction import entropy, rank
from rnnviz.networks.progress import mapped
from rnnviz.reading.growing_rows import Rows, View
from rnnviz.reading.traced import Trace as Trace
from rnnviz.text.characters import normalise
from rnnviz.text.vocabulary import UNKNOWN

FIRST_CAPACITY = 256

PIECE = 1_000
"""Characters between two steps of progress."""


def trace(model: Network, text: str, *, change: StateChange | Sequence[StateChange] | None = None) -> Trace:
    """Read `text` (any length, also empty) with `model`, its states changed by `change` as it reads.

    >>> import rnnviz
    >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "machine")
    >>> trace.hidden.shape, trace.log_probs.shape
    ((7, 1, 256), (8, 69))

    Raises TextError for half a surrogate pair, ConfigError for a change of what isn't there.
    """
    changes = NO_CHANGES if change is None else combined(weights_of(model), change)
    return Tracer(model, changes).extend(text)


def tracing(model: Network, text: str) -> Generator[float, None, Trace]:
    """`trace` as a generator that yields the share done, several times a second; closing cancels. A long text
    is read as stretches side by side, which moves a state by rounding alone: see `batched_scoring`.
    """
    tracer, weights = Tracer(model), weights_of(model)
    if len(text) >= LEAST and weights.cell in CELLS and CELLS[weights.cell].mixes:
        text = normalise(text, model.normaliser)
        scorer = CharScorer(NumpyEngine(weights, whole=True), model.vocabulary.start, wide=True)
        ids = np.append(model.vocabulary.encode(text), 0)  # what comes last is not read any more
        share = partial(_share, len(text))
        hidden, *cell = yield from mapped(scorer.states(ids), share)
        return tracer.adopt(text, hidden[1:], cell[0][1:] if cell else None)
    traced = tracer.extend("")
    for end in range(PIECE, len(text) + PIECE, PIECE):
        traced = tracer.extend(text[:end])
        yield min(1.0, end / max(1, len(text)))
    return traced


def _share(count: int, done: Done) -> float:
    return min(1.0, done.characters / count)


class Tracer:
    """A Trace that follows a text while it is edited: `extend` takes the whole new text.

    `computed` counts the characters the last call read, `changed` is their range (start, stop). The weights
    are those the model had when the Tracer was made. `changes` may change states, see `Weights.run`.

    >>> import rnnviz
    >>> tracer = rnnviz.Tracer(rnnviz.load("timemachine-gru"))
    >>> len(tracer.extend("machine")), tracer.computed
    (7, 7)
    >>> len(tracer.extend("machines")), tracer.computed
    (8, 1)
    """

    def __init__(self, model: Network, changes: Changes = NO_CHANGES) -> None:
        self.computed = 0
        self.changed = (0, 0)
        self._weights, self._changes = weights_of(model), changes
        self._vocabulary, self._name, self._normaliser = model.vocabulary, model.name, model.normaliser
        self._text = ""
        hidden, cell = self._weights.states(2)
        self._rows = rows = Rows(FIRST_CAPACITY, hidden.shape[1], hidden.shape[2], cell is not None)
        rows.inputs[0] = model.vocabulary.start
        self._weights.run(rows.inputs[:1], hidden, cell, changes)
        rows.hidden[0] = hidden[1]
        if rows.cell is not None and cell is not None:
            rows.cell[0] = cell[1]
        # The newest prediction (1, V) and its row: what the next character is scored by.
        self._ahead, self._ahead_row = self._weights.predict(hidden[1:, -1]), 0
        rows.entropy[0] = entropy(*self._ahead)[0]

    def extend(self, text: str) -> Trace:
        """The Trace of the whole `text`; TextError for half a surrogate pair leaves the Tracer as it was."""
        text = normalise(text, self._normaliser)
        return self._take(text, common_prefix(self._text, text))

    def adopt(self, text: str, hidden: Floats, cell: Floats | None) -> Trace:
        """The Trace of a normalised `text` whose states (T, L, H) were computed elsewhere."""
        return self._take(text, 0, (hidden, cell))

    def _take(self, text: str, kept: int, states: tuple[Floats, Floats | None] | None = None) -> Trace:
        ids = self._vocabulary.encode(text[kept:])
        self._make_room(kept, len(text))
        self._text = text[:kept]  # what holds, should the next line be interrupted
        self._read(kept, ids, states)
        self._text = text
        self.computed = len(ids)
        self.changed = (kept, len(text))
        return self._show()

    def _make_room(self, kept: int, length: int) -> None:
        """Make rows kept + 1 .. length writable: they exist, and no Trace looks at them."""
        rows = self._rows
        if length + 1 > rows.capacity:
            self._rows = rows.copy(kept + 1, max(length + 1, 2 * rows.capacity))
        elif length > kept and any(view.stop > kept + 1 for view in rows.views):
            self._rows = rows.copy(kept + 1, rows.capacity)
        # Otherwise a deletion: nothing is written, and an older Trace keeps its rows.

    def _read(self, kept: int, ids: Integers, states: tuple[Floats, Floats | None] | None = None) -> None:
        rows, weights = self._rows, self._weights
        end = kept + len(ids)
        rows.inputs[kept + 1 : end + 1] = ids
        rows.known[kept + 1 : end + 1] = ids != UNKNOWN
        hidden = rows.hidden[kept : end + 1]
        cell = None if rows.cell is None else rows.cell[kept : end + 1]
        if states is None:
            weights.run(ids, hidden, cell, self._changes, kept + 1)
        else:
            hidden[1:] = states[0]
            if cell is not None and states[1] is not None:
                cell[1:] = states[1]
        block = max(1, LOGITS // self._vocabulary.size)
        for begin in range(kept, end, block):
            self._score(begin, min(begin + block, end))
        cost = rows.nll[kept + 1 : end + 1]
        cost[ids == UNKNOWN] += self._vocabulary.unknown_cost
        total = rows.total[kept + 1 : end + 1]
        np.cumsum(cost, out=total)
        total += rows.total[kept]
        with np.errstate(over="ignore"):
            np.exp(total / np.arange(kept + 1, end + 1), out=rows.perplexity[kept + 1 : end + 1])

    def _score(self, begin: int, end: int) -> None:
        rows = self._rows
        if self._ahead_row != begin:
            self._ahead = self._weights.predict(rows.hidden[begin : begin + 1, -1])
        logits, log_sum = self._weights.predict(rows.hidden[begin + 1 : end + 1, -1])
        rows.entropy[begin + 1 : end + 1] = entropy(logits, log_sum)
        # Row t is scored by the prediction of row t - 1.
        before, before_sum = self._ahead
        if end > begin + 1:
            before = np.concatenate((before, logits[:-1]))
            before_sum = np.concatenate((before_sum, log_sum[:-1]))
        came = before[np.arange(end - begin), rows.inputs[begin + 1 : end + 1]]
        np.subtract(before_sum, came, out=rows.nll[begin + 1 : end + 1])
        rows.rank[begin + 1 : end + 1] = rank(before, rows.inputs[begin + 1 : end + 1])
        self._ahead, self._ahead_row = (logits[-1:].copy(), log_sum[-1:]), end

    def _show(self) -> Trace:
        rows = self._rows
        view = View(rows, len(self._text) + 1)
        inputs, states = view.array(rows.inputs), view.array(rows.hidden)
        cells = None if rows.cell is None else view.array(rows.cell)
        return Trace(
            text=self._text,
            model_name=self._name,
            vocabulary=self._vocabulary,
            ids=inputs[1:],
            known=view.array(rows.known)[1:],
            hidden=states[1:],
            cell=None if cells is None else cells[1:],
            nll=view.array(rows.nll)[1:],
            perplexity=view.array(rows.perplexity)[1:],
            rank=view.array(rows.rank)[1:],
            entropy=view.array(rows.entropy),
            _inputs=inputs,
            _states=states,
            _cells=cells,
            _weights=self._weights,
        )


def common_prefix(old: str, new: str) -> int:
    """The length of the common prefix, by comparing slices rather than characters."""
    if new.startswith(old):
        return len(old)
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
