"""Texts read abreast, a row of a batch each: the steps that stretches of one text and many short texts share.

A batch is faster than one row after another because memory limits a matrix-vector product.

Shape letters: B rows, T time steps, L layers, H hidden units, V symbols, n predictions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from rnnviz.networks import bptt, prediction
from rnnviz.networks.prediction import Scores
from rnnviz.networks.threads import Threads, worth_trying
from rnnviz.networks.torch_network import State, TorchNetwork

CHUNK = 64
"""Time steps read at a time."""

LOGITS = 1 << 20
"""Entries, predictions by symbols, of one block of the readout."""

Ids = npt.NDArray[np.int64]


class Abreast:
    """Reads the rows of a batch some steps at a time, with the weights that the model has now."""

    def __init__(self, model: TorchNetwork) -> None:
        self.model = model
        self.threads = Threads(worth_trying(model.device.type))
        quick = bptt.suits(model.config, model.readout.bias)
        self._read = self._unrolled() if quick else self._through_layers

    def tensor(self, ids: Ids) -> Tensor:
        """`ids` where the model is."""
        return torch.from_numpy(np.ascontiguousarray(ids)).to(self.model.device)

    def read(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """The top layer's H (B, T, H) after each of the inputs (B, T), and the state after the last."""
        return self._read(inputs, state)

    def scores(self, top: Tensor, targets: Tensor, *, want: bool) -> Scores:
        """The Scores of `targets` (B, T), (B·T,), given H (B, T, H); `want` fills in rank and entropy."""
        h, came = top.flatten(0, 1), targets.flatten()  # (B·T, H), (B·T,)
        step = max(1, LOGITS // self.model.config.vocabulary_size)
        return Scores.joined(
            [self._block(h[n : n + step], came[n : n + step], want) for n in range(0, len(h), step)]
        )

    def _block(self, h: Tensor, targets: Tensor, want: bool) -> Scores:
        logits = F.linear(h, self.model.readout_weight, self.model.readout.bias).float()
        log_p = -F.cross_entropy(logits, targets, reduction="none").double().cpu().numpy()
        if not want:
            return Scores.unranked(log_p)
        table, came = logits.cpu().numpy(), targets.cpu().numpy()
        return Scores(log_p, prediction.rank(table, came), prediction.entropy(table))

    def _through_layers(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        return self.model.hidden(self.model.embed(inputs), state)

    def _unrolled(self) -> Callable[[Tensor, State], tuple[Tensor, State]]:
        """Step by step on a CPU, with each symbol's part of the first layer looked up."""
        with torch.inference_mode():
            layers = bptt.layers(self.model.config, self.model)
            first = layers[0]
            if self.model.embedding is None:
                table = first.w_x.T + first.b
            else:
                table = F.linear(self.model.embedding.weight, first.w_x, first.b)

        def read(inputs: Tensor, state: State) -> tuple[Tensor, State]:
            h, last = bptt.states(layers, F.embedding(inputs.T, table), state[0])
            return h, (last,)

        return read
