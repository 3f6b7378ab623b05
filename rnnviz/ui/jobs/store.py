"""The store of results, shared by all sessions: numbers in memory, characters in folders on disk.

The least recently used make room. All go when the app ends, and a text's by *Forget my texts*.
"""

import contextlib
import hashlib
import shutil
import threading
import uuid
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from rnnviz.ui.jobs.scratch import Scratch

KEPT = 50_000  # results: far more than a page of many texts and models shows
ON_DISK = 2 << 30  # bytes of all results' folders

R = TypeVar("R")


@dataclass(frozen=True)
class Key:
    """A result's key.

    what  the kind of result, such as "probe"
    text  the checksum of its text, "" for a result without a text: `forget_texts` leaves those
    rest  all else that the result depends on, such as a model's digest
    """

    what: str
    text: str = ""
    rest: Hashable = ()


def checksum(*said: object) -> str:
    """The SHA-256 of these values' reprs: keys hold it in place of a reader's text."""
    return hashlib.sha256(repr(said).encode("utf-8", "backslashreplace")).hexdigest()


class Store:
    """At most `kept` results by key, whose folders hold at most `on_disk` bytes together.

    A result outlasts its folder, so that two texts too large for the disk together can still be compared.
    """

    def __init__(self, kept: int = KEPT, on_disk: int = ON_DISK) -> None:
        self.kept, self.on_disk = kept, on_disk
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
            before, there, _size = self._results.pop(key, (None, None, 0))
            if folder and there:
                _remove(folder)
                result, folder, size = before, there, _size
            self._results[key] = result, folder, size
            while len(self._results) > max(1, self.kept):
                self._drop(next(iter(self._results)))
            self._make_room()
        return result

    def make_room(self) -> None:
        """Remove the oldest folders until all fit, with those that are still being written."""
        with self._lock:
            self._make_room()

    def _make_room(self) -> None:
        """Remove the oldest folders until the others fit. The newest stays: a reader looks at it."""
        there = [key for key, (_result, folder, _size) in self._results.items() if folder]
        growing = self.growing
        for oldest in there[:-1]:
            if self.bytes + growing <= self.on_disk:
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
    def growing(self) -> int:
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
            if self._scratch is None or not self._scratch.path.is_dir():
                self._scratch = Scratch()
            return self._scratch.path / uuid.uuid4().hex


def _remove(folder: Path | None) -> None:
    if folder is not None:  # POSIX: a file that a reader has open stays readable
        shutil.rmtree(folder, ignore_errors=True)


@cache
def shared() -> Store:
    """The server's one store."""
    return Store()
