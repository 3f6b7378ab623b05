"""Your own network as a CharModel: any of torch's nn.RNN, nn.GRU and nn.LSTM, with an output layer.

Weights are copied, in float32, onto the CPU. What the network predicts after one character
or more is predicted the same, to rounding. Two things a CharModel has that the network may not:

A start symbol, so that the first character has a probability. `start` names the character, or the entry
of the network's own vocabulary, that is read before a text. Without it a network of one layer is given a
start symbol that leaves its state at zero: the first character is predicted from its output
layer's bias, softmax(b_q), and all others as the network itself predicts them. In several
layers no input does that, so there `start` has to be named.

A symbol <unk> for characters outside the vocabulary. `unknown` is the index of the network's own.
Without one, an unknown character is read as the mean of all characters' embeddings
(of all one-hot vectors), and predicted `unknown_gap` nats below the mean of all
logits: with a probability below exp(-20) / V by default.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from rnnviz.errors import ConfigError
from rnnviz.networks.adapter_weights import Symbols, build
from rnnviz.networks.config import Cell
from rnnviz.networks.torch_model import CharModel

KEYS: Mapping[str, str] = {"embedding": "embedding", "recurrence": "rnn", "output": "output"}
"""What the parts of a network are called in its state dict, unless `keys` says otherwise."""


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

    recurrence   nn.RNN, nn.GRU or nn.LSTM of any number of layers, with biases or without; batch_first
                 either way, it only says how inputs are laid out
    output       nn.Linear from H to len(characters)
    characters   what each index of the network's vocabulary stands for: single characters, each once; any
                 name at the indices `start` and `unknown`
    embedding    nn.Embedding with len(characters) rows; None: the network reads one-hot vectors of that width
    start        the character, or the index of the entry, that is read before a text; see above
    unknown      the index of the network's own symbol for unknown characters
    unknown_gap  nats, see above

    >>> import rnnviz
    >>> import torch
    >>> rnn, output = torch.nn.GRU(3, 8), torch.nn.Linear(8, 3)
    >>> rnnviz.trace(rnnviz.adapt(rnn, output, "abc"), "cab").hidden.shape
    (3, 1, 8)

    A start symbol that is no character is never predicted: the probabilities are those given that
    something else comes.
    Raises ConfigError, saying what is wrong, for layers of other kinds, bidirectional ones, ones with a
    dropout or a projection, an embedding with max_norm, and for shapes that don't fit.
    """
    if not isinstance(recurrence, nn.RNN | nn.GRU | nn.LSTM):
        layer = type(recurrence).__name__
        raise ConfigError("the recurrence is an nn.RNN, nn.GRU or nn.LSTM; received {layer}", layer=layer)
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
    tensors = {f"recurrence.{key}": w for key, w in recurrence.state_dict().items()}
    tensors |= {f"output.{key}": w for key, w in output.state_dict().items()}
    if embedding is not None:
        tensors["embedding.weight"] = embedding.weight
    activation = getattr(recurrence, "nonlinearity", "tanh")
    called = {part: part for part in KEYS}
    return _adapted(tensors, Symbols(characters, start, unknown), called, activation, unknown_gap, name)


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
    """The same from the state dict of a module that has such layers.

    `keys` says what they are called there, KEYS where it doesn't: with {"recurrence": "lstm"} the tensors
    lstm.weight_ih_l0, lstm.weight_hh_l0 and so on are read, and as ever embedding.weight (where it
    is missing, the network reads one-hot vectors), output.weight and output.bias. The cell is
    found from the shapes. `activation` is that of an nn.RNN, "tanh" or "relu", which a state dict
    doesn't tell. All else is as for `adapt`.

    >>> import rnnviz
    >>> import torch
    >>> network = torch.nn.ModuleDict({"lstm": torch.nn.LSTM(3, 8), "output": torch.nn.Linear(8, 3)})
    >>> rnnviz.adapt_state_dict(network.state_dict(), "abc", keys={"recurrence": "lstm"}).config.cell
    'lstm'
    """
    called = {**KEYS, **(keys or {})}
    if strange := sorted(called.keys() - KEYS.keys()):
        raise ConfigError(
            "keys are {keys}; received {strange}", keys=", ".join(KEYS), strange=", ".join(map(repr, strange))
        )
    return _adapted(state, Symbols(characters, start, unknown), called, activation, unknown_gap, name)


