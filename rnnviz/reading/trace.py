"""Trace: all that a model did while it read a text. Tracer: the same, kept up to date while the text changes.

The model reads the start symbol first, so row 0 of the predictions is about the first character.

A keystroke costs only what follows the common prefix of the old text and the new one. A Trace is a view into
the Tracer's arrays; an edit that would overwrite rows somebody can still see goes on in new arrays.
Log-probabilities and gates are derived from the states when asked for.

Shape letters: T time steps, L layers, H hidden units, V symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.prediction import entropy, rank
from rnnviz.networks.stepping import LOGITS, NO_HOOKS, Hooks, Weights
from rnnviz.reading.growing_rows import Rows, View
from rnnviz.text.normalising import normalise
from rnnviz.text.vocabulary import UNKNOWN, Vocabulary

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

FIRST_CAPACITY = 256


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """What a model did while it read `text`, normalised. All arrays are read-only.

    ids         (T,)       integers of the characters, 0 where unknown
    hidden      (T, L, H)  float32, H_t after reading character t
    cell        (T, L, H)  float32, C_t of an LSTM; None for other cells
    nll         (T,)       nats, -log P(x_t | x_<t), with `Vocabulary.unknown_cost` where unknown
    perplexity  (T,)       of the characters up to and including t
    rank        (T,)       1 where nothing was more probable than what came; an unknown character as <unk>
    entropy     (T + 1,)   nats, of the prediction after t characters
    """

    text: str
    model_name: str
    vocabulary: Vocabulary
    ids: Integers
    known: npt.NDArray[np.bool_]
    hidden: Floats
    cell: Floats | None
    nll: Doubles
    perplexity: Doubles
    rank: Integers
    entropy: Doubles
    # With the start symbol's step in row 0: what the derived quantities need.
    _inputs: Integers
    _states: Floats
    _cells: Floats | None
    _weights: Weights

    def __repr__(self) -> str:
        measured = f", perplexity {self.perplexity[-1]:.3f}" if len(self) else ""
        return f"<Trace of {len(self):,} characters by {self.model_name or 'a model'}{measured}>"

    def __len__(self) -> int:
        return len(self.text)

    @property
    def weights(self) -> Weights:
        """What the text was read with."""
        return self._weights

    def state_after(self, t: int) -> tuple[Floats, Floats | None]:
        """H (L, H) after t characters, and an LSTM's C; raises ConfigError outside 0 .. T."""
        _check(t, t + 1, len(self) + 1, "states")
        return self._states[t], None if self._cells is None else self._cells[t]

    @cached_property
    def log_probs(self) -> Floats:
        """(T + 1, V) float32, nats: row t is log P(x_{t+1} | x_1 .. x_t). Cached."""
        return _read_only(self.log_probs_at(0, len(self) + 1))

    def log_probs_at(self, start: int, stop: int) -> Floats:
        """Rows start .. stop - 1 of `log_probs`, (stop - start, V); raises ConfigError outside 0 .. T + 1."""
        _check(start, stop, len(self) + 1, "predictions")
        return self._weights.log_probs(self._states[start:stop, -1])

    @cached_property
    def gates(self) -> dict[str, Floats]:
        """Each gate's values, (T, L, H) float32, by the names of `rnnviz.networks.cells`."""
        return {name: _read_only(values) for name, values in self.gates_at(0, len(self)).items()}

    def gates_at(self, start: int, stop: int) -> dict[str, Floats]:
        """Rows start .. stop - 1 of each of `gates`; raises ConfigError outside 0 .. T."""
        _check(start, stop, len(self), "characters")
        return self._weights.gates(self._inputs[start + 1 : stop + 1], self._states[start : stop + 1])

    def top_at(self, start: int, stop: int, k: int) -> tuple[Integers, Floats]:
        """The k most probable symbols of predictions start .. stop - 1: (ids, probabilities).

        Both (stop - start, min(k, V)), ties by id. Raises ConfigError for rows outside 0 .. T + 1 or k < 1.
        """
        if k < 1:
            raise ConfigError("top needs k >= 1 symbols; received {k}", k=k)
        log_probs = self.log_probs_at(start, stop)
        ids = _largest(log_probs, k)
        return ids, np.exp(np.take_along_axis(log_probs, ids, axis=1))

    def top(self, t: int, k: int) -> list[tuple[int, float]]:
        """The k most probable symbols after t characters as (id, probability); see `top_at`."""
        ids, probabilities = self.top_at(t, t + 1, k)
        return list(zip(ids[0].tolist(), probabilities[0].tolist(), strict=True))


