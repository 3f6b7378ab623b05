"""The lab: what trains networks, with torch, and what researches them, with scikit-learn."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rnnviz.networks import engines

if TYPE_CHECKING:
    from rnnviz.arrays import Array
    from rnnviz.networks.config import ModelConfig
    from rnnviz.networks.torch_model import CharModel


def _by_torch(
    config: "ModelConfig", tensors: "Mapping[str, Array]", about: Mapping[str, Any], device: str
) -> "CharModel":
    from rnnviz.networks import torch_model  # takes seconds

    return torch_model.load(config, tensors, about, device)


engines.register(_by_torch)
