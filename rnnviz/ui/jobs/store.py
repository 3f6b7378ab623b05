"""What was scored, kept for all sessions and within bounds: figures in memory, characters on disk.

What has not been looked at for longest goes first. Whoever holds the same
content and the same model gets the same result, at once.

This module draws nothing.
"""

from __future__ import annotations

import shutil
import threading
import uuid
from collections import OrderedDict
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rnnviz.ui.jobs.scratch import Scratch

KEPT = 50_000  # results: far more than a page of many texts and models shows
ON_DISK = 2 << 30  # bytes of their characters


class _Entry(NamedTuple):
    result: Any
    folder: Path | None = None
    size: int = 0
    bare: Any = None


class Store:
    """Results by key, at most `kept` of them; their folders hold at most `on_disk` bytes together.

    A result whose folder had to make room stays without it, so that two texts
    too large to be kept both can still be shown beside one another.
    """

    def __init__(self, kept: int = KEPT, on_disk: int = ON_DISK) -> None:
        self.kept, self.on_disk = kept, on_disk
        self._found: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._scratch: Scratch | None = None

    def get(self, key: Hashable) -> Any:
        """The result of this key, or None."""
        with self._lock:
            entry = self._found.get(key)
            if entry is None:
                return None
            self._found.move_to_end(key)
            return entry.result

    def put(self, key: Hashable, result: Any, folder: Path | None = None, bare: Any = None) -> None:
        """Keep a result with its `folder`; `bare` is what is kept of it once that has made room.

        The oldest make room, the newest always stays.
        """
        size = sum(f.stat().st_size for f in folder.iterdir()) if folder else 0
        with self._lock:
            before = self._found.pop(key, None)
            gone = [before.folder] if before is not None else []
            self._found[key] = _Entry(result, folder, size, bare)
            while len(self._found) > max(1, self.kept):
                gone.append(self._found.popitem(last=False)[1].folder)
            large = [k for k, entry in self._found.items() if entry.folder is not None]
            for oldest in large[:-1]:
                if self.bytes <= self.on_disk:
                    break
                entry = self._found[oldest]
                gone.append(entry.folder)
                if entry.bare is None:
                    del self._found[oldest]
                else:
                    self._found[oldest] = _Entry(entry.bare)
        for unwanted in gone:
            if unwanted is not None and unwanted != folder:
                # Whoever still reads from these files keeps them until it is done.
                shutil.rmtree(unwanted, ignore_errors=True)

    def forget(self, key: Hashable) -> None:
        """As if there had never been a result of this key."""
        with self._lock:
            entry = self._found.pop(key, None)
        if entry is not None and entry.folder is not None:
            shutil.rmtree(entry.folder, ignore_errors=True)

    @property
    def bytes(self) -> int:
        """What all folders hold."""
        return sum(entry.size for entry in self._found.values())

    def __len__(self) -> int:
        return len(self._found)

    def folder(self) -> Path:
        """Where a result that will be put here can make its folder; it is not there yet."""
        with self._lock:
            if self._scratch is None or not self._scratch.path.is_dir():
                self._scratch = Scratch()
            return self._scratch.path / uuid.uuid4().hex

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._found.clear()
            if self._scratch is not None:
                self._scratch.remove()
                self._scratch = None


@cache
def shared() -> Store:
    """The one store of this server."""
    return Store()
