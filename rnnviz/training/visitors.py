"""Runs of a hosted app's visitors: in `home()`/.visitors, with their own queue, so that the app's runs
needn't wait.

Their ids begin with "visitor:", and rnnviz.training.runs follows, stops and deletes them like any other; the
app decides who may.

A run goes with its owner. The server of visitors passes the present owners to `sweep`, which removes the runs
of those absent for GONE seconds. All go with the process that serves visitors (`served`).
"""

import contextlib
import hashlib
import math
import shutil
import threading
import time
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import portalocker

from rnnviz.errors import ConfigError, RnnvizError, TrainingError
from rnnviz.training import queue, runs
from rnnviz.training.folder import VISITORS, Description, RunFolder, folders, home, id_of, writing

GONE = 600.0
"""Seconds of its owner's absence after which a run is removed."""

OVER = 4
"""The most runs, ended ones included, as a multiple of those that may train and wait."""

ENDS = 3.0
"""Seconds for a run to end when all are removed: more than rnnviz.training.stop_request.PATIENCE."""

_SERVED = ".served"  # beside the runs; locked by the process that serves visitors
_starting = threading.Lock()  # counting runs and starting one is a single step
serving = threading.Event()
"""Set while this process serves visitors, and knows who is present."""

_there: dict[str, float] = {}  # when each run's owner was last present, by the folder's name


def place() -> Path:
    """The folder of visitors' runs."""
    return home() / VISITORS


def listed() -> list[runs.Run]:
    """Every visitor's run, newest first."""
    return runs.listed(place())


def of(owner: str) -> runs.Run | None:
    """The owner's run, if there is one. Every visitor's page polls this, so it reads no other run."""
    for folder in folders(place()):
        if tag(owner) in folder.id:
            with contextlib.suppress(RnnvizError):
                run = runs.find(id_of(folder))
                if run.owner == owner:
                    return run
    return None


def tag(owner: str) -> str:
    """The suffix of an owner's run names: a digest, which distinguishes owners without naming them."""
    return f".{hashlib.sha256(owner.encode()).hexdigest()[:8]}"


def start(description: Description, *, most: int, at_a_time: int = 1) -> str:
    """Queue a visitor's run; `at_a_time` of all train at once. Returns its id. Raises ConfigError without an
    owner, TrainingError where the owner has a run or `most` train and wait, and the errors of
    rnnviz.training.runs.start.
    """
    if not description.owner:
        raise ConfigError("a visitor's run has an owner; received {owner!r}", owner=description.owner)
    with _starting, writing(home()):
        place().mkdir(parents=True, exist_ok=True, mode=0o700)
        there = listed()
        if of(description.owner) is not None:
            raise TrainingError("you have a run already; delete it to start another")
        if sum(run.alive for run in there) >= most or len(there) >= OVER * most:
            raise TrainingError(
                "visitors have {count} runs here, and no more are allowed; try again in a few minutes",
                count=len(there),
            )
        if queue.limit(place()) != at_a_time:
            queue.set_limit(place(), at_a_time)
        return runs.start(replace(description, name=f"{description.name[:50]}{tag(description.owner)}"))


@contextlib.contextmanager
def served() -> Iterator[None]:
    """Open while this process serves visitors. Removes their runs before and after; those before were left by
    a killed process. Does nothing where another process serves them here.
    """
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError, portalocker.LockException):
            place().mkdir(parents=True, exist_ok=True, mode=0o700)
            file = held.enter_context((place() / _SERVED).open("ab"))
            # The system releases the lock however the process ends, so a killed one keeps no run alive.
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
            serving.set()
            held.callback(serving.clear)
            _remove_all()
            held.callback(_remove_all)
        yield


def clear() -> None:
    """Remove every visitor's run, unless a living process serves visitors."""
    if place().exists():
        with served():
            pass


def _remove_all() -> None:
    """Remove every visitor's run; one that takes longer than ENDS seconds to end is left to the next call."""
    sweep(gone=-math.inf)
    end = time.monotonic() + ENDS
    while time.monotonic() < end and any(folder.locked() for folder in folders(place())):
        time.sleep(0.05)
    sweep(gone=-math.inf)


def sweep(owners: Collection[str] = (), *, gone: float = GONE) -> None:
    """Mark `owners` as present. Remove the runs of all owners absent for `gone` seconds; a living run is
    stopped, and removed by the next call.
    """
    now, found, tags = time.monotonic(), _folders(), [tag(owner) for owner in owners]
    for name in _there.keys() - {folder.id for folder in found}:  # deleted; a new run may get the name
        _there.pop(name, None)
    for folder in found:
        if any(tag in folder.id for tag in tags):
            _there[folder.id] = now
        if now - _there.setdefault(folder.id, now) < gone:
            continue
        with contextlib.suppress(OSError):
            if folder.locked():
                folder.stop.touch()
            else:
                queue.leave(folder)
                shutil.rmtree(folder.path, ignore_errors=True)


def _folders() -> list[RunFolder]:
    """The folders of all runs, also where a process was killed before it wrote a description."""
    return [RunFolder(path) for path in place().glob("[!.]*") if path.is_dir()]
