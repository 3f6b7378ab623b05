"""Why a run failed, in words. torch's errors are recognised by their messages, without importing torch."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from typing import Literal

from rnnviz.errors import RnnvizError, TrainingError

Cause = Literal["disk", "memory", "gpu", ""]

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

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


def in_words(error: BaseException) -> RnnvizError | None:
    """What happened and what to do; None for an unforeseen error, a bug in the program."""
    if known := _known(error):
        return known[1]
    if isinstance(error, RnnvizError):
        return error
    if isinstance(error, OSError):
        return TrainingError(
            "The system refused: {error}. What was saved last is kept; mend it and resume the run to go on "
            "from there",
            error=error,
        )
    return None


def cause(error: BaseException) -> Cause:
    """The kind of failure, where a page has its own words for it; else ""."""
    known = _known(error)
    return known[0] if known else ""


def _known(error: BaseException) -> tuple[Cause, TrainingError] | None:
    for one in _chain(error):
        if isinstance(one, OSError) and one.errno in FULL:
            return "disk", TrainingError(
                "The disk is full: {strerror}. What was saved last is kept; free some space and resume the "
                "run to go on from there",
                strerror=one.strerror,
            )
    for one in _chain(error):
        said = str(one)
        memory = isinstance(one, MemoryError) or type(one).__name__ == "OutOfMemoryError"
        if isinstance(one, OSError) and one.errno == errno.ENOMEM:
            memory = True
        if memory or (isinstance(one, RuntimeError) and _MEMORY.search(said)):
            return "memory", TrainingError(
                "Memory ran out. What was saved last is kept; resume the run when other programs have "
                "ended, or start a new one with a smaller batch, fewer steps or a smaller hidden size"
            )
        if isinstance(one, RuntimeError) and not isinstance(one, RnnvizError) and _GPU.search(said):
            return "gpu", TrainingError(
                "The GPU was lost ({error}). What was saved last is kept; resume the run when the GPU works "
                "again",
                error=said.splitlines()[0][:200],
            )
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__ or found.__context__
