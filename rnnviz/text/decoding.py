"""Bytes to text.

An encoding is found in one of these ways, tried in this order, and is as certain:

    declared    the caller named it, or the bytes begin with a byte order mark
    verified    every byte of the text is valid UTF-8
    guessed     charset-normalizer looked at a sample, and the whole text decodes

A file that is no text (an image, an archive, a PDF, a program) is refused, and the error names its format.
Files are read in constant memory, checked first and then decoded: no later chunk fails unless the file
changes.
"""

import codecs
import io
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, cast

import filetype

from rnnviz.checks import check_path, check_text
from rnnviz.errors import ConfigError, DecodingError, TextError
from rnnviz.text.characters import Normaliser, after
from rnnviz.text.files import packing
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
    found = filetype.guess(head) if head.translate(None, _IN_TEXTS) else None
    return found and found.extension.upper()


def refuse_binary(head: bytes, name: str) -> None:
    """Raise DecodingError if the file called `name`, which begins with `head`, is no text."""
    found = binary_format(head)
    if found is None:
        return
    if found in _ARCHIVES:
        raise DecodingError(
            "{name} is not a text file: it looks like an archive ({format}); unpack it and choose a text "
            "file inside",
            name=name,
            format=found,
        )
    if found in _DOCUMENTS:
        raise DecodingError(
            "{name} is not a text file: it looks like a document ({format}); open it in its own program and "
            "save it as plain text (.txt)",
            name=name,
            format=found,
        )
    if found == "safetensors":
        raise DecodingError(
            "{name} is not a text file: it looks like a model (safetensors); choose it as the model, and "
            "a text file as the text",
            name=name,
        )
    raise DecodingError(
        "{name} is not a text file: it looks like {format} data; choose a text file",
        name=name,
        format=found,
    )


def wide(before: bytes, after: bytes) -> Iterator[str]:
    """The encodings, UTF-16 or UTF-32 without a byte order mark, in which these bytes are a text; the
    likeliest first.

    `after` follows `before` in the file and starts less than 4 bytes before the first NUL. ASCII with a stray
    NUL gives none.
    """
    if _is_ascii_text(after) or (len(before) >= _ENOUGH and _is_ascii_text(before[-64:])):
        return
    from charset_normalizer import from_bytes

    for match in from_bytes(before + after, cp_isolation=_WIDE, enable_fallback=False):
        yield canonical(match.encoding)


_WIDE = ["utf_32_le", "utf_32_be", "utf_16_le", "utf_16_be"]
_ASCII = bytes(range(0x20, 0x7F))
_ENOUGH = 32  # bytes; 16 characters of two bytes each that are printable by chance: never seen


def _is_ascii_text(data: bytes) -> bool:
    """Whether `data` is printable ASCII, but for a few NUL bytes.

    In UTF-16 every second byte names the script: NUL for English, 4 for Russian. For Hindi that byte is a
    tab's, for Punjabi a line feed's, for Malayalam a carriage return's. Texts in ASCII have fewer of these:
    at most a third.
    """
    blanks = sum(map(data.count, (b"\t", b"\n", b"\r")))
    return (
        not data.translate(None, _ASCII + b"\t\n\r\0")
        and 4 * data.count(0) < len(data)
        and 3 * blanks <= len(data)
    )


def is_damaged_utf8(sample: bytes) -> bool:
    """Whether a text is UTF-8 but for a few bytes: any other guess would be wrong.

    Bytes of other encodings form UTF-8 sequences by chance. For each broken one there are up to 3 in texts of
    ten characters, 0.75 in 30 characters, fewer in longer texts (15 languages in the encodings of `guesses`).
    Hence the two thresholds: twice as many as broken ones, and at least 10.
    """
    text = sample.decode("utf-8", errors="replace")
    replaced = text.count("\ufffd")
    beyond = sum(not c.isascii() for c in text) - replaced
    return beyond >= max(2 * replaced, 10)


# The encodings in use today beside UTF-8. With all of Python's 90 codecs to choose from, the detector prefers
# rare code pages on short texts.
_IN_USE = (
    "gb18030 big5 cp932 euc_jp cp949 cp1251 koi8_r cp1253 iso8859_7 cp1255 cp1256 cp874 cp866 cp437 mac_roman"
)

