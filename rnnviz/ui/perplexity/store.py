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
from typing import Any

from rnnviz.ui.perplexity.scratch import Scratch

KEPT = 400  # results
ON_DISK = 2 << 30  # bytes of their characters


class Store:
    """Results by key, at most `kept` of them; their folders hold at most `on_disk` bytes together."""

    def __init__(self, kept: int = KEPT, on_disk: int = ON_DISK) -> None:
        self.kept, self.on_disk = kept, on_disk
        self._found: OrderedDict[Hashable, tuple[Any, Path | None, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._scratch: Scratch | None = None

    def get(self, key: Hashable) -> Any:
        """The result of this key, or None."""
        with self._lock:
            entry = self._found.get(key)
            if entry is None:
                return None
            self._found.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, result: Any, folder: Path | None = None) -> None:
        """Keep a result, and `folder` as long as it; the oldest make room, the newest always stays."""
        size = sum(f.stat().st_size for f in folder.iterdir()) if folder else 0
        with self._lock:
            gone = [self._found.pop(key, None)]
            self._found[key] = (result, folder, size)
            while len(self._found) > 1 and (len(self._found) > self.kept or self.bytes > self.on_disk):
                gone.append(self._found.popitem(last=False)[1])
        for entry in gone:
            if entry is not None and entry[1] is not None and entry[1] != folder:
                # Whoever still reads from these files keeps them until it is done.
                shutil.rmtree(entry[1], ignore_errors=True)

    @property
    def bytes(self) -> int:
        """What all folders hold."""
        return sum(size for _result, _folder, size in self._found.values())

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
