"""Trace: all that a model did while it read a text. Tracer: a Trace kept up to date while the text changes.

The model reads the start symbol first, so row 0 of the predictions is about the first character.
Log-probabilities and gates are derived from the states when asked for.

A keystroke costs only what follows the common prefix of the old text and the new one. A Trace is a view into
the Tracer's arrays; an edit that would overwrite rows somebody can still see goes on in new arrays.

Shape letters: T time steps, L layers, H hidden units, V symbols.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, BinaryIO
from weakref import ref

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Array, Arrays, Doubles, Floats, Integers, Mask, read_only
from rnnviz.errors import ConfigError
from rnnviz.networks.batched_scoring import LEAST, CharScorer, Done, NumpyEngine
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import KINDS
from rnnviz.networks.numpy_engine import LOGITS, NO_CHANGES, Changes, StateChange, Weights, combined
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.prediction import entropy, rank
from rnnviz.networks.progress import mapped
from rnnviz.pictured import Pictured
from rnnviz.scoring import frames, trace_file
from rnnviz.scoring.perplexity import running
from rnnviz.text import files
from rnnviz.text.characters import normalise
from rnnviz.text.vocabulary import UNKNOWN, Vocabulary

FIRST_CAPACITY = 256

PIECE = 1_000
"""Characters between two steps of progress."""


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Pictured):
    """What a model did while it read `text`, normalised. All arrays are read-only.

    `trace[a:b]` is the Trace of characters a .. b - 1, as they were read after all that came before: a view,
    no copy. Its states, predictions and costs are those of the whole; its running perplexity begins anew,
    over its own characters. `save` keeps a Trace in a file.

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
    known: Mask
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

    def __getitem__(self, window: slice) -> Trace:
        if not isinstance(window, slice) or window.step not in (None, 1):
            raise ConfigError(
                "a part of a trace is trace[start:stop], without a step; received {window!r}", window=window
            )
        start, stop, _ = window.indices(len(self))
        stop = max(start, stop)
        chars, rows = slice(start, stop), slice(start, stop + 1)
        return replace(
            self,
            text=self.text[chars],
            ids=self.ids[chars],
            known=self.known[chars],
            hidden=self.hidden[chars],
            cell=None if self.cell is None else self.cell[chars],
            nll=self.nll[chars],
            perplexity=read_only(running(self.nll[chars])),
            rank=self.rank[chars],
            entropy=self.entropy[rows],
            _inputs=self._inputs[rows],
            _states=self._states[rows],
            _cells=None if self._cells is None else self._cells[rows],
        )

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
        return read_only(self.log_probs_at(0, len(self) + 1))

    def log_probs_at(self, start: int, stop: int) -> Floats:
        """Rows start .. stop - 1 of `log_probs`, (stop - start, V); raises ConfigError outside 0 .. T + 1."""
        _check(start, stop, len(self) + 1, "predictions")
        return self._weights.log_probs(self._states[start:stop, -1])

    @cached_property
    def logits(self) -> Floats:
        """(T + 1, V) float32: O of each prediction; `log_probs` is its log-softmax. Cached."""
        return read_only(self._weights.logits(self._states[:, -1]))

    @cached_property
    def gates(self) -> dict[str, Floats]:
        """Each gate's values, (T, L, H) float32, by the names of `rnnviz.networks.cells`."""
        return {name: read_only(values) for name, values in self.gates_at(0, len(self)).items()}

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

    def top(self, t: int, k: int) -> list[tuple[str, float]]:
        """The k most probable symbols after t characters as (character, probability); see `top_at`.

        >>> import rnnviz
        >>> rnnviz.trace(rnnviz.load("timemachine-gru"), "the mach").top(8, 1)[0][0]
        'i'
        """
        ids, probabilities = self.top_at(t, t + 1, k)
        symbols = map(self.vocabulary.symbol, ids[0].tolist())
        return list(zip(symbols, probabilities[0].tolist(), strict=True))

    def values(self, quantity: str) -> Floats:
        """A quantity of the units, (T, L, H) float32: "hidden", "cell" or a gate. Raises ConfigError for one
        that this network hasn't got.
        """
        if quantity == "hidden":
            return self.hidden
        if quantity == "cell" and self.cell is not None:
            return self.cell
        names = KINDS[self._weights.cell].quantities
        if quantity not in names:
            raise ConfigError(
                "this trace holds {held}; received {quantity!r}", held=", ".join(names), quantity=quantity
            )
        return self.gates[quantity]

    def to_frame(self, *quantities: str, layer: int | None = None, units: Sequence[int] | None = None) -> Any:
        """A pandas DataFrame with a row for each character, unit and quantity: position, character, layer,
        unit, quantity, value. Positions, layers and units count from 0.

        Only the quantities named are computed, by default "hidden". A text of T characters has T·L·H rows for
        each: `layer` and `units` choose among them. Raises ConfigError for a quantity, layer or unit that
        isn't there, and where pandas is missing.

        >>> import rnnviz
        >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "machine")
        >>> trace.to_frame("hidden", "update", units=[17]).shape
        (14, 6)
        """
        return frames.frame(self.columns(*quantities, layer=layer, units=units))

    def columns(
        self, *quantities: str, layer: int | None = None, units: Sequence[int] | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """The columns of `to_frame` as arrays (n,), without pandas; the same errors."""
        values = {name: self.values(name) for name in quantities or ("hidden",)}
        return frames.columns(self.text, values, layer, units)

    def save(self, path: str | os.PathLike[str], *quantities: str) -> None:
        """Write this trace to an npz file, for `Trace.load`, with the weights that the derived quantities
        need. `numpy.load` reads it too: text, hidden, nll and so on by the names above, and the gates that
        `quantities` name. Raises ConfigError for a quantity that isn't there, ExportError where the file
        can't be written.
        """
        content = self.to_bytes(*quantities)
        with files.replacing(path) as file:
            file.write(content)

    def to_bytes(self, *quantities: str) -> bytes:
        """The content of the file that `save` writes.

        >>> import io
        >>> import rnnviz
        >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "machine")
        >>> content = trace.to_bytes("update")
        >>> np.load(io.BytesIO(content))["update"].shape
        (7, 1, 256)
        >>> rnnviz.Trace.load(io.BytesIO(content))
        <Trace of 7 characters by timemachine-gru, perplexity 3.359>
        """
        return trace_file.pack(self, {name: self.values(name) for name in quantities})

    @classmethod
    def load(cls, source: str | os.PathLike[str] | BinaryIO) -> Trace:
        """The Trace in a file that `save` wrote; CheckpointError for any other file."""
        found = cls(**trace_file.read(source))
        try:
            one = found[:1]
            _ = one.log_probs, one.gates  # which tells whether the weights fit
        except trace_file.DAMAGE as error:
            raise trace_file.unreadable("the file", f"its weights do not fit: {error}") from None
        return found


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


def _check(start: int, stop: int, rows: int, what: str) -> None:
    if not 0 <= start <= stop <= rows:
        raise ConfigError(
            "rows {start} to {stop} were asked for; this trace has {rows:,} {what}, from 0 on",
            start=start,
            stop=stop,
            rows=rows,
            what=what,
        )


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
        self._weights.run(np.array([model.vocabulary.start]), hidden, cell, changes)
        # The newest prediction (1, V) and its row: what the next character is scored by.
        self._ahead, self._ahead_row = self._weights.predict(hidden[1:, -1]), 0
        # Row 0 is for the start symbol, then comes a row for each character.
        first = {
            "inputs": np.array([model.vocabulary.start]),
            "known": np.zeros(1, np.bool_),
            "hidden": hidden[1:],
            **({} if cell is None else {"cell": cell[1:]}),
            "nll": np.zeros(1),
            "total": np.zeros(1),  # of nll, up to and including the row
            "perplexity": np.zeros(1),
            "rank": np.zeros(1, np.int64),
            "entropy": entropy(*self._ahead).astype(np.float64),
        }
        self._rows = _longer(first, 1, FIRST_CAPACITY)
        self._lent: list[tuple[int, ref[Array]]] = []  # views that were given away, and their rows

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
        capacity = len(self._rows["inputs"])
        self._lent = [(stop, view) for stop, view in self._lent if view() is not None]
        if length + 1 > capacity:
            capacity = max(length + 1, 2 * capacity)
        elif length == kept or all(stop <= kept + 1 for stop, _view in self._lent):
            return  # of a deletion, too: nothing is written, and an older Trace keeps its rows
        self._rows, self._lent = _longer(self._rows, kept + 1, capacity), []

    def _read(self, kept: int, ids: Integers, states: tuple[Floats, Floats | None] | None = None) -> None:
        rows, weights = self._rows, self._weights
        end = kept + len(ids)
        new = {name: values[kept + 1 : end + 1] for name, values in rows.items()}
        new["inputs"][:] = ids
        new["known"][:] = ids != UNKNOWN
        if states is None:
            cell = rows["cell"][kept : end + 1] if "cell" in rows else None
            weights.run(ids, rows["hidden"][kept : end + 1], cell, self._changes, kept + 1)
        else:
            for name, values in zip(("hidden", "cell"), states, strict=True):
                if values is not None:
                    new[name][:] = values
        block = max(1, LOGITS // self._vocabulary.size)
        for begin in range(kept, end, block):
            self._score(begin, min(begin + block, end))
        new["nll"][ids == UNKNOWN] += self._vocabulary.unknown_cost
        np.cumsum(new["nll"], out=new["total"])
        new["total"] += rows["total"][kept]
        with np.errstate(over="ignore"):
            np.exp(new["total"] / np.arange(kept + 1, end + 1), out=new["perplexity"])

    def _score(self, begin: int, end: int) -> None:
        rows = self._rows
        if self._ahead_row != begin:
            self._ahead = self._weights.predict(rows["hidden"][begin : begin + 1, -1])
        new = {name: values[begin + 1 : end + 1] for name, values in rows.items()}
        logits, log_sum = self._weights.predict(new["hidden"][:, -1])
        new["entropy"][:] = entropy(logits, log_sum)
        # Row t is scored by the prediction of row t - 1.
        before, before_sum = self._ahead
        if end > begin + 1:
            before = np.concatenate((before, logits[:-1]))
            before_sum = np.concatenate((before_sum, log_sum[:-1]))
        np.subtract(before_sum, before[np.arange(end - begin), new["inputs"]], out=new["nll"])
        new["rank"][:] = rank(before, new["inputs"])
        self._ahead, self._ahead_row = (logits[-1:].copy(), log_sum[-1:]), end

    def _show(self) -> Trace:
        stop = len(self._text) + 1
        whole = {name: _unwritable(values[:stop]) for name, values in self._rows.items()}
        # A slice of a view keeps the whole of it, so that it lives for as long as anybody looks at its rows.
        self._lent += [(stop, ref(view)) for view in whole.values()]
        of_text = {name: values[1:] for name, values in whole.items()}
        return Trace(
            text=self._text,
            model_name=self._name,
            vocabulary=self._vocabulary,
            ids=of_text["inputs"],
            known=of_text["known"],
            hidden=of_text["hidden"],
            cell=of_text.get("cell"),
            nll=of_text["nll"],
            perplexity=of_text["perplexity"],
            rank=of_text["rank"],
            entropy=whole["entropy"],
            _inputs=whole["inputs"],
            _states=whole["hidden"],
            _cells=whole.get("cell"),
            _weights=self._weights,
        )


def _longer(rows: Arrays, kept: int, capacity: int) -> Arrays:
    """New arrays of so many rows, the first `kept` of them the same."""
    new = {name: np.empty((capacity, *values.shape[1:]), values.dtype) for name, values in rows.items()}
    for name, values in rows.items():
        new[name][:kept] = values[:kept]
    return new


def _unwritable(array: Array) -> Array:
    """A view that can't be made writable again, as one with its flag cleared can: others share its memory."""
    return np.asarray(array.data.toreadonly())


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
