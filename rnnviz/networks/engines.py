"""Engines beside numpy's: `rnnviz.lab` registers torch's, so that looking at models needs no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rnnviz import registry
from rnnviz.networks import has_torch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rnnviz.arrays import Array
    from rnnviz.networks.config import ModelConfig
    from rnnviz.networks.numpy_model import StoredNetwork

    Loader = Callable[[ModelConfig, Mapping[str, Array], Mapping[str, Any], str], StoredNetwork]
    # Makes a network of its configuration, its tensors, the other arguments of its model, and a device.

_loaders: list[Loader] = []


def register(loader: Loader) -> None:
    """Load networks by `loader` from now on, where torch is installed."""
    _loaders[:] = [loader]


def registered() -> Loader | None:
    """torch's loader; None where torch isn't installed."""
    if not has_torch.installed():
        return None
    registry.fill()
    return _loaders[0] if _loaders else None
