"""Whether torch is installed: training needs it, reading doesn't. And whether it may find a GPU."""

import ctypes
import sys
from functools import cache
from importlib.util import find_spec

from rnnviz.errors import TorchMissingError


def installed() -> bool:
    """Whether torch can be imported. Doesn't import it: that takes seconds."""
    try:
        return sys.modules.get("torch") is not None or find_spec("torch") is not None
    except (ImportError, ValueError):
        return False


@cache
def gpu_driver() -> bool:
    """Whether CUDA's driver is installed: only then is the slow import of torch worth a try for a GPU."""
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


def require() -> None:
    """Raise TorchMissingError where torch can't be imported."""
    if not installed():
        raise TorchMissingError()
