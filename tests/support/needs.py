"""What some tests need of the machine, and others can do without: a browser, signals, links, odd names."""

import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest

signals = pytest.mark.skipif(os.name != "posix", reason="no signal here asks a process to end")
removal = pytest.mark.skipif(os.name != "posix", reason="a file that is open can't be removed here")
modes = pytest.mark.skipif(os.name != "posix", reason="a file's mode doesn't say here who may read it")


def missing(name: str, why: BaseException) -> NoReturn:
    """Skip, or fail where the variable RNNVIZ_REQUIRE_`what` is 1, as in continuous integration."""
    if os.environ.get(f"RNNVIZ_REQUIRE_{name}") == "1":
        raise why
    pytest.skip(f"not on this machine: {str(why).splitlines()[0]}")


def coder() -> None:
    """Skips where no text can be compressed: constriction isn't built for Linux on ARM."""
    pytest.importorskip("constriction", reason="constriction isn't built for this system")


def pipe(path: Path) -> Path:
    """A pipe with a name; skips where files are never pipes."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("files are never pipes here")
    os.mkfifo(path)
    return path


def link(path: Path, to: Path | str) -> None:
    """A symbolic link; skips where this user may not make one, as on Windows."""
    try:
        path.symlink_to(to)
    except OSError as error:
        if getattr(error, "winerror", None) != 1314:  # a privilege is missing
            raise
        pytest.skip("this user may not make symbolic links")


def named(folder: Path, name: str) -> None:
    """Skips where no file may have this name, as on a Mac one that isn't Unicode."""
    try:
        (folder / name).touch()
    except OSError as error:
        if error.errno != errno.EILSEQ:
            raise
        pytest.skip("names of files are Unicode here")
    (folder / name).unlink()
