"""Files packed with gzip or Zstandard, unpacked while they are read.

Memory stays that of a few buffers. What unpacks to RATIO times its size, beyond the first FREE bytes, is
taken for a decompression bomb. Zstandard is pyarrow's: it notices a file that was cut off.
"""

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any, BinaryIO

from rnnviz.errors import ConfigError, TextError, install

RATIO = 300
FREE = 64 << 20
BUFFER = 1 << 16

PACKINGS = (".gz", ".zst")


def packing(name: str) -> str:
    """How a file of this name is packed: ".gz", ".zst" or "".

    >>> packing("Rows.JSONL.GZ"), packing("rows.jsonl")
    ('.gz', '')
    """
    return next((ending for ending in PACKINGS if name.lower().endswith(ending)), "")


def unpacked(file: BinaryIO, name: str) -> BinaryIO:
    """The content of `file`, which is called `name`, unpacked as its ending says; the file itself otherwise.

    Reading raises TextError for what is damaged, cut off or a bomb. Raises ConfigError without pyarrow.
    """
    kind = packing(name)
    if not kind:
        return file
    counted = _Counted(file)
    stream = gzip.GzipFile(fileobj=counted) if kind == ".gz" else _zstandard(counted)
    return io.BufferedReader(_Guarded(stream, counted, name, kind), BUFFER)


def check(name: str, size: int, packed: int) -> None:
    """Raise TextError where the `size` that `packed` bytes unpack to is that of a bomb."""
    if size > FREE and size > RATIO * packed:
        raise TextError(
            "{name} unpacks to more than {ratio} times its size; if that is meant, unpack it and give "
            "the unpacked file",
            name=name,
            ratio=RATIO,
        )


class _Counted(io.RawIOBase):
    """A file that counts the bytes read from it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.count = file, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.count += len(data)
        return data


class _Guarded(io.RawIOBase):
    """An unpacked stream whose errors are sentences."""

    def __init__(self, stream: Any, packed: _Counted, name: str, kind: str) -> None:
        self._stream, self._packed, self._name, self._count = stream, packed, name, 0
        self._format = {".gz": "gzip", ".zst": "Zstandard"}[kind]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._stream.read1(len(buffer))  # what there is: the rest may be missing
        except TextError:
            raise
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise TextError(
                "{name} is damaged or cut off: after {bytes:,} bytes it can't be unpacked as {format} "
                "({error}); fetch or pack it again",
                name=self._name,
                bytes=self._count,
                format=self._format,
                error=error,
            ) from None
        self._count += len(data)
        check(self._name, self._count, self._packed.count)
        buffer[: len(data)] = data
        return len(data)


def _zstandard(file: Any) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ConfigError(
            "a file packed with Zstandard needs pyarrow: {command}, or unpack it first",
            command=install("app"),
        ) from None
    return pyarrow.CompressedInputStream(pyarrow.PythonFile(file, mode="r"), "zstd")
