"""The slow way to what rnnviz.gradients finds, and a net whose gradients are known on paper."""

import copy
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.networks.config import ModelConfig
from rnnviz.text.vocabulary import Vocabulary
from tests.support import textbook

Doubles = npt.NDArray[np.float64]


def double(model: CharModel) -> CharModel:
    return copy.deepcopy(model).double()


def symbols(model: CharModel, text: str) -> Tensor:
    return torch.tensor([[model.vocabulary.start, *model.vocabulary.encode(text)]])


def log_probs(model: CharModel, x: Tensor) -> Tensor:
    """(T + 1, V) of a float64 model for its embedded inputs (1, T + 1, X)."""
    hidden, _ = model.hidden(x)
    return torch.log_softmax(F.linear(hidden, model.readout_weight, model.readout.bias)[0], dim=-1)


def by_autograd(model: CharModel, text: str, target: str | None = None) -> Doubles:
    """(T, T + 1): a backward pass a row; the first column is the start symbol."""
    model = double(model)
    ids = symbols(model, text)
    x = model.embed(ids).detach().requires_grad_()
    predictions = log_probs(model, x)
    rows = []
    for t in range(1, len(text) + 1):
        if target is not None:
            symbol = int(model.vocabulary.encode(target)[0])
        else:
            symbol = int(ids[0, t + 1]) if t < len(text) else int(predictions[t].argmax())
        (gradient,) = torch.autograd.grad(predictions[t, symbol], x, retain_graph=True)
        rows.append(gradient[0].norm(dim=-1).numpy())
    return np.array(rows)


def unrolled(model: CharModel, text: str) -> tuple[list[list[Tensor]], list[list[Tensor]], Tensor]:
    """States and cells [step][layer] of a float64 model, nodes of one graph, and log P (V,) at the end."""
    read = textbook.read(model.config, dict(model.named_parameters()), model.embed(symbols(model, text)))
    hidden = [[parts["hidden"] for parts in step] for step in read.steps]
    cells = [[parts.get("cell", parts["hidden"]) for parts in step] for step in read.steps]
    return hidden, cells, read.part("log_probs")[-1, 0]


def fading(factor: float, units: int = 6) -> CharModel:
    """A relu net that never leaves the linear part: each step back multiplies a gradient with `factor`."""
    vocabulary = Vocabulary(("a", "b"))
    config = ModelConfig("rnn", vocabulary.size, units, embedding_size=4, activation="relu")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = CharModel(config, vocabulary).requires_grad_(False)
    recurrence: Any = model.recurrence
    recurrence.weight_hh_l0.copy_(factor * torch.eye(units))
    recurrence.bias_ih_l0.fill_(9.0)
    recurrence.bias_hh_l0.zero_()
    model.readout.weight.div_(1e25)  # so that no prediction is ever certain
    return model
