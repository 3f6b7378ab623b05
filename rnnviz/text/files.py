"""Files: read without waiting on pipes and devices, written whole or not at all.

Here too are files packed with gzip or Zstandard, and the files that a folder or a pattern names.
"""

import errno
import glob
import gzip
import io
import os
import shlex
import stat
import tempfile
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, BinaryIO, cast

from rnnviz.checks import check_path
from rnnviz.errors import ConfigError, ExportError, Phrase, TextError, install


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """A regular file, open for reading. Raises OSError, for a folder, a pipe or a device too."""
    # O_NONBLOCK: opening a pipe would wait for its writer. O_BINARY: Windows would translate line ends.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, Phrase("it is not a regular file"), str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """The content of a regular file of at most `max_bytes` bytes. Raises OSError for everything else.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "a.txt").write_bytes(b"text")
    ...     read(f"{folder}/a.txt", 100)
    b'text'
    """
    with opened(path) as file:
        # The size is asked first, and one byte more than allowed is read: the file may grow meanwhile.
        huge = os.fstat(file.fileno()).st_size > max_bytes
        data = b"" if huge else file.read(max_bytes + 1)
    if huge or len(data) > max_bytes:
        raise OSError(errno.EFBIG, Phrase("it has more than {most:,} bytes", most=max_bytes), str(path))
    return data


MAX_NAME_CHARS = 100
"""Characters of a name or title that are shown."""

_JOINERS = "\u200c\u200d"  # Persian and emoji need these, and neither hides or reverses its neighbours


@contextmanager
def replacing(
    target: str | os.PathLike[str] | BinaryIO,
    *,
    mode: int = 0o644,
    parents: bool = False,
    durable: bool = True,
) -> Iterator[BinaryIO]:
    """A file to write to. A path gets the new content once all of it is written, else keeps the old.

    target   a path, or an open file, which is yielded as it is
    mode     the permissions of a new file
    parents  make the path's folder
    durable  wait until the content is safe from a power cut; without, writing takes a fraction of the time

    Raises ExportError where the path can't be written.
    """
    if not isinstance(target, str | os.PathLike):
        yield target
        return
    path = Path(target)
    temporary: str | None = None
    try:
        if parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as device:  # /dev/stdout, or a pipe: nothing to replace
                yield device
            return
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = file.name
            yield file  # type: ignore[misc]  # a BinaryIO in all but name
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.chmod(temporary, mode)  # a temporary file is for its owner alone
        os.replace(temporary, path)
        temporary = None
        if durable:  # the new name outlives a power cut once its folder is written; Windows opens no folder
            with suppress(OSError):
                folder = os.open(path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
    except BrokenPipeError:  # the reader closed the pipe, as `| head` does: nothing is wrong with the path
        raise
    except OSError as error:
        if not parents and error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG):
            raise no_place(path) from None
        raise ExportError(
            "{path} can't be written: {strerror}; free some space or choose another folder",
            path=path,
            strerror=error.strerror or error,
        ) from None
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


HTML = (b"<!doctype html", b"<!DOCTYPE html", b"<html")
BEGINNINGS = {
    ".csv": (b"position,", b"file,"), ".json": (b'{"model": ',), ".jsonl": (b"{",), ".npy": (b"\x93NUMPY",),
    ".npz": (b"PK",), ".parquet": (b"PAR1",), ".html": HTML, ".htm": HTML, ".safetensors": (b"",),
    ".py": (b'"""An rnnviz network',),
}  # fmt: skip
"""How files of each kind begin, by the ending of their names."""

TEXTS = (".csv", ".json", ".jsonl")
"""Of these, a file of that name is one however it begins."""

SELF_EVIDENT = (".csv", ".json", ".npy", ".parquet")
"""Of these, a file of another name is one if it begins so: nothing else does."""

MAX_FILE_NAME_BYTES = 240
"""Bytes of a name, at most: most systems take 255, and the temporary file's name is longer."""


