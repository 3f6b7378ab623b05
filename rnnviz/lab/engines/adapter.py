"""Adapters: a network that was trained elsewhere becomes a model of rnnviz.

`adapt` makes a CharModel of torch's nn.RNN, nn.GRU or nn.LSTM with an output layer. `adapt_step` makes a
CustomModel of any other network, given as a Python function.

Weights are copied; predictions after one character or more are the same, to rounding. An LSTM's projections
(`proj_size`) are multiplied into the weights that read them: the hidden state is the one before a projection.
Two symbols are new:

The start symbol is read before a text. `start` names the character or entry of the network's vocabulary to
use. Without `start`, the start symbol of a one-layer network leaves the state at zero: softmax(b_q) predicts
the first character. In several layers no input does that, so `start` is required there. A function isn't
called for the start symbol.

<unk> stands for characters outside the vocabulary; `unknown` is the network's own index. Without `unknown`,
torch's layers read <unk> as the mean of all embeddings (or one-hot vectors), and a function doesn't read it.
The logit of <unk> is then `unknown_gap` nats below the mean: by default a probability below exp(-20) / V.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from torch import nn

from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.lab.engines.adapter_check import Check, compare
from rnnviz.lab.engines.adapter_steps import build_custom
from rnnviz.lab.engines.adapter_weights import Symbols, build, check_recurrence, unwrapped
from rnnviz.lab.engines.custom import CustomModel, Readout, Step
from rnnviz.lab.engines.torch_model import CharModel


@checked
def adapt(
    recurrence: nn.Module,
    output: nn.Linear | None = None,
    characters: Sequence[str] = (),
    *,
    embedding: nn.Embedding | None = None,
    start: str | int | None = None,
    unknown: int | None = None,
    unknown_gap: float = 20.0,
    name: str = "adapted",
    check: Check | None = None,
) -> CharModel:
    """A CharModel with the weights of a network of torch's own layers; `adapt_step` takes any other cell.

    recurrence   nn.RNN, nn.GRU or nn.LSTM of any number of layers, with or without biases, batch_first or
                 not. Dropout between its layers does nothing here, as in eval()
    output       nn.Linear from H to n, the length of characters
    characters   the network's vocabulary by index: single characters, each once; any name at the indices
                 `start` and `unknown`; entries that no text has, such as "<pad>" and "</s>", which are never
                 predicted: the probabilities of the others sum to 1
    embedding    nn.Embedding with n rows, or one more at its padding_idx; None: one-hot vectors of width n
    start        the character or index read before a text, needed for several layers; None: one layer
                 begins with a zero state. An entry that is no character is never predicted
    unknown      the index of the network's own symbol for unknown characters
    unknown_gap  without `unknown`: nats from the mean logit down to that of unknown characters
    check        the network itself: an nn.Module, called in eval() with a tensor of its indices, (T,),
                 (1, T) or (T, 1), or a function of a list of them. Its logits or log-probabilities (T, n)
                 must agree with the adapted model to 1e-4 nats on a few texts. It may return (logits, state)

    Modules of DataParallel or torch.compile stand for the module inside. Raises ConfigError for other or
    bidirectional layers, an embedding with max_norm, shapes that don't fit, weights that are NaN or infinite,
    and where `check` differs.

    >>> import rnnviz
    >>> import torch
    >>> rnn, output = torch.nn.GRU(3, 8), torch.nn.Linear(8, 3)
    >>> rnnviz.trace(rnnviz.adapt(rnn, output, "abc"), "cab").hidden.shape
    (3, 1, 8)
    """
    _check_gap(unknown_gap)
    layer, output, embedding = map(unwrapped, (recurrence, output, embedding))
    check_recurrence(layer)
    symbols = Symbols(characters, start, unknown)
    model = build(layer, output, embedding, symbols, unknown_gap, name)
    if check is not None:
        compare(model, symbols, check)
    return model


@checked
def adapt_step(
    step: Step | Sequence[Step],
    *,
    state: Mapping[str, Any],
    characters: Sequence[str],
    readout: Readout | None = None,
    start: str | int | None = None,
    unknown: int | None = None,
    unknown_gap: float = 20.0,
    name: str = "adapted",
    check: Check | None = None,
) -> CustomModel:
    """A CustomModel that calls `step`, a function for any cell. It has no gradients and can't be saved.

    step         a function (ids, state) -> (outputs, state). ids (B,) are the network's own indices, an array
                 of numpy, or a tensor where `state` has tensors. state is {name: (B, width)}, a row for each
                 of B texts; outputs are one of the new parts. Or a list of functions, one a layer: each
                 reads the outputs of the layer below, and returns the parts of its layer. Further parts
                 that it returns, such as gates, are shown as layers too, after those of `state`; no step
                 needs to read them
    state        {name: (width,)}, each part before a text: arrays, or tensors, which the functions then get.
                 The names are `parts` of the model, the layers of `Trace.hidden`: the part that is the
                 outputs comes last
    readout      a function outputs -> logits (B, n); None for a network that predicts no characters, such as
                 a tagger: all characters then have the same probability

    `characters`, `start`, `unknown`, `unknown_gap`, `name` and `check` as in `rnnviz.adapt`. Put all that
    comes after the state (a norm, a layer more) into `readout`: a changed state then reaches the prediction.
    Raises ConfigError for a function that returns anything else, or NaN, and where `check` differs.

    >>> import rnnviz
    >>> import torch
    >>> cell, output = torch.nn.GRUCell(3, 8), torch.nn.Linear(8, 3)
    >>> def step(ids, state):
    ...     h = cell(torch.nn.functional.one_hot(ids, 3).float(), state["h"])
    ...     return h, {"h": h}
    >>> own = rnnviz.adapt_step(step, readout=output, state={"h": torch.zeros(8)}, characters="abc")
    >>> rnnviz.trace(own, "cab").hidden.shape, own.parts
    ((3, 1, 8), ('h',))
    """
    _check_gap(unknown_gap)
    symbols = Symbols(characters, start, unknown)
    model = build_custom(step, unwrapped(readout), state, symbols, unknown_gap, name)
    if check is not None:
        compare(model, symbols, check)
    return model


def _check_gap(unknown_gap: float) -> None:
    if not (math.isfinite(unknown_gap) and unknown_gap > 0):
        raise ConfigError(
            "unknown_gap is a number of nats above 0; received {unknown_gap}", unknown_gap=unknown_gap
        )
