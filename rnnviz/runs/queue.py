"""The queue of runs: who trains now and who waits, kept in a folder of runs.

    .queue/next                   the next ticket's number
    .queue/000000012~NAME         a ticket: the run in the folder NAME, twelfth in line
    .queue/limit                  how many may train at a time

A run takes its ticket before its process starts, holds it until it ends, and may train when fewer than
`limit` living runs have a lower number. A run lives while its lock is held, which the system releases however
the process ended: no scheduler is needed, and a killed process blocks nobody.
"""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import portalocker

from rnnviz.errors import ConfigError
from rnnviz.runs.folder import RunFolder, replace_file, writing
from rnnviz.text import files

FOLDER = ".queue"
MOST = 64
_TICKET = re.compile(r"(\d{9})~(.+)")


def limit(home: Path) -> int:
    """How many runs may train at a time; 1 by default."""
    try:
        return min(MOST, max(1, int(files.read(home / FOLDER / "limit", 100))))
    except (OSError, ValueError):
        return 1


def set_limit(home: Path, n: int) -> None:
    """Let `n` runs train at a time. Running ones go on. Raises ConfigError unless 1 ≤ n ≤ 64, and
    TrainingError where it can't be written down.
    """
    if type(n) is not int or not 1 <= n <= MOST:
        raise ConfigError(
            "the limit of runs at a time is a whole number from 1 to {most}; received {n!r}", most=MOST, n=n
        )
    folder = home / FOLDER
    with writing(home):
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / "limit", b"%d\n" % n)


def take_ticket(folder: RunFolder) -> Path:
    """Join the end of the queue; the caller holds the run's lock."""
    queue = folder.path.parent / FOLDER
    queue.mkdir(parents=True, exist_ok=True)
    with (queue / "lock").open("a") as guard:
        portalocker.lock(guard, portalocker.LockFlags.EXCLUSIVE)
        taken = [number for number, _, _ in _tickets(queue)]
        try:
            number = int(files.read(queue / "next", 100))
        except (OSError, ValueError):
            number = 1
        number = max([number, *(n + 1 for n in taken)])
        replace_file(queue / "next", b"%d\n" % (number + 1))
        ticket = queue / f"{number:09d}~{folder.id}"
        ticket.touch()
        return ticket


def leave(folder: RunFolder) -> None:
    """Remove the run's ticket, if any."""
    for _, name, path in _tickets(folder.path.parent / FOLDER):
        if name == folder.id:
            with contextlib.suppress(OSError):
                path.unlink()


def ahead(folder: RunFolder) -> int:
    """How many living runs have a lower number; 0 without a ticket. Deletes dead runs' tickets."""
    home, count = folder.path.parent, 0
    tickets = list(_tickets(home / FOLDER))
    mine = max((number for number, name, _ in tickets if name == folder.id), default=0)
    for number, name, path in tickets:
        if number >= mine or name == folder.id:
            continue
        if RunFolder(home / name).locked():
            count += 1
        else:  # a run that ends and is resumed at this moment has a new ticket, so nothing is lost
            with contextlib.suppress(OSError):
                path.unlink()
    return count


def training(folder: RunFolder) -> int:
    """How many runs train now, this one among them."""
    home = folder.path.parent
    others = {name for _, name, _ in _tickets(home / FOLDER)} - {folder.id}
    return min(limit(home), 1 + sum(RunFolder(home / name).locked() for name in others))


def may_train(folder: RunFolder) -> bool:
    """Whether it is this run's turn."""
    return ahead(folder) < limit(folder.path.parent)


def _tickets(queue: Path) -> Iterator[tuple[int, str, Path]]:
    """Number, run and file of each ticket, in order."""
    try:
        names = sorted(p.name for p in queue.iterdir())
    except OSError:
        return
    for name in names:
        if found := _TICKET.fullmatch(name):
            yield int(found[1]), found[2], queue / name
