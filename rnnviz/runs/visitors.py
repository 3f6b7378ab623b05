"""Runs of the visitors of a hosted app: in `home()`/.visitors, with a queue of their own, so that they keep
none of the app's own runs waiting. Their ids begin with "visitor:", and rnnviz.runs.api follows, stops and
deletes them like any other; who may is the app's to say.

A run goes with its owner: whoever serves the owner says so (`present`), and `sweep` removes the runs whose
owners have not been there for GONE seconds, whichever process served them, and whether it still lives. All go
with the last process that serves visitors (`served`).
"""

import contextlib
import hashlib
import math
import os
import shutil
import time
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import portalocker

from rnnviz.errors import ConfigError, RnnvizError, TrainingError
from rnnviz.runs import api, queue
from rnnviz.runs.folder import VISITOR, VISITORS, Description, RunFolder, folders, home, id_of, writing

GONE = 600.0
"""Seconds without its owner after which a run is removed."""

OVER = 4
"""Times as many runs as may train and wait are there at most, with those that are over."""

ENDS = 3.0
"""Seconds that a run has to end when all are removed: more than rnnviz.runs.stop.PATIENCE."""

_SEEN = "seen"  # in a run's folder; its time is when the owner was last there
_SERVED = ".served"  # beside the runs; locked by every process that serves visitors, together with others


def place() -> Path:
    """The folder of visitors' runs."""
    return home() / VISITORS


def listed() -> list[api.Run]:
    """Every visitor's run, newest first."""
    return api.listed(place())


def of(owner: str) -> api.Run | None:
    """The owner's run, if there is one. Asked all the time for everybody: looks at no other's."""
    try:
        names = [entry.name for entry in os.scandir(place()) if tag(owner) in entry.name]
    except OSError:
        return None
    for name in names:
        with contextlib.suppress(RnnvizError):
            run = api.find(f"{VISITOR}{name}")
            if run.owner == owner:
                return run
    return None


def tag(owner: str) -> str:
    """What the names of an owner's runs end with: it tells them apart, and doesn't say whose they are."""
    return f".{hashlib.sha256(owner.encode()).hexdigest()[:8]}"


def start(description: Description, *, most: int, at_a_time: int = 1) -> str:
    """Queue a visitor's run, of which `at_a_time` train. Returns its id. Raises ConfigError without an owner,
    TrainingError where the owner has a run or `most` train and wait, and what rnnviz.runs.api.start raises.
    """
    if not description.owner:
        raise ConfigError("a visitor's run has an owner; received {owner!r}", owner=description.owner)
    with _alone():
        there = listed()
        if of(description.owner) is not None:
            raise TrainingError("you have a run already; delete it to start another")
        if sum(run.alive for run in there) >= most or len(there) >= OVER * most:
            raise TrainingError(
                "visitors have {count} runs here, which is the most; try again in a few minutes",
                count=len(there),
            )
        if queue.limit(place()) != at_a_time:
            queue.set_limit(place(), at_a_time)
        return api.start(replace(description, name=f"{description.name[:50]}{tag(description.owner)}"))


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Hold the folder, against this process's threads and other processes."""
    with writing(home()):
        place().mkdir(parents=True, exist_ok=True, mode=0o700)
        file = (place() / ".lock").open("a")
    with file:
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)
        yield


def present(owners: Collection[str]) -> None:
    """These owners are there now."""
    for folder in folders(place()):
        with contextlib.suppress(OSError, RnnvizError):
            if folder.description().owner in owners:
                (folder.path / _SEEN).touch()


@contextlib.contextmanager
def served() -> Iterator[None]:
    """Open while this process serves visitors: `clear` before and after."""
    clear()
    try:
        with contextlib.ExitStack() as held:
            with contextlib.suppress(OSError, portalocker.LockException):  # nobody can have a run there
                place().mkdir(parents=True, exist_ok=True, mode=0o700)
                file = held.enter_context((place() / _SERVED).open("a"))
                portalocker.lock(file, portalocker.LockFlags.SHARED)
            yield
    finally:
        clear()


def clear() -> None:
    """Remove every visitor's run, unless a living process serves visitors: these were left behind.
    One that takes longer than ENDS seconds to end is left to the next call.
    """
    with contextlib.suppress(OSError, portalocker.LockException), (place() / _SERVED).open("a") as file:
        # The system releases the lock however its process ended: a killed one keeps no run alive.
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        sweep(-math.inf)
        end = time.monotonic() + ENDS
        while time.monotonic() < end and any(folder.locked() for folder in folders(place())):
            time.sleep(0.05)
        sweep(-math.inf)


def sweep(gone: float = GONE) -> None:
    """Remove the runs whose owners have not been there for `gone` seconds; one that is alive is stopped, and
    removed by the next call.
    """
    try:
        entries = [Path(entry) for entry in os.scandir(place())]
    except OSError:
        return
    for path in entries:
        with contextlib.suppress(OSError, RnnvizError):
            if path.is_dir() and path.name != queue.FOLDER and time.time() - _seen(path) >= gone:
                _remove(RunFolder(path))


def _seen(path: Path) -> float:
    """When a run's owner was last there: at its beginning, if never since."""
    mark = path / _SEEN
    return (mark if mark.exists() else path).stat().st_mtime


def _remove(folder: RunFolder) -> None:
    if folder.locked():
        folder.stop.touch()
        api.stop(id_of(folder))
        return
    queue.leave(folder)
    shutil.rmtree(folder.path, ignore_errors=True)
