"""Tracer: a Trace kept up to date while its text changes; and `trace`, for one text or many.

A keystroke costs only the characters after the common prefix of the old text and the new one. A Trace is a
view into the Tracer's arrays, which are lent to it: an edit that would overwrite rows of a living Trace goes
on in new arrays. An example, where a caller still holds the Trace of "cat" when the text changes:

    "cats"   rows 0 .. 3 stay, row 4 is written behind them: nothing is copied
    "ca"     rows are left out, none is written: nothing is copied, and "cat" keeps its row 3
    "car"    row 3 would be overwritten: rows 0 .. 2 are copied to new arrays, and "cat" keeps the old ones

Several texts are read in step, a row of a batch each, on the GPU where the model is on one.

Shape letters: B texts of a batch, T time steps of the longest, L layers, H hidden units, V symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast, overload
from weakref import ref

import numpy as np

from rnnviz.arrays import Array, Arrays, Floats, Ids, Integers
from rnnviz.checks import checked
from rnnviz.networks.batched_scoring import MIN_SPLIT_CHARS, CharScorer, NumpyEngine
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_engine import LOGITS_ENTRIES, NO_CHANGES, Changes, StateChange, Weights, combined
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.prediction import OnRead, entropy, rank
from rnnviz.networks.progress import Progress, Reporter
from rnnviz.scoring.trace import Trace
from rnnviz.text.characters import normalise
from rnnviz.text.decoding import TextOrPath, text_of
from rnnviz.text.vocabulary import UNKNOWN_ID

FIRST_CAPACITY_ROWS = 256

PROGRESS_CHARS = 1_000
"""Characters between two steps of progress."""

MAX_BATCH_ENTRIES = 1 << 24
"""Entries of a batch's states, (T, B, L, H), at most: 64 MiB."""

MAX_BATCH_TEXTS = 64
"""Texts side by side, at most."""


@overload
def trace(  # type: ignore[overload-overlap]  # a str is an iterable of them
    model: Network,
    text: TextOrPath,
    *,
    change: StateChange | Sequence[StateChange] | None = None,
    ended: bool = False,
) -> Trace: ...
@overload
def trace(
    model: Network,
    text: Iterable[TextOrPath],
    *,
    change: StateChange | Sequence[StateChange] | None = None,
    ended: bool = False,
) -> list[Trace]: ...
@checked
def trace(
    model: Network,
    text: TextOrPath | Iterable[TextOrPath],
    *,
    change: StateChange | Sequence[StateChange] | None = None,
    ended: bool = False,
) -> Trace | list[Trace]:
    """The Trace of `model` reading a text: its states, predictions and costs.

    text     T characters, maybe none; a str is the text itself, a `pathlib.Path` a file; or a list of these,
             for a list of their Traces in the same order
    change   changes the network's states as it reads: `rnnviz.units.Clamp(17, 1.0)`, say, or a list
    ended    the text ends here, and the Trace has its end, U+0003, as one character more: of a network that
             knows where texts end

    Texts of a list are read side by side, on the GPU where the model is on one. Their Traces equal those of
    single texts to 1e-4, unless the network magnifies rounding: see `rnnviz.scoring.perplexity`. Raises
    TextError for a value that is no text, an unreadable file and half a surrogate pair, DecodingError for a
    file that is no text, ConfigError for a change of an absent layer or unit, or to states beyond float32.

    >>> import rnnviz
    >>> model = rnnviz.load("timemachine-gru")
    >>> trace = rnnviz.trace(model, "machine")
    >>> trace.hidden.shape, trace.log_probs.shape  # (T, L, H) and (T + 1, V)
    ((7, 1, 256), (8, 69))
    >>> [len(item) for item in rnnviz.trace(model, ["machine", "", "the lamp"])]
    [7, 0, 8]
    """
    if isinstance(text, Iterable) and not isinstance(text, str | bytes | bytearray):
        if change is None and not ended:
            return _trace_batch(model, text)
        return [trace(model, item, change=change, ended=ended) for item in text]
    changes = NO_CHANGES if change is None else combined(weights_of(model), change)
    tracer = Tracer(model, changes)
    read = text_of(text, model.vocabulary.characters)
    return tracer.extend(model.vocabulary.ended(read) if ended else read)


def trace_long_text(model: Network, text: str, progress: Progress | None = None) -> Trace:
    """`trace` of a text of any length, which reports its progress.

    A long text is read as stretches side by side, which moves a state by rounding alone: see
    `rnnviz.networks.batched_scoring`.
    """
    tracer, weights, report = Tracer(model), weights_of(model), Reporter(progress)
    if len(text) >= MIN_SPLIT_CHARS and weights.cell in CELLS and CELLS[weights.cell].mixes:
        text = normalise(text, model.normaliser)
        scorer = CharScorer(NumpyEngine(weights, all_states=True), model.vocabulary.start, wide=True)
        ids = np.append(model.vocabulary.encode(text), 0)  # a scorer doesn't read the last symbol
        hidden, *cell = scorer.states(ids, _share_callback(len(text), report))
        return tracer.adopt(text, hidden[1:], cell[0][1:] if cell else None)
    traced = tracer.extend("")
    for end in range(PROGRESS_CHARS, len(text) + PROGRESS_CHARS, PROGRESS_CHARS):
        traced = tracer.extend(text[:end])
        report(end / max(1, len(text)))
    return traced


