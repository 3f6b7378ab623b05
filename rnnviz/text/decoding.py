"""Bytes to text.

How an encoding is found, in this order, and how certain that is:

    declared    the caller named it, or the bytes begin with a byte order mark
    verified    every byte of the text is valid UTF-8
    guessed     charset-normalizer looked at a sample, and the whole text decodes

What is no text (an image, an archive, a PDF, a program) is refused by name. A file is read in constant
memory, checked in one pass and decoded in the next: no later chunk fails unless the file changes.
"""

from __future__ import annotations

import codecs
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, cast

from rnnviz.errors import ConfigError, DecodingError, TextError
from rnnviz.text.checked import check_path
from rnnviz.text.filetypes import (
    binary_format,
    explain_nul_bytes,
    explain_without_nul,
    guesses,
    is_damaged_utf8,
    refuse_binary,
)
from rnnviz.text.packed import packing

Certainty = Literal["declared", "verified", "guessed"]
Source = str | os.PathLike[str] | BinaryIO

CHUNK = 1 << 16  # bytes read at a time
SAMPLE = 1 << 17  # bytes that a guess looks at

# UTF-32 first: its little-endian mark begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Codecs that transform text rather than store it, or that can produce half a surrogate pair.
_NOT_FOR_FILES = {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7"}


@dataclass(frozen=True)
class Decoded:
    """A text, its encoding, and how certain that is."""

    text: str
    encoding: str
    certainty: Certainty


def decode(data: bytes, encoding: str | None = None) -> Decoded:
    """The text in `data`, a byte order mark removed, line ends as they are.

    Raises DecodingError for bytes that are no text or not in `encoding`, ConfigError for an unknown one.

    >>> decode("naïve idea".encode("utf-16")).encoding
    'utf-16-le'
    """
    stream = open_text(io.BytesIO(data), encoding=encoding)
    return Decoded("".join(stream), stream.encoding, stream.certainty)


class TextStream:
    """The text of a file in chunks, decoded while it is read.

    Each iteration yields non-empty chunks of `str`, not normalised, from the beginning. `bytes_read` and
    `bytes_total` count the file's bytes. A path is open only while iterated; a file object stays open.
    """

    def __init__(
        self, source: Source, name: str, size: int, encoding: str, certainty: Certainty, chunk: int
    ) -> None:
        self.name = name
        self.encoding = encoding
        self.certainty: Certainty = certainty
        self.bytes_total = size
        self.bytes_read = 0
        self._source = source
        self._chunk = chunk

    def __iter__(self) -> Iterator[str]:
        self.bytes_read = 0
        with opened_source(self._source, self.name) as file:
            decoder = _Decoder(self.encoding, self.name)
            while data := _read(file, self._chunk, self.name):
                self.bytes_read += len(data)
                if text := decoder.feed(data):
                    yield text
            if text := decoder.feed(b"", final=True):
                yield text


def open_text(
    source: Source, *, encoding: str | None = None, chunk: int = CHUNK, name: str | None = None
) -> TextStream:
    """Find the encoding of a file, a path or a seekable binary file object, and return its text as a stream.

    `encoding` declares it. `chunk` is in bytes. `name` is the file's in messages. Raises TextError for a path
    that can't be read, DecodingError for a file that is no text or not in `encoding`, ConfigError for an
    unknown encoding.
    """
    if chunk < 1:
        raise ConfigError("a chunk is at least 1 byte; received {chunk}", chunk=chunk)
    declared = canonical(encoding) if encoding is not None else None
    if name is None:
        name = _name_of(cast(BinaryIO, source)) if hasattr(source, "read") else check_path(source)
    with opened_source(source, name) as file:
        size = size_of(file, name)
        head = _read(file, 512, name)
        if packing(name) and binary_format(head) is None:
            raise DecodingError(
                "{name} is called a packed file and is none: it begins as a text does; fetch it again, or "
                "give a text's name to it, such as .txt",
                name=name,
            )
        mark = next((e for m, e in _MARKS if head.startswith(m)), None)
        if declared is not None:
            # "utf-16" and "utf-32" leave the byte order to the mark.
            if mark is not None and declared in ("utf-16", "utf-32") and mark.startswith(declared):
                declared = mark
            found: tuple[str, Certainty] = (declared, "declared")
        elif mark is not None:
            found = (mark, "declared")
        else:
            found = _find(file, name, head)
    return TextStream(source, name, size, *found, chunk)


def _find(file: BinaryIO, name: str, head: bytes) -> tuple[str, Certainty]:
    """The encoding of a file without a mark, by reading it once, twice if it must be guessed."""
    refuse_binary(head, name)
    nul, bad = _not_utf8(file, name)
    if nul is not None:
        return _explain_nul(file, name, nul), "guessed"
    if bad is None:
        return "utf-8", "verified"
    sample = _sample(file, name, bad)
    if is_damaged_utf8(sample):
        raise DecodingError(
            "{name} is UTF-8 but damaged: byte {position:,} (0x{byte:02X}) "
            "can't be decoded, as in a file that was cut off; repair it there, or name its encoding",
            name=name,
            position=bad,
            byte=_byte_at(file, bad, name),
        )
    for candidate in guesses(sample):
        if _decodes(file, name, candidate):
            return candidate, "guessed"
    file.seek(0)
    wide = explain_without_nul(_read(file, SAMPLE, name))
    if wide is not None and _decodes(file, name, wide):
        return wide, "guessed"
    raise DecodingError(
        "{name} is not UTF-8 (byte {position:,} is 0x{byte:02X}) and no other encoding fits "
        "all of it; say which encoding it is in, or save it as UTF-8",
        name=name,
        position=bad,
        byte=_byte_at(file, bad, name),
    )


def _not_utf8(file: BinaryIO, name: str) -> tuple[int | None, int | None]:
    """The place of the first NUL byte, else of the first byte that is not UTF-8."""
    file.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset, bad = 0, None
    while data := _read(file, CHUNK, name):
        if (nul := data.find(0)) >= 0:
            return offset + nul, None
        offset += len(data)
        try:
            if bad is None:
                decoder.decode(data)
        except UnicodeDecodeError as error:
            bad = offset - len(error.object) + error.start
    try:
        if bad is None:
            decoder.decode(b"", True)
    except UnicodeDecodeError as error:
        bad = offset - len(error.object)
    return None, bad


def _explain_nul(file: BinaryIO, name: str, position: int) -> str:
    """UTF-16 or UTF-32 without a mark, or an error: other texts have no NUL bytes."""
    start = position // 4 * 4
    file.seek(max(start - 64, 0))
    before = _read(file, min(start, 64), name)
    candidate = explain_nul_bytes(_read(file, SAMPLE, name), before)
    if candidate is not None and _decodes(file, name, candidate):
        return candidate
    raise DecodingError(
        "{name} is not a text file: byte {position:,} is NUL (0x00), as in a program or other binary data; "
        "choose a text file, or say which encoding it is in",
        name=name,
        position=position,
    )


def _sample(file: BinaryIO, name: str, bad: int) -> bytes:
    """Whole lines from the beginning and from around the first byte that is not UTF-8."""
    file.seek(0)
    head = _read(file, SAMPLE // 2, name)
    if bad < len(head) // 2:
        return _whole_lines(head + _read(file, SAMPLE // 2, name))
    start = max(bad - 2000, 0)
    file.seek(start)
    around = _read(file, SAMPLE // 2, name)
    line = around.find(b"\n", 0, bad - start) + 1
    return _whole_lines(head) + b"\n" + _whole_lines(around[line:])


def _whole_lines(data: bytes) -> bytes:
    """`data` up to its last line end, so that no character is cut in two; all of it without one."""
    return data[: data.rfind(b"\n") + 1] or data


def _decodes(file: BinaryIO, name: str, encoding: str) -> bool:
    file.seek(0)
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while data := _read(file, CHUNK, name):
            decoder.decode(data)
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        return False
    return True


class _Decoder:
    """An incremental decoder that drops the mark and names file and offset in its errors."""

    def __init__(self, encoding: str, name: str) -> None:
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._encoding, self._name = encoding, name
        self._fed = 0
        self._at_start = encoding.startswith("utf")

    def feed(self, data: bytes, final: bool = False) -> str:
        self._fed += len(data)
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            at = self._fed - len(error.object) + error.start
            value = error.object[error.start] if error.start < len(error.object) else 0
            raise DecodingError(
                "{name} is not {encoding}: byte {position:,} (0x{byte:02X}) can't be decoded "
                "({reason}); name another encoding, or save the file as UTF-8",
                name=self._name,
                encoding=self._encoding,
                position=at,
                byte=value,
                reason=error.reason,
            ) from None
        if self._at_start and text:
            self._at_start = False
            text = text.removeprefix("\ufeff")
        return text


def canonical(encoding: str) -> str:
    """Python's name of a text encoding. Raises ConfigError for what is none."""
    try:
        info = codecs.lookup(encoding)
        codecs.getincrementaldecoder(encoding)
        "".encode(encoding)  # refuses codecs that don't map text to bytes, as zlib or rot13
    except (LookupError, ValueError, UnicodeError):
        info = None
    if info is None or info.name in _NOT_FOR_FILES:
        raise ConfigError(
            "no text encoding is called {encoding!r}; common ones are utf-8, utf-16, gb18030, big5, "
            "shift_jis, euc-kr, cp1251, cp1252",
            encoding=encoding,
        )
    return "utf-8" if info.name == "utf-8-sig" else info.name


def _name_of(file: BinaryIO) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) and name else "this text"


@contextmanager
def opened_source(source: Source, name: str) -> Iterator[BinaryIO]:
    """The regular file at a path, or a seekable file at its beginning. Raises TextError for anything else."""
    if not isinstance(source, str | os.PathLike):
        size_of(source, name)
        yield source
        return
    path = Path(source)
    try:
        mode = path.stat().st_mode
        # Opening a pipe would wait for whoever writes into it.
        file = path.open("rb") if stat.S_ISREG(mode) else None
    except FileNotFoundError:
        raise TextError("there is no file {name}; check its name and folder", name=name) from None
    except PermissionError:
        raise TextError(
            "{name} may not be read by you; change its permissions or copy it", name=name
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        raise TextError(
            "{name} can't be opened ({error}); check its name and folder", name=name, error=error
        ) from None
    if file is None and stat.S_ISDIR(mode):
        raise TextError("{name} is a folder; choose a text file in it", name=name)
    if file is None:
        raise TextError(
            "{name} is a pipe or a device and can be read only once; save it to a file first", name=name
        )
    with file:
        yield file


def size_of(file: BinaryIO, name: str) -> int:
    """The bytes of a seekable file, which stands at its beginning afterwards. Raises TextError for others."""
    try:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
    except (OSError, ValueError) as error:
        raise TextError(
            "{name} can't be read from its beginning ({error}); pass a seekable file", name=name, error=error
        ) from None
    return size


def _read(file: BinaryIO, size: int, name: str) -> bytes:
    try:
        return file.read(size)
    except OSError as error:
        raise TextError(
            "{name} can't be read ({strerror}); copy it elsewhere and try again",
            name=name,
            strerror=error.strerror or error,
        ) from None


def _byte_at(file: BinaryIO, position: int, name: str) -> int:
    file.seek(position)
    return (_read(file, 1, name) or b"\0")[0]
