"""Trace: all that a model did while it read a text.

The model reads the start symbol first, so row 0 of the predictions is about the first character.
Log-probabilities and gates are derived from the states when asked for.

Shape letters: T time steps, L layers, H hidden units, V symbols.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles, Floats, Integers, Mask, read_only
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.networks.config import check_quantity
from rnnviz.networks.numpy_engine import Weights
from rnnviz.reprs import Pictured
from rnnviz.scoring import frames, trace_file
from rnnviz.scoring.perplexity import running
from rnnviz.text import files
from rnnviz.text.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Pictured):
    """A model's states, predictions and costs as it read the normalised `text`. All arrays are read-only.

    `trace[a:b]` is the Trace of characters a .. b - 1, as they were read after all characters before them: a
    view, no copy. States, predictions and costs stay the same; the running perplexity begins anew with
    character a. `save` keeps a Trace in a file.

    ids         (T,)       integers of the characters, 0 where unknown
    hidden      (T, L, H)  float32, H_t after reading character t
    cell        (T, L, H)  float32, C_t of an LSTM; None for other cells
    nll         (T,)       nats, -log P(x_t | x_<t), with `Vocabulary.unknown_cost` where unknown
    perplexity  (T,)       of the characters up to and including t
    rank        (T,)       1 where the most probable character came; unknown characters rank as <unk>
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
    # The derived quantities need these, with the start symbol's step in row 0.
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
        """The weights that the text was read with."""
        return self._weights

    def state_after(self, at: int) -> tuple[Floats, Floats | None]:
        """H (L, H) after `at` characters, and an LSTM's C; raises ConfigError outside 0 .. T."""
        _check(at, at + 1, len(self) + 1, "states")
        return self._states[at], None if self._cells is None else self._cells[at]

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
        """Each gate's values, (T, L, H) float32, by name: "reset", "update" (the share of H_{t-1} kept) and
        "candidate" of a GRU, "input", "forget", "output" and "candidate" of an LSTM.
        """
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

    @checked
    def top(self, at: int, k: int = 10) -> list[tuple[str, float]]:
        """The k most probable symbols after `at` characters as (character, probability); see `top_at`.

        >>> import rnnviz
        >>> rnnviz.trace(rnnviz.load("timemachine-gru"), "the mach").top(8, 1)[0][0]
        'i'
        """
        ids, probabilities = self.top_at(at, at + 1, k)
        symbols = map(self.vocabulary.symbol, ids[0].tolist())
        return list(zip(symbols, probabilities[0].tolist(), strict=True))

    def values(self, quantity: str) -> Floats:
        """A quantity of the units, (T, L, H) float32: "hidden", "cell" or a gate.

        Raises ConfigError for a quantity that this network lacks.
        """
        if quantity == "hidden":
            return self.hidden
        if quantity == "cell" and self.cell is not None:
            return self.cell
        check_quantity(quantity, self._weights.cell)
        return self.gates[quantity]

    def frame(self, k: int = 3) -> Any:
        """A pandas DataFrame with a row for each character: position, character, nll, rank, entropy, and the
        k most probable characters with their probabilities, top_1, p_1, top_2, p_2 and so on.

        Positions count from 0. All values are of the prediction before the character was read: `nll` and
        `entropy` in nats, rank 1 the most probable. `<unk>` stands for all unknown characters. Raises
        ConfigError for k < 0, and where pandas is missing.

        >>> import rnnviz
        >>> frame = rnnviz.trace(rnnviz.load("timemachine-gru"), "the mach").frame(k=1)
        >>> list(frame.columns), "".join(frame.top_1)
        (['position', 'character', 'nll', 'rank', 'entropy', 'top_1', 'p_1'], ' he soch')
        """
        return frames.frame(self.columns(k))

    def columns(self, k: int = 3) -> dict[str, npt.NDArray[Any]]:
        """The columns of `frame` as arrays (T,), without pandas."""
        T = len(self)
        found: dict[str, npt.NDArray[Any]] = {
            "position": np.arange(T),
            "character": np.array(list(self.text), dtype=object),
            "nll": self.nll,
            "rank": self.rank,
            "entropy": self.entropy[:T],
        }
        if k:
            ids, probabilities = self.top_at(0, T, k)
            symbols = np.array(list(map(self.vocabulary.symbol, range(self.vocabulary.size))), dtype=object)
            for n in range(ids.shape[1]):
                found |= {f"top_{n + 1}": symbols[ids[:, n]], f"p_{n + 1}": probabilities[:, n]}
        return found

    def states_frame(
        self, *quantities: str, layer: int | None = None, units: Sequence[int] | None = None
    ) -> Any:
        """A pandas DataFrame with a row for each character, unit and quantity: position, character, layer,
        unit, quantity, value. Positions, layers and units count from 0.

        Only the quantities named are computed, by default "hidden". A text of T characters has T·L·H rows for
        each: `layer` and `units` choose among them. Raises ConfigError for an absent quantity, layer or unit,
        and where pandas is missing.

        >>> import rnnviz
        >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "machine")
        >>> trace.states_frame("hidden", "update", units=[17]).shape
        (14, 6)
        """
        values = {name: self.values(name) for name in quantities or ("hidden",)}
        return frames.frame(frames.columns(self.text, values, layer, units))

    def save(self, path: str | os.PathLike[str], *quantities: str) -> None:
        """Write this trace to an npz file, for `Trace.load`, with the weights that derived quantities need.

        `numpy.load` reads the file too: text, hidden, nll and so on under the names of this class, and the
        gates that `quantities` name. Raises ConfigError for an absent quantity, ExportError where the file
        can't be written.
        """
        path, content = files.check_output(path, ".npz"), self.to_bytes(*quantities)
        with files.replacing(path) as file:
            file.write(content)

    def to_bytes(self, *quantities: str) -> bytes:
        """The content of the file that `save` writes.

        >>> import numpy as np
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
            _ = one.log_probs, one.gates  # raises unless the weights fit
        except trace_file.DAMAGE as error:
            raise trace_file.unreadable("the file", f"its weights do not fit: {error}") from None
        return found


def _largest(rows: Floats, k: int) -> Integers:
    """The columns of the k largest entries of each row, largest first, then by column."""
    falling = -rows
    if rows.shape[1] < 8 * k:
        return np.argsort(falling, kind="stable")[:, :k]
    # Sorting whole rows of a large vocabulary takes ten times as long as picking k and sorting those.
    picked = np.argpartition(falling, k - 1)[:, :k]
    picked.sort()
    values = np.take_along_axis(falling, picked, axis=1)
    columns = np.take_along_axis(picked, np.argsort(values, kind="stable"), axis=1)
    tied = np.count_nonzero(falling <= values.max(axis=1, keepdims=True), axis=1) > k
    columns[tied] = np.argsort(falling[tied], kind="stable")[:, :k]
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
