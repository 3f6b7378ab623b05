"""A scored text on disk: one file a column, read in stretches, whatever its length.

    codes.u4    code points of the normalised text
    nll.f4      -log P of each character, nats
    rank.i4     1 where the most probable symbol came; negative where the character is unknown
    entropy.f4  nats, of the prediction before the character came
    sums.f8     Σ of nll.f4 before characters 0, 1,024, 2,048 … and of all, for any stretch's sum

All little-endian. A cost in float32, and so every sum, has a relative error below 6e-8. Stretches are read
into memory: pages of a mapping would count as the process's own, 800 MB for 50 million characters.
"""

import os
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Array, Doubles, Mask
from rnnviz.errors import ConfigError, TextError

SUM_BLOCK_CHARS = 1024
"""Characters between two entries of sums.f8."""

STRETCH_CHARS = 1 << 18
"""Characters read at a time by code that goes through a whole text."""

COLUMNS = {"codes": "<u4", "nll": "<f4", "rank": "<i4", "entropy": "<f4", "sums": "<f8"}


def filename(column: str) -> str:
    """The file of a column in its folder: "nll" → "nll.f4"."""
    return f"{column}.{COLUMNS[column][1:]}"


class ColumnFiles:
    """The columns of a scored text of n characters, open for reading even after their folder is gone; on
    Windows the folder can't go before.

    Positions count from 0; a stretch is start .. stop - 1. Thread-safe. Raises TextError where files are
    absent or too short.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._descriptors: dict[str, int] = {}
        self._seeking = threading.Lock()
        self._closer = weakref.finalize(self, _close, self._descriptors)
        try:
            # A pipe in a file's place would wait for its writer; Windows would translate line ends.
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            for column in COLUMNS:
                self._descriptors[column] = os.open(self.folder / filename(column), flags)
        except OSError as error:
            raise _damage_error(
                self.folder, f"{filename(column)} can't be opened ({error.strerror})"
            ) from None
        # The codes alone tell n; another column that is too short is noticed when it is read.
        self._length = os.fstat(self._descriptors["codes"]).st_size // 4
        # Kept in memory: one sum for 1,024 characters is 0.4 MB for 50 million of them.
        self._sums = self._read_stretch("sums", 0, -(-self._length // SUM_BLOCK_CHARS) + 1)

    def __len__(self) -> int:
        """n, at least 1."""
        return self._length

    def close(self) -> None:
        """Close the files; also done when the object is collected."""
        self._closer()

    def read(self, column: str, start: int = 0, stop: int | None = None) -> Array:
        """A stretch of a column, (stop - start,); all by default. ConfigError outside 0 .. n."""
        stop = self._length if stop is None else stop
        if not 0 <= start <= stop <= self._length:
            raise ConfigError(
                "characters {start} to {stop} were asked for; this text has {length:,}, from 0 on",
                start=start,
                stop=stop,
                length=self._length,
            )
        return self._read_stretch(column, start, stop)

    def _read_stretch(self, column: str, start: int, stop: int) -> Array:
        if not self._closer.alive:
            raise ConfigError("the record in {folder} was closed; open it again", folder=self.folder)
        kind = np.dtype(COLUMNS[column])
        size, offset = (stop - start) * kind.itemsize, start * kind.itemsize
        data = b""
        while len(data) < size:  # a system may limit one read, to 2 GB say
            chunk = self._read_bytes(self._descriptors[column], size - len(data), offset + len(data))
            if not chunk:
                raise _damage_error(self.folder, f"{filename(column)} became shorter")
            data += chunk
        # Over bytes: no copy, and read-only.
        return np.frombuffer(data, kind)

    def _read_bytes(self, descriptor: int, size: int, offset: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(descriptor, size, offset)
        with self._seeking:  # Windows has no pread: another thread could seek in between
            os.lseek(descriptor, offset, os.SEEK_SET)
            return os.read(descriptor, size)

    def stretches(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """The named columns, a stretch at a time: (start, values, …)."""
        for start in range(0, self._length, STRETCH_CHARS):
            stop = min(start + STRETCH_CHARS, self._length)
            yield start, *(self._read_stretch(column, start, stop) for column in columns)

    def text(self, start: int, stop: int) -> str:
        """The characters of a stretch. Raises ConfigError outside 0 .. n."""
        return self.read("codes", start, stop).tobytes().decode("utf-32-le")

    def is_known(self, start: int, stop: int) -> Mask:
        """Whether each character of a stretch is in the vocabulary."""
        return np.asarray(self.read("rank", start, stop) > 0)

    def ranks(self, start: int, stop: int) -> npt.NDArray[np.int32]:
        """The rank of each character of a stretch; unknown ones have `<unk>`'s."""
        return np.abs(self.read("rank", start, stop))

    def sums(self, positions: npt.ArrayLike) -> Doubles:
        """Σ -log P in nats of the first p characters, for each p of `positions` (k,) in 0 .. n: (k,)."""
        places = np.asarray(positions, np.int64)
        if places.size and not 0 <= places.min() <= places.max() <= self._length:
            raise ConfigError(
                "positions lie in 0 .. {length:,}; received {lowest} to {highest}",
                length=self._length,
                lowest=places.min(),
                highest=places.max(),
            )
        # The sum before p is that before its block, plus the costs of the block before p.
        blocks, rest = np.divmod(places, SUM_BLOCK_CHARS)
        ends = places == self._length
        blocks[ends], rest[ends] = len(self._sums) - 1, 0  # the last entry is of the whole text
        out = self._sums[blocks]
        inside = np.flatnonzero(rest)
        # Positions of one block share one reading of it.
        order = inside[np.argsort(blocks[inside], kind="stable")]
        read_blocks, first = np.unique(blocks[order], return_index=True)
        for block, begin, end in zip(read_blocks.tolist(), first, [*first[1:], len(order)], strict=False):
            in_block = order[begin:end]
            nll = self._read_stretch(
                "nll", block * SUM_BLOCK_CHARS, min((block + 1) * SUM_BLOCK_CHARS, self._length)
            )
            out[in_block] += np.cumsum(nll, dtype=np.float64)[rest[in_block] - 1]
        return np.asarray(out)


def _damage_error(folder: Path, reason: str) -> TextError:
    return TextError(
        "{folder} is not the record of a scored text: {what}; score the text again",
        folder=folder,
        what=reason,
    )


def _close(descriptors: dict[str, int]) -> None:
    # Emptied while closing: a number that is closed twice may be another file's by then.
    while descriptors:
        os.close(descriptors.popitem()[1])
