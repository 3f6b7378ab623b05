"""A model's weights in the form that `rnnviz.stepping` runs on: made once, kept while the model lives.

The two exact tricks of that module are prepared here: the table of what each
input adds to the first layer, and the halves inside the sigmoids.

This module knows nothing of time steps or texts.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn

from rnnviz.cells import GRUParameters, LSTMParameters, MLPParameters, Parameters, RNNParameters
from rnnviz.stepping import Floats, Layer, Weights

TABLE_BYTES = 64 << 20
"""Above this size the first layer's inputs are multiplied row by row instead of looked up."""


def _array(tensor: Tensor) -> Floats:
    return np.ascontiguousarray(tensor.detach().to("cpu", torch.float32).numpy())


def _layer(p: Parameters, inputs: Floats | None, one_hot: bool = False) -> Layer:
    """One layer of the textbook's parameters; `inputs` (V + 1, X) are all there are, if it is the first.

    One-hot inputs need no product: W_x has a row for every character already.
    """
    b_n = None
    if isinstance(p, MLPParameters | RNNParameters):
        cell, parts, activation = "mlp" if isinstance(p, MLPParameters) else "rnn", "h", p.activation
    elif isinstance(p, GRUParameters):
        cell, parts, activation, b_n = "gru", "rzh", "tanh", _array(p.b_hh) * np.float32(0.5)
    else:
        assert isinstance(p, LSTMParameters)
        cell, parts, activation = "lstm", "ifoc", "tanh"

    def rows(kind: str) -> list[Floats]:
        found = [getattr(p, f"{kind}{part}") for part in parts]
        arrays = [_array(w.T if w.dim() == 2 else w) for w in found]
        halved = len(parts) - 1 + (cell == "gru" and kind == "W_h")
        return [a * np.float32(0.5) if n < halved else a for n, a in enumerate(arrays)]

    b = np.concatenate(rows("b_"))
    W_x: Floats | None = np.concatenate(rows("W_x"))
    W_h = None if cell == "mlp" else np.concatenate(rows("W_h"))
    assert W_x is not None
    table = None
    if one_hot:
        table, W_x = W_x.T + b, None
    elif inputs is not None and len(inputs) * len(b) * 4 <= TABLE_BYTES:
        table, W_x = inputs @ W_x.T + b, None
    return Layer(cell, len(b) // len(parts), activation, table, W_x, b, W_h, b_n)


class Network(Protocol):
    """What `prepare` asks of a model; `rnnviz.model.CharModel` is one."""

    embedding: nn.Embedding | None
    readout: nn.Linear

    @property
    def readout_weight(self) -> Tensor:
        """W_hq transposed, (V, H)."""

    def layer_parameters(self) -> list[Parameters]:
        """The parameters of each layer."""

    def parameters(self) -> Iterator[nn.Parameter]:
        """Every tensor that was learned."""


def _build(model: Network) -> Weights:
    with torch.no_grad():
        embedding = None if model.embedding is None else _array(model.embedding.weight).copy()
        parameters = model.layer_parameters()
        first = _layer(parameters[0], embedding, one_hot=embedding is None)
        rest = tuple(_layer(p, None) for p in parameters[1:])
        readout, bias = _array(model.readout_weight), _array(model.readout.bias)
    embedding = None if first.table is not None else embedding
    return Weights((first, *rest), embedding, readout.copy(), bias.copy())


_prepared: WeakKeyDictionary[Network, tuple[list[Tensor], Weights]] = WeakKeyDictionary()
_lock = threading.Lock()


def prepare(model: Network) -> Weights:
    """The weights of `model` for stepping: copies on the CPU, made once and kept while the model lives.

    They are made anew when the model's own have changed since, as in training.
    That is found by comparing values: torch's count of a tensor's changes
    misses what fused optimisers write, and a comparison takes under a
    millisecond where making a large table takes twenty.
    """
    now = [p.detach() for p in model.parameters()]
    with _lock:
        found = _prepared.get(model)
        if found is None or not all(map(_same, found[0], now)):
            found = _prepared[model] = [p.clone() for p in now], _build(model)
        return found[1]


def _same(kept: Tensor, now: Tensor) -> bool:
    return kept.device == now.device and kept.dtype == now.dtype and torch.equal(kept, now)
