"""Settings of a process that trains on a CPU, and the command that starts our own Python."""

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

from rnnviz.networks.threads import spin_briefly


def tune_process() -> None:
    """Make CPU training faster, with results that differ in denormal numbers only.

    Flushes denormal numbers to zero, which are slow, and asks glibc to keep freed memory: returning large
    tensors to the system after every step costs 10 to 25 % of the time.
    """
    import torch

    torch.set_flush_denormal(True)
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
            # No memory maps, which go back to the system when freed, and a heap that never shrinks.
            mallopt(M_MMAP_MAX, 0)
            mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
            mallopt(M_TOP_PAD, 256 * 2**20)


def own_python(*words: str) -> dict[str, Any]:
    """`args` and `env` for `subprocess` that start this Python with `words`, able to import this package.

    -P takes no module from the working directory, where a user's json.py may lie.
    """
    package = str(Path(__file__).resolve().parents[3])  # perhaps not installed, only beside the script
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    # Before the environment is copied: libgomp reads GOMP_SPINCOUNT as the child loads torch.
    spin_briefly()
    return {"args": [sys.executable, "-P", *words], "env": {**os.environ, "PYTHONPATH": path}}
