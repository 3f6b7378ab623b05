"""What every unit is at every character of a long text, kept on disk, for `rnnviz.units.matching` to search.

An index is a folder of three files, readable by its user alone:

    index.json     which network and text it is of, and their sizes
    values.npy     (L·H, N) float16, the hidden states, unit by unit: 2 bytes a unit and character
    points.npy     (N,) uint32, the text's code points

It is written under another name and renamed once it is whole, so a folder with the right name is a whole
index. Both arrays are memory-mapped: a search reads the rows of the units it is about, and nothing else.

Shape letters: N characters of the text, n of a piece, L layers, H units of each, V symbols.
"""

import hashlib
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Generator, Sequence
from dataclasses import fields
from pathlib import Path
from tokenize import TokenError

import numpy as np

from rnnviz.arrays import Floats, Halves, Integers, Points
from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.networks.numpy_engine import Layer, Weights
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.text import files
from rnnviz.text.characters import normalise
from rnnviz.text.vocabulary import code_points
from rnnviz.units.index_file import ABOUT, FORMAT, POINTS, VALUES, About, write, writing
from rnnviz.units.index_file import IndexProgress as IndexProgress
from rnnviz.units.matching import Matches, Pattern, find
from rnnviz.units.unit import check_layer


class Index:
    """A text's hidden states on disk; see `index` and `open_index`.

    path        its folder
    model       which network it is of, as `fingerprint` says
    model_name  what that network is called
    layers      L
    units       H, of each layer
    """

    def __init__(self, path: Path, about: About, values: Halves, points: Points) -> None:
        self.path, self._about, self._values, self._points = path, about, values, points
        self.model, self.model_name = about.model, about.model_name
        self.layers, self.units = about.layers, about.units
        self._checked: Weights | None = None  # those that it is known to be of

    def __len__(self) -> int:
        """N, the characters of the text."""
        return self._about.characters

    def __repr__(self) -> str:
        units = f"{self.layers} × {self.units}" if self.layers > 1 else f"{self.units}"
        return f"<Index of {len(self):,} characters, {units} units of {self.model_name or 'a model'}>"

    def text(self, start: int = 0, stop: int | None = None) -> str:
        """Characters start .. stop - 1, cut to where the text begins and ends."""
        points = self._points[max(start, 0) : len(self) if stop is None else max(stop, 0)]
        return points.tobytes().decode("utf-32-le")

    def points(self, positions: Integers) -> Points:
        """The code points of the characters at these positions."""
        return np.asarray(self._points[positions])

    def values(self, start: int, stop: int, columns: Sequence[int] | None = None) -> Floats:
        """Hidden states after characters start .. stop - 1, (stop - start, U) float32; `columns` are those of
        `rnnviz.units.activations`, None: all.
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
        """The places where most of a pattern's units are on, in the `first` characters or in all; see
        `rnnviz.units.matching.find`.

        Takes some 0.5 ms for a unit of the pattern and a million characters. Raises ConfigError for a pattern
        of units that this network hasn't got.
        """
        for unit in pattern.units:
            check_layer(unit.layer, self.layers)
            if not 0 <= unit.unit < self.units:
                raise ConfigError(
                    "a layer has units 0 to {last}; received {unit}", last=self.units - 1, unit=unit
                )
        return find(self._values[:, :first], self.units, pattern, share=share, least=least, most=most)

    def next(self, model: Network, position: int, k: int = 5) -> list[tuple[str, float]]:
        """The k most probable characters after character `position`, with their probabilities.

        Computed from the states as they are kept, so within 0.01 of what the network itself says. Raises
        ConfigError for another network than the index is of, or a position outside the text.
        """
        self.check(model)
        top = self.values(
            position, position + 1, range((self.layers - 1) * self.units, self.layers * self.units)
        )
        probabilities = np.exp(weights_of(model).log_probs(top)[0].astype(np.float64))
        best = np.argsort(-probabilities, kind="stable")[:k].tolist()
        return [(model.vocabulary.symbol(s), float(probabilities[s])) for s in best]

    def ends_with(self, text: str) -> Integers:
        """The positions of the characters at which the indexed text has just read `text`."""
        wanted = code_points(text)
        count = len(self) - len(wanted) + 1
        if not len(wanted) or count < 1:
            return np.empty(0, np.int64)
        same = np.ones(count, np.bool_)
        for n, point in enumerate(wanted.tolist()):
            same &= self._points[n : n + count] == point
        return np.flatnonzero(same) + len(wanted) - 1

    def check(self, model: Network) -> None:
        """Raise ConfigError unless it is of this network."""
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


def fingerprint(model: Network) -> str:
    """What identifies a network's states: the SHA-256 of its weights, cell, vocabulary and normaliser."""
    found = hashlib.sha256()
    weights = weights_of(model)
    found.update(json.dumps([weights.cell, model.vocabulary.to_json(), model.normaliser]).encode())
    parts: list[Layer | Weights] = [*weights.layers, weights]
    for part in parts:
        for each in fields(part):
            value = getattr(part, each.name)
            if isinstance(value, np.ndarray):
                found.update(f"{each.name} {value.shape} {value.dtype}".encode())
                found.update(value.tobytes())
            elif isinstance(value, str):
                found.update(value.encode())
    if weights.cell == "custom":  # a Python function is known by what it does
        inputs = np.append(model.vocabulary.start, np.arange(min(model.vocabulary.size, 256)))
        hidden, cell = weights.states(len(inputs) + 1)
        weights.run(inputs, hidden, cell)
        found.update(hidden.tobytes())
    return found.hexdigest()


