"""Memory that is free again goes back to the system, where the C library would keep it for later."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable


@functools.cache
def _trim() -> Callable[[int], int] | None:
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim  # glibc's; others have none
    except (AttributeError, OSError, TypeError):
        return None
    return found


def give_back() -> None:
    """Return what was freed to the system, if that can be asked for."""
    trim = _trim()
    if trim is not None:
        trim(0)
