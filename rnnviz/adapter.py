"""Your own network as a CharModel: any of torch's nn.RNN, nn.GRU and nn.LSTM, with an output layer.

    model = rnnviz.adapt(network.rnn, network.decoder, characters, embedding=network.encoder)
    model = rnnviz.adapt_state_dict(torch.load(path, weights_only=True), characters,
                                    keys={"embedding": "encoder", "recurrence": "rnn", "output": "decoder"})

Weights are copied, in float32, onto the CPU. What the network predicts after one character
or more is predicted the same, to rounding. Two things a CharModel has that the network may not:

A start symbol, so that the first character has a probability. `start` names the character, or the entry
of the network's own vocabulary, that is read before a text; the first character is then
predicted as after that one. Without it a network of one layer is given a start symbol
that leaves its state at zero, where it was before: the first character is
predicted from its output layer's bias, softmax(b_q), and all others as the network itself
predicts them. In several layers no input does that, so there `start` has to be named.

A symbol <unk> for characters outside the vocabulary. `unknown` is the index of the network's own.
Without one, an unknown character is read as the mean of all characters' embeddings
(of all one-hot vectors), and predicted `unknown_gap` nats below the mean of all
logits: a probability below exp(-20) / V with the default, which the network
never learned to give; a text with unknown characters costs accordingly.

This module does not know how a model is trained or stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from rnnviz.config import Cell, ModelConfig
from rnnviz.errors import ConfigError
from rnnviz.model import CharModel
from rnnviz.vocabulary import Vocabulary

KEYS: Mapping[str, str] = {"embedding": "embedding", "recurrence": "rnn", "output": "output"}
"""What the parts of a network are called in its state dict, unless `keys` says otherwise."""

START_ENTRY = 1024.0
"""The start symbol's one entry, large so that the weight beside it is small: what measures
the sensitivity to an embedding hardly sees it."""


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

    A start symbol that is no character is never predicted: the probabilities are those given that
    something else comes.
    Raises ConfigError, saying what is wrong, for layers of other kinds, bidirectional ones, ones with a
    dropout or a projection, an embedding with max_norm, and for shapes that don't fit.
    """
    kinds: dict[type[nn.Module], Cell] = {nn.RNN: "rnn", nn.GRU: "gru", nn.LSTM: "lstm"}
    cell = next((kind for layer, kind in kinds.items() if isinstance(recurrence, layer)), None)
    if cell is None or not isinstance(recurrence, nn.RNNBase):
        raise ConfigError(
            f"the recurrence is an nn.RNN, nn.GRU or nn.LSTM; received {type(recurrence).__name__}"
        )
    if recurrence.dropout:
        raise ConfigError(
            f"the recurrence has a dropout of {recurrence.dropout:g} between its layers, which a CharModel "
            "hasn't; it does nothing while a text is read: set its `dropout` to 0 and adapt it again"
        )
    if not isinstance(output, nn.Linear):
        raise ConfigError(f"the output layer is an nn.Linear; received {type(output).__name__}")
    if embedding is not None and (not isinstance(embedding, nn.Embedding) or embedding.max_norm is not None):
        raise ConfigError(
            "the embedding is an nn.Embedding without max_norm, which changes it while it is read"
        )
    tensors = {f"recurrence.{key}": w for key, w in recurrence.state_dict().items()}
    tensors |= {f"output.{key}": w for key, w in output.state_dict().items()}
    if embedding is not None:
        tensors["embedding.weight"] = embedding.weight
    return adapt_state_dict(
        tensors,
        characters,
        keys={part: part for part in KEYS},
        cell=cell,
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
    cell: Cell | None = None,
    activation: str = "tanh",
    start: str | int | None = None,
    unknown: int | None = None,
    unknown_gap: float = 20.0,
    name: str = "adapted",
) -> CharModel:
    """The same from the state dict of a module that has such layers.

    `keys` says what they are called there, KEYS where it doesn't: with {"recurrence": "lstm"} the tensors
    lstm.weight_ih_l0, lstm.weight_hh_l0 and so on are read, and as ever embedding.weight (where it
    is missing, the network reads one-hot vectors), output.weight and output.bias. Others are passed
    over. `cell` is found from the shapes. `activation` is that of an nn.RNN, "tanh" or
    "relu", which a state dict doesn't tell. All else is as for `adapt`.
    """
    called = {**KEYS, **(keys or {})}
    if strange := sorted(called.keys() - KEYS.keys()):
        raise ConfigError(f"keys are {', '.join(KEYS)}; received {', '.join(map(repr, strange))}")
    parts = {part: _part(state, prefix) for part, prefix in called.items()}
    recurrence, readout = parts["recurrence"], parts["output"].get("weight")
    layers = _layers(recurrence, called["recurrence"])
    H = recurrence["weight_hh_l0"].shape[1]
    gates, rest = divmod(recurrence["weight_hh_l0"].shape[0], H)
    found: Cell | None = {1: "rnn", 3: "gru", 4: "lstm"}.get(gates) if not rest else None  # type: ignore[assignment]
    if found is None or cell not in (None, found):
        raise ConfigError(
            f"{called['recurrence']}.weight_hh_l0 has shape {tuple(recurrence['weight_hh_l0'].shape)}, "
            f"which is no {cell or 'rnn, gru or lstm'}'s"
        )
    n = len(characters)
    if readout is None or tuple(readout.shape) != (n, H):
        received = "none" if readout is None else str(tuple(readout.shape))
        raise ConfigError(
            f"{called['output']}.weight has a row for each of the {n} characters and {H} columns, one for "
            f"each unit; received {received}"
        )
    embedding = parts["embedding"].get("weight")
    if embedding is not None and len(embedding) != n:
        raise ConfigError(
            f"{called['embedding']}.weight has a row for each of the {n} characters; "
            f"received {tuple(embedding.shape)}"
        )
    X = n if embedding is None else embedding.shape[1]
    if recurrence["weight_ih_l0"].shape[1] != X:
        what = "one-hot vectors" if embedding is None else "the embedding"
        raise ConfigError(
            f"the recurrence reads {recurrence['weight_ih_l0'].shape[1]} numbers at a time and has {X} from {what}"
        )
    if not (math.isfinite(unknown_gap) and unknown_gap > 0):
        raise ConfigError(f"unknown_gap is a number of nats above 0; received {unknown_gap}")
    symbols = _Symbols(characters, start, unknown)
    if symbols.start is None and layers > 1:
        raise ConfigError(
            f"this network has {layers} layers, and no input leaves them all as they are before a text; "
            "name the character that is read first, such as start='\\n'"
        )
    return _build(
        found, activation, layers, H, recurrence, embedding, parts["output"], symbols, unknown_gap, name
    )