def index(
    model: Network, text: str, path: str | os.PathLike[str] | None = None
) -> Generator[IndexProgress, None, Index]:
    """Read `text` and keep every hidden state in the folder `path`; returns the Index. Without a `path` the
    folder is a temporary one, removed with the Index.

    Yields about ten times a second; closed before its end, it leaves nothing behind. An index of the same
    network and text that is there already is opened instead. A GRU with 256 units takes half a minute and
    512 MB for a million characters. Raises EmptyTextError for no text, TextError for half a surrogate pair,
    and ConfigError for a folder that holds something else or can't be written.

    >>> import tempfile
    >>> import rnnviz
    >>> from rnnviz import units
    >>> model = rnnviz.load("timemachine-gru")
    >>> text = "the time machine and the time traveller"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = units.run(units.index(model, text, f"{folder}/index"))
    ...     shape = units.pattern(rnnviz.trace(model, "the time"), 4, 8)
    ...     found = made.match(shape, share=0.5)
    ...     print(made, [made.text(m.start, m.stop) for m in found.found])
    <Index of 39 characters, 256 units of timemachine-gru> ['time', 'time']
    """
    text = normalise(text, model.normaliser)
    if not text:
        raise EmptyTextError("{name} has no characters; choose another text", name="the text to index")
    weights = weights_of(model)
    about = About(
        FORMAT,
        fingerprint(model),
        model.name,
        _checksum(text),
        len(text),
        len(weights.layers),
        weights.layers[0].units,
    )
    if path is None:
        folder = tempfile.mkdtemp(prefix="rnnviz-index-")
        try:
            made = yield from _made(model, text, Path(folder, "index"), about)
        except BaseException:  # GeneratorExit too
            shutil.rmtree(folder, ignore_errors=True)
            raise
        weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
        return made
    return (yield from _made(model, text, Path(path), about))


def _made(model: Network, text: str, path: Path, about: About) -> Generator[IndexProgress, None, Index]:
    """The index in the folder `path`, written unless it is there."""
    if path.exists():
        return _same(open_index(path), about)
    with writing(path) as folder:
        partial = Path(tempfile.mkdtemp(prefix=".partial-", dir=folder))
    try:
        with writing(path):
            yield from write(model, text, partial, about)
            try:
                partial.rename(path)
            except OSError:  # another process was faster
                if not path.exists():
                    raise
        return _same(open_index(path), about)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def open_index(path: str | os.PathLike[str]) -> Index:
    """The index in a folder. Raises ConfigError where there is none, or one that is damaged or of another
    version.
    """
    path = Path(path)
    try:
        for name in (ABOUT, VALUES, POINTS):
            files.opened(path / name).close()  # a pipe would block
        about = About(**json.loads(files.read(path / ABOUT, 1 << 20)))
        values = np.load(path / VALUES, mmap_mode="r", allow_pickle=False)
        points = np.load(path / POINTS, mmap_mode="r", allow_pickle=False)
        shape = (about.layers * about.units, about.characters)
    except (OSError, ValueError, TypeError, EOFError, SyntaxError, TokenError, MemoryError, RecursionError):
        raise _unusable(path) from None
    if (about.format, values.shape, values.dtype, points.shape, points.dtype) != (
        FORMAT,
        shape,
        np.dtype("<f2"),
        shape[1:],
        np.dtype("<u4"),
    ):
        raise _unusable(path)
    return Index(path, about, values, points)


def _checksum(text: str) -> str:
    code_points(text)  # refuses half a surrogate pair
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _unusable(path: Path) -> ConfigError:
    return ConfigError(
        "{path} holds no index, a damaged one or one of another version; remove it, or choose another "
        "folder, and make it again",
        path=path,
    )


def _same(found: Index, about: About) -> Index:
    """The index found, if it is of this network and text. Raises ConfigError."""
    if (found.model, found._about.text) != (about.model, about.text):
        raise ConfigError(
            "{path} holds the index of another network or text; choose another folder", path=found.path
        )
    return found
