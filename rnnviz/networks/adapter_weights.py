"""A foreign network's weights in a CharModel's form; see `rnnviz.networks.adapter`.

Shape letters: n symbols of the network, V of ours, X inputs, L layers, H units, G parts of a cell.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import cast

import torch
from torch import Tensor, nn

from rnnviz.errors import ConfigError, Phrase
from rnnviz.networks.config import Activation, Cell, ModelConfig
from rnnviz.networks.torch_model import CharModel
from rnnviz.text.checked import received
from rnnviz.text.vocabulary import Vocabulary

START_ENTRY = 1024.0
"""The start symbol's one entry, large so that the weight beside it is small: gradients hardly see it."""


class Symbols:
    """The network's index of each of our symbols; `rows` (V - 1,): the characters, in our order.

    Raises ConfigError for entries that are neither single characters nor padding, `start` or `unknown`.
    """

    def __init__(self, characters: Sequence[str], start: str | int | None, unknown: int | None) -> None:
        if not isinstance(characters, str | list | tuple):
            raise ConfigError(
                "characters are the network's vocabulary by index: a text or a list of characters; received "
                "{received}",
                received=received(characters),
            )
        n = len(characters)
        if isinstance(start, str):
            if start not in characters:
                raise ConfigError(
                    "the start {start!r} is not among the {n} characters; name one that is", start=start, n=n
                )
            start = list(characters).index(start)
        for what, index in (("start", start), ("unknown", unknown)):
            if index is not None and (type(index) is not int or not 0 <= index < n):
                raise ConfigError(
                    "{what} is an index from 0 to {n}; received {index!r}", what=what, n=n - 1, index=index
                )
        if start is not None and start == unknown:
            raise ConfigError("start and unknown are two symbols; received {start} twice", start=start)
        special = (
            {index for index in range(n) if _is_padding(characters[index])}
            | {unknown}
            | ({start} if start is not None and len(characters[start]) != 1 else set())
        )
        rows = [index for index in range(n) if index not in special]
        for index in rows:
            if not isinstance(characters[index], str) or len(characters[index]) != 1:
                raise ConfigError(
                    "entry {index} of the characters is {entry!r}; only padding such as '<pad>' and those "
                    "that `start` and `unknown` name may be something else than a single character",
                    index=index,
                    entry=characters[index],
                )
        rows.sort(key=lambda index: characters[index])
        for one, next_one in pairwise(rows):
            if characters[one] == characters[next_one]:
                raise ConfigError(
                    "each character stands once; received {twice!r} twice", twice=characters[one]
                )
        self.entries, self.rows, self.start, self.unknown = tuple(characters), rows, start, unknown
        self.vocabulary = Vocabulary(tuple(characters[index] for index in rows))


def _is_padding(entry: object) -> bool:
    """Whether an entry of a vocabulary fills up short texts: no text has it, and it is never predicted."""
    return (
        isinstance(entry, str) and len(entry) != 1 and entry.strip("<>[]_").lower() in ("", "pad", "padding")
    )


def build(
    recurrence: nn.RNN | nn.GRU | nn.LSTM,
    output: nn.Linear,
    embedding: nn.Embedding | None,
    symbols: Symbols,
    unknown_gap: float,
    name: str,
) -> CharModel:
    """The CharModel of these layers' weights: our symbols in our order, plus a start symbol of our own.

    Raises ConfigError for layers that don't fit, or from which no such model can be made.
    """
    table = _rows_of(embedding, symbols)
    _check(recurrence, output, table, symbols)
    cell = cast(Cell, recurrence.mode.partition("_")[0].lower())
    layers, H = recurrence.num_layers, recurrence.hidden_size
    read, predicts = _copies(recurrence, _copy(output.weight))
    W_x = read["weight_ih_l0"]  # (G·H, X)
    still = _leaves_at_zero(cell, H, read)  # (G·H,) what the start symbol must add
    tensors = {f"recurrence.{key}": w for key, w in read.items()}

    def ours(rows: Tensor, begin: Tensor) -> Tensor:
        """Rows of unknown, the characters, the start symbol: (V + 1, X)."""
        unknown = rows.mean(dim=0) if symbols.unknown is None else rows[symbols.unknown]
        first = begin if symbols.start is None else rows[symbols.start]
        return torch.cat([unknown[None], rows[symbols.rows], first[None]])

    width = 0
    if table is None:
        tensors["recurrence.weight_ih_l0"] = ours(W_x.T, still).T.contiguous()
    else:
        table = ours(table, torch.zeros(table.shape[1]))
        if symbols.start is None:  # one number more, which only the start symbol has
            table = torch.cat([table, torch.zeros(len(table), 1)], dim=1)
            table[-1, -1] = START_ENTRY
            tensors["recurrence.weight_ih_l0"] = torch.cat([W_x, still[:, None] / START_ENTRY], dim=1)
        tensors["embedding.weight"], width = table, table.shape[1]
    readout = predicted_rows(predicts, output.bias, symbols, unknown_gap)
    tensors |= {"readout.weight": readout[:, :-1].contiguous(), "readout.bias": readout[:, -1].contiguous()}
    activation = cast(Activation, getattr(recurrence, "nonlinearity", "tanh"))
    config = ModelConfig(cell, symbols.vocabulary.size, H, layers, width, activation)
    model = CharModel(config, symbols.vocabulary, name=name)
    model.load_state_dict(tensors)
    return model.requires_grad_(False).eval()


