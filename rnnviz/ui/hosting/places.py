"""How many visitors there is room for: a place is a visitor's, however often they reload or reconnect."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

TABS = 4
"""Connections of one visitor: tabs, and those that a lost network has not ended yet."""

OPENING = 30.0
"""Seconds that a place is kept for a browser that asked for the page: a crowded network loads it slowly."""

AWAY = 10.0
"""Seconds that it is kept after the last connection has ended: time to reload, or to reconnect."""


class Places:
    """At most `capacity` visitors at a time, known by their ids; `clock` returns seconds.

    >>> places = Places(1, clock=lambda: 0.0)
    >>> [places.ask("ann"), places.ask("bob"), places.enter("ann"), places.enter("bob"), places.ask("ann")]
    [True, False, True, False, True]
    """

    def __init__(self, capacity: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.capacity = capacity
        self._clock = clock
        self._here: Counter[str] = Counter()  # connections of each visitor
        self._kept: dict[str, float] = {}  # until when, for those without one

    def ask(self, id: str) -> bool:
        """Whether a visitor who asks for the page has a place; it is kept until the page connects."""
        if self._here[id] > 0:
            return True
        if not self._room_for(id):
            return False
        self._keep(id, OPENING)
        return True

    def enter(self, id: str) -> bool:
        """Whether a visitor's connection may be made; each that may has to `leave`."""
        if self.crowded(id) or not (self._here[id] or self._room_for(id)):
            return False
        self._kept.pop(id, None)
        self._here[id] += 1
        return True

    def crowded(self, id: str) -> bool:
        """Whether a visitor has all the connections that one may have."""
        return self._here[id] >= TABS

    def leave(self, id: str) -> None:
        """A connection has ended."""
        self._here[id] -= 1
        if self._here[id] <= 0:
            del self._here[id]
            self._keep(id, AWAY)

    def taken(self) -> int:
        """Places that are taken or kept."""
        now = self._clock()
        self._kept = {id: until for id, until in self._kept.items() if until > now}
        return len(self._here) + len(self._kept)

    def _room_for(self, id: str) -> bool:
        taken = self.taken()
        return id in self._kept or taken < self.capacity

    def _keep(self, id: str, seconds: float) -> None:
        self._kept[id] = max(self._kept.get(id, 0.0), self._clock() + seconds)