def _adapted(
    state: Mapping[str, Tensor],
    symbols: Symbols,
    called: Mapping[str, str],
    activation: str,
    unknown_gap: float,
    name: str,
) -> CharModel:
    """Check that everything is there and fits, and build it."""
    parts = {part: _part(state, prefix) for part, prefix in called.items()}
    recurrence, readout = parts["recurrence"], parts["output"].get("weight")
    layers = _layers(recurrence, called["recurrence"])
    H = recurrence["weight_hh_l0"].shape[1]
    gates, remainder = divmod(recurrence["weight_hh_l0"].shape[0], H)
    kinds: dict[int, Cell] = {1: "rnn", 3: "gru", 4: "lstm"}
    cell = None if remainder else kinds.get(gates)
    if cell is None:
        raise ConfigError(
            "{called}.weight_hh_l0 has shape {shape}, which is no rnn's, gru's or lstm's",
            called=called["recurrence"],
            shape=tuple(recurrence["weight_hh_l0"].shape),
        )
    n = len(symbols.entries)
    if readout is None or tuple(readout.shape) != (n, H):
        received = "none" if readout is None else str(tuple(readout.shape))
        raise ConfigError(
            "{called}.weight has a row for each of the {n} characters and {h} columns, one for "
            "each unit; received {received}",
            called=called["output"],
            n=n,
            h=H,
            received=received,
        )
    embedding = parts["embedding"].get("weight")
    if embedding is not None and len(embedding) != n:
        raise ConfigError(
            "{called}.weight has a row for each of the {n} characters; received {shape}",
            called=called["embedding"],
            n=n,
            shape=tuple(embedding.shape),
        )
    X = n if embedding is None else int(embedding.shape[1])
    if recurrence["weight_ih_l0"].shape[1] != X:
        read = recurrence["weight_ih_l0"].shape[1]
        if embedding is None:
            raise ConfigError(
                "the recurrence reads {read} numbers and has {x} from one-hot vectors", read=read, x=X
            )
        raise ConfigError(
            "the recurrence reads {read} numbers and has {x} from the embedding", read=read, x=X
        )
    if not (math.isfinite(unknown_gap) and unknown_gap > 0):
        raise ConfigError(
            "unknown_gap is a number of nats above 0; received {unknown_gap}", unknown_gap=unknown_gap
        )
    if symbols.start is None and layers > 1:
        raise ConfigError(
            "this network has {layers} layers, and no input leaves them all as they are before a text; "
            "name the character that is read first, such as start='\\n'",
            layers=layers,
        )
    parts["recurrence"] |= {  # a layer without biases has biases of 0
        f"bias_{kind}_l{layer}": torch.zeros(gates * H)
        for layer in range(layers)
        for kind in ("ih", "hh")
        if f"bias_{kind}_l{layer}" not in recurrence
    }
    expected: dict[tuple[str, str], tuple[int, ...]] = {}
    for layer in range(layers):
        sizes = [(gates * H, H if layer else X), (gates * H, H), (gates * H,), (gates * H,)]
        for kind, size in zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), sizes, strict=True):
            expected["recurrence", f"{kind}_l{layer}"] = size
    if "bias" in parts["output"]:
        expected["output", "bias"] = (n,)
    for (part, key), size in expected.items():
        found = tuple(parts[part][key].shape) if key in parts[part] else ()
        if found != size:
            raise ConfigError(
                "{part}.{key} should have shape {size}; received {found}",
                part=called[part],
                key=key,
                size=size,
                found=found,
            )
    shape = (layers, H, activation)
    return build(cell, shape, recurrence, embedding, parts["output"], symbols, unknown_gap, name)


def _part(state: Mapping[str, Any], prefix: str) -> dict[str, Tensor]:
    """The tensors of one layer by their own names, in float32 on the CPU, copied."""
    start = f"{prefix}." if prefix else ""
    return {
        key[len(start) :]: w.detach().to("cpu", torch.float32, copy=True)
        for key, w in state.items()
        if key.startswith(start) and isinstance(w, Tensor)
    }


def _layers(recurrence: Mapping[str, Tensor], called: str) -> int:
    """How many layers there are. Raises ConfigError for what no CharModel has."""
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
