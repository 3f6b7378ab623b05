"""An index of a long text on disk: every hidden state of every character, for `rnnviz.analysis.matching`.

An index is a folder that only its user can open, with two files:

    index.json     the text, and the network that read it
    values.npy     (L·H, N) float16, the hidden states, unit by unit: 2 bytes a unit and character

The folder is written under another name and renamed once it is whole, so a folder with the right name is a
whole index. The states are memory-mapped: a search reads only the rows of its units.

Shape letters: N characters of the text, n of a piece, L layers, H units of each, V symbols.
"""

import errno
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from rnnviz.analysis.activations import activations, check_units
from rnnviz.analysis.controls import COPIES
from rnnviz.analysis.matching import (
    AFTER,
    BEFORE,
    ENOUGH,
    THRESHOLD,
    Compared,
    Copy,
    Ending,
    Match,
    Matches,
    Pattern,
    Untrained,
    column,
    copies,
    find,
    pattern,
    shares,
    wanted,
)
from rnnviz.arrays import Floats, Halves, Integers
from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.findings import Json
from rnnviz.networks.config import check_layer
from rnnviz.networks.numpy_engine import NetworkReader, Weights
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.progress import Clock, Share, mapped, run
from rnnviz.networks.untrained import Fresh
from rnnviz.scoring.signature import digest_of, signature
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace
from rnnviz.text import files
from rnnviz.text.characters import normalise
from rnnviz.text.vocabulary import code_points

FORMAT = "rnnviz index 2"

PIECE = 2048
"""Characters read at a time."""

WRITTEN = 16_384
"""Characters written at a time: one contiguous write a unit."""

INDEXED = 0.9
"""The share of the work that indexing takes; untrained copies take the rest."""

LOWEST = 1e-4
"""The lowest threshold for an untrained copy: above 0."""

ABOUT, VALUES = "index.json", "values.npy"
"""Two file names: the description (format, text, network's `fingerprint`), and the hidden states."""

LARGEST = 1 << 30
"""Bytes of an index.json, at most: more than any text whose states fit on a disk."""