def _share_callback(length: int, report: Reporter) -> OnRead:
    """A callback of a scorer that reports the share of a text of `length` characters which has been read."""
    read = 0

    def on_read(characters: int, nats: float) -> None:
        nonlocal read
        read += characters
        report(read / length)

    return on_read


class Tracer:
    """A Trace that follows a text while it is edited: `extend` takes the whole new text.

    `computed` counts the characters that the last call read, `changed` is their range (start, stop). The
    weights are the model's when the Tracer was made. `changes` may change states, see `Weights.run`.

    >>> import rnnviz
    >>> tracer = Tracer(rnnviz.load("timemachine-gru"))
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
        # The newest prediction, logits (1, V) and the log of their sum, and its row. It scores the next
        # character, so a key at the text's end costs one product with the readout's weights, not two.
        self._prediction, self._prediction_row = self._weights.predict(hidden[1:, -1]), 0
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
            "entropy": entropy(*self._prediction).astype(np.float64),
        }
        self._rows = _grow_rows(first, 1, FIRST_CAPACITY_ROWS)
        # The views of living Traces, with the row behind their last one. Weak: a Trace that its caller drops
        # lends nothing any more, and the next edit writes in place.
        self._lent: list[tuple[int, ref[Array]]] = []

    def extend(self, text: str) -> Trace:
        """The Trace of the whole `text`; TextError for half a surrogate pair leaves the Tracer as it was."""
        text = normalise(text, self._normaliser)
        prefix = common_prefix(self._text, text)
        return self._update(text, self._vocabulary.encode(text[prefix:]), prefix)

    def adopt(self, text: str, hidden: Floats, cell: Floats | None) -> Trace:
        """The Trace of a normalised `text` whose states (T, L, H) were computed elsewhere."""
        return self._update(text, self._vocabulary.encode(text), 0, (hidden, cell))

    def _update(
        self, text: str, ids: Ids, prefix: int, states: tuple[Floats, Floats | None] | None = None
    ) -> Trace:
        self._make_room(prefix, len(text))
        # The part that stays valid if reading is interrupted, as by Ctrl-C: the next call goes on from there.
        self._text = text[:prefix]
        self._read(prefix, ids, states)
        self._text = text
        self.computed = len(ids)
        self.changed = (prefix, len(text))
        return self._lend()

    def _make_room(self, prefix: int, length: int) -> None:
        """Make rows prefix + 1 .. length writable: they exist, and no Trace looks at them."""
        capacity = len(self._rows["inputs"])
        self._lent = [(stop, view) for stop, view in self._lent if view() is not None]
        if length + 1 > capacity:
            capacity = max(length + 1, 2 * capacity)
        elif length == prefix or all(stop <= prefix + 1 for stop, _view in self._lent):
            # Nothing is written, as after a deletion, or only rows that no living Trace has.
            return
        self._rows, self._lent = _grow_rows(self._rows, prefix + 1, capacity), []

    def _read(self, prefix: int, ids: Integers, states: tuple[Floats, Floats | None] | None = None) -> None:
        rows, weights = self._rows, self._weights
        end = prefix + len(ids)
        new = {name: values[prefix + 1 : end + 1] for name, values in rows.items()}
        # Views, so all results are written into the Tracer's arrays, without a copy.
        new["inputs"][:] = ids
        new["known"][:] = ids != UNKNOWN_ID
        if states is None:
            cell = rows["cell"][prefix : end + 1] if "cell" in rows else None
            weights.run(ids, rows["hidden"][prefix : end + 1], cell, self._changes, prefix + 1)
        else:
            for name, values in zip(("hidden", "cell"), states, strict=True):
                if values is not None:
                    new[name][:] = values
        # A long paste in pieces: all logits at once, (T, V), would take more memory than the states.
        block = max(1, LOGITS_ENTRIES // self._vocabulary.size)
        for begin in range(prefix, end, block):
            self._score(begin, min(begin + block, end))
        new["nll"][ids == UNKNOWN_ID] += self._vocabulary.unknown_cost
        np.cumsum(new["nll"], out=new["total"])
        new["total"] += rows["total"][prefix]
        # A perplexity may be beyond float64: infinite then, without numpy's warning.
        with np.errstate(over="ignore"):
            np.exp(new["total"] / np.arange(prefix + 1, end + 1), out=new["perplexity"])

    def _score(self, begin: int, end: int) -> None:
        rows = self._rows
        # After an edit in the middle the newest prediction is elsewhere: this one is computed again.
        if self._prediction_row != begin:
            self._prediction = self._weights.predict(rows["hidden"][begin : begin + 1, -1])
        new = {name: values[begin + 1 : end + 1] for name, values in rows.items()}
        logits, log_sum = self._weights.predict(new["hidden"][:, -1])
        new["entropy"][:] = entropy(logits, log_sum)
        # Row t is scored by the prediction of row t - 1.
        before, before_sum = self._prediction
        if end > begin + 1:
            before = np.concatenate((before, logits[:-1]))
            before_sum = np.concatenate((before_sum, log_sum[:-1]))
        np.subtract(before_sum, before[np.arange(end - begin), new["inputs"]], out=new["nll"])
        new["rank"][:] = rank(before, new["inputs"])
        # Copied: a view of the last row would keep the logits of a whole paste.
        self._prediction, self._prediction_row = (logits[-1:].copy(), log_sum[-1:]), end

    def _lend(self) -> Trace:
        stop = len(self._text) + 1
        whole = {name: _read_only_view(values[:stop]) for name, values in self._rows.items()}
        # A slice keeps its whole view alive, so a view lives for as long as any Trace has its rows.
        self._lent += [(stop, ref(view)) for view in whole.values()]
        text_rows = {name: values[1:] for name, values in whole.items()}
        return Trace(
            text=self._text,
            model_name=self._name,
            vocabulary=self._vocabulary,
            ids=text_rows["inputs"],
            known=text_rows["known"],
            hidden=text_rows["hidden"],
            cell=text_rows.get("cell"),
            nll=text_rows["nll"],
            perplexity=text_rows["perplexity"],
            rank=text_rows["rank"],
            entropy=whole["entropy"],
            _inputs=whole["inputs"],
            _states=whole["hidden"],
            _cells=whole.get("cell"),
            _weights=self._weights,
        )


def _grow_rows(rows: Arrays, prefix: int, capacity: int) -> Arrays:
    """New arrays of `capacity` rows, the first `prefix` of them copied."""
    new = {name: np.empty((capacity, *values.shape[1:]), values.dtype) for name, values in rows.items()}
    for name, values in rows.items():
        new[name][:prefix] = values[:prefix]
    return new


def _read_only_view(array: Array) -> Array:
    """A read-only view that can't be made writable, unlike one with its flag cleared: Traces share memory."""
    return np.asarray(array.data.toreadonly())


