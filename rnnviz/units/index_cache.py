"""Where indexes of states have their place in the user's cache, and how much they may take up there."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import time
from pathlib import Path

from rnnviz.text.downloads import cache_folder

KEPT = 4 << 30
"""Bytes of all indexes in the cache together; the one used longest ago goes first."""

ABANDONED = 24 * 3600.0
"""Seconds after which an unfinished index in the cache is nobody's any more."""

ABOUT = "index.json"
"""The file that says of what a folder is the index; its time is when it was last used."""

PARTIAL = ".partial-"
"""What an unfinished index's folder begins with."""


def place(model: str, text: str) -> Path:
    """The folder for the index of a network and a text, by their checksums."""
    name = hashlib.sha256(f"{model} {text}".encode()).hexdigest()
    return cache_folder() / "indexes" / name[:40]


def make_room(coming: int = 0, kept: int | None = None) -> None:
    """Remove those indexes from the cache that were used longest ago, until they and `coming` more bytes
    are at most `kept` (KEPT), and unfinished ones that were abandoned.
    """
    kept = KEPT if kept is None else kept
    folder, found = cache_folder() / "indexes", []
    for each in folder.glob("*"):
        with contextlib.suppress(OSError):
            if each.name.startswith(PARTIAL):
                if time.time() - max(f.stat().st_mtime for f in (each, *each.iterdir())) > ABANDONED:
                    shutil.rmtree(each, ignore_errors=True)
            elif (each / ABOUT).is_file():
                size = sum(file.stat().st_size for file in each.iterdir())
                found.append(((each / ABOUT).stat().st_mtime, size, each))
    total = coming + sum(size for _, size, _ in found)
    for _, size, each in sorted(found):
        if total <= kept:
            break
        shutil.rmtree(each, ignore_errors=True)
        total -= size
