"""Bytes to text.

An encoding is found in one of these ways, tried in this order, and is as certain:

    declared    the caller named it, or the bytes begin with a byte order mark
    verified    every byte of the text is valid UTF-8
    guessed     it reads a sample as the likeliest text (`rnnviz.text.guessing`), and decodes all of it

A file that is no text (an image, an archive, a PDF, a program) is refused, and the error names its format.
Files are read in constant memory, checked first and then decoded: no later chunk fails unless the file
changes.
"""

import codecs
import io
import os
import re
import stat
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Literal, TypeGuard, TypeVar, cast

import filetype

from rnnviz.checks import check_path, check_text
from rnnviz.errors import ConfigError, DecodingError, TextError
from rnnviz.text.characters import NORMALISERS, Normaliser, without_shared_line_end
from rnnviz.text.files import packing, unpacked
from rnnviz.text.guessing import SAMPLE_BYTES, guesses
from rnnviz.text.vocabulary import code_points

# Bytes that are not UTF-8: another encoding, or no text at all.


# Formats that `filetype` doesn't know, or knows by letters that a text may begin with.
_SIGNATURES = (
    (rb"%PDF-\d", "PDF"),
    (rb"\{\\rtf1", "RTF"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office"),
    (rb"AT&TFORM[\s\S]{4}DJV", "DjVu"),
    (rb"PK\x03\x04[\s\S]{26,200}(?:\[Content_Types\]|word/|xl/|ppt/|_rels/)", "Office"),
    (rb"\x5d\x00\x00[\s\S]{2}", "LZMA"),
    (rb"\x1aE\xdf\xa3", "Matroska or WebM"),
    # Java classes and macOS programs share four bytes. A class has its version next, 45 or more; a program a
    # small count.
    (rb"\xca\xfe\xba\xbe[\s\S]{2}\x00[\x2d-\xff]", "Java class"),
    (rb"[\xce\xcf]\xfa\xed\xfe|\xfe\xed\xfa[\xce\xcf]|\xca\xfe\xba\xbe", "macOS program"),
    (rb"[\s\S]\x0d\x0d\x0a[\x00-\x03]\x00\x00\x00", "compiled Python"),
    (rb"\x93NUMPY", "NumPy"),
    (rb"\x89HDF\r\n", "HDF5"),
    (rb"PAR1[\x00-\x1f]", "Parquet"),
    (rb"ARROW1\x00\x00", "Arrow or Feather"),
    (rb"Obj\x01", "Avro"),
    (rb"\x80[\x02-\x05][\x00-\x7f\x95]", "Python pickle"),
    (rb"[\s\S]{6}\x00\x00\{\"", "safetensors"),
)
_COMPILED = tuple((re.compile(pattern), name) for pattern, name in _SIGNATURES)
_ARCHIVES = {
    "7Z", "AR", "BR", "BZ2", "CAB", "CRX", "DEB", "GZ", "LZ", "LZ4", "LZMA", "LZO", "RAR", "RPM", "TAR", "XZ",
    "Z", "ZIP", "ZST",
}  # fmt: skip
_DOCUMENTS = {
    "PDF", "RTF", "PS", "EPUB", "DjVu", "DOC", "DOCX", "ODT", "XLS", "XLSX", "ODS", "PPT", "PPTX", "ODP",
    "Office",
}  # fmt: skip
_IN_TEXTS = bytes(range(0x20, 0x100)) + b"\t\n\v\f\r\x1b"


def binary_format(head: bytes) -> str | None:
    r"""The format of a file that begins with `head` (some 500 bytes); None for a text.

    >>> binary_format(b"GIF89a\x10\x00\x10\x00"), binary_format(b"GIF89a is a format.")
    ('GIF', None)
    """
    for pattern, name in _COMPILED:
        if pattern.match(head):
            return name
    # Some of filetype's signatures are two letters: a file must also have a byte that no text has.
    kind = filetype.guess(head) if head.translate(None, _IN_TEXTS) else None
    return kind and kind.extension.upper()


def refuse_binary(head: bytes, name: str) -> None:
    """Raise DecodingError if the file called `name`, which begins with `head`, is no text."""
    kind = binary_format(head)
    if kind is None:
        return
    if kind in _ARCHIVES:
        raise DecodingError(
            "{name} is not a text file: it looks like an archive ({format}); unpack it and choose a text "
            "file inside",
            name=name,
            format=kind,
        )
    if kind in _DOCUMENTS:
        raise DecodingError(
            "{name} is not a text file: it looks like a document ({format}); open it in its own program and "
            "save it as plain text (.txt)",
            name=name,
            format=kind,
        )
    if kind == "safetensors":
        raise DecodingError(
            "{name} is not a text file: it looks like a model (safetensors); choose it as the model, and "
            "a text file as the text",
            name=name,
        )
    raise DecodingError(
        "{name} is not a text file: it looks like {format} data; choose a text file",
        name=name,
        format=kind,
    )


Certainty = Literal["declared", "verified", "guessed"]
Source = str | os.PathLike[str] | BinaryIO
TextOrPath = str | os.PathLike[str]
S = TypeVar("S", bound=Source)

CHUNK_BYTES = 1 << 16  # bytes read at a time

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


def _cut_off(error: DecodingError | None) -> TypeGuard[DecodingError]:
    """Whether the file ends inside a character: the only error of `decoded` without a reason."""
    return error is not None and "reason" not in error.values


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
            for text in decoded(file, self.name, self.encoding, self._chunk):
                self.bytes_read = file.tell()
                if text:
                    yield text


def open_text(
    source: Source,
    *,
    encoding: str | None = None,
    chunk: int = CHUNK_BYTES,
    name: str | None = None,
    model_characters: Collection[str] = (),
) -> TextStream:
    """Find the encoding of a file, a path or a seekable binary file object, and return its text as a stream.

    A pipe is read once, into a temporary file; so is what is packed with gzip or Zstandard and named so.

    encoding  declares the encoding; None: found from the file
    chunk     bytes decoded at a time
    name      stands for the file in messages
    model_characters  those of the model that is to read the text, for a guess

    Raises TextError for a path that can't be read, DecodingError for a file that is no text or not in
    `encoding`, ConfigError for an unknown encoding.
    """
    declared = canonical(encoding) if encoding is not None else None
    if name is None:
        name = _name_of(cast(BinaryIO, source)) if hasattr(source, "read") else check_path(source)
    source = _unpacked(from_pipe(source, name), name)
    with opened_source(source, name) as file:
        size = size_of(file, name)
        head = _read(file, 512, name)
        mark = encoding_of_mark(head)
        if declared is not None:
            # The names "utf-16" and "utf-32" leave the byte order to the mark.
            if mark is not None and declared in ("utf-16", "utf-32") and mark.startswith(declared):
                declared = mark
            encoding_found: tuple[str, Certainty] = (declared, "declared")
        elif mark is not None:
            encoding_found = (mark, "declared")
        else:
            encoding_found = _find(file, name, head, size, model_characters)
    return TextStream(source, name, size, *encoding_found, chunk)


def encoding_of_mark(head: bytes) -> str | None:
    """The encoding whose byte order mark a file begins with."""
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)