class _Symbols:
    """Which index of the network's is each of our symbols; `rows` (V - 1,) for the characters, in our order."""

    def __init__(self, characters: Sequence[str], start: str | int | None, unknown: int | None) -> None:
        n = len(characters)
        if isinstance(start, str):
            if start not in characters:
                raise ConfigError(f"the start {start!r} is not among the {n} characters; name one that is")
            start = list(characters).index(start)
        for what, index in (("start", start), ("unknown", unknown)):
            if index is not None and (type(index) is not int or not 0 <= index < n):
                raise ConfigError(f"{what} is an index from 0 to {n - 1}; received {index!r}")
        if start is not None and start == unknown:
            raise ConfigError(f"start and unknown are two symbols; received {start} for both")
        special = {unknown} | ({start} if start is not None and len(characters[start]) != 1 else set())
        own = [n for n in range(n) if n not in special]
        for index in own:
            if not isinstance(characters[index], str) or len(characters[index]) != 1:
                raise ConfigError(
                    f"entry {index} of the characters is {characters[index]!r}, and only those that `start` "
                    "and `unknown` name are no single characters"
                )
        if len({characters[index] for index in own}) < len(own):
            twice = next(c for c in characters if list(characters).count(c) > 1)
            raise ConfigError(f"each character stands once; received {twice!r} twice")
        own.sort(key=lambda index: characters[index])
        self.rows, self.start, self.unknown = own, start, unknown
        self.vocabulary = Vocabulary(tuple(characters[index] for index in own))


