"""Generators that yield their progress and return a result."""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeVar

P = TypeVar("P")
Q = TypeVar("Q")
R = TypeVar("R")


def run(steps: Generator[P, None, R], progress: Callable[[P], object] | None = None) -> R:
    """The result of the generator `steps`; `progress` is called with each value that it yields.

    >>> def halves():
    ...     yield 0.5
    ...     return "done"
    >>> run(halves(), print)
    0.5
    'done'
    """
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            result: R = end.value
            return result
        if progress is not None:
            progress(step)


def mapped(steps: Generator[P, None, R], change: Callable[[P], Q]) -> Generator[Q, None, R]:
    """Yield `change(step)` for each step of `steps`, and return the generator's result."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            result: R = end.value
            return result
        yield change(step)


@dataclass(frozen=True)
class Share:
    """The share of the work that is done, 0 to 1."""

    fraction: float


INTERVAL = 0.1
"""Seconds between two reports of progress."""


class Clock:
    """Says when the next report is due."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def due(self) -> bool:
        """Whether INTERVAL has passed since a report was last due."""
        now = time.perf_counter()
        if now - self._last < INTERVAL:
            return False
        self._last = now
        return True
