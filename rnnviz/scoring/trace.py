"""Trace: all that a model did while it read a text.

The model reads the start symbol first, so row 0 of the predictions is about the first character.
Log-probabilities and gates are derived from the states when asked for.

Shape letters: T time steps, L layers, H hidden units, V symbols.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles, Floats, Integers, Mask, read_only
from rnnviz.checks import checked
from rnnviz.errors import CheckpointError, ConfigError
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import check_quantity, removed_cell_error
from rnnviz.networks.numpy_engine import Layer, Weights
from rnnviz.reprs import Pictured
from rnnviz.scoring import frames
from rnnviz.scoring.perplexity import running_perplexity
from rnnviz.scoring.words import words_of_text
from rnnviz.text import files
from rnnviz.text.vocabulary import Vocabulary, code_points


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
        # Predictions have one row more than characters: the first is made before any was read.
        chars, rows = slice(start, stop), slice(start, stop + 1)
        return replace(
            self,
            text=self.text[chars],
            ids=self.ids[chars],
            known=self.known[chars],
            hidden=self.hidden[chars],
            cell=None if self.cell is None else self.cell[chars],
            nll=self.nll[chars],
            perplexity=read_only(running_perplexity(self.nll[chars])),
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
        _check_rows(at, at + 1, len(self) + 1, "states")
        return self._states[at], None if self._cells is None else self._cells[at]

    @cached_property
    def log_probs(self) -> Floats:
        """(T + 1, V) float32, nats: row t is log P(x_{t+1} | x_1 .. x_t). Cached."""
        return read_only(self.log_probs_at(0, len(self) + 1))

    def log_probs_at(self, start: int, stop: int) -> Floats:
        """Rows start .. stop - 1 of `log_probs`, (stop - start, V); raises ConfigError outside 0 .. T + 1."""
        _check_rows(start, stop, len(self) + 1, "predictions")
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
        _check_rows(start, stop, len(self), "characters")
        # Row 0 is the start symbol's. A gate at t needs input t and the state before it.
        return self._weights.gates(self._inputs[start + 1 : stop + 1], self._states[start : stop + 1])

    def top_at(self, start: int, stop: int, k: int) -> tuple[Integers, Floats]:
        """The k most probable symbols of predictions start .. stop - 1: (ids, probabilities).

        Both (stop - start, min(k, V)), ties by id. Raises ConfigError for rows outside 0 .. T + 1 or k < 1.
        """
        if k < 1:
            raise ConfigError("top needs k >= 1 symbols; received {k}", k=k)
        log_probs = self.log_probs_at(start, stop)
        ids = _largest_columns(log_probs, k)
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

    def frame(
        self,
        k: int = 3,
        *,
        by: Literal["character", "word"] = "character",
        blanks: Literal["next", "previous"] = "next",
    ) -> Any:
        """A pandas DataFrame with a row for each character: position, character, nll, rank, entropy, and the
        k most probable characters with their probabilities, top_1, p_1, top_2, p_2 and so on. Or, by="word",
        with a row for each word (`rnnviz.scoring.words`): word, start, end, nats, bits. The word is
        text[start:end]; white space counts for the "next" word or the "previous" one, so the nats add up to
        the text's. Chinese characters are words.

        Positions count from 0. All values are of the prediction before the character was read: `nll` and
        `entropy` in nats, rank 1 the most probable. `<unk>` stands for all unknown characters. Raises
        ConfigError for k < 0, and where pandas is missing.

        >>> import rnnviz
        >>> frame = rnnviz.trace(rnnviz.load("timemachine-gru"), "the mach").frame(k=1)
        >>> list(frame.columns), "".join(frame.top_1)
        (['position', 'character', 'nll', 'rank', 'entropy', 'top_1', 'p_1'], ' he soch')
        >>> words = rnnviz.trace(rnnviz.load("timemachine-gru"), "the machine").frame(by="word")
        >>> words.word.tolist(), words.end.tolist()
        (['the', 'machine'], [3, 11])
        """
        if by not in ("character", "word"):
            raise ConfigError("a row is a 'character' or a 'word'; received {by!r}", by=by)
        if by == "word":
            return frames.frame(words_of_text(self.text, blanks).columns(self.nll))
        return frames.frame(self.columns(k))

    def columns(self, k: int = 3) -> dict[str, npt.NDArray[Any]]:
        """The columns of `frame` as arrays (T,), without pandas."""
        T = len(self)
        columns: dict[str, npt.NDArray[Any]] = {
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
                columns |= {f"top_{n + 1}": symbols[ids[:, n]], f"p_{n + 1}": probabilities[:, n]}
        return columns

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
        return pack_trace(self, {name: self.values(name) for name in quantities})

    @classmethod
    def load(cls, source: str | os.PathLike[str] | BinaryIO) -> Trace:
        """The Trace in a file that `save` wrote; CheckpointError for any other file."""
        trace = cls(**read_trace(source))
        try:
            first = trace[:1]
            _ = first.log_probs, first.gates  # raises unless the weights fit
        except DAMAGE as error:
            raise unreadable_trace("the file", f"its weights do not fit: {error}") from None
        return trace


def _largest_columns(rows: Floats, k: int) -> Integers:
    """The columns of the k largest entries of each row, largest first, then by column."""
    falling = -rows
    if rows.shape[1] < 8 * k:
        return np.argsort(falling, kind="stable")[:, :k]
    # Sorting whole rows of a large vocabulary takes ten times as long as picking k and sorting those.
    picked = np.argpartition(falling, k - 1)[:, :k]
    picked.sort()
    values = np.take_along_axis(falling, picked, axis=1)
    columns = np.take_along_axis(picked, np.argsort(values, kind="stable"), axis=1)
    # Of equals at the k-th place argpartition takes any: such rows are sorted whole.
    tied = np.count_nonzero(falling <= values.max(axis=1, keepdims=True), axis=1) > k
    columns[tied] = np.argsort(falling[tied], kind="stable")[:, :k]
    return columns


def _check_rows(start: int, stop: int, rows: int, plural: str) -> None:
    if not 0 <= start <= stop <= rows:
        raise ConfigError(
            "rows {start} to {stop} were asked for; this trace has {rows:,} {what}, from 0 on",
            start=start,
            stop=stop,
            rows=rows,
            what=plural,
        )


Arrays = Mapping[str, npt.NDArray[Any]]

FILE_FORMAT = 2
"""A trace in a file: an npz archive of named arrays, which numpy reads as well.

    about         JSON: format, model_name, the vocabulary's code points, the cells of the layers
    text          code points (T,) uint32
    hidden, ...   (T, ...) as in `rnnviz.Trace`; hidden_before and the like: after the start symbol
    weights.…     the weights, from which derived quantities are computed

