"""Many texts read in step: a row of a batch each, on the GPU where the model is on one.

Shape letters: B texts of a batch, T time steps of the longest, L layers, H hidden units.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from rnnviz.arrays import Floats, Ids
from rnnviz.errors import ConfigError
from rnnviz.networks.numpy_engine import Weights
from rnnviz.networks.numpy_model import Network, NumpyModel, weights_of
from rnnviz.scoring.trace import Trace, Tracer, trace
from rnnviz.text.characters import normalise
from rnnviz.text.checked import received

if TYPE_CHECKING:
    from rnnviz.networks.torch_model import CharModel

ENTRIES = 1 << 24
"""Of a batch's states, (T, B, L, H), at most: 64 MiB."""

ROWS = 64
"""Texts side by side, at most."""


def trace_many(model: Network, texts: Iterable[str]) -> list[Trace]:
    """The Trace of each text, in their order: `rnnviz.trace` of them all, side by side.

    Equal to one by one but for rounding: to 1e-4, unless the network magnifies rounding (see
    `rnnviz.scoring.perplexity`). Computed in float32, on the GPU where the model is on one. Raises TextError
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
        hidden, *cell = _read(model, weights, ids)
        for row, n in enumerate(group):
            here = slice(len(normalised[n])), slice(None), row
            traces[n] = Tracer(model).adopt(normalised[n], hidden[here], cell[0][here] if cell else None)
    return [traces[n] for n in range(len(normalised))]


def _groups(lengths: Sequence[int], units: int) -> Iterator[list[int]]:
    """The texts in batches, the longest first: so few rows of one are empty."""
    order = sorted(range(len(lengths)), key=lambda n: -lengths[n])
    while order:
        size = max(1, min(ROWS, ENTRIES // max(1, lengths[order[0]] * units)))
        yield order[:size]
        order = order[size:]


def _read(model: Network, weights: Weights, ids: Sequence[Ids]) -> tuple[Floats, ...]:
    """Every state after each character, (T, L, B, H): H, and an LSTM's C. Beyond a text's end is anything."""
    inputs = np.zeros((1 + max(map(len, ids), default=0), len(ids)), np.int64)
    inputs[0] = model.vocabulary.start
    for row, each in enumerate(ids):
        inputs[1 : len(each) + 1, row] = each
    if not isinstance(model, NumpyModel) and cast("CharModel", model).device.type != "cpu":
        return _by_torch(cast("CharModel", model), inputs)
    hidden, cell = weights.states(len(inputs) + 1, len(ids))
    weights.run(inputs, hidden, cell)
    return tuple(part[2:] for part in (hidden, cell) if part is not None)


def _by_torch(model: CharModel, inputs: Ids) -> tuple[Floats, ...]:
    """The same where the model is, of inputs (T + 1, B)."""
    import torch

    found = []
    with torch.inference_mode():
        state = model.zero_state(inputs.shape[1])
        # Step by step: of a whole text torch's own layers give the states of the top layer alone.
        for x in model.embed(torch.from_numpy(inputs.T.copy()).to(model.device)).unbind(1):
            _, state = model.hidden(x[:, None], state)
            found.append(state)
        return tuple(torch.stack(part)[1:].cpu().numpy() for part in zip(*found, strict=True))
