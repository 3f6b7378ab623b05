"""Temporary folders, each with a file that its process locks, and the removal of those of killed processes.

The system releases a lock however its process ends. So a folder whose file can be locked has no owner left.
"""

import atexit
import contextlib
import os
import shutil
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
            self._lock: IO[bytes] | None = None
            try:
                self._lock = _locked(self.path)
            except portalocker.AlreadyLocked:  # another process's `sweep` has it and removes the folder
                continue
            except (portalocker.LockException, OSError):  # no locks on this file system
                (self.path / LOCK).unlink(missing_ok=True)  # `sweep` leaves folders without the file alone
                break
            # Before the lock was taken, another process's `sweep` may have removed the folder.
            if (self.path / LOCK).is_file():
                break
        atexit.register(self.remove)

    def remove(self) -> None:
        """Remove the folder and its contents; a second call does nothing."""
        atexit.unregister(self.remove)
        _remove(self.path, self._lock)


def sweep() -> None:
    """Remove the folders of this user's ended processes on this machine."""
    user = getattr(os, "getuid", lambda: 0)()  # on Windows every file's st_uid is 0
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        folder = lock.parent
        with contextlib.suppress(portalocker.LockException, OSError):  # it is in use, or another's
            if not folder.is_symlink() and folder.lstat().st_uid == user:
                _remove(folder, _locked(folder))


def _locked(folder: Path) -> IO[bytes]:
    """The folder's LOCK file, locked until it is closed.

    Raises AlreadyLocked if another process holds the lock, LockException or OSError for any other failure.
    """
    file = (folder / LOCK).open("ab")
    try:
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
    except BaseException:
        file.close()
        raise
    return file


def _remove(folder: Path, lock: IO[bytes] | None) -> None:
    """Remove a locked folder, its LOCK file last, so that `sweep` can finish an interrupted removal."""
    with contextlib.suppress(OSError):
        for child in folder.iterdir():
            if child.name != LOCK:
                shutil.rmtree(child, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        lock.close()
    shutil.rmtree(folder, ignore_errors=True)  # again after the close: Windows keeps a file that is locked