def warn_of_guess(name: str, encoding: str | None, certainty: str | None) -> None:
    """Warn a caller in Python of a guessed encoding: a wrong one gives plausible figures too."""
    if certainty == "guessed":
        sentence = (
            f"{name} is not UTF-8 and says no other encoding; it is read as {encoding}, a guess; if that is "
            "wrong, read it with Path.read_text(encoding=…)"
        )
        warnings.warn(sentence, UserWarning, stacklevel=3)


def text_of(text_or_path: TextOrPath, model_characters: Collection[str] = ()) -> str:
    """A str as it is; all the text of the file at a `pathlib.Path`, whose encoding is found.

    `model_characters` as in `open_text`. Raises TextError, and the errors of `open_text`.
    """
    if not isinstance(text_or_path, os.PathLike):
        return check_text(text_or_path)
    stream = open_text(text_or_path, model_characters=model_characters)
    warn_of_guess(stream.name, stream.encoding, stream.certainty)
    return "".join(stream)


def _find(
    file: BinaryIO, name: str, head: bytes, size: int, model_characters: Collection[str]
) -> tuple[str, Certainty]:
    """The encoding of a file without a mark, by reading all of it."""
    refuse_binary(head, name)
    # NUL first: a text without one is no UTF-16 or UTF-32, but for a text without ASCII.
    nul = _first_nul(file, name)
    bad = None if nul is not None else _decoding_error("utf-8", file, name)
    if nul is None and bad is None:
        return "utf-8", "verified"
    where = bad.values if bad is not None else {"name": name, "position": nul, "byte": 0}
    position = cast(int, where["position"])
    if _cut_off(bad):  # all but the end is UTF-8
        file.seek(max(position - 1, 0))
        if not _ENDS_A_WORD.fullmatch(_read(file, 4, name)):
            raise bad
    # UTF-16 has other line ends: what may be in it is taken as it stands.
    whole = nul is not None or size <= SAMPLE_BYTES
    sample = (
        _sample_around(file, name, position, size) if whole else _lines_beyond_ascii(file, name, position)
    )
    for n, candidate in enumerate(guesses(sample, model_characters)):
        if nul is not None and not candidate.startswith(("utf-16", "utf-32")):
            break
        if candidate == "utf-8":
            if _cut_off(bad):
                raise bad
            raise DecodingError(
                "{name} is UTF-8 but damaged: byte {position:,} (0x{byte:02X}) can't be decoded; repair it "
                "there, or name its encoding",
                **where,
            )
        # The sample decides which encoding is likeliest; only the whole file shows that it is possible.
        wrong = _decoding_error(candidate, file, name)
        if wrong is None:
            return candidate, "guessed"
        if n == 0 and _cut_off(wrong):
            raise wrong
    if nul is None:
        raise DecodingError(
            "{name} is not UTF-8 (byte {position:,} is 0x{byte:02X}) and no other encoding fits "
            "all of it; say which encoding it is in, or save it as UTF-8",
            **where,
        )
    if (rest := sample.replace(b"\0", b"")) and guesses(rest, model_characters):
        raise DecodingError(
            "{name} is a text except for NUL characters, which nobody types: byte {position:,} is NUL "
            "(0x00); remove them, or name its encoding to read them as they are",
            **where,
        )
    raise DecodingError(
        "{name} is not a text file: byte {position:,} is NUL (0x00), as in a program or other binary data; "
        "choose a text file, or say which encoding it is in",
        **where,
    )


