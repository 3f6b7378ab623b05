"""Reading what may be no ordinary file: a pipe blocks, a device never ends, a huge file fills the memory."""

from __future__ import annotations

import errno
import os
import shlex
import stat
import unicodedata
from pathlib import Path, PurePosixPath, PureWindowsPath
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


LONGEST_NAME = 100
"""Characters of a name or title that are shown."""

_JOINERS = "\u200c\u200d"  # Persian and emoji are written with them; they change nothing beside them


def printable(name: str | os.PathLike[str], most: int | None = None) -> str:
    """A stranger's name, or a file's, to be shown or sent: escapes stand for bytes that are no text, and for
    control and format characters, which could hide or reverse what stands beside them. Of more than `most`
    characters the middle is left out, as a file's name ends in its type.

    >>> printable(os.fsdecode(b"b\\xff.txt")), printable("gp\u202ej.txt"), printable("a" * 99 + ".txt", 10)
    ('b\\\\udcff.txt', 'gp\\\\u202ej.txt', 'aaaaa….txt')
    """
    shown = "".join(
        c.encode("unicode_escape").decode()
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in _JOINERS
        else c
        for c in os.fspath(name)
    )
    if most is None or len(shown) <= most:
        return shown
    return f"{shown[: most // 2]}…{shown[len(shown) - (most - most // 2 - 1) :]}"


def without_folders(command: str) -> str:
    """A command line with its absolute paths by their names alone: a model's card is shared with it.

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
    """Whether a file's name is shown as it is: other names can be chosen and sent nowhere.

    >>> is_shown(Path("novel.txt")), is_shown(Path(os.fsdecode(b"\\xff.txt")))
    (True, False)
    """
    return printable(path.name) == path.name
