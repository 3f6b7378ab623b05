"""Engines beside numpy's: the lab registers torch's, so that looking at models needs no torch."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rnnviz import registry
from rnnviz.networks import has_torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rnnviz.arrays import Array
    from rnnviz.networks.config import ModelConfig
    from rnnviz.networks.numpy_model import StoredNetwork

_modules: list[str] = []


def register(module: str) -> None:
    """Let `load` of this module, whose import takes seconds, make the networks where torch is installed."""
    _modules[:] = [module]


def registered() -> str | None:
    """The module with torch's `load`; None where torch isn't installed."""
    if not has_torch.installed():
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