def common_prefix(old: str, new: str) -> int:
    """The length of the common prefix, by bisection over slices: faster than character by character."""
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


def _trace_batch(model: Network, texts: Iterable[TextOrPath]) -> list[Trace]:
    """The Trace of each text, read side by side."""
    weights = weights_of(model)
    alphabet = model.vocabulary.characters
    normalised = [normalise(text_of(text, alphabet), model.normaliser) for text in texts]
    if type(weights) is not Weights:  # a Python function's step: one text at a time
        return [Tracer(model).extend(text) for text in normalised]
    traces: dict[int, Trace] = {}  # by the text's number, as batches are sorted by length
    for group in _groups([len(text) for text in normalised], len(weights.layers) * weights.layers[0].units):
        ids = [model.vocabulary.encode(normalised[n]) for n in group]
        hidden, *cell = _read_batch(model, weights, ids)
        for row, n in enumerate(group):
            rows = slice(len(normalised[n])), slice(None), row
            traces[n] = Tracer(model).adopt(normalised[n], hidden[rows], cell[0][rows] if cell else None)
    return [traces[n] for n in range(len(normalised))]


def _groups(lengths: Sequence[int], units: int) -> Iterator[list[int]]:
    """The texts' numbers in batches, the longest first: texts of a batch are then about as long."""
    order = sorted(range(len(lengths)), key=lambda n: -lengths[n])
    while order:
        size = max(1, min(MAX_BATCH_TEXTS, MAX_BATCH_ENTRIES // max(1, lengths[order[0]] * units)))
        yield order[:size]
        order = order[size:]


def _read_batch(model: Network, weights: Weights, ids: Sequence[Ids]) -> tuple[Floats, ...]:
    """Every state after each character, (T, L, B, H): H, and an LSTM's C; meaningless after a text's end."""
    inputs = np.zeros((1 + max(map(len, ids)), len(ids)), np.int64)
    inputs[0] = model.vocabulary.start
    for row, symbols in enumerate(ids):
        inputs[1 : len(symbols) + 1, row] = symbols
    on_gpu = getattr(model, "device_name", "CPU") != "CPU"
    if on_gpu and not model.vocabulary.ends:  # on the CPU numpy is faster than torch
        return cast("tuple[Floats, ...]", cast(Any, model).states(inputs))
    hidden, cell = weights.states(len(inputs) + 1, len(ids))
    weights.run(inputs, hidden, cell)
    return tuple(part[2:] for part in (hidden, cell) if part is not None)
