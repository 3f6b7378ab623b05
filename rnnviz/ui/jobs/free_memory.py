"""Memory that is free again goes back to the system, where the C library would keep it for later."""

import ctypes
import functools
from collections.abc import Callable

LARGE = 1 << 20
"""Bytes from which on an array has its own pages, which go back the moment it is freed. glibc raises that to
32 MB as a program goes on: scoring 3 MB of text then took 650 to 1,280 MB, not 350, and no less time."""

M_MMAP_THRESHOLD = -3  # glibc's malloc.h


@functools.cache
def _glibc(name: str) -> Callable[..., int] | None:
    try:
        found: Callable[..., int] = getattr(ctypes.CDLL(None), name)  # other libraries have none
    except (AttributeError, OSError, TypeError):
        return None
    return found


def keep_little() -> None:
    """Give what is LARGE back at once, if that can be asked for."""
    mallopt = _glibc("mallopt")
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE)


def give_back() -> None:
    """Return what was freed to the system, if that can be asked for."""
    trim = _glibc("malloc_trim")
    if trim is not None:
        trim(0)
