"""Runs of the visitors of a hosted app: in `home()`/.visitors, with a queue of their own, so that they keep
none of the app's own runs waiting. Their ids begin with "visitor:", and rnnviz.training.runs follows, stops
and deletes them like any other; who may is the app's to say.

A run goes with its owner: whoever serves owners says who of them is there, and `sweep` removes the runs of
those who have not been for GONE seconds. All go with the process that serves visitors (`served`).
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
"""Seconds without its owner after which a run is removed."""

OVER = 4
"""Times as many runs as may train and wait are there at most, with those that are over."""

ENDS = 3.0
"""Seconds that a run has to end when all are removed: more than rnnviz.training.stop_request.PATIENCE."""

_SERVED = ".served"  # beside the runs; locked by the process that serves visitors
_starting = threading.Lock()
serving = threading.Event()
"""Set while this process is the one that serves visitors, and knows who of them is there."""

_there: dict[str, float] = {}  # when the owner of each run was last there, by the names of their folders


def place() -> Path:
    """The folder of visitors' runs."""
    return home() / VISITORS


def listed() -> list[runs.Run]:
    """Every visitor's run, newest first."""
    return runs.listed(place())


def of(owner: str) -> runs.Run | None:
    """The owner's run, if there is one. Asked all the time for everybody: reads no other's."""
    for folder in folders(place()):
        if tag(owner) in folder.id:
            with contextlib.suppress(RnnvizError):
                run = runs.find(id_of(folder))
                if run.owner == owner:
                    return run
    return None


def tag(owner: str) -> str:
    """What the names of an owner's runs end with: it tells them apart, and doesn't say whose they are."""
    return f".{hashlib.sha256(owner.encode()).hexdigest()[:8]}"


def start(description: Description, *, most: int, at_a_time: int = 1) -> str:
    """Queue a visitor's run, of which `at_a_time` train. Returns its id. Raises ConfigError without an owner,
    TrainingError where the owner has a run or `most` train and wait, and what rnnviz.training.runs.start
    raises.
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
                "visitors have {count} runs here, which is the most; try again in a few minutes",
                count=len(there),
            )
        if queue.limit(place()) != at_a_time:
            queue.set_limit(place(), at_a_time)
        return runs.start(replace(description, name=f"{description.name[:50]}{tag(description.owner)}"))


@contextlib.contextmanager
def served() -> Iterator[None]:
    """Open while this process serves visitors, whose runs are removed before and after: those before were
    left behind by a process that was killed. Does nothing where another process serves them here.
    """
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError, portalocker.LockException):
            place().mkdir(parents=True, exist_ok=True, mode=0o700)
            file = held.enter_context((place() / _SERVED).open("a"))
            # The system releases the lock however its process ended: a killed one keeps no run alive.
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
            serving.set()
            held.callback(serving.clear)
            _remove_all()
            held.callback(_remove_all)
        yield


def clear() -> None:
    """Remove every visitor's run, unless a living process serves visitors: these were left behind."""
    if place().exists():
        with served():
            pass


def _remove_all() -> None:
    """One that takes longer than ENDS seconds to end is left to the next time."""
    sweep(gone=-math.inf)
    end = time.monotonic() + ENDS
    while time.monotonic() < end and any(folder.locked() for folder in folders(place())):
        time.sleep(0.05)
    sweep(gone=-math.inf)


def sweep(owners: Collection[str] = (), *, gone: float = GONE) -> None:
    """These owners are there now. Remove the runs of all who have not been for `gone` seconds; one that is
    alive is stopped, and removed by the next call.
    """
    now, found, tags = time.monotonic(), _folders(), [tag(owner) for owner in owners]
    for name in _there.keys() - {folder.id for folder in found}:  # deleted: another may get its name
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
    """Those of all runs, also where a process was killed before it described its run."""
    return [RunFolder(path) for path in place().glob("[!.]*") if path.is_dir()]