# The Latin code pages differ in a few letters, too few for the detector to tell them apart on most texts.
# Beside each page stand the letters of its languages. The page wins that explains the most of the text as one
# of its languages; in a tie, the earlier one.
_CENTRAL = (
    "ąćęłńóśźż",  # Polish
    "áäčďéěíĺľňóôŕřšťúůýž",  # Czech, Slovak
    "áéíóöőúüű",  # Hungarian
    "âăîşţ",  # Romanian
    "čćđšž",  # Croatian, Slovene
)
_LATIN = {
    # Western Europe: no language has both õ and û, which stand where Hungarian has its own two letters.
    "cp1252": ("àáâãäåæçèéêëìíîïñòóôöøùúûüßœÿ", "áâãàçéêíóôõúü", "äöõüšž"),
    "cp1250": _CENTRAL,
    "iso8859_2": _CENTRAL,
    "cp1254": ("çğıiöşüâîû",),  # Turkish
    "cp1257": ("āčēģīķļņšūž", "ąčęėįšųūž", "äöõüšž"),  # Latvian, Lithuanian, Estonian
}
_PUNCTUATION = "‘’‚“”„–—…«»‹›•·°§¡¿£€©®\xa0"


def guesses(sample: bytes) -> Iterator[str]:
    """charset-normalizer's encodings of `sample`, the likeliest first."""
    from charset_normalizer import from_bytes  # costs 50 ms, and most texts are UTF-8

    matches = from_bytes(sample, cp_isolation=[*_IN_USE.split(), *_LATIN], enable_fallback=False)
    latin = sorted(_LATIN, key=lambda encoding: -_share_explained(sample, encoding))
    order = [e for match in matches for e in (latin if match.encoding in _LATIN else [match.encoding])]
    if order and _is_euc_jp(sample):
        order.insert(0, "euc_jp")
    elif order and order[0] == "cp1251" and _is_hebrew(sample):
        order.insert(0, "cp1255")
    yield from dict.fromkeys([*order, "latin_1"] if order else [])


def _is_euc_jp(sample: bytes) -> bool:
    """Whether `sample` is valid EUC-JP with kana in every few characters, as only Japanese has.

    GB2312 has kana at the same places: the detector sees Chinese or, in a short text, Korean.
    """
    try:
        beyond = [c for c in sample.decode("euc_jp") if not c.isascii()]
    except UnicodeDecodeError:
        return False
    return sum("\u3041" <= c <= "\u30fe" for c in beyond) > len(beyond) / 5


def _is_hebrew(sample: bytes) -> bool:
    """Whether a sample that looks like Windows-1251 has no capitals and none of the last five letters.

    Hebrew has one case and 27 letters; no Russian or Bulgarian text lacks capitals and these five for long.
    """
    letters = [byte for byte in sample if byte >= 0xC0]
    return len(letters) >= 30 and all(0xE0 <= byte <= 0xFA for byte in letters)


def _share_explained(sample: bytes, encoding: str) -> float:
    beyond = Counter(c for c in sample.decode(encoding, errors="replace").lower() if not c.isascii())
    explained = max(sum(beyond[c] for c in letters + _PUNCTUATION) for letters in _LATIN[encoding])
    return explained / max(beyond.total(), 1)


Certainty = Literal["declared", "verified", "guessed"]
Source = str | os.PathLike[str] | BinaryIO
TextOrPath = str | os.PathLike[str]

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
    source: Source, *, encoding: str | None = None, chunk: int = CHUNK, name: str | None = None
) -> TextStream:
    """Find the encoding of a file, a path or a seekable binary file object, and return its text as a stream.

    encoding  declares the encoding; None: found from the file
    chunk     bytes decoded at a time
    name      stands for the file in messages

    Raises TextError for a path that can't be read, DecodingError for a file that is no text or not in
    `encoding`, ConfigError for an unknown encoding.
    """
    declared = canonical(encoding) if encoding is not None else None
    if name is None:
        name = _name_of(cast(BinaryIO, source)) if hasattr(source, "read") else check_path(source)
    with opened_source(source, name) as file:
        size = size_of(file, name)
        head = _read(file, 512, name)
        if packing(name) and binary_format(head) is None:
            raise DecodingError(
                "{name} has the ending of a compressed file, but begins as a text does; fetch it again, or "
                "give it a text's ending, such as .txt",
                name=name,
            )
        mark = next((e for m, e in _MARKS if head.startswith(m)), None)
        if declared is not None:
            # The names "utf-16" and "utf-32" leave the byte order to the mark.
            if mark is not None and declared in ("utf-16", "utf-32") and mark.startswith(declared):
                declared = mark
            found: tuple[str, Certainty] = (declared, "declared")
        elif mark is not None:
            found = (mark, "declared")
        else:
            found = _find(file, name, head)
    return TextStream(source, name, size, *found, chunk)


def text_of(given: TextOrPath) -> str:
    """A str as it is; all the text of the file at a `pathlib.Path`. Raises TextError, and the errors of
    `open_text`.
    """
    return "".join(open_text(given)) if isinstance(given, os.PathLike) else check_text(given)


