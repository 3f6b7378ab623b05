"""How many sessions there is room for: a place for each, and a moment longer, for its visitor alone."""

import time
from collections import Counter
from collections.abc import Callable

AWAY = 10.0
"""Seconds that a place is kept after its session's connection has ended: time to reload, or to reconnect."""


class Places:
    """At most `capacity` sessions at a time, each of a visitor, known by an id; `clock` returns seconds.

    >>> places = Places(1, clock=lambda: 0.0)
    >>> [places.has_room("ann"), places.enter("bob"), places.has_room("ann"), places.enter("ann")]
    [True, True, False, False]
    """

    def __init__(self, capacity: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.capacity = capacity
        self._clock = clock
        self._open: Counter[str] = Counter()  # sessions of each visitor
        self._kept: list[tuple[float, str]] = []  # until when, and for whom

    def has_room(self, id: str) -> bool:
        """Whether a visitor's session may begin now. To ask takes no place: whoever asks again and again,
        without a cookie, would soon have them all.
        """
        taken = self.taken()
        return taken < self.capacity or any(id == whose for _until, whose in self._kept)

    def is_here(self, id: str) -> bool:
        """Whether a visitor has a session: a page that is loaded again is asked for before it has ended."""
        return id in self._open

    def enter(self, id: str) -> bool:
        """Whether a visitor's session begins; each that does has to `leave`."""
        if not self.has_room(id):
            return False
        own = next((one for one in self._kept if one[1] == id), None)
        if own is not None:
            self._kept.remove(own)
        self._open[id] += 1
        return True

    def leave(self, id: str) -> None:
        """A session's connection has ended."""
        self._open[id] -= 1
        if not self._open[id]:
            del self._open[id]
        self._kept.append((self._clock() + AWAY, id))

    def taken(self) -> int:
        """Places that are taken or kept."""
        now = self._clock()
        self._kept = [one for one in self._kept if one[0] > now]
        return self._open.total() + len(self._kept)