def _build(
    cell: Cell,
    activation: str,
    layers: int,
    H: int,
    recurrence: Mapping[str, Tensor],
    embedding: Tensor | None,
    output: Mapping[str, Tensor],
    symbols: _Symbols,
    unknown_gap: float,
    name: str,
) -> CharModel:
    """Our symbols in our order; a column more for a start symbol of our own."""
    tensors = {f"recurrence.{key}": w for key, w in recurrence.items()}
    for n in range(layers):
        for kind in ("ih", "hh"):
            tensors.setdefault(
                f"recurrence.bias_{kind}_l{n}", torch.zeros(len(recurrence[f"weight_hh_l{n}"]))
            )
    W_x = tensors["recurrence.weight_ih_l0"]
    still = _leaves_at_zero(cell, H, tensors)  # (G·H,) what the start symbol must add

    def ours(rows: Tensor, begin: Tensor) -> Tensor:
        """Rows of unknown, the characters, the start symbol."""
        unknown = rows.mean(dim=0) if symbols.unknown is None else rows[symbols.unknown]
        first = begin if symbols.start is None else rows[symbols.start]
        return torch.cat([unknown[None], rows[symbols.rows], first[None]])

    if embedding is None:
        tensors["recurrence.weight_ih_l0"] = ours(W_x.T, still).T.contiguous()
        width = 0
    else:
        X = embedding.shape[1]
        table = ours(embedding, torch.zeros(X))
        if symbols.start is None:  # one number more, which only the start symbol has
            table = torch.cat([table, torch.zeros(len(table), 1)], dim=1)
            table[-1, -1] = START_ENTRY
            tensors["recurrence.weight_ih_l0"] = torch.cat([W_x, still[:, None] / START_ENTRY], dim=1)
        tensors["embedding.weight"], width = table, table.shape[1]
    weight = output["weight"]
    bias = output.get("bias", torch.zeros(len(weight)))
    both = torch.cat([weight, bias[:, None]], dim=1)  # a symbol's logit is a product with (H, 1)
    kept = both[symbols.rows]
    if symbols.unknown is None:
        none = kept.double().mean(dim=0).float()
        none[-1] -= unknown_gap
    else:
        none = both[symbols.unknown]
    both = torch.cat([none[None], kept])
    tensors |= {"readout.weight": both[:, :-1].contiguous(), "readout.bias": both[:, -1].contiguous()}
    config = ModelConfig(cell, symbols.vocabulary.size, H, layers, width, activation)  # type: ignore[arg-type]
    model = CharModel(config, symbols.vocabulary, name=name)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise ConfigError(
            f"the network's layers don't fit together: {str(error).splitlines()[-1].strip()}"
        ) from None
    return model.requires_grad_(False).eval()


def _leaves_at_zero(cell: Cell, H: int, tensors: Mapping[str, Tensor]) -> Tensor:
    """What (G·H,) an input must add in the first layer so that a state of zeros stays at zero.

    The candidate must be φ(0): for an rnn the sum of both biases is taken back, for an LSTM that of its
    candidate alone, for a GRU b_in + σ(b_r) ⊙ b_hn. Gates may have any value then.
    """
    b_x, b_h = (tensors[f"recurrence.bias_{kind}_l0"].double() for kind in ("ih", "hh"))
    still = torch.zeros(len(b_x), dtype=torch.float64)
    if cell == "rnn":
        still -= b_x + b_h
    elif cell == "gru":
        reset = torch.sigmoid(b_x[:H] + b_h[:H])
        still[2 * H :] -= b_x[2 * H :] + reset * b_h[2 * H :]
    else:  # torch's order: input, forget, candidate, output
        candidate = slice(2 * H, 3 * H)
        still[candidate] -= b_x[candidate] + b_h[candidate]
    return still.float()


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
            f"there is no {called}.weight_ih_l0 with {called}.weight_hh_l0; say with "
            "keys={'recurrence': …} what the recurrent layer is called in the state dict"
        )
    return sum(key.startswith("weight_hh_l") for key in recurrence)