def _check(
    recurrence: nn.RNN | nn.GRU | nn.LSTM, output: nn.Linear, table: Tensor | None, symbols: Symbols
) -> None:
    n, units, reads = (
        len(symbols.entries),
        recurrence.proj_size or recurrence.hidden_size,
        recurrence.input_size,
    )
    if recurrence.bidirectional:
        raise ConfigError(
            "the recurrence is bidirectional: it reads what comes next to predict what comes next, "
            "so it is no language model; train it in one direction, or give its forward half to "
            "adapt(step=…)"
        )
    if (output.in_features, output.out_features) != (units, n):
        raise ConfigError(
            "for {n} characters the output layer is nn.Linear({units}, {n}); received "
            "nn.Linear({read}, {rows})",
            n=n,
            units=units,
            read=output.in_features,
            rows=output.out_features,
        )
    shape = (n, n) if table is None else tuple(table.shape)
    if shape != (n, reads):
        raise ConfigError(
            "for {n} characters the recurrence reads nn.Embedding({n}, {reads}); received {inputs}",
            n=n,
            reads=reads,
            inputs=Phrase("one-hot vectors of {n}", n=n) if table is None else f"nn.Embedding{shape}",
        )
    if symbols.start is None and recurrence.num_layers > 1:
        raise ConfigError(
            "this network has {layers} layers, and no input leaves them all as they are before a text; "
            "name the character that is read first, such as start='\\n'",
            layers=recurrence.num_layers,
        )


def _copy(w: Tensor) -> Tensor:
    return w.detach().to("cpu", torch.float32, copy=True)


def _rows_of(embedding: nn.Embedding | None, symbols: Symbols) -> Tensor | None:
    """An embedding's row for each entry, without one for padding that is no entry."""
    if embedding is None:
        return None
    table, padding = _copy(embedding.weight), embedding.padding_idx
    if padding is not None and len(table) == len(symbols.entries) + 1:
        table = torch.cat([table[:padding], table[padding + 1 :]])
    return table


def _copies(recurrence: nn.RNN | nn.GRU | nn.LSTM, output: Tensor) -> tuple[dict[str, Tensor], Tensor]:
    """The recurrence's weights and biases (zeros where it has none) by torch's names, and the output's.

    An LSTM's projections W_hr (P, H) are multiplied into the weights that read what they give: W_hh W_hr, and
    the next layer's or the output's W W_hr, read the H numbers before the projection, which are then the
    hidden state.
    """
    kinds = ("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if recurrence.bias else ()))
    layers = range(recurrence.num_layers)
    found = {f"{kind}_l{n}": _copy(getattr(recurrence, f"{kind}_l{n}")) for n in layers for kind in kinds}
    for n in layers:
        for kind in ("ih", "hh"):
            found.setdefault(f"bias_{kind}_l{n}", torch.zeros(len(found[f"weight_hh_l{n}"])))
        if recurrence.proj_size:
            W = getattr(recurrence, f"weight_hr_l{n}").detach().cpu().double()
            found[f"weight_hh_l{n}"] = (found[f"weight_hh_l{n}"].double() @ W).float()
            if n + 1 in layers:
                found[f"weight_ih_l{n + 1}"] = (found[f"weight_ih_l{n + 1}"].double() @ W).float()
            else:
                output = (output.double() @ W).float()
    return found, output


def predicted_rows(weight: Tensor, bias: Tensor | None, symbols: Symbols, unknown_gap: float) -> Tensor:
    """W_hq and b_q beside it, (V, H + 1), of our symbols: <unk> is the mean less the gap, or its own."""
    column = torch.zeros(len(weight)) if bias is None else _copy(bias)
    readout = torch.cat([_copy(weight), column[:, None]], dim=1)  # (n, H + 1)
    kept = readout[symbols.rows]
    if symbols.unknown is None:
        unknown = kept.double().mean(dim=0).float()
        unknown[-1] -= unknown_gap
    else:
        unknown = readout[symbols.unknown]
    return torch.cat([unknown[None], kept])


def _leaves_at_zero(cell: Cell, H: int, recurrence: Mapping[str, Tensor]) -> Tensor:
    """What (G·H,) an input must add in the first layer so that a state of zeros stays at zero.

    The candidate must be φ(0), the gates any value: an rnn's input cancels both biases, an LSTM's those of
    its candidate, a GRU's b_in + σ(b_r) ⊙ b_hn.
    """
    b_x, b_h = (recurrence[f"bias_{kind}_l0"].double() for kind in ("ih", "hh"))
    still = torch.zeros(len(b_x), dtype=torch.float64)
    # The candidate's rows; torch's order is reset, update, candidate and input, forget, candidate, output.
    here = slice(0, H) if cell == "rnn" else slice(2 * H, 3 * H)
    reset = torch.sigmoid(b_x[:H] + b_h[:H]) if cell == "gru" else 1
    still[here] -= b_x[here] + reset * b_h[here]
    return still.float()
