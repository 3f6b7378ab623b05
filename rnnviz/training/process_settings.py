"""Settings of a process that trains on a CPU, and how one of our own is started."""

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

from rnnviz.networks.threads import spin_briefly


def tune_process() -> None:
    """Make CPU training faster, without changing results that matter. Flushes denormal numbers to zero and
    asks glibc to keep freed memory: handing large tensors back to the system after every step costs 10 to
    25 % of the time.
    """
    import torch

    torch.set_flush_denormal(True)
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
            mallopt(M_MMAP_MAX, 0)
            mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
            mallopt(M_TOP_PAD, 256 * 2**20)


def own_python(*words: str) -> dict[str, Any]:
    """`args` and `env` of `subprocess` to start this Python with `words`, able to import this package.

    -P: no module is taken from the working directory, where a user's json.py may lie.
    """
    package = str(Path(__file__).resolve().parents[2])  # found, perhaps, only beside this process's script
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    spin_briefly()
    return {"args": [sys.executable, "-P", *words], "env": {**os.environ, "PYTHONPATH": path}}
