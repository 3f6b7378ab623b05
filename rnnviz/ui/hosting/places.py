"""How many visitors there is room for: a place is a visitor's, however often they reload or reconnect."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

TABS = 4
"""Connections of one visitor: tabs, and those that a lost network has not ended yet."""

AWAY = 10.0
"""Seconds that it is kept after the last connection has ended: time to reload, or to reconnect."""


class Places:
    """At most `capacity` visitors at a time, known by their ids; `clock` returns seconds.

    >>> places = Places(1, clock=lambda: 0.0)
    >>> [places.room_for("ann"), places.enter("bob"), places.room_for("ann"), places.enter("ann")]
    [True, True, False, False]
    """

    def __init__(self, capacity: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.capacity = capacity
        self._clock = clock
        self._here: Counter[str] = Counter()  # connections of each visitor
        self._kept: dict[str, float] = {}  # until when, for those without one

    def room_for(self, id: str) -> bool:
        """Whether a visitor has a place, or would get one now. To ask takes none: whoever asks again and
        again, without a cookie, would soon have them all.
        """
        taken = self.taken()
        return id in self._here or id in self._kept or taken < self.capacity

    def enter(self, id: str) -> bool:
        """Whether a visitor's connection may be made; each that may has to `leave`."""
        if self.crowded(id) or not self.room_for(id):
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
            self._kept[id] = self._clock() + AWAY

    def taken(self) -> int:
        """Places that are taken or kept."""
        now = self._clock()
        self._kept = {id: until for id, until in self._kept.items() if until > now}
        return len(self._here) + len(self._kept)
