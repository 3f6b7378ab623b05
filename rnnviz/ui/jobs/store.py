"""Scoring results for all sessions, least recently used dropped: figures in memory, characters on disk. What
was found of a text goes when the last session that chose it has gone.
"""

import contextlib
import hashlib
import shutil
import threading
import uuid
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from rnnviz.ui.jobs.scratch import Scratch

KEPT = 50_000  # results: far more than a page of many texts and models shows
ON_DISK = 2 << 30  # bytes of their characters
FORGETTING = "rnnviz-forgetting"  # the name of the thread that waits for it
AWAY = 60.0  # seconds that a browser may be away, as when its network falters, before its texts are forgotten

R = TypeVar("R")


@dataclass(frozen=True)
class Key:
    """What a result is: `what` was made of the `text` with this checksum, which takes the result with it when
    it is forgotten ("" for none); the `rest` decides it too, as the digest of a model.
    """

    what: str
    text: str = ""
    rest: Hashable = ()


def checksum(*said: object) -> str:
    """What a key tells of what a reader wrote or uploaded."""
    return hashlib.sha256(repr(said).encode("utf-8", "backslashreplace")).hexdigest()


class Store:
    """At most `kept` results by key, whose folders hold at most `on_disk` bytes together. A result outlasts
    its folder, so that two texts too large to keep both can still be compared.
    """

    def __init__(self, kept: int = KEPT, on_disk: int = ON_DISK) -> None:
        self.kept, self.on_disk = kept, on_disk
        self._results: OrderedDict[Key, tuple[Any, Path | None, int]] = OrderedDict()
        self._held: dict[object, set[str]] = {}  # the texts of each session, by their checksums
        self._lock = threading.Lock()
        self._scratch: Scratch | None = None

    def get(self, key: Key) -> Any:
        with self._lock:
            if key not in self._results:
                return None
            self._results.move_to_end(key)
            return self._results[key][0]

    def put(self, key: Key, result: R, folder: Path | None = None) -> R:
        """Keep a result and its `folder`, if any. The oldest make room; the newest always stays. Returns what
        is kept: of two with folders the first, which others may be reading.
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
        """Let results make room for those that are being written, whose bytes count as well."""
        with self._lock:
            self._make_room()

    def _make_room(self) -> None:
        """Remove the oldest folders until the others have room, but for the newest: somebody looks at it."""
        there = [key for key, (_result, folder, _size) in self._results.items() if folder]
        growing = self.growing
        for oldest in there[:-1]:
            if self.bytes + growing <= self.on_disk:
                break
            result, folder, _size = self._results[oldest]
            _remove(folder)
            self._results[oldest] = result, None, 0

    def forget(self, key: Key) -> None:
        """Drop the result of this key."""
        with self._lock:
            self._drop(key)

    def _drop(self, key: Key) -> None:
        _remove(self._results.pop(key, (None, None, 0))[1])

    def hold(self, holder: object, contents: Iterable[str]) -> None:
        """Keep what is found of these texts, named by their checksums, until `holder` releases them."""
        with self._lock:
            self._held.setdefault(holder, set()).update(contents)

    def release(self, holder: object, contents: Iterable[str] | None = None) -> None:
        """Drop what was found of these of the holder's texts, or of all, unless another holds them too."""
        with self._lock:
            own = self._held.get(holder, set())
            gone = own if contents is None else own & set(contents)
            kept = own - gone
            self._held[holder] = kept
            if not kept:
                del self._held[holder]
            gone = gone.difference(*self._held.values())
            for key in [key for key in self._results if key.text in gone]:
                self._drop(key)

    @property
    def bytes(self) -> int:
        """The size of all folders together."""
        return sum(size for _result, _folder, size in self._results.values())

    @property
    def growing(self) -> int:
        """The size of the folders that are still being written."""
        if self._scratch is None:
            return 0
        done, total = {folder for _result, folder, _size in self._results.values()}, 0
        with contextlib.suppress(OSError):  # one is removed at this moment
            for folder in set(self._scratch.path.iterdir()) - done:
                total += sum(file.stat().st_size for file in folder.iterdir()) if folder.is_dir() else 0
        return total

    def folder(self) -> Path:
        """The path of a new folder for a result to put here; not created yet."""
        with self._lock:
            if self._scratch is None or not self._scratch.path.is_dir():
                self._scratch = Scratch()
            return self._scratch.path / uuid.uuid4().hex


def _remove(folder: Path | None) -> None:
    if folder is not None:  # open files can be read to the end
        shutil.rmtree(folder, ignore_errors=True)


@cache
def shared() -> Store:
    """The server's one store."""
    return Store()


def left(holder: object) -> None:
    """Forget a session's texts, unless it comes back soon."""
    timer = threading.Timer(AWAY, shared().release, [holder])
    timer.name, timer.daemon = FORGETTING, True
    timer.start()


@st.cache_resource(scope="session", on_release=left, show_spinner=False)
def holder() -> object:
    """What this session holds its texts by; a new one after its browser was away."""
    return object()