def _find(file: BinaryIO, name: str, head: bytes) -> tuple[str, Certainty]:
    """The encoding of a file without a mark, by reading all of it."""
    refuse_binary(head, name)
    nul = _first_nul(file, name)
    if nul is not None:
        return _explain_nul(file, name, nul), "guessed"
    bad = _not_in("utf-8", file, name)
    if bad is None:
        return "utf-8", "verified"
    where = {key: bad.values[key] for key in ("name", "position", "byte")}
    sample = _sample(file, name, cast(int, where["position"]))
    if is_damaged_utf8(sample):
        raise DecodingError(
            "{name} is UTF-8 but damaged: byte {position:,} (0x{byte:02X}) "
            "can't be decoded, as in a file that was cut off; repair it there, or name its encoding",
            **where,
        )
    for candidate in guesses(sample):
        if _not_in(candidate, file, name) is None:
            return candidate, "guessed"
    raise DecodingError(
        "{name} is not UTF-8 (byte {position:,} is 0x{byte:02X}) and no other encoding fits "
        "all of it; say which encoding it is in, or save it as UTF-8",
        **where,
    )


def _first_nul(file: BinaryIO, name: str) -> int | None:
    """The place of the first NUL byte; None without one."""
    file.seek(0)
    offset = 0
    while data := _read(file, CHUNK, name):
        if (nul := data.find(0)) >= 0:
            return offset + nul
        offset += len(data)
    return None


def _not_in(encoding: str, file: BinaryIO, name: str) -> DecodingError | None:
    """The error of decoding the whole file; None if all of it is in the encoding."""
    file.seek(0)
    try:
        for _ in decoded(file, name, encoding, CHUNK):
            pass
    except DecodingError as error:
        return error
    return None


def _explain_nul(file: BinaryIO, name: str, position: int) -> str:
    """The encoding of a text with NUL bytes: UTF-16 or UTF-32. Raises DecodingError for other files."""
    start = position // 4 * 4
    before = min(start, SAMPLE // 2)
    file.seek(start - before)
    for candidate in wide(_read(file, before, name), _read(file, SAMPLE // 2, name)):
        if _not_in(candidate, file, name) is None:
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


def decoded(file: BinaryIO, name: str, encoding: str, chunk: int, errors: str = "strict") -> Iterator[str]:
    """The text of a file without its byte order mark, a piece for each `chunk` of bytes.

    `errors` is as in `bytes.decode`; "strict" raises DecodingError for bytes that can't be decoded.
    """
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    marked, size, data = encoding.startswith("utf"), 0, b"begin"
    while data:
        data = _read(file, chunk, name)
        size += len(data)
        try:
            text = decoder.decode(data, not data)
        except UnicodeDecodeError as error:
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
        if marked and text:
            marked, text = False, text.removeprefix("\ufeff")
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
        # Opening a pipe would wait for its writer.
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
            "{name} is a pipe or a device and can be read only once; save it to a file first", name=name
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
PIECE = 1 << 13


class SourceText:
    """A file or a text, read as normalised pieces; `encoding` and `certainty` are None for a text.

    given  the context that was read before: a line end may begin there
    bytes  UTF-8 bytes of the own characters, not normalised, of all `pieces` so far

    Raises ConfigError unless exactly one of the two is given, and for a text with an encoding.
    """

    def __init__(
        self,
        path: Source | None,
        text: str | None,
        encoding: str | None,
        name: str | None,
        normaliser: str,
        given: str = "",
    ) -> None:
        if path is None and text is None:
            raise ConfigError("give either a file or text=…; received neither")
        if path is not None and text is not None:
            raise ConfigError("give either a file or text=…; received both")
        self.normaliser, self.bytes, self._given = Normaliser(normaliser), 0, given
        self._stream: TextStream | None = None
        self._text, self._read = text if isinstance(text, str) else "", 0
        if path is not None:
            self._stream = open_text(path, encoding=encoding, chunk=PIECE)
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
        for start in range(0, len(self._text), PIECE):
            chunk = self._text[start : start + PIECE]
            self._read += len(chunk.encode("utf-8"))
            yield chunk

    def pieces(self, length: int) -> Iterator[str]:
        """The normalised text, `length` characters at a time; the last piece may be shorter."""
        for own in self.own(length):
            self.bytes += len(own.replace(CRLF, "\r\n").encode())
            yield self.normaliser.read(own.replace(CRLF, "\r"))

    def own(self, length: int) -> Iterator[str]:
        """The text's own characters, with CRLF as one, cut as `pieces` are."""
        buffer, waiting, given = "", "", self._given  # a CR at the end of a chunk waits for the next one
        for chunk in self._chunks():
            rest, given = after(given, chunk), ""
            self.bytes += len(chunk) - len(rest)
            rest = waiting + rest
            waiting = "\r" if rest.endswith("\r") else ""
            buffer += rest.removesuffix("\r").replace("\r\n", CRLF)
            whole = len(buffer) // length * length
            for start in range(0, whole, length):
                yield buffer[start : start + length]
            buffer = buffer[whole:]
        if buffer := buffer + waiting:
            yield buffer