class Index:
    """A text's hidden states on disk; see `index` and `open_index`.

    path        its folder
    model       the `fingerprint` of its network
    model_name  the name of its network
    layers      L
    units       H, of each layer
    """

    def __init__(self, path: Path, about: Json, values: Halves) -> None:
        self.path = self.folder = path  # `folder` is the name that the app's store counts and removes by
        self._text: str = about["text"]
        self._values, self._points = values, code_points(self._text)
        self.model, self.model_name = about["model"], about["model_name"]
        self.layers, self.units = about["layers"], about["units"]
        self._checked: Weights | None = None  # weights whose fingerprint matched before

    def __len__(self) -> int:
        """N, the characters of the text."""
        return len(self._text)

    def __repr__(self) -> str:
        units = f"{self.layers} × {self.units}" if self.layers > 1 else f"{self.units}"
        return f"<Index of {len(self):,} characters, {units} units of {self.model_name or 'a model'}>"

    def text(self, start: int = 0, stop: int | None = None) -> str:
        """Characters start .. stop - 1, clipped to the text."""
        return self._text[max(start, 0) : len(self) if stop is None else max(stop, 0)]

    def values(self, start: int, stop: int, columns: Sequence[int] | None = None) -> Floats:
        """Hidden states after characters start .. stop - 1, (stop - start, U) float32. `columns` are those of
        `rnnviz.units.activations`; None: all. Raises ConfigError for characters outside the text.
        """
        if not 0 <= start <= stop <= len(self):
            raise ConfigError(
                "the indexed text has {count:,} characters; received {start} to {stop}",
                count=len(self),
                start=start,
                stop=stop,
            )
        rows = self._values[:, start:stop] if columns is None else self._values[list(columns), start:stop]
        return np.asarray(rows.T, np.float32)

    def match(
        self,
        pattern: Pattern,
        *,
        share: float = 0.75,
        least: int | None = None,
        most: int = 20,
        first: int | None = None,
    ) -> Matches:
        """The places where most of a pattern's units are on, in the `first` characters; None: in all. See
        `rnnviz.analysis.matching.find`.

        Takes some 3 ms for each unit of the pattern and million characters. Raises ConfigError for units that
        the network hasn't got.
        """
        for unit in pattern.units:
            check_layer(unit.layer, self.layers)
            check_units(unit.unit, self.units)
        return find(self._values[:, :first], self.units, pattern, share=share, least=least, most=most)

    def elsewhere(
        self,
        model: Network,
        read: Trace,
        start: int,
        stop: int,
        *,
        threshold: float = THRESHOLD,
        edges: int = 0,
        layer: int | None = None,
        share: float = 0.75,
        least: int | None = None,
        most: int = 20,
        copies: Sequence[Copy] = (),
    ) -> Matches:
        """Matches of characters start .. stop - 1 of `read` in the indexed text, with their context, beside
        controls.

        `copies` are untrained copies of `model` that have read the beginning of the indexed text; see
        `rnnviz.analysis.matching.copies`. `threshold`, `edges` and `layer` are those of `pattern`; `share`,
        `least` and `most` those of `find`. Raises ConfigError for values that these refuse, and for another
        network than the index's.

        >>> import rnnviz
        >>> model, text = rnnviz.load("timemachine-gru"), "the time machine and the time traveller"
        >>> made, beside = run(index(model, text)), run(copies(model, text))
        >>> found = made.elsewhere(model, rnnviz.trace(model, "the time"), 4, 8, copies=beside)
        >>> found.passage.inside, found.untrained.shares[0]
        (2, Compared(name='time', own=2, untrained=6))
        """
        self.check(model)
        asked = pattern(read, start, stop, threshold=threshold, edges=edges, layer=layer)
        found = self.match(asked, share=share, least=least, most=most)
        passage = read.text[start:stop]
        endings = [(passage, self.ends_with(passage)), self._ending(passage)]
        ends = _ends(found)
        whole, last = (
            Ending(text, _among(ends, places), len(ends), len(places) / len(self)) for text, places in endings
        )
        found = replace(
            found,
            found=tuple(self._context(model, asked, match) for match in found.found),
            characters=len(self),
            edges=edges,
            passage=whole,
            ending=last,
        )
        if not copies:
            return found
        characters = copies[0].states.shape[1]
        on = float((abs(activations(read, layer=layer)) >= threshold).mean())
        own = _ends(self.match(asked, share=share, least=found.least, most=most, first=characters))
        thresholds, units, theirs = [], [], []
        for copy in copies:
            there = trace(copy.model, read.text)
            states = abs(activations(there, layer=layer))
            as_many = max(LOWEST, float(np.quantile(states, 1 - on)))
            same = pattern(there, start, stop, threshold=as_many, edges=edges, layer=layer)
            thresholds.append(as_many)
            units.append(len(same))
            if len(same):
                theirs += _ends(
                    find(copy.states, self.units, same, share=share, least=found.least, most=most)
                )
        held = (Compared(text, _among(own, places), _among(theirs, places)) for text, places in endings)
        beside = Untrained(characters, tuple(units), tuple(thresholds), len(own), len(theirs), tuple(held))
        return replace(found, untrained=beside)

    def _context(self, model: Network, pattern: Pattern, match: Match) -> Match:
        """A match with its context."""
        start, stop = max(0, match.start - BEFORE), min(len(self), match.stop + AFTER)
        columns = [column(unit, self.units) for unit in pattern.units]
        return replace(
            match,
            before=self.text(start, match.start),
            text=self.text(match.start, match.stop),
            after=self.text(match.stop, stop),
            on=tuple(shares(self.values(start, stop, columns), pattern).tolist()),
            next=tuple(self.next(model, match.stop - 1)),
        )

    def _ending(self, passage: str) -> tuple[str, Integers]:
        """The longest ending of the passage with at least ENOUGH occurrences, or the last character; and its
        positions.
        """
        ending, same = passage[-1:], self.ends_with(passage[-1:])
        for length in range(2, len(passage) + 1):
            longer = self.ends_with(passage[-length:])
            if len(longer) < ENOUGH:
                break
            ending, same = passage[-length:], longer
        return ending, same

    def next(self, model: Network, position: int, k: int = 5) -> list[tuple[str, float]]:
        """The k most probable characters after character `position`, with their probabilities.

        Computed from float16 states, so within 0.01 of the network's own probabilities. Raises ConfigError
        for another network than the index's, or a position outside the text.
        """
        self.check(model)
        top = self.values(
            position, position + 1, range((self.layers - 1) * self.units, self.layers * self.units)
        )
        probabilities = np.exp(weights_of(model).log_probs(top)[0].astype(np.float64))
        best = np.argsort(-probabilities, kind="stable")[:k].tolist()
        return [(model.vocabulary.symbol(s), float(probabilities[s])) for s in best]

    def ends_with(self, text: str) -> Integers:
        """The positions at which the indexed text has just read `text`."""
        wanted = code_points(text)
        if not 0 < len(wanted) <= len(self):
            return np.empty(0, np.int64)
        read = np.lib.stride_tricks.sliding_window_view(self._points, len(wanted))
        return np.flatnonzero((read == wanted).all(axis=1)) + len(wanted) - 1

    def check(self, model: Network) -> None:
        """Raise ConfigError unless the index is of this network."""
        weights = weights_of(model)
        if weights is self._checked:
            return
        if self.model != fingerprint(model):
            raise ConfigError(
                "the index in {path} is of {theirs!r}, with other weights or another vocabulary than "
                "{name!r}; make one with this network",
                path=self.path,
                theirs=self.model_name,
                name=model.name,
            )
        self._checked = weights


