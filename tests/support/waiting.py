"""Waiting until something is so."""

import time
from collections.abc import Callable
from typing import Any

DEADLINE = 120.0
"""Seconds until a test gives up waiting; the machine may be busy."""


def until(condition: Callable[[], Any], *, within: float = DEADLINE, every: float = 0.01) -> Any:
    """What `condition` returns as soon as that is true."""
    end = time.monotonic() + within
    while not (value := condition()):
        assert time.monotonic() < end, f"waited {within} s in vain"
        time.sleep(every)
    return value