def check_output(output: str | os.PathLike[str], kind: str, *read: object, parents: bool = False) -> Path:
    """`output` as a Path, if a file of this kind may be written there: to be asked before any work.

    kind     the kind's usual ending, of BEGINNINGS
    read     what the file is made of: paths and open files; anything else is passed over
    parents  its folder will be made

    Files that are read, and files of another kind, are never replaced. Pipes and devices take anything.
    Raises ExportError.
    """
    path = Path(check_path(output))
    try:
        absent = path.is_dir() or not (parents or path.absolute().parent.is_dir())
        if absent or "\0" in path.name or len(os.fsencode(path.name)) > MAX_FILE_NAME_BYTES:
            raise no_place(path)
    except (OSError, ValueError):  # too long a path, or half a surrogate pair
        raise no_place(path) from None
    named = BEGINNINGS.get(path.suffix.lower())
    if named not in (None, BEGINNINGS[kind]):
        raise ExportError("{path} can't name a {kind} file; end the name in {kind}", path=path, kind=kind)
    if not path.is_file():
        return path
    for source in (getattr(source, "name", source) for source in read):
        if isinstance(source, str | os.PathLike) and os.path.exists(source) and path.samefile(source):
            raise ExportError("{path} is read here, and would be overwritten; name another file", path=path)
    try:
        with opened(path) as file:
            head = file.read(20)
    except OSError:  # not ours to read, so not to be replaced
        head = b"?"
    alike = head.startswith(BEGINNINGS[kind]) and (named or kind in SELF_EVIDENT)
    if head and not alike and not (named and kind in TEXTS):
        raise ExportError(
            "{path} is there already and isn't a {kind} file that rnnviz wrote; name another, or remove it",
            path=path,
            kind=kind,
        )
    return path


def no_place(path: Path) -> ExportError:
    """The error of a path that no file can have."""
    return ExportError(
        "{path} can't be written: there is no folder for it, or its name is too long; make one or name "
        "another file",
        path=path,
    )


