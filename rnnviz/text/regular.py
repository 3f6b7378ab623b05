"""Reading what may be no ordinary file: a pipe blocks, a device never ends, a huge file fills the memory."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from rnnviz.errors import Phrase


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """A regular file, open for reading. Never waits: raises OSError for a folder, a pipe or a device, too."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, Phrase("it is no regular file"), str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read(path: str | os.PathLike[str], most: int) -> bytes:
    """The content of a regular file of at most `most` bytes. Raises OSError for everything else.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"text"), file.flush()
    ...     read(file.name, 100)
    b'text'
    """
    with opened(path) as file:
        huge = os.fstat(file.fileno()).st_size > most
        data = b"" if huge else file.read(most + 1)
    if huge or len(data) > most:
        raise OSError(errno.EFBIG, Phrase("it has more than {most:,} bytes", most=most), str(path))
    return data


def printable(name: str | os.PathLike[str]) -> str:
    """A file's name or path with escapes for bytes that are no text, to be shown or sent.

    >>> printable(os.fsdecode(b"b\\xff.txt"))
    'b\\\\udcff.txt'
    """
    return os.fspath(name).encode("utf-8", "backslashreplace").decode()


def is_text(path: Path) -> bool:
    """Whether a file's name is text: one that isn't can be shown and sent nowhere.

    >>> is_text(Path("novel.txt")), is_text(Path(os.fsdecode(b"\\xff.txt")))
    (True, False)
    """
    try:
        path.name.encode()
    except UnicodeEncodeError:
        return False
    return True
