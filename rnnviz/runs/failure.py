"""Why a run ended against its will, in words a student understands, with what to do about it.

This module knows the errors of the system, of torch and of rnnviz by what they
say, so that it needs to load none of them.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from typing import Literal

from rnnviz.errors import RnnvizError

Cause = Literal["disk", "memory", "gpu", ""]

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

KEPT = "What was saved last is kept"

_MEMORY = re.compile(
    r"out of memory|not enough memory|can.t allocate memory|cannot allocate memory|bad_alloc"
    r"|unable to allocate",
    re.I,
)
_GPU = re.compile(
    r"CUDA error|CUDA driver|device-side assert|device.* unavailable|GPU is lost|fallen off the bus"
    r"|CUBLAS_STATUS|CUDNN_STATUS|no CUDA GPUs",
    re.I,
)


def in_words(error: BaseException) -> str | None:
    """What happened and what to do; None for an error that nobody foresaw, a mistake in the program."""
    if known := _known(error):
        return known[1]
    if isinstance(error, RnnvizError):
        return str(error)
    if isinstance(error, OSError):
        return f"The system refused: {error}. {KEPT}; mend it and resume the run to go on from there"
    return None


def cause(error: BaseException) -> Cause:
    """Which of the failures it is that a page has words of its own for; "" for all others."""
    known = _known(error)
    return known[0] if known else ""


def _known(error: BaseException) -> tuple[Cause, str] | None:
    for one in _chain(error):
        if isinstance(one, OSError) and one.errno in FULL:
            return "disk", (
                f"The disk is full: {one.strerror}. {KEPT}; free some space and resume the run to go on "
                "from there"
            )
    for one in _chain(error):
        said = str(one)
        memory = isinstance(one, MemoryError) or type(one).__name__ == "OutOfMemoryError"
        if isinstance(one, OSError) and one.errno == errno.ENOMEM:
            memory = True
        if memory or (isinstance(one, RuntimeError) and _MEMORY.search(said)):
            return "memory", (
                f"Memory ran out. {KEPT}; resume the run when other programs have ended, or start a new "
                "one with a smaller batch, fewer steps or a smaller hidden size"
            )
        if isinstance(one, RuntimeError) and not isinstance(one, RnnvizError) and _GPU.search(said):
            return "gpu", (
                f"The GPU was lost ({said.splitlines()[0][:200]}). {KEPT}; resume the run when the GPU "
                "works again"
            )
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__ or found.__context__
