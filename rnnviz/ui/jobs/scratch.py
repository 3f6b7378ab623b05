"""A temporary folder of this process, with a file that the process locks; removes those of killed processes.
The system releases a lock however its process ends, so a folder whose file can be locked has no owner left.
"""

import atexit
import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import IO

import portalocker

PREFIX = "rnnviz-"
LOCK = ".lock"


class Scratch:
    """A new, empty folder at `path`, until it is removed or the process ends."""

    def __init__(self) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._lock: IO[str] | None = None
            try:
                self._lock = _locked(self.path)
            except portalocker.AlreadyLocked:  # another process found the file and removes the folder
                continue
            except (portalocker.LockException, OSError):  # no locks on this file system
                (self.path / LOCK).unlink(missing_ok=True)  # without the file nobody takes it for an orphan
                break
            if (self.path / LOCK).is_file():
                break
        atexit.register(self.remove)

    def remove(self) -> None:
        """Remove the folder and its contents; a second call does nothing."""
        atexit.unregister(self.remove)
        _remove(self.path, self._lock)


def sweep() -> None:
    """Remove the folders of this user's ended processes on this machine."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if not _could_be_ours(folder):
            continue
        with contextlib.suppress(portalocker.LockException, OSError):  # it is in use
            _remove(folder, _locked(folder))


def _locked(folder: Path) -> IO[str]:
    """The folder's file, locked until it is closed. Raises LockException or OSError."""
    file = (folder / LOCK).open("a")
    try:
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
    except BaseException:
        file.close()
        raise
    return file


def _could_be_ours(folder: Path) -> bool:
    """Whether it is a folder, not a link, of this user, with a file to lock."""
    try:
        about = folder.lstat()
        user = os.getuid() if hasattr(os, "getuid") else about.st_uid
        return stat.S_ISDIR(about.st_mode) and about.st_uid == user and (folder / LOCK).is_file()
    except OSError:
        return False


def _remove(folder: Path, lock: IO[str] | None) -> None:
    """Remove a locked folder, the lock last: an interrupted removal can still be found and finished."""
    with contextlib.suppress(OSError):
        for child in folder.iterdir():
            if child.name != LOCK:
                shutil.rmtree(child, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        lock.close()
    shutil.rmtree(folder, ignore_errors=True)  # Windows doesn't remove a file that is locked
