"""A rate limit: a token bucket for each place, such as an address, and a bounded number of buckets."""

import time
from collections import OrderedDict
from collections.abc import Callable

PLACES = 4_096
"""Buckets kept, at most; the least recently used goes first."""


class Limit:
    """At most `burst` requests at once from a place, and `rate` a second on average; `clock` returns seconds.

    >>> limit = Limit(burst=2, rate=1, clock=lambda: 0.0)
    >>> [limit.allows("a"), limit.allows("a"), limit.allows("a"), limit.allows("b")]
    [True, True, False, True]
    """

    def __init__(self, burst: float, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._rate, self._clock = burst, rate, clock
        self._places: OrderedDict[str, tuple[float, float]] = OrderedDict()  # (tokens, at this time)

    def allows(self, place: str) -> bool:
        """Whether a place may send one more request now; if so, it is counted."""
        now = self._clock()
        tokens, then = self._places.pop(place, (self._burst, now))
        tokens = min(self._burst, tokens + (now - then) * self._rate)
        allowed = tokens >= 1
        self._places[place] = (tokens - allowed, now)
        if len(self._places) > PLACES:
            self._places.popitem(last=False)
        return allowed
