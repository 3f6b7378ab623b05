"""Wait for a generator that yields progress and returns a result."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeVar

P = TypeVar("P")
R = TypeVar("R")


def run(steps: Generator[P, None, R], progress: Callable[[P], None] | None = None) -> R:
    """What `steps` returns in the end; `progress` is called with all that it yields before."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            result: R = end.value
            return result
        if progress is not None:
            progress(step)
