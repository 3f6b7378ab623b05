"""A foreign network's weights in the form of a CharModel's; see `rnnviz.networks.adapter`.

Shape letters: n symbols of the network, V of ours, X inputs, L layers, H units, G parts of a cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from rnnviz.errors import ConfigError
from rnnviz.networks.config import Cell, ModelConfig
from rnnviz.networks.torch_model import CharModel
from rnnviz.text.vocabulary import Vocabulary

START_ENTRY = 1024.0
"""The start symbol's one entry, large so that the weight beside it is small: gradients hardly see it."""


class Symbols:
    """Which index of the network's each of our symbols is; `rows` (V - 1,): the characters, in our order.

    Raises ConfigError for entries that are no single characters, and not `start` or `unknown`.
    """

    def __init__(self, characters: Sequence[str], start: str | int | None, unknown: int | None) -> None:
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
        special = {unknown} | ({start} if start is not None and len(characters[start]) != 1 else set())
        own = [n for n in range(n) if n not in special]
        for index in own:
            if not isinstance(characters[index], str) or len(characters[index]) != 1:
                raise ConfigError(
                    "entry {index} of the characters is {characters!r}, and only those that `start` "
                    "and `unknown` name are no single characters",
                    index=index,
                    characters=characters[index],
                )
        if len({characters[index] for index in own}) < len(own):
            twice = next(c for c in characters if list(characters).count(c) > 1)
            raise ConfigError("each character stands once; received {twice!r} twice", twice=twice)
        own.sort(key=lambda index: characters[index])
        self.entries, self.rows, self.start, self.unknown = tuple(characters), own, start, unknown
        self.vocabulary = Vocabulary(tuple(characters[index] for index in own))


def build(
    cell: Cell,
    shape: tuple[int, int, str],
    recurrence: Mapping[str, Tensor],
    embedding: Tensor | None,
    output: Mapping[str, Tensor],
    symbols: Symbols,
    unknown_gap: float,
    name: str,
) -> CharModel:
    """The CharModel of these weights: our symbols in our order, a column more for a start symbol of our own.

    shape       L, H and an rnn's activation
    recurrence  the tensors of torch's layer by its own names
    embedding   (n, X) of the network's n symbols, or None
    output      "weight" (n, H) and, it may be, "bias" (n,)
    """
    tensors = {f"recurrence.{key}": w for key, w in recurrence.items()}
    layers, H, activation = shape
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
    model.load_state_dict(tensors)
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
