"""How an index of states is written: see `rnnviz.units.indexing`.

Shape letters: N characters of the text, n of a piece, L layers, H units of each.
"""

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import numpy as np

from rnnviz.arrays import Floats, Halves
from rnnviz.errors import ConfigError
from rnnviz.networks.numpy_engine import NetworkReader
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.progress import Clock
from rnnviz.text.vocabulary import code_points

FORMAT = "rnnviz index 1"
PIECE = 2048
"""Characters that are read at a time."""

WRITTEN = 16_384
"""Characters that are written at a time: each unit's in one piece."""

ABOUT, VALUES, POINTS = "index.json", "values.npy", "points.npy"


@dataclass(frozen=True)
class About:
    """What index.json holds. `model` is `fingerprint(model)`, `text` the SHA-256 of the text in UTF-8."""

    format: str
    model: str
    model_name: str
    text: str
    characters: int
    layers: int
    units: int


@dataclass(frozen=True)
class IndexProgress:
    """How far an index is, in characters."""

    characters: int
    total: int

    @property
    def fraction(self) -> float:
        """The share of the text that has been read, 0 to 1."""
        return self.characters / self.total


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """The folder that `path` is in. Raises ConfigError where it can't be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        yield path.parent
    except OSError as error:
        raise ConfigError(
            "the index can't be written to {path} ({strerror}); choose another folder",
            path=path,
            strerror=error.strerror or error,
        ) from None


def write(model: Network, text: str, folder: Path, about: About) -> Generator[IndexProgress, None, None]:
    """The three files of an index."""
    shape = (about.layers * about.units, about.characters)
    ids, points = model.vocabulary.encode(text), code_points(text)
    reader = NetworkReader(weights_of(model))
    reader.read(np.array([model.vocabulary.start]))
    clock = Clock()
    with _created(folder / POINTS) as file:
        np.save(file, points)
    with _created(folder / VALUES) as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f2", "fortran_order": False, "shape": shape})
        begin, waiting = file.tell(), np.empty((shape[0], WRITTEN), "<f2")
        _reserve(file, begin + 2 * shape[0] * shape[1])
        for start in range(0, len(text), WRITTEN):
            stop = min(start + WRITTEN, len(text))
            for at in range(start, stop, PIECE):
                end = min(at + PIECE, stop)
                waiting[:, at - start : end - start] = _halves(reader.states(ids[at:end])[0][1:])
                if clock.due():
                    yield IndexProgress(end, len(text))
            for row in range(shape[0]):
                file.seek(begin + 2 * (row * shape[1] + start))
                file.write(waiting[row, : stop - start].tobytes())
    with _created(folder / ABOUT) as file:
        file.write(json.dumps(asdict(about)).encode())
    yield IndexProgress(len(text), len(text))


def _halves(hidden: Floats) -> Halves:
    """(n, L, H) as (L·H, n) float16; a relu network may explode."""
    largest = float(np.finfo(np.float16).max)
    return np.clip(np.nan_to_num(hidden), -largest, largest).reshape(len(hidden), -1).T.astype(np.float16)


def _created(path: Path) -> IO[bytes]:
    """A new file for this user alone."""
    return open(path, "xb", buffering=0, opener=lambda name, flags: os.open(name, flags, 0o600))


def _reserve(file: IO[bytes], size: int) -> None:
    """Raise OSError now rather than half an hour later if there is no room."""
    free = shutil.disk_usage(os.path.dirname(os.path.abspath(str(file.name)))).free
    if free < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    file.truncate(size)
