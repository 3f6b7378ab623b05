"""Many texts read in step: a row of a batch each, on the GPU where the model is on one.

Shape letters: B texts of a batch, T time steps of the longest, L layers, H hidden units.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from rnnviz.arrays import Floats, Ids, Integers
from rnnviz.errors import ConfigError
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_engine import Weights
from rnnviz.networks.numpy_model import Network, NumpyModel, weights_of
from rnnviz.reading.trace import Trace, Tracer, trace
from rnnviz.text.characters import normalise
from rnnviz.text.checked import received

if TYPE_CHECKING:
    from rnnviz.networks.torch_network import TorchNetwork

ENTRIES = 1 << 24
"""Of a batch's states, (T, B, L, H), at most: 64 MiB."""

ROWS = 256
"""Texts side by side, at most."""

CHUNK = 64
"""Time steps after which it is looked which texts have ended."""

States = tuple[Floats, Floats | None]
"""H (T, B, L, H), and an LSTM's C: rows of a text beyond its end are undefined."""


def trace_many(model: Network, texts: Iterable[str]) -> list[Trace]:
    """The Trace of each text, in their order: `rnnviz.trace` of them all, side by side.

    Equal to one by one but for rounding: to 1e-4, unless the network magnifies rounding (see
    `rnnviz.reading.scoring`). Computed in float32, on the GPU where the model is on one. Raises TextError
    for a text with half a surrogate pair in it, ConfigError for a single text in place of a list.

    >>> import rnnviz
    >>> traces = rnnviz.trace_many(rnnviz.load("timemachine-gru"), ["machine", "", "the lamp"])
    >>> [len(trace) for trace in traces]
    [7, 0, 8]
    """
    if isinstance(texts, str):
        raise ConfigError("trace_many reads several texts; received one: write [text], or call rnnviz.trace")
    weights = weights_of(model)
    if not isinstance(texts, Iterable):
        raise ConfigError("trace_many reads a list of texts; received {received}", received=received(texts))
    normalised = [normalise(text, model.normaliser) for text in texts]
    if type(weights) is not Weights:  # a step of one's own, which reads one text at a time
        return [trace(model, text) for text in normalised]
    traces: dict[int, Trace] = {}
    for group in _groups([len(text) for text in normalised], len(weights.layers) * weights.layers[0].units):
        ids = [model.vocabulary.encode(normalised[n]) for n in group]
        hidden, cell = _read(model, weights, ids)
        for row, n in enumerate(group):
            length = len(normalised[n])
            own = None if cell is None else cell[:length, row]
            traces[n] = Tracer(model).adopt(normalised[n], hidden[:length, row], own)
    return [traces[n] for n in range(len(normalised))]


def _groups(lengths: Sequence[int], units: int) -> Iterator[list[int]]:
    """The texts in batches, the longest first: so few rows of one are empty."""
    order = sorted(range(len(lengths)), key=lambda n: -lengths[n])
    while order:
        size = max(1, min(ROWS, ENTRIES // max(1, lengths[order[0]] * units)))
        yield order[:size]
        order = order[size:]


def _read(model: Network, weights: Weights, ids: Sequence[Ids]) -> States:
    if isinstance(model, NumpyModel) or cast("TorchNetwork", model).device.type == "cpu":
        return _by_numpy(weights, model.vocabulary.start, ids)
    return _by_torch(cast("TorchNetwork", model), ids)


def _padded(ids: Sequence[Ids]) -> tuple[Ids, Integers]:
    """(T, B), zeros after a text's end, and how many texts are as long as t + 1, (T,); longest first."""
    lengths = np.array([len(each) for each in ids])
    table = np.zeros((int(lengths.max(initial=0)), len(ids)), np.int64)
    for row, each in enumerate(ids):
        table[: len(each), row] = each
    return table, (lengths[None, :] > np.arange(len(table))[:, None]).sum(axis=1)


def _by_numpy(weights: Weights, start: int, ids: Sequence[Ids]) -> States:
    table, alive = _padded(ids)
    inputs = np.concatenate([np.full((1, len(ids)), start), table])
    hidden, cell = weights.states(len(inputs) + 1, len(ids))
    for begin in range(0, len(inputs), CHUNK):
        B = int(alive[max(0, begin - 1)]) if len(alive) else len(ids)
        here = slice(begin, begin + CHUNK + 1)
        own = None if cell is None else cell[here, :, :B]
        weights.run(inputs[begin : begin + CHUNK, :B], hidden[here, :, :B], own)
    return hidden[2:].swapaxes(1, 2), None if cell is None else cell[2:].swapaxes(1, 2)


def _by_torch(model: TorchNetwork, ids: Sequence[Ids]) -> States:
    """Step by step, where the model is; see `rnnviz.networks.torch_engine`."""
    import torch

    from rnnviz.networks.torch_engine import Layer

    table, _ = _padded(ids)
    config, T, B = model.config, len(table), len(ids)
    has_cell = CELLS[config.cell].has_cell
    with torch.no_grad():
        named = dict(model.named_parameters())
        layers = [
            Layer(config.cell, [named[name] for name in config.layer_names(n)], config.activation)
            for n in range(config.layers)
        ]
        inputs = np.concatenate([np.full((1, B), model.vocabulary.start), table])
        read = torch.from_numpy(inputs).to(model.device)
        h = [torch.zeros(B, config.hidden_size, device=model.device) for _ in layers]
        c = [torch.zeros_like(each) if has_cell else None for each in h]
        hidden = torch.empty(T + 1, B, len(layers), config.hidden_size, device=model.device)
        cell = torch.empty_like(hidden) if has_cell else None
        for t in range(T + 1):
            x = model.embed(read[t : t + 1])[0]
            for n, layer in enumerate(layers):
                parts = layer.step(layer.from_inputs(x), h[n], c[n])
                x = h[n] = parts["h"]
                hidden[t, :, n] = x
                if cell is not None:
                    c[n] = cell[t, :, n] = parts["c"]
    return hidden[1:].cpu().numpy(), None if cell is None else cell[1:].cpu().numpy()
