"""Whether torch is installed: training needs it, reading doesn't."""

import sys
from importlib.util import find_spec

from rnnviz.errors import TorchMissingError


def installed() -> bool:
    """Whether torch can be imported. Doesn't import it: that takes seconds."""
    try:
        return sys.modules.get("torch") is not None or find_spec("torch") is not None
    except (ImportError, ValueError):
        return False


def require() -> None:
    """Raise TorchMissingError where torch can't be imported."""
    if not installed():
        raise TorchMissingError()
