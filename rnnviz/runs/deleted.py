"""Deleted runs that can be restored until the program that deleted them ends, the app's server most of all.

A deleted run is its folder under another name, which no list shows: .deleted-NAME-PROCESS-NANOSECONDS. What a
program leaves behind that was killed is removed by the next one that looks.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from rnnviz.errors import TrainingError
from rnnviz.runs.folder import RunFolder, home

_NAME = re.compile(r"\.deleted-(.+)-(\d+)-(\d+)")
_own: set[Path] = set()


@dataclass(frozen=True)
class Deleted:
    """A run that can be restored: its `id` before, the Unix time `when` it was deleted, and its folder."""

    id: str
    when: float
    path: Path


def put_aside(folder: RunFolder) -> Deleted:
    """Hide a run that no process holds, at once and all of it. Raises OSError."""
    if not _own:
        atexit.register(_empty)
    now = time.time_ns()
    aside = folder.path.with_name(f".deleted-{folder.id}-{os.getpid()}-{now}")
    folder.path.rename(aside)
    _own.add(aside)
    return Deleted(folder.id, now / 1e9, aside)


def deleted() -> list[Deleted]:
    """What this process deleted in `home()` and can restore, the newest first."""
    found = []
    for path in sorted(home().glob(".deleted-*"), key=lambda path: path.name):
        match = _NAME.fullmatch(path.name)
        if match is None:
            continue
        pid, when = int(match[2]), int(match[3]) / 1e9
        if path in _own:
            found.append(Deleted(match[1], when, path))
        elif not _alive(pid, when):
            remove(path)
    return sorted(found, key=lambda one: -one.when)


def restore(path: Path) -> str:
    """Put a run of `deleted` back; returns its id: the old one, with -2, -3 … if that is taken meanwhile.
    Raises TrainingError if it isn't there any more.
    """
    found = next((one for one in deleted() if one.path == path), None)
    if found is None:
        raise TrainingError("this run is not there any more: it was restored, or deleted for good")
    for n in range(1, 100_000):
        target = path.with_name(found.id if n == 1 else f"{found.id}-{n}")
        if target.exists():
            continue
        try:
            path.rename(target)
        except FileExistsError:  # another run began there just now
            continue
        except OSError as error:
            raise TrainingError(
                "{id!r} can't be restored: {error}", id=found.id, error=error.strerror
            ) from None
        _own.discard(path)
        return target.name
    raise TrainingError("there are too many runs called {name!r}; delete some", name=found.id)


def remove(path: Path) -> None:
    """Delete a run of `deleted` for good."""
    _own.discard(path)
    shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int, when: float) -> bool:
    """Whether the process that deleted a run then is still there, and not another one of its number."""
    try:
        began: float = psutil.Process(pid).create_time()
        return began <= when + 1
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True


def _empty() -> None:
    for path in list(_own):
        remove(path)
