"""How many jobs are at work at a time, of all sessions together, and who is next: the lecturer of a hosted
app, then who has the fewest at work, then who came first. As a session asks for its next turn when a job is
over, one reader's many files don't keep another waiting.
"""

import os
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from rnnviz.networks import threads

LOOK = 0.2  # seconds between two looks whether a waiting job is still wanted
SHARE = 0.05  # of a job that must be done before its pace counts: what comes first takes longer, or no time
WORKS = 1000  # kinds of work whose pace is remembered, at most


@dataclass(eq=False)
class Turn:
    """One job's place in the queue; `owner` is the session, or a visitor with all of theirs; those that are
    `first` go before the others. What the job does is `work`, on a text of `size` bytes or characters, 0 if
    unknown; `done` is the share of it that is done by now; it `began` then, 0 before.
    """

    owner: Hashable
    kind: str = ""
    first: bool = True
    work: Hashable = None
    size: int = 0
    done: Callable[[], float] = lambda: 0.0
    began: float = 0.0

    @property
    def pace(self) -> float | None:
        """Seconds a byte or character so far; None before there is enough to tell."""
        share = self.done()
        if not self.began or not self.size or share < SHARE:
            return None
        return (time.monotonic() - self.began) / (share * self.size)


class Slots:
    """So many `places`, of which each kind in `alone` takes one at most. `changed` hears how many are."""

    def __init__(
        self,
        places: int,
        alone: Collection[str] = (),
        changed: Callable[[int], None] = lambda working: None,
    ) -> None:
        self.places, self._alone, self._say = places, alone, changed
        self._waiting: list[Turn] = []
        self._working: list[Turn] = []
        self._paces: dict[Hashable, float] = {}  # of the last job of each kind of work
        self._changed = threading.Condition()

    @contextmanager
    def taking(self, turn: Turn, check: Callable[[], None]) -> Iterator[None]:
        """A place while this is open. Waits for it, and raises what `check` raises meanwhile."""
        with self._changed:
            self._waiting.append(turn)
        try:
            while not self._taken(turn):
                check()
            turn.began = time.monotonic()
            yield
        finally:
            with self._changed:
                if (pace := turn.pace) is not None:
                    if len(self._paces) >= WORKS:
                        self._paces.clear()
                    self._paces[turn.work] = pace
                (self._working if turn in self._working else self._waiting).remove(turn)
                self._say(len(self._working))
                self._changed.notify_all()

    def before(self, turn: Turn) -> int:
        """How many that wait will have a place before this one."""
        with self._changed:
            order = self._order()
            return order.index(turn) if turn in order else 0

    def seconds(self, turn: Turn) -> float | None:
        """How long it will wait, at the pace that such work had here; None where nothing like it was
        measured yet.
        """
        with self._changed:
            order, left = self._order(), 0.0
            if turn not in order:
                return None
            paces = self._paces | {one.work: pace for one in self._working if (pace := one.pace)}
            for one in (*self._working, *order[: order.index(turn)]):
                pace = paces.get(one.work)
                if pace is None or not one.size:
                    return None
                left += pace * one.size * max(0.0, 1 - one.done())
            return left / self.places

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
    use more than one, several take one each. A trial of a recipe's speed would measure another trial.
    """
    return Slots(max(1, (os.cpu_count() or 1) // 2), ("trial",), threads.share)
