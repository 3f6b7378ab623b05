"""How many jobs are at work at a time, of all sessions together, and who is next: the lecturer of a hosted
app, then who has the fewest at work, then who came first. As a session asks for its next turn when a job is
over, one reader's many files don't keep another waiting.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache

from rnnviz.networks import threads
from rnnviz.runs.folder import home
from rnnviz.ui.hosting import setting
from rnnviz.ui.jobs.machine import Machine

LOOK = 0.2  # seconds between two looks whether a waiting job is still wanted


@dataclass(eq=False)
class Turn:
    """One job's place in the queue; `owner` is the session, or a visitor with all of theirs; those that are
    `first` go before the others.
    """

    owner: Hashable
    kind: str = ""
    first: bool = True


class Slots:
    """So many `places`, of which each kind in `alone` takes one at most; a job that has one waits for one of
    the `machine` too, whose places all processes share. `changed` hears how many are taken here.
    """

    def __init__(
        self,
        places: int,
        alone: Collection[str] = (),
        machine: Machine | None = None,
        changed: Callable[[int], None] = lambda working: None,
    ) -> None:
        self.places, self._alone, self._machine, self._say = places, alone, machine, changed
        self._waiting: list[Turn] = []
        self._working: list[Turn] = []
        self._changed = threading.Condition()

    @contextmanager
    def taking(self, turn: Turn, check: Callable[[], None]) -> Iterator[None]:
        """A place while this is open. Waits for it, and raises what `check` raises meanwhile."""
        with self._changed:
            self._waiting.append(turn)
        try:
            while not self._taken(turn):
                check()
            with self._machine.taking(turn.kind, check, LOOK) if self._machine else nullcontext():
                yield
        finally:
            with self._changed:
                (self._working if turn in self._working else self._waiting).remove(turn)
                self._say(len(self._working))
                self._changed.notify_all()

    def before(self, turn: Turn) -> int:
        """How many that wait will have a place before this one."""
        with self._changed:
            order = self._order()
            return order.index(turn) if turn in order else 0

    def _taken(self, turn: Turn) -> bool:
        with self._changed:
            if not self._changed.wait_for(lambda: self._next() is turn, LOOK):
                return False
            self._waiting.remove(turn)
            self._working.append(turn)
            self._say(len(self._working))
            self._changed.notify_all()  # there may be a place for another one
            return True

    def _next(self) -> Turn | None:
        if len(self._working) >= self.places:
            return None
        busy = {turn.kind for turn in self._working} & set(self._alone)
        return next((turn for turn in self._order() if turn.kind not in busy), None)

    def _order(self) -> list[Turn]:
        owners = [turn.owner for turn in self._working]
        return sorted(self._waiting, key=lambda turn: (not turn.first, owners.count(turn.owner)))


@cache
def shared() -> Slots:
    """The server's places: half as many as it has cores, so that the pages have the others. One job alone may
    use more than one, several take one each. A trial of a recipe's speed would measure another trial. Where
    the app is hosted, the places are of all its processes together.
    """
    places, alone = max(1, (os.cpu_count() or 1) // 2), ("trial",)
    machine = Machine(home(), places, alone) if setting.hosted() else None
    return Slots(places, alone, machine, threads.share)
