"""Engines beside numpy's: the lab registers torch's, so that looking at models needs no torch.

And whether torch is installed: training needs it, reading doesn't. And whether it may find a GPU.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from rnnviz import registry
from rnnviz.errors import TorchMissingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rnnviz.arrays import Array
    from rnnviz.networks.config import ModelConfig
    from rnnviz.networks.numpy_model import StoredNetwork


def has_torch() -> bool:
    """Whether torch can be imported. Doesn't import it: that takes seconds."""
    try:
        # None in sys.modules stands for a module that is hidden on purpose, as the tests of look alone do.
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


def require_torch() -> None:
    """Raise TorchMissingError where torch can't be imported."""
    if not has_torch():
        raise TorchMissingError()


_modules: list[str] = []


def register(module: str) -> None:
    """Let `load` of this module, whose import takes seconds, make the networks where torch is installed."""
    _modules[:] = [module]


def registered() -> str | None:
    """The module with torch's `load`; None where torch isn't installed."""
    if not has_torch():
        return None
    registry.fill()
    return _modules[0] if _modules else None


def load(
    module: str,
    config: ModelConfig,
    tensors: Mapping[str, Array],
    about: Mapping[str, Any],
    device: str,
) -> StoredNetwork:
    """The network of a file's configuration, tensors and other arguments, on a device of that engine."""
    network: StoredNetwork = import_module(module).load(config, tensors, about, device)
    return network
