"""Your own network as a CharModel: any of torch's nn.RNN, nn.GRU and nn.LSTM, with an output layer.

Weights are copied; predictions after one character or more are the same, to rounding. Two symbols are new:

The start symbol, read before a text. `start` names the character or entry of the network's vocabulary to use.
Without it a one-layer network gets one that leaves its state at zero: the first character is predicted by
softmax(b_q). In several layers no input does that, so there `start` is required.

<unk> for characters outside the vocabulary: `unknown` is the network's own index. Without one, they are read
as the mean of all embeddings (or one-hot vectors) and predicted `unknown_gap` nats below the mean logit: with
a probability below exp(-20) / V by default.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from rnnviz.errors import ConfigError, Phrase
from rnnviz.networks.adapter_weights import Symbols, build
from rnnviz.networks.config import Cell
from rnnviz.networks.torch_model import CharModel

KEYS: Mapping[str, str] = {"embedding": "embedding", "recurrence": "rnn", "output": "output"}
"""The parts' default names in a state dict."""


def adapt(
    recurrence: nn.Module,
    output: nn.Linear,
    characters: Sequence[str],
    *,
    embedding: nn.Embedding | None = None,
    start: str | int | None = None,
    unknown: int | None = None,
    unknown_gap: float = 20.0,
    name: str = "adapted",
) -> CharModel:
    """A CharModel with the weights of a network of torch's own layers.

    recurrence   nn.RNN, nn.GRU or nn.LSTM of any number of layers, with or without biases, batch_first or not
    output       nn.Linear from H to len(characters)
    characters   the network's vocabulary by index: single characters, each once; any name at the indices
                 `start` and `unknown`
    embedding    nn.Embedding with len(characters) rows; None: one-hot vectors of that width
    start        the character or index read before a text; see above. One that is no character is never
                 predicted: probabilities are those given that something else comes
    unknown      the index of the network's own symbol for unknown characters
    unknown_gap  nats, see above

    Raises ConfigError for other, bidirectional, dropout or projection layers, an embedding with max_norm, and
    shapes that don't fit.

    >>> import rnnviz
    >>> import torch
    >>> rnn, output = torch.nn.GRU(3, 8), torch.nn.Linear(8, 3)
    >>> rnnviz.trace(rnnviz.adapt(rnn, output, "abc"), "cab").hidden.shape
    (3, 1, 8)
    """
    if not isinstance(recurrence, nn.RNN | nn.GRU | nn.LSTM):
        raise ConfigError(
            "the recurrence is an nn.RNN, nn.GRU or nn.LSTM; received {layer}",
            layer=type(recurrence).__name__,
        )
    if recurrence.dropout:
        raise ConfigError(
            "the recurrence has a dropout of {dropout:g} between its layers, which a CharModel "
            "hasn't; it does nothing while a text is read: set its `dropout` to 0 and adapt it again",
            dropout=recurrence.dropout,
        )
    if not isinstance(output, nn.Linear):
        raise ConfigError("the output layer is an nn.Linear; received {layer}", layer=type(output).__name__)
    if embedding is not None and (not isinstance(embedding, nn.Embedding) or embedding.max_norm is not None):
        raise ConfigError("the embedding is an nn.Embedding without max_norm, which changes it as it is read")
    modules = {"recurrence": recurrence, "output": output, "embedding": embedding}
    found = {KEYS[part]: module for part, module in modules.items() if module is not None}
    return adapt_state_dict(
        nn.ModuleDict(found).state_dict(),
        characters,
        activation=getattr(recurrence, "nonlinearity", "tanh"),
        start=start,
        unknown=unknown,
        unknown_gap=unknown_gap,
        name=name,
    )


def adapt_state_dict(
    state: Mapping[str, Tensor],
    characters: Sequence[str],
    *,
    keys: Mapping[str, str] | None = None,
    activation: str = "tanh",
    start: str | int | None = None,
    unknown: int | None = None,
    unknown_gap: float = 20.0,
    name: str = "adapted",
) -> CharModel:
    """`adapt` from the state dict of a module that has such layers.

    `keys` overrides KEYS, the layers' names: {"recurrence": "lstm"} reads lstm.weight_ih_l0,
    lstm.weight_hh_l0 …, embedding.weight (missing: one-hot inputs), output.weight and output.bias. The cell
    follows from the shapes. `activation`, "tanh" or "relu", is an nn.RNN's, which a state dict doesn't tell.
    A tensor of any other layer raises ConfigError: what it does to the predictions would be missing.

    >>> import rnnviz
    >>> import torch
    >>> network = torch.nn.ModuleDict({"lstm": torch.nn.LSTM(3, 8), "output": torch.nn.Linear(8, 3)})
    >>> rnnviz.adapt_state_dict(network.state_dict(), "abc", keys={"recurrence": "lstm"}).config.cell
    'lstm'
    """
    if unexpected := sorted((keys or {}).keys() - KEYS.keys()):
        raise ConfigError(
            "keys are {keys}; received {unexpected}",
            keys=", ".join(KEYS),
            unexpected=", ".join(map(repr, unexpected)),
        )
    if not (math.isfinite(unknown_gap) and unknown_gap > 0):
        raise ConfigError(
            "unknown_gap is a number of nats above 0; received {unknown_gap}", unknown_gap=unknown_gap
        )
    symbols = Symbols(characters, start, unknown)
    called = {**KEYS, **(keys or {})}
    parts = {part: _part(state, prefix) for part, prefix in called.items()}
    cell, layers, H = _check(parts, symbols, called)
    parts = _used(state, parts, called, layers)
    return build(cell, (layers, H, activation), parts, symbols, unknown_gap, name)


