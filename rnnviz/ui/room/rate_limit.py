"""How much may come from one place: a bucket of tokens each, and only so many buckets."""

import time
from collections import OrderedDict
from collections.abc import Callable

PLACES = 4_096
"""Buckets that are kept at a time; the one that was used longest ago goes first."""


class Limit:
    """At most `burst` at once from a place, and `rate` a second in the long run; `clock` returns seconds.

    >>> limit = Limit(burst=2, rate=1, clock=lambda: 0.0)
    >>> [limit.allows("a"), limit.allows("a"), limit.allows("a"), limit.allows("b")]
    [True, True, False, True]
    """

    def __init__(self, burst: float, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._rate, self._clock = burst, rate, clock
        self._places: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, when

    def allows(self, place: str) -> bool:
        """Whether one more may come from a place now; it is counted."""
        now = self._clock()
        tokens, then = self._places.pop(place, (self._burst, now))
        tokens = min(self._burst, tokens + (now - then) * self._rate)
        allowed = tokens >= 1
        self._places[place] = (tokens - allowed, now)
        if len(self._places) > PLACES:
            self._places.popitem(last=False)
        return allowed
