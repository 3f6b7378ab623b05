"""The queue of runs: tickets in a folder of runs decide who trains and who waits.

    .queue/1764181234…~NAME       a ticket: the run in the folder NAME, in line since that nanosecond, or one
                                  more than the last ticket's, where the clock was set back since
    .queue/limit                  how many may train at a time

A run takes its ticket before its process starts, and holds it until it ends. The run may train when fewer
than `limit` living runs have an earlier ticket. A run lives while its lock is held. The system releases the
lock however the process ends: so no scheduler is needed, and a killed process blocks nobody.
"""

import contextlib
import re
import time
from pathlib import Path

from rnnviz.errors import ConfigError
from rnnviz.lab.run.folder import RunFolder, writing
from rnnviz.text import files

# A worked example, with limit 1 and the tickets 100~a, 200~b, 300~c: a trains. b finds one living run
# ahead, c two, and both wait. a is killed, and the system frees its lock. b finds it so, deletes the ticket
# 100~a, counts 0, and trains; c counts 1 and waits.

FOLDER = ".queue"

MAX_RUNS = 64
"""The highest limit of runs at a time."""

_TICKET = re.compile(r"(\d+)~(.+)")


def limit(home: Path) -> int:
    """The number of runs that may train at a time; 1 by default."""
    try:
        return min(MAX_RUNS, max(1, int(files.read(home / FOLDER / "limit", 100))))
    except (OSError, ValueError):
        return 1


def set_limit(home: Path, n: int) -> None:
    """Let `n` runs train at a time; running ones go on. Raises ConfigError unless 1 ≤ n ≤ 64, and
    TrainingError where the limit can't be written.
    """
    if type(n) is not int or not 1 <= n <= MAX_RUNS:
        raise ConfigError(
            "the limit of runs at a time is a whole number from 1 to {most}; received {n!r}",
            most=MAX_RUNS,
            n=n,
        )
    folder = home / FOLDER
    with writing(home):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "limit").write_text(f"{n}\n", "ascii")


def take_ticket(folder: RunFolder) -> None:
    """Join the end of the queue; the caller holds the run's lock."""
    queue = folder.path.parent / FOLDER
    queue.mkdir(parents=True, exist_ok=True)
    # Above the last, wherever the clock stands. Two that start at one moment may get the same number: their
    # names then decide the order.
    last = max((number for number, _, _ in _tickets(folder)), default=0)
    (queue / f"{max(time.time_ns(), last + 1)}~{folder.id}").touch()


def leave_queue(folder: RunFolder) -> None:
    """Remove the run's ticket, if any."""
    for _, name, path in _tickets(folder):
        if name == folder.id:
            with contextlib.suppress(OSError):
                path.unlink()


def runs_ahead(folder: RunFolder) -> int:
    """The number of living runs with an earlier ticket; 0 without a ticket. Deletes dead runs' tickets."""
    tickets = _tickets(folder)
    # Its newest ticket: a run that was killed and resumed may have an old one further ahead, for which it
    # doesn't wait.
    mine = max((place for place, (_, name, _) in enumerate(tickets) if name == folder.id), default=0)
    living = set()
    for _, name, path in tickets[:mine]:
        if RunFolder(folder.path.parent / name).locked():
            living.add(name)
        else:  # dead; a run resumed at this very moment has a newer ticket
            with contextlib.suppress(OSError):
                path.unlink()
    return len(living - {folder.id})


def training_count(folder: RunFolder) -> int:
    """The number of runs that train now, this one included."""
    home = folder.path.parent
    other_runs = {name for _, name, _ in _tickets(folder)} - {folder.id}
    return min(limit(home), 1 + sum(RunFolder(home / name).locked() for name in other_runs))


def _tickets(folder: RunFolder) -> list[tuple[int, str, Path]]:
    """Number, run and file of each ticket in the run's queue, in order."""
    paths = (folder.path.parent / FOLDER).glob("*~*")
    matches = ((_TICKET.fullmatch(path.name), path) for path in paths)
    return sorted((int(match[1]), match[2], path) for match, path in matches if match)
