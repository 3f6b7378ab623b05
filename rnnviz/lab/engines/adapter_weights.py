"""A foreign network's weights in a CharModel's form; see `rnnviz.lab.engines.adapter`.

Shape letters: n symbols of the network, V of ours, X inputs, L layers, H units, G parts of a cell.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor, nn

from rnnviz.checks import received
from rnnviz.errors import ConfigError
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.networks.config import Activation, Cell, ModelConfig
from rnnviz.text.vocabulary import END, Vocabulary

# The start symbol's entry in an extra input. A large entry needs a small weight, which gradients hardly see.
START_ENTRY = 1024.0

NO_TEXT, UNKNOWNS = ("", "pad", "padding", "bos", "sos", "eos"), ("unk", "unknown", "oov")


class Symbols:
    """The network's index of each of rnnviz's symbols; `rows` (V - 1,) are the characters', in order.

    Entries that no text has, such as "</s>", have no row. Raises ConfigError for others of several characters
    that `start` and `unknown` don't name. The one that `end` names, maybe `start` itself, becomes U+0003.
    """

    def __init__(
        self, characters: Sequence[str], start: str | int | None, unknown: int | None, end: str | int | None
    ) -> None:
        if not isinstance(characters, str | list | tuple):
            raise ConfigError(
                "characters are the network's vocabulary by index: a text or a list of characters; received "
                "{received}",
                received=received(characters),
            )
        entries, n = tuple(characters), len(characters)
        where: Any = entries.index(start) if isinstance(start, str) and start in entries else start
        stop: Any = entries.index(end) if isinstance(end, str) and end in entries else end
        named = [index for index in (where, unknown, stop) if index is not None]
        twice = unknown is not None and unknown in (where, stop)
        if twice or not all(type(index) is int and 0 <= index < n for index in named):
            raise ConfigError(
                "start, end and unknown name three of the {n} characters: start and end by the character or "
                "its index, unknown, which is another, by its index, counted from 0; received "
                "start={start!r}, end={end!r} and unknown={unknown!r}",
                n=n,
                start=start,
                end=end,
                unknown=unknown,
            )
        if stop is not None:
            entries = (*entries[:stop], END, *entries[stop + 1 :])
        special = {unknown} | {index for index, entry in enumerate(entries) if _is_no_text(entry)}
        if where is not None and not _is_character(entries[where]):
            special.add(where)
        rows = [index for index in range(n) if index not in special]
        for index in rows:
            if not _is_character(entries[index]):
                raise ConfigError(
                    "entry {index} of the characters is {entry!r}, which is not a single character; only "
                    "those that `start` and `unknown` name, and those that no text has, such as '<pad>' and "
                    "'</s>', may be something else",
                    index=index,
                    entry=entries[index],
                )
        rows.sort(key=lambda index: entries[index])
        for index, next_index in pairwise(rows):
            if entries[index] == entries[next_index]:
                raise ConfigError(
                    "each character occurs once; received {twice!r} twice", twice=entries[index]
                )
        self.entries, self.rows, self.start, self.unknown = entries, rows, where, unknown
        self.vocabulary = Vocabulary(tuple(entries[index] for index in rows), stop is not None)


def _is_character(entry: object) -> bool:
    return isinstance(entry, str) and len(entry) == 1


def _is_no_text(entry: object) -> bool:
    """Whether no text has an entry of a vocabulary, such as "<pad>" or "</s>": it is never predicted. One for
    unknown characters is for `unknown` to name.
    """
    if not isinstance(entry, str) or len(entry) == 1:
        return entry is None
    word = entry.strip("<>[]_/|").lower()
    return word in NO_TEXT or (entry[0] + entry[-1] in ("<>", "[]", "__") and word not in UNKNOWNS)


def unwrapped(module: Any) -> Any:
    """The module inside one of torch.compile or DataParallel; any other value itself."""
    parallel = isinstance(module, nn.DataParallel | nn.parallel.DistributedDataParallel)
    inside = module.module if parallel else getattr(module, "_orig_mod", None)
    return module if inside is None else unwrapped(inside)


def check_recurrence(layer: nn.Module | None) -> nn.RNN | nn.GRU | nn.LSTM:
    """The layer itself. Raises ConfigError for one of another kind, such as the whole network."""
    if not isinstance(layer, nn.RNN | nn.GRU | nn.LSTM):
        raise ConfigError(
            "the recurrence is an nn.RNN, nn.GRU or nn.LSTM; received {layer}; give a network's layers: "
            "adapt(net.lstm, net.output, characters, embedding=net.embedding)",
            layer=received(layer),
        )
    return layer


def build(
    recurrence: nn.RNN | nn.GRU | nn.LSTM,
    output: nn.Module | None,
    embedding: nn.Module | None,
    symbols: Symbols,
    unknown_gap: float,
    name: str,
) -> CharModel:
    """A CharModel with these layers' weights, for rnnviz's symbols in their order, with a start symbol.

    Raises ConfigError for layers that don't fit together, or that no CharModel has.
    """
    if recurrence.bidirectional:
        raise ConfigError(
            "the recurrence is bidirectional: it reads what comes next to predict what comes next, so it is "
            "not a language model; train it in one direction, or give its forward half to rnnviz.adapt_step"
        )
    layers, H, n = recurrence.num_layers, recurrence.hidden_size, len(symbols.entries)
    units = recurrence.proj_size or H
    if not isinstance(output, nn.Linear) or (output.in_features, output.out_features) != (units, n):
        raise ConfigError(
            "for {n} characters the output layer is nn.Linear({units}, {n}); received {layer}",
            n=n,
            units=units,
            layer=_layer_words(output),
        )
    table = _table(embedding, n, recurrence.input_size)
    if symbols.start is None and layers > 1:
        raise ConfigError(
            "this network has {layers} layers, and no input leaves them all as they are before a text; "
            "name the character that is read first, such as start='\\n'",
            layers=layers,
        )
    cell = recurrence.mode.partition("_")[0].lower()
    read, predicts = _copies(recurrence, output)
    W_x = read["weight_ih_l0"]  # (G·H, X)
    still = _leaves_at_zero(cell, H, read)  # (G·H,) the start symbol's input
    tensors = {f"recurrence.{key}": w for key, w in read.items()}

    def ours(rows: Tensor, begin: Tensor) -> Tensor:
        """The rows (V + 1, X) of <unk>, the characters and the start symbol."""
        unknown = rows.mean(dim=0) if symbols.unknown is None else rows[symbols.unknown]
        first = begin if symbols.start is None else rows[symbols.start]
        return torch.cat([unknown[None], rows[symbols.rows], first[None]])

    width = 0
    if table is None:
        tensors["recurrence.weight_ih_l0"] = ours(W_x.T, still).T.contiguous()
    else:
        table = ours(table, torch.zeros(table.shape[1]))
        if symbols.start is None:  # one input more, which is zero for all other symbols
            table = torch.cat([table, torch.zeros(len(table), 1)], dim=1)
            table[-1, -1] = START_ENTRY
            tensors["recurrence.weight_ih_l0"] = torch.cat([W_x, still[:, None] / START_ENTRY], dim=1)
        tensors["embedding.weight"], width = table, table.shape[1]
    readout = predicted_rows(predicts, output.bias, symbols, unknown_gap)
    tensors |= {"readout.weight": readout[:, :-1].contiguous(), "readout.bias": readout[:, -1].contiguous()}
    activation = cast(Activation, getattr(recurrence, "nonlinearity", "tanh"))
    for key, w in tensors.items():
        if not w.isfinite().all():
            raise ConfigError("tensor {name!r} has values that are not finite", name=key)
    config = ModelConfig(cell, symbols.vocabulary.size, H, layers, width, activation)
    model = CharModel(config, symbols.vocabulary, name=name)
    model.load_state_dict(tensors)
    return model.requires_grad_(False).eval()


def _layer_words(layer: nn.Module | None) -> str:
    return str(layer) if isinstance(layer, nn.Linear | nn.Embedding) else received(layer)


def _copy(w: Tensor) -> Tensor:
    return w.detach().to("cpu", torch.float32, copy=True)


def _table(embedding: nn.Module | None, n: int, reads: int) -> Tensor | None:
    """The embedding, a row for each entry, (n, X); None for one-hot vectors.

    An extra row at padding_idx is left out. Raises ConfigError for an embedding that doesn't fit.
    """
    table, fits = None, embedding is None and reads == n
    # With max_norm, reading a row changes it.
    if isinstance(embedding, nn.Embedding) and embedding.max_norm is None:
        table, padding = _copy(embedding.weight), embedding.padding_idx
        if padding is not None and len(table) == n + 1:
            table = torch.cat([table[:padding], table[padding + 1 :]])
        fits = table.shape == (n, reads)
    if not fits:
        raise ConfigError(
            "for {n} characters the recurrence reads embedding=nn.Embedding({n}, {reads}) without max_norm "
            "(or, without one, one-hot vectors of {n}); received embedding={layer}",
            n=n,
            reads=reads,
            layer=_layer_words(embedding),
        )
    return table


def _copies(recurrence: nn.RNN | nn.GRU | nn.LSTM, output: nn.Linear) -> tuple[dict[str, Tensor], Tensor]:
    """The recurrence's weights and biases (zeros where it has none) by torch's names, and the output's.

    An LSTM's projections W_hr (P, H) are multiplied into the weights that read a projected state: into W_hh,
    and into the weights of the next layer or the output. The hidden state is then the H numbers before the
    projection.
    """
    layers, kinds = range(recurrence.num_layers), ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    none = torch.zeros(len(recurrence.all_weights[0][0]))
    copies = {
        f"{kind}_l{n}": _copy(getattr(recurrence, f"{kind}_l{n}", none)) for n in layers for kind in kinds
    }
    copies["output"] = _copy(output.weight)
    for n in layers if recurrence.proj_size else ():
        W = getattr(recurrence, f"weight_hr_l{n}").detach().cpu().double()
        above = f"weight_ih_l{n + 1}" if n + 1 in layers else "output"
        for reader in (f"weight_hh_l{n}", above):
            # Projected states W h are read by U: U (W h) = (U W) h, so the product of weights takes the
            # projection's place.
            copies[reader] = (copies[reader].double() @ W).float()  # rounded to float32 once
    return copies, copies.pop("output")


def predicted_rows(weight: Tensor, bias: Tensor | None, symbols: Symbols, unknown_gap: float) -> Tensor:
    """W_hq with b_q as its last column, (V, H + 1), for rnnviz's symbols.

    Where the network has no <unk>, its row is the characters' mean, with a bias `unknown_gap` nats lower.
    """
    column = torch.zeros(len(weight)) if bias is None else _copy(bias)
    readout = torch.cat([_copy(weight), column[:, None]], dim=1)  # (n, H + 1)
    characters = readout[symbols.rows]
    if symbols.unknown is None:
        # A row of weights that is the mean gives the mean of the logits, in every state.
        unknown = characters.double().mean(dim=0).float()
        unknown[-1] -= unknown_gap
    else:
        unknown = readout[symbols.unknown]
    return torch.cat([unknown[None], characters])


def _leaves_at_zero(cell: Cell, H: int, recurrence: Mapping[str, Tensor]) -> Tensor:
    """The input (G·H,) of the first layer that leaves a state of zeros at zero.

    The candidate must be φ(0), whatever the gates. An rnn's input cancels both biases, an LSTM's the
    candidate's biases, a GRU's b_in + σ(b_r) ⊙ b_hn.
    """
    b_x, b_h = (recurrence[f"bias_{kind}_l0"].double() for kind in ("ih", "hh"))
    # With a state of zeros every product with the state is 0: only biases are left to cancel.
    still = torch.zeros(len(b_x), dtype=torch.float64)
    # The candidate's rows; torch's order is reset, update, candidate and input, forget, candidate, output.
    candidate = slice(0, H) if cell == "rnn" else slice(2 * H, 3 * H)
    reset = torch.sigmoid(b_x[:H] + b_h[:H]) if cell == "gru" else 1
    still[candidate] -= b_x[candidate] + reset * b_h[candidate]
    return still.float()
