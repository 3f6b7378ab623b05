"""The store of results, shared by all sessions: numbers in memory, characters in folders on disk.

The least recently used make room. All go when the app ends, and a text's by *Forget my texts*.
"""

import atexit
import contextlib
import ctypes
import functools
import gc
import hashlib
import os
import shutil
import tempfile
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, TypeVar

import portalocker

MMAP_FROM_BYTES = 1 << 20
"""Bytes from which on malloc maps pages for an array alone; they go back to the system once it is freed.

By default glibc raises this threshold up to 32 MB as a program runs. Scoring 3 MB of text then took 650 to
1,280 MB, not 350, and no less time.
"""

M_MMAP_THRESHOLD = -3  # glibc's malloc.h


@functools.cache
def _glibc(name: str) -> Callable[..., int] | None:
    try:
        function: Callable[..., int] = getattr(ctypes.CDLL(None), name)  # other C libraries lack the function
    except (AttributeError, OSError, TypeError):
        return None
    return function


def keep_little_memory() -> None:
    """Fix the threshold at MMAP_FROM_BYTES, where the C library is glibc; elsewhere do nothing."""
    mallopt = _glibc("mallopt")
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, MMAP_FROM_BYTES)


def give_back_memory() -> None:
    """Return freed memory to the system now, where the C library is glibc, which would keep it for later;
    elsewhere do nothing.
    """
    trim = _glibc("malloc_trim")
    if trim is not None:
        trim(0)


def collect_memory() -> None:
    """Free a session's objects, which form reference cycles, and return their memory to the system."""
    gc.collect()
    give_back_memory()


PREFIX = "rnnviz-"
LOCK = ".lock"


class Scratch:
    """A new, empty folder at `path`, until it is removed or the process ends.

    It has a file that the process locks. The system releases a lock however its process ends, so a folder
    whose file can be locked has no owner left.
    """

    def __init__(self) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._lock: IO[bytes] | None = None
            try:
                self._lock = _lock_file(self.path)
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
        _remove_scratch(self.path, self._lock)


def sweep() -> None:
    """Remove the folders of this user's ended processes on this machine."""
    user = getattr(os, "getuid", lambda: 0)()  # on Windows every file's st_uid is 0
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        folder = lock.parent
        with contextlib.suppress(portalocker.LockException, OSError):  # it is in use, or another's
            if not folder.is_symlink() and folder.lstat().st_uid == user:
                _remove_scratch(folder, _lock_file(folder))


def _lock_file(folder: Path) -> IO[bytes]:
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


def _remove_scratch(folder: Path, lock: IO[bytes] | None) -> None:
    """Remove a locked folder, its LOCK file last, so that `sweep` can finish an interrupted removal."""
    with contextlib.suppress(OSError):
        for child in folder.iterdir():
            if child.name != LOCK:
                shutil.rmtree(child, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        lock.close()
    shutil.rmtree(folder, ignore_errors=True)  # again after the close: Windows keeps a file that is locked


# Far more than a page of many texts and models shows: numbers alone are small.
MAX_RESULTS = 50_000
# Bytes of all results' folders. A record takes 16 bytes a character, so there is room for about 130 million.
MAX_DISK_BYTES = 2 << 30

R = TypeVar("R")


@dataclass(frozen=True)
class Key:
    """A result's key.

    kind  the kind of result, such as "probe"
    text  the checksum of its text, "" for a result without a text: `forget_texts` leaves those
    rest  all else that the result depends on, such as a model's digest
    """

    kind: str
    text: str = ""
    rest: Hashable = ()


def checksum(*values: object) -> str:
    """The SHA-256 of these values' reprs: keys hold it in place of a reader's text."""
    return hashlib.sha256(repr(values).encode("utf-8", "backslashreplace")).hexdigest()


class Store:
    """At most `max_results` results by key, whose folders hold at most `max_disk_bytes` together.

    A result outlasts its folder, so that two texts too large for the disk together can still be compared.
    """

    def __init__(self, max_results: int = MAX_RESULTS, max_disk_bytes: int = MAX_DISK_BYTES) -> None:
        self.max_results, self.max_disk_bytes = max_results, max_disk_bytes
        # The least recently used first: `get` moves a result to the end.
        self._results: OrderedDict[Key, tuple[Any, Path | None, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._scratch: Scratch | None = None

    def get(self, key: Key) -> Any:
        with self._lock:
            if key not in self._results:
                return None
            self._results.move_to_end(key)
            return self._results[key][0]

    def put(self, key: Key, result: R, folder: Path | None = None) -> R:
        """Keep a result and its `folder`, if any; the oldest results make room, the newest always stays.

        Returns the result kept. If the key has a result with a folder already, that one stays, because other
        sessions may be reading its folder; the new folder is removed.
        """
        size = sum(f.stat().st_size for f in folder.iterdir()) if folder else 0
        with self._lock:
            # Two sessions may have scored the same text at the same time.
            old_result, old_folder, _size = self._results.pop(key, (None, None, 0))
            if folder and old_folder:
                _remove(folder)
                result, folder, size = old_result, old_folder, _size
            self._results[key] = result, folder, size
            while len(self._results) > max(1, self.max_results):
                self._drop(next(iter(self._results)))
            self._make_room()
        return result

    def make_room(self) -> None:
        """Remove the oldest folders until all fit, with those that are still being written."""
        with self._lock:
            self._make_room()

    def _make_room(self) -> None:
        """Remove the oldest folders until the others fit. The newest stays: a reader looks at it."""
        with_folder = [key for key, (_result, folder, _size) in self._results.items() if folder]
        unfinished = self.unfinished_bytes
        # A job's folder grows before `put` knows it, so it counts here but can't be removed.
        for oldest in with_folder[:-1]:
            if self.bytes + unfinished <= self.max_disk_bytes:
                break
            result, folder, _size = self._results[oldest]
            _remove(folder)
            self._results[oldest] = result, None, 0

    def forget(self, key: Key) -> None:
        """Remove the result of this key and its folder, if there is one."""
        with self._lock:
            self._drop(key)

    def _drop(self, key: Key) -> None:
        _remove(self._results.pop(key, (None, None, 0))[1])

    def forget_texts(self) -> None:
        """Remove the results of all texts."""
        with self._lock:
            for key in [key for key in self._results if key.text]:
                self._drop(key)

    @property
    def bytes(self) -> int:
        """Bytes of all results' folders."""
        return sum(size for _result, _folder, size in self._results.values())

    @property
    def unfinished_bytes(self) -> int:
        """Bytes of the folders that jobs are still writing."""
        if self._scratch is None:
            return 0
        done, total = {folder for _result, folder, _size in self._results.values()}, 0
        with contextlib.suppress(OSError):  # a folder may be removed during the count
            for folder in set(self._scratch.path.iterdir()) - done:
                total += sum(file.stat().st_size for file in folder.iterdir()) if folder.is_dir() else 0
        return total

    def folder(self) -> Path:
        """The path of a new folder for a result, which the caller creates."""
        with self._lock:
            # A cleaner of temporary files may have removed the folder of a server that runs for weeks.
            if self._scratch is None or not self._scratch.path.is_dir():
                self._scratch = Scratch()
            # A random name, which says nothing of the text.
            return self._scratch.path / uuid.uuid4().hex


def _remove(folder: Path | None) -> None:
    if folder is not None:  # POSIX: a file that a reader has open stays readable
        shutil.rmtree(folder, ignore_errors=True)


@cache
def shared() -> Store:
    """The server's one store."""
    return Store()