_ENDS_A_WORD = re.compile("[A-Za-z][àáãäåèéêëìíòóô]".encode("latin-1"))
"""A letter and an accented one, in Latin-1. UTF-8 that is cut off inside a character hardly ever ends so."""


def _first_nul(file: BinaryIO, name: str) -> int | None:
    """The place of the first NUL byte; None without one."""
    file.seek(0)
    offset = 0
    while data := _read(file, CHUNK_BYTES, name):
        if (nul := data.find(0)) >= 0:
            return offset + nul
        offset += len(data)
    return None


def _decoding_error(encoding: str, file: BinaryIO, name: str) -> DecodingError | None:
    """The error of decoding the whole file; None if all of it is in the encoding."""
    file.seek(0)
    try:
        for _ in decoded(file, name, encoding, CHUNK_BYTES):
            pass
    except DecodingError as error:
        return error
    return None


def _sample_around(file: BinaryIO, name: str, position: int, size: int) -> bytes:
    """All of a short file, else a stretch around a byte that begins where a character of four bytes may."""
    start = 0 if size <= SAMPLE_BYTES else max(position - SAMPLE_BYTES // 2, 0) // 4 * 4
    file.seek(start)
    return _read(file, SAMPLE_BYTES, name)


def _lines_beyond_ascii(file: BinaryIO, name: str, bad: int) -> bytes:
    """Lines that are not ASCII, from the beginning and from around the first byte that is not UTF-8."""
    file.seek(0)
    head = _read(file, 4 * SAMPLE_BYTES, name)
    start = max(bad - 2000, 0)
    file.seek(start)
    around = _read(file, 4 * SAMPLE_BYTES, name)
    around = around[around.find(b"\n", 0, bad - start) + 1 :]
    size = SAMPLE_BYTES // 2
    samples = [b"".join(_BEYOND_ASCII.findall(part))[:size] for part in (head, around)]
    # Cut after a line, else inside a character.
    return b"".join(part[: part.rfind(b"\n") + 1] or part for part in samples)


_BEYOND_ASCII = re.compile(rb"[^\n]*[\x80-\xff][^\n]*\n?")


def decoded(file: BinaryIO, name: str, encoding: str, chunk: int, errors: str = "strict") -> Iterator[str]:
    """The text of a file without its byte order mark, a piece for each `chunk` of bytes.

    `errors` is as in `bytes.decode`; "strict" raises DecodingError for bytes that can't be decoded.
    """
    # An incremental decoder keeps the bytes of a character that a chunk cuts.
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    # Any bytes but b"": the loop also decodes the b"" at the end, which finds a character that was cut off.
    first_text, size, data = encoding.startswith("utf"), 0, b"begin"
    while data:
        data = _read(file, chunk, name)
        size += len(data)
        try:
            text = decoder.decode(data, not data)
        except UnicodeDecodeError as error:
            if not data:  # only what the end leaves open is found here
                raise DecodingError(
                    "{name} was cut off inside its last character: byte {position:,} (0x{byte:02X}) begins "
                    "one that doesn't end, in {encoding}; fetch it again, or name another encoding",
                    name=name,
                    encoding=encoding,
                    position=size - len(error.object),
                    byte=error.object[0],
                ) from None
            raise DecodingError(
                "{name} is not {encoding}: byte {position:,} (0x{byte:02X}) can't be decoded "
                "({reason}); name another encoding, or save the file as UTF-8",
                name=name,
                encoding=encoding,
                position=size - len(error.object) + error.start,
                byte=error.object[error.start] if error.start < len(error.object) else 0,
                reason=error.reason,
            ) from None
        except UnicodeError as error:  # utf-16 and utf-32 without their mark
            raise DecodingError(
                "{name} is not {encoding} ({reason}); name another encoding, or save the file as UTF-8",
                name=name,
                encoding=encoding,
                reason=error,
            ) from None
        if first_text and text:
            first_text, text = False, text.removeprefix("\ufeff")
        yield text


def canonical(encoding: str) -> str:
    """Python's name of a text encoding. Raises ConfigError for unknown names and for codecs of other data."""
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


def from_pipe(source: S, name: str) -> S | BinaryIO:
    """The source itself; of a pipe, which can be read only once, a copy in a temporary file."""
    if isinstance(source, str | os.PathLike):
        with suppress(OSError, ValueError):  # `opened_source` says why
            if stat.S_ISFIFO(os.stat(source).st_mode):
                with open(source, "rb") as file:  # waits for its writer, as every reader of a pipe does
                    return copied(file, name)
    return source


def _unpacked(source: Source, name: str) -> Source:
    """The source itself; of a text that is packed, as its name says, an unpacked copy in a temporary file."""
    if not packing(name):
        return source
    with opened_source(source, name) as file:
        kind = binary_format(_read(file, 512, name))
        file.seek(0)
        if kind == {".gz": "GZ", ".zst": "ZST"}[packing(name)]:
            return copied(unpacked(file, name), name)
    if kind is None:
        raise DecodingError(
            "{name} has the ending of a compressed file, but begins as a text does; fetch it again, or "
            "give it a text's ending, such as .txt",
            name=name,
        )
    return source


def copied(file: BinaryIO, name: str) -> BinaryIO:
    """A seekable copy of a stream, which moves to disk once it is large."""
    copy = _Copy(max_size=1 << 24)
    while data := _read(file, CHUNK_BYTES, name):
        copy.write(data)
    copy.seek(0)
    return cast(BinaryIO, copy)


class _Copy(tempfile.SpooledTemporaryFile[bytes]):
    """A temporary file that goes with its last reader: a stream is not closed."""

    def __del__(self) -> None:
        self.close()


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
        file = path.open("rb") if stat.S_ISREG(mode) else None
    except FileNotFoundError:
        raise TextError("there is no file {name}; check its name and folder", name=name) from None
    except PermissionError:
        raise TextError(
            "you may not read {name}; change its permissions, or choose another file", name=name
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        raise TextError(
            "{name} can't be opened ({error}); check its name and folder", name=name, error=error
        ) from None
    if file is None and stat.S_ISDIR(mode):
        raise TextError("{name} is a folder; choose a text file in it", name=name)
    if file is None:
        raise TextError(
            "{name} is a device, or a pipe that can't be read; save what it gives to a file first", name=name
        )
    with file:
        yield file


def size_of(file: BinaryIO, name: str) -> int:
    """The size of a seekable file in bytes; goes back to the beginning. Raises TextError for other files."""
    if isinstance(cast(object, file), io.TextIOBase):
        raise TextError("{name} is open as text; open it in binary, as with open(…, 'rb')", name=name)
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


# A file or a text, read as normalised pieces of equal length.

CRLF = "\udc0d"
"""Stands for CR and LF where one character stands for each that is read: half a surrogate pair, which no text
holds."""

# Bytes of a file, or characters of a text, at a time: few, so that `bytes_read` keeps pace with the model.
PIECE_BYTES = 1 << 13


class SourceText:
    """A file or a text, read as normalised pieces; `encoding` and `certainty` are None for a text.

    context  was read before: a line end may begin there
    bytes    UTF-8 bytes of the own characters, not normalised, of all `pieces` so far

    Raises ConfigError unless exactly one of the two is given, and for a text with an encoding.
    """

    def __init__(
        self,
        path: Source | None,
        text: str | None,
        encoding: str | None,
        name: str | None,
        normaliser: str,
        model_characters: Collection[str] = (),
        context: str = "",
    ) -> None:
        if path is None and text is None:
            raise ConfigError("give either a file or text=…; received neither")
        if path is not None and text is not None:
            raise ConfigError("give either a file or text=…; received both")
        self.normaliser, self.bytes, self._context = Normaliser(normaliser), 0, context
        self._stream: TextStream | None = None
        self._text, self._read = text if isinstance(text, str) else "", 0
        if path is not None:
            model_characters = [
                *model_characters,
                *NORMALISERS[normaliser],
            ]  # what is folded is known as what it becomes
            self._stream = open_text(
                path, encoding=encoding, chunk=PIECE_BYTES, model_characters=model_characters
            )
            self.encoding: str | None = self._stream.encoding
            self.certainty: str | None = self._stream.certainty
            self.bytes_total = self._stream.bytes_total
            self.name = name or self._stream.name
        else:
            if encoding is not None:
                raise ConfigError(
                    "text=… has no encoding, it is decoded already; received {encoding!r}", encoding=encoding
                )
            code_points(check_text(text))  # refuses half a surrogate pair, naming its place in the whole text
            self.encoding = self.certainty = None
            self.bytes_total = len(self._text.encode("utf-8"))
            self.name = name or "this text"

    @property
    def bytes_read(self) -> int:
        """Bytes of the file, or of the text in UTF-8, read so far."""
        return self._stream.bytes_read if self._stream else self._read

    def _chunks(self) -> Iterator[str]:
        if self._stream is not None:
            yield from self._stream
            return
        for start in range(0, len(self._text), PIECE_BYTES):
            chunk = self._text[start : start + PIECE_BYTES]
            self._read += len(chunk.encode("utf-8"))
            yield chunk

    def pieces(
        self,
        length: int,
        max_characters: int | None = None,
        must_stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """The normalised text, `length` characters at a time; the last piece may be shorter.

        max_characters  the text ends after so many
        must_stop       asked before each further piece, so only if there is one; true: the text ends there
        """
        for piece in self.raw_pieces(length, max_characters, must_stop):
            self.bytes += len(piece.replace(CRLF, "\r\n").encode())
            yield self.normaliser.read(piece.replace(CRLF, "\r"))

    def raw_pieces(
        self,
        length: int,
        max_characters: int | None = None,
        must_stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """The text's own characters, with CRLF as one, cut as `pieces` are."""
        characters = 0
        for piece in self._equal_pieces(length):
            if characters and must_stop():
                return
            # Cut here, not by whoever reads: readers use pieces of other lengths, and must end at one place.
            yield piece if max_characters is None else piece[: max_characters - characters]
            characters += len(piece)
            if max_characters is not None and characters >= max_characters:
                return

    def _equal_pieces(self, length: int) -> Iterator[str]:
        buffer, waiting, context = "", "", self._context  # a CR at the end of a chunk waits for the next one
        for chunk in self._chunks():
            rest, context = without_shared_line_end(context, chunk), ""
            self.bytes += len(chunk) - len(rest)
            rest = waiting + rest
            # CR and LF count as one character; whether a CR has its LF shows in the next chunk.
            waiting = "\r" if rest.endswith("\r") else ""
            buffer += rest.removesuffix("\r").replace("\r\n", CRLF)
            whole = len(buffer) // length * length
            for start in range(0, whole, length):
                yield buffer[start : start + length]
            buffer = buffer[whole:]
        if buffer := buffer + waiting:
            yield buffer