def _check(
    parts: Mapping[str, dict[str, Tensor]], symbols: Symbols, called: Mapping[str, str]
) -> tuple[Cell, int, int]:
    """The cell, L and H; missing biases become zeros. Raises ConfigError unless all is there and fits."""
    recurrence, output, embedding = parts["recurrence"], parts["output"], parts["embedding"].get("weight")
    layers = _layers(recurrence, called["recurrence"])
    rows, H = recurrence["weight_hh_l0"].shape
    kinds: dict[int, Cell] = {H: "rnn", 3 * H: "gru", 4 * H: "lstm"}
    if rows not in kinds:
        raise ConfigError(
            "{called}.weight_hh_l0 has shape {shape}, which is no rnn's, gru's or lstm's",
            called=called["recurrence"],
            shape=(rows, H),
        )
    _check_rows(output.get("weight"), embedding, len(symbols.entries), H, called)
    X = len(symbols.entries) if embedding is None else int(embedding.shape[1])
    if recurrence["weight_ih_l0"].shape[1] != X:
        read = recurrence["weight_ih_l0"].shape[1]
        if embedding is None:
            raise ConfigError(
                "the recurrence reads {read} numbers and has {x} from one-hot vectors", read=read, x=X
            )
        raise ConfigError(
            "the recurrence reads {read} numbers and has {x} from the embedding", read=read, x=X
        )
    if symbols.start is None and layers > 1:
        raise ConfigError(
            "this network has {layers} layers, and no input leaves them all as they are before a text; "
            "name the character that is read first, such as start='\\n'",
            layers=layers,
        )
    for layer in range(layers):
        _check_shape(recurrence, f"weight_ih_l{layer}", (rows, H if layer else X), called["recurrence"])
        _check_shape(recurrence, f"weight_hh_l{layer}", (rows, H), called["recurrence"])
        _check_shape(recurrence, f"bias_ih_l{layer}", (rows,), called["recurrence"])
        _check_shape(recurrence, f"bias_hh_l{layer}", (rows,), called["recurrence"])
    _check_shape(output, "bias", (len(symbols.entries),), called["output"])
    return kinds[rows], layers, H


def _check_rows(
    output: Tensor | None, embedding: Tensor | None, n: int, H: int, called: Mapping[str, str]
) -> None:
    if output is None or tuple(output.shape) != (n, H):
        raise ConfigError(
            "{called}.weight has a row for each of the {n} characters and {units} columns, one for "
            "each unit; received {received}",
            called=called["output"],
            n=n,
            units=H,
            received=Phrase("none") if output is None else tuple(output.shape),
        )
    if embedding is not None and len(embedding) != n:
        raise ConfigError(
            "{called}.weight has a row for each of the {n} characters; received {shape}",
            called=called["embedding"],
            n=n,
            shape=tuple(embedding.shape),
        )


def _check_shape(part: dict[str, Tensor], key: str, shape: tuple[int, ...], called: str) -> None:
    """Raise ConfigError for another shape; a missing bias becomes zeros."""
    if "bias" in key:
        part.setdefault(key, torch.zeros(shape))
    received = tuple(part[key].shape) if key in part else Phrase("none")
    if received != shape:
        raise ConfigError(
            "{called}.{key} should have shape {shape}; received {received}",
            called=called,
            key=key,
            shape=shape,
            received=received,
        )


def _part(state: Mapping[str, Any], prefix: str) -> dict[str, Tensor]:
    start = f"{prefix}." if prefix else ""
    return {
        key[len(start) :]: w.detach().to("cpu", torch.float32, copy=True)
        for key, w in state.items()
        if key.startswith(start) and isinstance(w, Tensor)
    }


def _used(
    state: Mapping[str, Any], parts: Mapping[str, dict[str, Tensor]], called: Mapping[str, str], layers: int
) -> dict[str, dict[str, Tensor]]:
    """Of each part what a CharModel has. Raises ConfigError if there are other tensors in the state dict."""
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    own = {
        "recurrence": {f"{kind}_l{n}" for n in range(layers) for kind in kinds},
        "output": {"weight", "bias"},
        "embedding": {"weight"},
    }
    taken = {f"{called[part]}.{key}".removeprefix(".") for part, keys in own.items() for key in keys}
    if unused := [key for key, value in state.items() if isinstance(value, Tensor) and key not in taken]:
        raise ConfigError(
            "the state dict has tensors that a CharModel has no place for: {unused}. If they are its "
            "embedding's or another part's, say with keys={{…}} what that is called; if the predictions "
            "don't need them, leave them out; a network with a layer more can't be adapted",
            unused=", ".join(unused),
        )
    return {part: {key: w for key, w in parts[part].items() if key in keys} for part, keys in own.items()}


def _layers(recurrence: Mapping[str, Tensor], called: str) -> int:
    if any(key.endswith("_reverse") for key in recurrence):
        raise ConfigError(
            "the recurrence is bidirectional: it reads what comes next to predict what comes next, "
            "so it is no language model; train it in one direction"
        )
    if any(key.startswith("weight_hr") for key in recurrence):
        raise ConfigError("the recurrence has a proj_size, which a CharModel hasn't; train it without one")
    if not {"weight_ih_l0", "weight_hh_l0"} <= recurrence.keys():
        raise ConfigError(
            "there is no {called}.weight_ih_l0 with {called}.weight_hh_l0; say with "
            "keys={{'recurrence': …}} what the recurrent layer is called in the state dict",
            called=called,
        )
    return sum(key.startswith("weight_hh_l") for key in recurrence)
