"""Return freed memory to the system; glibc would keep it for later."""

import ctypes
import functools
import gc
from collections.abc import Callable

LARGE = 1 << 20
"""Bytes from which on malloc maps pages for an array alone; they go back to the system once it is freed.

By default glibc raises this threshold up to 32 MB as a program runs. Scoring 3 MB of text then took 650 to
1,280 MB, not 350, and no less time.
"""

M_MMAP_THRESHOLD = -3  # glibc's malloc.h


@functools.cache
def _glibc(name: str) -> Callable[..., int] | None:
    try:
        found: Callable[..., int] = getattr(ctypes.CDLL(None), name)  # other C libraries lack the function
    except (AttributeError, OSError, TypeError):
        return None
    return found


def keep_little() -> None:
    """Fix the threshold at LARGE, where the C library is glibc; elsewhere do nothing."""
    mallopt = _glibc("mallopt")
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE)


def give_back() -> None:
    """Return freed memory to the system now, where the C library is glibc; elsewhere do nothing."""
    trim = _glibc("malloc_trim")
    if trim is not None:
        trim(0)


def collect() -> None:
    """Free a session's objects, which form reference cycles, and return their memory to the system."""
    gc.collect()
    give_back()