def _ends(found: Matches) -> list[int]:
    return [match.stop - 1 for match in found.found]


def _among(ends: list[int], places: Integers) -> int:
    return int(np.isin(np.array(ends, np.int64), places).sum())


def fingerprint(model: Network) -> str:
    """A digest that identifies a network's states and predictions: its weights, cell, vocabulary and
    normaliser.
    """
    weights = weights_of(model)
    if weights.cell != "custom":
        return signature(model).hex()
    # A Python function has no weights to hash: its states and predictions for the first symbols stand in.
    inputs = np.append(model.vocabulary.start, np.arange(min(model.vocabulary.size, 256)))
    hidden, cell = weights.states(len(inputs) + 1)
    weights.run(inputs, hidden, cell)
    said = json.dumps([model.vocabulary.to_json(), model.normaliser]).encode()
    return digest_of(said, hidden.tobytes(), weights.log_probs(hidden[1:, -1]).tobytes()).hex()


def index(
    model: Network, text: str, path: str | os.PathLike[str] | None = None
) -> Generator[Share, None, Index]:
    """Read `text` and keep every hidden state in the folder `path`; returns the Index. Without a `path` the
    folder is temporary and removed with the Index.

    Yields the share done about ten times a second; closing cancels and removes everything. An existing index
    of the same network and text is opened instead. A GRU with 256 units takes half a minute and 512 MB for a
    million characters. Raises EmptyTextError for no text, TextError for half a surrogate pair, and
    ConfigError for a folder that holds something else or can't be written.

    >>> import tempfile
    >>> import rnnviz
    >>> model = rnnviz.load("timemachine-gru")
    >>> text = "the time machine and the time traveller"
    >>> made = run(index(model, text, f"{tempfile.mkdtemp()}/index"))
    >>> shape = pattern(rnnviz.trace(model, "the time"), 4, 8)
    >>> found = made.match(shape, share=0.5)
    >>> print(made, [made.text(m.start, m.stop) for m in found.found])
    <Index of 39 characters, 256 units of timemachine-gru> ['time', 'time']
    """
    text = normalise(text, model.normaliser)
    if not text:
        raise EmptyTextError("{name} has no characters; choose another text", name="the text to index")
    if path is None:
        folder = tempfile.TemporaryDirectory(prefix="rnnviz-index-", ignore_cleanup_errors=True)
        try:
            made = yield from index(model, text, Path(folder.name, "index"))
        except BaseException:  # GeneratorExit too
            folder.cleanup()
            raise
        weakref.finalize(made, folder.cleanup)
        return made
    path, weights = Path(path), weights_of(model)
    code_points(text)  # refuses half a surrogate pair
    name = fingerprint(model)
    if not path.exists():
        about = {
            "format": FORMAT,
            "model": name,
            "model_name": model.name,
            "text": text,
            "layers": len(weights.layers),
            "units": weights.layers[0].units,
        }
        yield from _made(model, about, path)
    found = open_index(path)
    if (found.model, found.text()) != (name, text):
        raise ConfigError(
            "{path} holds the index of another network or text; choose another folder", path=path
        )
    return found