def private(path: Path) -> BinaryIO:
    """A new file to write, for its owner's eyes alone: the content gives away a user's text."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def printable(name: str | os.PathLike[str], max_chars: int | None = None) -> str:
    """A name from a stranger or a file, safe to show or send.

    Escapes replace bytes that are no text, and control and format characters, which could hide or reverse
    their neighbours. A name of more than `most` characters loses its middle, as a file's name ends in its
    type.

    >>> printable(os.fsdecode(b"b\\xff.txt")), printable("gp\u202ej.txt"), printable("a" * 99 + ".txt", 10)
    ('b\\\\udcff.txt', 'gp\\\\u202ej.txt', 'aaaaa….txt')
    """
    escaped = "".join(
        c.encode("unicode_escape").decode()
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in _JOINERS
        else c
        for c in os.fspath(name)
    )
    if max_chars is None or len(escaped) <= max_chars:
        return escaped
    return f"{escaped[: max_chars // 2]}…{escaped[len(escaped) - (max_chars - max_chars // 2 - 1) :]}"


def without_folders(command: str) -> str:
    """A command line whose absolute paths are cut to the file's name: a shared model's card shows commands.

    >>> without_folders("rnnviz train --corpus /home/me/diary.txt --run-dir=/runs/a --watch '// and / or'")
    "rnnviz train --corpus diary.txt --run-dir=a --watch '// and / or'"
    """
    try:
        words = shlex.split(command)
    except ValueError:  # a quotation that never ends: no command that was written down
        return command
    named = [_named(word) for word in words]
    return command if named == words else shlex.join(named)


def _named(word: str) -> str:
    option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind(value)
        # A sentence to watch may begin with a slash, or with two, as a comment in C does.
        if (path.is_absolute() or value.startswith("~")) and len(path.parts) > 2 and value[:2] != "//":
            return f"{option}{equals}{path.name}"
    return word


def is_shown(path: Path) -> bool:
    """Whether `printable` leaves a file's name as it is. Files of other names can't be chosen.

    >>> is_shown(Path("novel.txt")), is_shown(Path("\\udcff.txt"))
    (True, False)
    """
    return printable(path.name) == path.name


# Files packed with gzip or Zstandard, unpacked while they are read.
#
# Memory stays at a few pieces. A file that unpacks to more than FREE_BYTES and MAX_UNPACK_RATIO times its
# size counts as a decompression bomb. pyarrow unpacks Zstandard: its reader notices a file that was cut off.


MAX_UNPACK_RATIO = 300
FREE_BYTES = 64 << 20

PACKINGS = (".gz", ".zst")


def packing(name: str) -> str:
    """The packing of a file with this name: ".gz", ".zst" or "".

    >>> packing("Rows.JSONL.GZ"), packing("rows.jsonl")
    ('.gz', '')
    """
    return next((ending for ending in PACKINGS if name.lower().endswith(ending)), "")


def unpacked(file: BinaryIO, name: str) -> BinaryIO:
    """The content of `file`, which is called `name`, unpacked as its ending says; the file itself otherwise.

    Reading raises TextError for a file that is damaged, cut off or a bomb. Raises ConfigError for Zstandard
    without pyarrow.
    """
    kind = packing(name)
    if not kind:
        return file
    # How much was read of the packed file: against it a bomb is measured.
    counted = _Counted(file)
    stream = gzip.GzipFile(fileobj=counted) if kind == ".gz" else _zstandard(counted)
    return cast(BinaryIO, _Unpacked(stream, counted, name, kind))


def check(name: str, size: int, packed: int) -> None:
    """Raise TextError if `packed` bytes that unpack to `size` bytes are a decompression bomb."""
    if size > FREE_BYTES and size > MAX_UNPACK_RATIO * packed:
        raise TextError(
            "{name} unpacks to more than {ratio} times its size; if that is meant, unpack it and give "
            "the unpacked file",
            name=name,
            ratio=MAX_UNPACK_RATIO,
        )


class _Counted(io.RawIOBase):
    """A file that counts the bytes read from it, and stays open where pyarrow would close it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.count = file, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.count += len(data)
        return data


class _Unpacked:
    """An unpacked stream that raises TextError for damage and for decompression bombs."""

    def __init__(self, stream: Any, packed: _Counted, name: str, kind: str) -> None:
        self._stream, self._packed, self._name, self._count = stream, packed, name, 0
        self._format = {".gz": "gzip", ".zst": "Zstandard"}[kind]

    def read(self, size: int) -> bytes:
        """The bytes at hand, even fewer than asked for: later ones may be damaged."""
        try:
            data: bytes = self._stream.read1(size)
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
        return data


def _zstandard(file: Any) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ConfigError(
            "a file packed with Zstandard needs pyarrow: {command}, or unpack it first",
            command=install("app"),
        ) from None
    return pyarrow.CompressedInputStream(pyarrow.PythonFile(file, mode="r"), "zstd")


# Files named by folders and patterns.


def gathered(named: str) -> list[str]:
    """The files that a name stands for, sorted.

    A folder stands for all files below it but hidden ones, a pattern with * ? [] or ** for all that fit. Any
    other name stands for itself, whether or not there is such a file.

    Raises TextError for a folder or a pattern without files.
    """
    if os.path.isdir(named):
        paths = sorted(_below(named))
        if not paths:
            raise TextError("{folder} is a folder without files; name another", folder=named)
        return paths
    if os.path.lexists(named) or not glob.has_magic(named):
        return [named]
    paths = sorted(path for path in glob.glob(named, recursive=True) if os.path.isfile(path))
    if not paths:
        raise TextError("no file fits {pattern}; check the folder that it begins with", pattern=named)
    return paths


def _below(folder: str) -> Iterator[str]:
    for place, folders, files in os.walk(folder):  # follows no links, which could lead round in circles
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                yield os.path.join(place, name)
