"""What reads, scores or converts a `CharModel` asks of it.

`CharModel` makes its own scorer, so what it is made of knows it by this shape alone: imports go one way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from rnnviz.networks.config import ModelConfig
from rnnviz.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

State: TypeAlias = "tuple[Tensor, ...]"
"""What is carried from one time step to the next: (H,) of shape (L, B, H), for an LSTM (H, C)."""


class TorchNetwork(Protocol):
    """A network with torch's weights; see `rnnviz.networks.torch_model.CharModel` for each name."""

    config: ModelConfig
    vocabulary: Vocabulary
    name: str
    normaliser: str
    card: dict[str, Any]
    readout: nn.Linear

    @property
    def embedding(self) -> nn.Embedding | None: ...

    @property
    def device(self) -> torch.device: ...

    @property
    def parameter_count(self) -> int: ...

    @property
    def readout_weight(self) -> Tensor: ...

    @property
    def __call__(self) -> Callable[..., Any]: ...

    def zero_state(self, batch: int = 1) -> State: ...

    def embed(self, inputs: Tensor) -> Tensor: ...

    def hidden(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]: ...

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]: ...

    def state_dict(self) -> dict[str, Any]: ...