def _made(model: Network, about: Json, path: Path) -> Generator[Share, None, None]:
    """Make the folder `path`, with a whole index in it. Raises ConfigError where it can't be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(
            prefix=".partial-", dir=path.parent, ignore_cleanup_errors=True
        ) as folder:
            yield from _write(model, about, Path(folder))
            os.rename(folder, path)
    except OSError as error:
        if not path.exists():  # else another process was faster
            raise ConfigError(
                "the index can't be written to {path} ({strerror}); choose another folder",
                path=path,
                strerror=error.strerror or error,
            ) from None


def _write(model: Network, about: Json, folder: Path) -> Generator[Share, None, None]:
    """The two files of an index."""
    text, shape = about["text"], (about["layers"] * about["units"], len(about["text"]))
    ids, reader = model.vocabulary.encode(text), NetworkReader(weights_of(model))
    reader.read(np.array([model.vocabulary.start]))
    if shutil.disk_usage(folder).free < 2 * shape[0] * shape[1]:  # fail now rather than half an hour later
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    clock = Clock()
    # Plain writes, not a memory map: on a full disk a write to a map kills the process with SIGBUS.
    with open(folder / VALUES, "xb", buffering=0) as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f2", "fortran_order": False, "shape": shape})
        begin, waiting = file.tell(), np.empty((shape[0], WRITTEN), "<f2")
        for start in range(0, len(text), WRITTEN):
            stop = min(start + WRITTEN, len(text))
            for at in range(start, stop, PIECE):
                end = min(at + PIECE, stop)
                waiting[:, at - start : end - start] = _halves(reader.states(ids[at:end])[0][1:])
                if clock.due():
                    yield Share(end / len(text))
            for row in range(shape[0]):
                file.seek(begin + 2 * (row * shape[1] + start))
                file.write(waiting[row, : stop - start].tobytes())
    (folder / ABOUT).write_text(json.dumps(about), "ascii")
    yield Share(1.0)


def _halves(hidden: Floats) -> Halves:
    """(n, L, H) as (L·H, n) float16, clipped to its range: the states of a relu network may explode."""
    largest = float(np.finfo(np.float16).max)
    return np.clip(np.nan_to_num(hidden), -largest, largest).reshape(len(hidden), -1).T.astype(np.float16)


def open_index(path: str | os.PathLike[str]) -> Index:
    """The index in a folder. Raises ConfigError for no index, a damaged one or one of another version."""
    path = Path(path)
    try:
        files.opened(path / VALUES).close()  # refuses a pipe, on which np.load would block
        about = json.loads(files.read(path / ABOUT, LARGEST))
        values = np.load(path / VALUES, mmap_mode="r", allow_pickle=False)
        shape = (about["layers"] * about["units"], len(about["text"]))
        if (about["format"], values.shape, values.dtype) == (FORMAT, shape, np.dtype("<f2")):
            return Index(path, about, values)
    # np.load parses a header as Python: a damaged one raises any of these.
    except (
        OSError,
        ValueError,
        TypeError,
        LookupError,
        EOFError,
        SyntaxError,
        TokenError,
        MemoryError,
        RecursionError,
    ):
        pass
    raise ConfigError(
        "{path} holds no index, a damaged one or one of another version; remove it, or choose another "
        "folder, and make it again",
        path=path,
    )


def match(
    model: Network,
    text: str,
    start: int,
    stop: int,
    corpus: str,
    *,
    threshold: float = THRESHOLD,
    edges: int = 0,
    layer: int | None = None,
    share: float = 0.75,
    least: int | None = None,
    most: int = 20,
    copies: int = COPIES,
    fresh: Fresh | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[Share], None] | None = None,
) -> Matches:
    """Places of `corpus` where the same units are on as in a passage, characters start .. stop - 1 of `text`.

    threshold  the distance from 0 at which a unit is on, throughout the passage
    edges      take only units that are off within so many characters before and after the passage
    layer      one layer; None: all layers
    share      the share of these units that a place needs, above 0 and at most 1
    least      characters over which a place needs them; None: as many as the passage has
    most       returned places, at most
    copies     untrained copies of the network, matched as a control; `fresh` is that of
               `rnnviz.units.untrained`
    folder     keeps the states of the corpus for another call; None: discards them
    progress   called about ten times a second with the share done

    A GRU with 256 units takes half a minute and 512 MB of the disk for a million characters. Follows LSTMVis
    (Strobelt et al. 2018, arXiv:1606.07461). Raises ConfigError for a passage outside the text, a passage
    without a unit that is on, and numbers out of range; EmptyTextError for an empty corpus, TextError for
    half a surrogate pair.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> model, corpus = rnnviz.load("timemachine-gru"), "the time machine and the time traveller"
    >>> found = units.match(model, "the time", 4, 8, corpus)
    >>> [(place.start, place.text) for place in found.found], found.untrained.shares[0]
    ([(4, 'time'), (25, 'time')], Compared(name='time', own=2, untrained=6))
    """
    steps = matches(
        model,
        trace(model, text),
        start,
        stop,
        corpus,
        threshold=threshold,
        edges=edges,
        layer=layer,
        share=share,
        least=least,
        most=most,
        untrained=copies,
        fresh=fresh,
        folder=folder,
    )
    return run(steps, progress)


def matches(
    model: Network,
    read: Trace,
    start: int,
    stop: int,
    corpus: str,
    *,
    untrained: int = COPIES,
    fresh: Fresh | None = None,
    folder: str | os.PathLike[str] | None = None,
    **asked: Any,
) -> Generator[Share, None, Matches]:
    """`match` as a generator that yields the share done and returns the Matches; closing cancels. `asked` are
    those of `Index.elsewhere`.
    """
    shape = {name: asked[name] for name in ("threshold", "edges", "layer")}
    # Refuse unfit arguments before reading the corpus, which takes long.
    wanted(pattern(read, start, stop, **shape), asked["share"], asked["least"], asked["most"])
    made = yield from mapped(index(model, corpus, folder), lambda now: Share(INDEXED * now.fraction))
    search = partial(made.elsewhere, model, read, start, stop, **asked)
    found = search()
    if not (untrained and found.found):
        return found
    reading = copies(model, made.text(), untrained, fresh=fresh)
    beside = yield from mapped(reading, lambda now: Share(INDEXED + (1 - INDEXED) * now.fraction))
    return search(copies=beside)