def trace(model: Network, text: str) -> Trace:
    """Read `text` (any length, also empty) with `model`.

    >>> import rnnviz
    >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "machine")
    >>> trace.hidden.shape, trace.log_probs.shape
    ((7, 1, 256), (8, 69))

    Raises TextError for a text with half a surrogate pair in it.
    """
    return Tracer(model).extend(text)


class Tracer:
    """A Trace that follows a text while it is edited: `extend` takes the whole new text.

    `computed` counts the characters the last call read, `changed` is their range (start, stop). The weights
    are those the model had when the Tracer was made. `hooks` may change states, see `Weights.run`.

    >>> import rnnviz
    >>> tracer = rnnviz.Tracer(rnnviz.load("timemachine-gru"))
    >>> len(tracer.extend("machine")), tracer.computed
    (7, 7)
    >>> len(tracer.extend("machines")), tracer.computed
    (8, 1)
    """

    def __init__(self, model: Network, hooks: Hooks = NO_HOOKS) -> None:
        self.computed = 0
        self.changed = (0, 0)
        self._vocabulary, self._name, self._normaliser = model.vocabulary, model.name, model.normaliser
        self._weights, self._hooks = weights_of(model), hooks
        self._text = ""
        hidden, cell = self._weights.states(2)
        self._rows = rows = Rows(FIRST_CAPACITY, hidden.shape[1], hidden.shape[2], cell is not None)
        rows.inputs[0] = model.vocabulary.start
        self._weights.run(rows.inputs[:1], hidden, cell, hooks)
        rows.hidden[0] = hidden[1]
        if rows.cell is not None and cell is not None:
            rows.cell[0] = cell[1]
        # The newest prediction (1, V) and its row: what the next character is scored by.
        self._ahead, self._ahead_row = self._weights.predict(hidden[1:, -1]), 0
        rows.entropy[0] = entropy(*self._ahead)[0]

    def extend(self, text: str) -> Trace:
        """The Trace of the whole `text`; TextError for half a surrogate pair leaves the Tracer as it was."""
        text = normalise(text, self._normaliser)
        kept = _common_prefix(self._text, text)
        ids = self._vocabulary.encode(text[kept:])
        self._make_room(kept, len(text))
        self._text = text[:kept]  # what holds, should the next line be interrupted
        self._read(kept, ids)
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

    def _read(self, kept: int, ids: Integers) -> None:
        rows, weights = self._rows, self._weights
        end = kept + len(ids)
        rows.inputs[kept + 1 : end + 1] = ids
        rows.known[kept + 1 : end + 1] = ids != UNKNOWN
        cell = None if rows.cell is None else rows.cell[kept : end + 1]
        weights.run(ids, rows.hidden[kept : end + 1], cell, self._hooks, kept + 1)
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


def _largest(rows: Floats, k: int) -> Integers:
    """The columns of the k largest entries of each row, largest first, then by column."""
    falling = -rows
    if rows.shape[1] < 8 * k:
        return np.argsort(falling, axis=1, kind="stable")[:, :k]
    # Sorting whole rows of a large vocabulary takes ten times as long as picking k and sorting those.
    picked = np.argpartition(falling, k - 1, axis=1)[:, :k]
    picked.sort(axis=1)
    values = np.take_along_axis(falling, picked, axis=1)
    columns = np.take_along_axis(picked, np.argsort(values, axis=1, kind="stable"), axis=1)
    tied = np.count_nonzero(falling <= values.max(axis=1, keepdims=True), axis=1) > k
    columns[tied] = np.argsort(falling[tied], axis=1, kind="stable")[:, :k]
    return columns


def _common_prefix(old: str, new: str) -> int:
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


def _check(start: int, stop: int, rows: int, what: str) -> None:
    if not 0 <= start <= stop <= rows:
        raise ConfigError(
            "rows {start} to {stop} were asked for; this trace has {rows:,} {what}, from 0 on",
            start=start,
            stop=stop,
            rows=rows,
            what=what,
        )


def _read_only(array: Floats) -> Floats:
    array.setflags(write=False)
    return array