No array is pickled, so a stranger's file can't run anything.
"""

MAX_FILE_BYTES = 4 << 30
"""Bytes of a file at most."""

MAX_REASON_CHARS = 300

DAMAGE = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, SyntaxError, EOFError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, tokenize.TokenError),
    *(MemoryError, RuntimeError, AssertionError),  # of encrypted archives and nested JSON, too
)
"""Errors of a damaged or hostile archive when it is read, and of its arrays when they are used."""

ARRAYS = ("known", "nll", "perplexity", "rank", "entropy", "_inputs", "_states", "_cells")
"""Fields that are stored as they are; those with an underscore have the start symbol's step in row 0."""

_DTYPE_KINDS = dict(zip(ARRAYS, ("b", "f", "f", "i", "f", "iu", "f", "f"), strict=True))

_SPLIT_FIELDS = {"_inputs": "ids", "_states": "hidden", "_cells": "cell"}
_LAYER_WEIGHTS = ("table", "W_x", "b", "W_h", "b_u")
_SHARED_WEIGHTS = ("embedding", "readout", "bias")


def pack_trace(trace: Any, beside: Arrays) -> bytes:
    """The bytes of a Trace's file, with further arrays `beside`.

    Raises ConfigError for a network of Python functions, which no file can hold.
    """
    weights = trace.weights
    if type(weights) is not Weights:
        raise ConfigError(
            "a trace of {name!r} can't be saved: its step is a Python function; save trace.hidden and the "
            "like with numpy.savez",
            name=trace.model_name,
        )
    out: dict[str, npt.NDArray[Any]] = {"text": code_points(trace.text), **beside}
    for name in ARRAYS:
        plain, values = _SPLIT_FIELDS.get(name), getattr(trace, name)
        if values is not None:
            out |= {name: values} if plain is None else {plain: values[1:], f"{plain}_before": values[:1]}
    weight_arrays = {f"weights.{name}": getattr(weights, name) for name in _SHARED_WEIGHTS}
    for n, layer in enumerate(weights.layers):
        weight_arrays |= {f"weights.{n}.{name}": getattr(layer, name) for name in _LAYER_WEIGHTS}
    out |= {name: values for name, values in weight_arrays.items() if values is not None}
    about = {
        "format": FILE_FORMAT,
        "model_name": trace.model_name,
        "vocabulary": trace.vocabulary.to_json(),
        "ends": trace.vocabulary.ends,
        "layers": [[layer.cell, layer.units, layer.activation] for layer in weights.layers],
    }
    # As bytes: an array of objects would be pickled.
    out["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **out)  # type: ignore[arg-type]
    return file.getvalue()


def read_trace(source: str | os.PathLike[str] | BinaryIO) -> dict[str, Any]:
    """The fields of the Trace that `pack_trace` was given.

    Raises CheckpointError for missing and other files.
    """
    named = isinstance(source, str | os.PathLike)
    name = Path(source).name if named else "the file"  # type: ignore[arg-type]
    try:
        content = files.read(source, MAX_FILE_BYTES) if named else source.read()  # type: ignore[arg-type,union-attr]
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # A small archive may unpack to more than the memory.
            files.check(name, sum(entry.file_size for entry in archive.infolist()), len(content))
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            return _unpack_arrays({key: file[key] for key in file.files})
    except OSError as error:
        raise unreadable_trace(name, error.strerror or str(error)) from None
    except DAMAGE as error:
        raise unreadable_trace(name, str(error)) from None


def unreadable_trace(name: str, reason: str) -> CheckpointError:
    """The error for a file that is no trace."""
    return CheckpointError(
        "{name} is not a trace that can be read ({reason}); write it again with Trace.save",
        name=files.printable(name),
        reason=files.printable(reason[:MAX_REASON_CHARS]),
    )


def _unpack_arrays(stored: dict[str, npt.NDArray[Any]]) -> dict[str, Any]:
    about = json.loads(stored["about"].tobytes())
    if about["format"] not in (1, FILE_FORMAT):
        raise ValueError(f"format {about['format']}")
    kinds = [tuple(kind) for kind in about["layers"]]
    if (error := removed_cell_error(kinds[0][0])) is not None:
        raise CheckpointError(error.message, **error.values)
    dtype_kinds = {name: "f" for name in stored if name.startswith("weights.")} | {"text": "u"}
    for name, kind in dtype_kinds.items():
        if stored[name].dtype.kind != kind:
            raise ValueError(f"{name} has type {stored[name].dtype}")
    if about["format"] == 1:
        stored = _upgrade_format_1(stored, [cell for cell, _units, _activation in kinds])
    layers = tuple(
        Layer(cell, units, activation, **{part: stored.get(f"weights.{n}.{part}") for part in _LAYER_WEIGHTS})  # type: ignore[arg-type]
        for n, (cell, units, activation) in enumerate(kinds)
    )
    vocabulary = Vocabulary.from_json(about["vocabulary"], ends=about.get("ends") is True)
    shared = {part: stored.get(f"weights.{part}") for part in _SHARED_WEIGHTS}
    weights = Weights(layers, **shared, end=vocabulary.end)  # type: ignore[arg-type]
    text = stored["text"].astype("<u4").tobytes().decode("utf-32-le")
    arrays = {name: stored[name] for name in ARRAYS if name not in _SPLIT_FIELDS}
    # The file has row 0 apart, so that `hidden` has a row for each character.
    for name, plain in _SPLIT_FIELDS.items():
        if plain in stored or name != "_cells":
            arrays[name] = np.concatenate([stored[f"{plain}_before"], stored[plain]])
    T, H = len(text), layers[0].units
    shapes: dict[str, tuple[int, ...]] = {"entropy": (T + 1,), "_inputs": (T + 1,)}
    shapes |= dict.fromkeys(ARRAYS[:4], (T,))
    shapes |= dict.fromkeys(("_states", "_cells"), (T + 1, len(layers), H))
    for name, values in arrays.items():
        if values.shape != shapes[name] or values.dtype.kind not in _DTYPE_KINDS[name]:
            raise ValueError(f"{name} has shape {values.shape} and type {values.dtype}")
    # Inputs choose rows of the weights: outside them numpy would raise later, or wrap around.
    inputs = arrays["_inputs"]
    if not 0 <= inputs.min() <= inputs.max() <= vocabulary.start or not isinstance(about["model_name"], str):
        raise ValueError("it is of another model")
    for values in arrays.values():
        values.setflags(write=False)
    plain_of = {plain: arrays[name][1:] for name, plain in _SPLIT_FIELDS.items() if name in arrays}
    named = {"text": text, "model_name": about["model_name"], "vocabulary": vocabulary, "_weights": weights}
    return {"cell": None, "_cells": None, **arrays, **plain_of, **named}


def _upgrade_format_1(
    stored: dict[str, npt.NDArray[Any]], cells: Sequence[str]
) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a file by rnnviz 1.0.0 under today's names; gates' weights, halved there, are doubled."""
    upgraded = dict(stored)
    for n, cell in enumerate(cells):
        layer_arrays = {
            name: stored.get(f"weights.{n}.{name}") for name in ("table", "W_in", "b", "W_h", "b_n")
        }
        W_x, b_u = layer_arrays.pop("W_in"), layer_arrays.pop("b_n")
        twice = np.ones(len(CELLS[cell].blocks), np.float32)
        twice[:-1] += CELLS[cell].mixes  # all but the candidate
        rows = np.repeat(twice, len(layer_arrays["b"]) // len(twice))  # type: ignore[arg-type]
        to_state = np.full_like(rows, 2) if cell == "gru" else rows  # a GRU's candidate was halved here, too
        converted = {
            name: None if values is None else values * rows
            for name, values in layer_arrays.items()
            if name != "W_h"
        }
        converted |= {"W_x": W_x * rows[:, None], "b_u": None if b_u is None else b_u * 2}  # type: ignore[operator]
        converted["W_h"] = None if layer_arrays["W_h"] is None else layer_arrays["W_h"] * to_state[:, None]
        upgraded |= {
            f"weights.{n}.{name}": values for name, values in converted.items() if values is not None
        }
    return upgraded
