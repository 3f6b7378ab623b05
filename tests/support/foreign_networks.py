"""Somebody else's networks: torch's layers and functions, with weights large enough to tell them apart."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

import rnnviz
from rnnviz.lab.engines.custom import CustomModel
from rnnviz.lab.engines.torch_model import CharModel

CHARACTERS = list("eat ofshn\n,xT世")  # in the order of somebody else's vocabulary
N, GRU = len(CHARACTERS), nn.GRU(6, 9)


def layers_of(kind: type[nn.RNNBase], n: int, *, embedding: bool = True, **options: Any) -> nn.ModuleDict:
    """A network with weights large enough that its states vary, its two biases unequal."""
    torch.manual_seed(5)
    H, X = 9, 6 if embedding else n
    parts: dict[str, nn.Module] = {"rnn": kind(X, H, **options), "decoder": nn.Linear(H, n)}
    if embedding:
        parts["encoder"] = nn.Embedding(n, X)
    network = nn.ModuleDict(parts)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(1 if options.get("nonlinearity") == "relu" else 2)  # a relu's would grow for ever
    return network.eval()


def adapted(parts: nn.ModuleDict, characters: Sequence[str] = CHARACTERS, **options: Any) -> CharModel:
    layers: dict[str, Any] = dict(parts.items())
    return rnnviz.adapt(
        layers["rnn"], layers["decoder"], characters, embedding=layers.get("encoder"), **options
    )


def cell_of(rnn: nn.RNNBase, layer: int = 0) -> Any:
    """A layer of torch's as the cell that reads one character."""
    kinds: dict[type, Any] = {nn.GRU: nn.GRUCell, nn.LSTM: nn.LSTMCell}
    cell = kinds[type(rnn)](rnn.input_size if layer == 0 else rnn.hidden_size, rnn.hidden_size)
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    cell.load_state_dict({name: getattr(rnn, f"{name}_l{layer}") for name in names})
    return cell


def stepwise(parts: Any, **options: Any) -> CustomModel:
    """GRUCells in a loop, each layer a step of its own."""

    def reading(part: str, cell: Any) -> Any:
        def step(below: torch.Tensor, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
            x = below if below.is_floating_point() else parts["encoder"](below)
            h = cell(x, state[part])
            return h, {part: h}

        return step

    names = [f"h{layer}" for layer in range(parts["rnn"].num_layers)]
    steps = [reading(part, cell_of(parts["rnn"], layer)) for layer, part in enumerate(names)]
    state = {part: torch.zeros(parts["rnn"].hidden_size) for part in names}
    settings = {"state": state, "readout": parts["decoder"], "characters": CHARACTERS, **options}
    return rnnviz.adapt_step(steps if len(steps) > 1 else steps[0], **settings)


def echo(ids: torch.Tensor, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    h = F.one_hot(ids, N).float()
    return h, {"h": h}


def long_memory(seed: int, *, hidden: int = 8, letters: str = "ab c") -> CharModel:
    """A gru that begins with long memories."""
    torch.manual_seed(seed)
    gru, output = nn.GRU(len(letters), hidden), nn.Linear(hidden, len(letters))
    with torch.no_grad():
        gru.bias_hh_l0[hidden : 2 * hidden] += 4.0
    return rnnviz.adapt(gru, output, letters)
