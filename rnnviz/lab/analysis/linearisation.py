"""The forward pass of a text, with the slopes of every time step.

Shape letters: n inputs (the start symbol and T characters), G blocks, H units, L layers, … texts in step.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from rnnviz.arrays import Floats, Ids, Mask
from rnnviz.errors import CheckpointError, ConfigError, EmptyTextError, TextError
from rnnviz.lab.analysis.slopes import Slopes, slopes
from rnnviz.networks.numpy_engine import Weights
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.text.characters import normalise
from rnnviz.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Reading:
    """The forward pass of one text, the start symbol first.

    inputs  (n,)           symbols read, n = T + 1
    next_symbols  (n,)           the symbol after each input; after the last the most probable one
    hidden  (n + 1, L, H)  the states before and after each input; `cell` likewise, of an LSTM
    """

    text: str
    vocabulary: Vocabulary
    weights: Weights
    inputs: Ids
    next_symbols: Ids
    hidden: Floats
    cell: Floats | None

    @property
    def top(self) -> Floats:
        """(n, H) the top layer's states after each input."""
        return self.hidden[1:, -1]

    @property
    def begins(self) -> Mask:
        """(n,) whether each input is a text's end, after which the next text begins from no state."""
        return np.asarray(self.inputs == self.weights.end, bool)

    @cached_property
    def layers(self) -> tuple[Slopes, ...]:
        """The slopes of every layer."""
        rows = self.weights.rows(0, self.inputs, self.hidden)
        return layer_slopes(self.weights, rows, self.hidden, self.cell, begins=self.begins)

    def before(self, t: int) -> tuple[Floats, Floats | None]:
        """The states (L, H) before input t, hidden and cell."""
        return self.hidden[t], None if self.cell is None else self.cell[t]

    def symbol(self, character: str, name: str = "character") -> int:
        """The number of a character. Raises ConfigError, naming the argument `name`, for anything but one
        character.
        """
        if not isinstance(character, str) or len(character) != 1:
            raise ConfigError(
                "{name} is one character, or None; received {received!r}", name=name, received=character
            )
        return int(self.vocabulary.encode(character)[0])

    def targets(self, character: str | None) -> Ids:
        """(n,) the symbols whose log P is differentiated: the actual ones, or `character` at each step."""
        return self.next_symbols if character is None else np.full(len(self.inputs), self.symbol(character))

    def seeds(self, targets: Ids, steps: slice) -> Floats:
        """(k, H) ∂ log P(target) / ∂ h of the top layer at `steps`."""
        return top_slopes(self.weights, self.top[steps], targets[steps])


def layer_slopes(
    weights: Weights, rows: Floats, hidden: Floats, cell: Floats | None, **options: Any
) -> tuple[Slopes, ...]:
    """Every layer's slopes at states (n + 1, L, …, H). `rows` (n, …, G·H) are the lowest layer's X W_x + b;
    the options are those of `slopes`.
    """
    return tuple(
        slopes(
            layer,
            layer.from_inputs(hidden[1:, number - 1]) if number else rows,
            hidden[:, number],
            None if cell is None else cell[:, number],
            **options,
        )
        for number, layer in enumerate(weights.layers)
    )


def top_slopes(weights: Weights, top: Floats, targets: Ids) -> Floats:
    """(k, H) ∂ log P(target) / ∂ h at states `top` (k, H), which is (one-hot - P) W_hq.

    1 - P(target) is summed over the others, which keeps its digits where P is almost 1.
    """
    rows = np.arange(len(top))
    other_probs = np.exp(weights.log_probs(top))
    # 1 - P as it stands loses its digits where P rounds to 1: the gradient of a sure prediction would be 0.
    other_probs[rows, targets] = 0
    total = other_probs.sum(axis=1, dtype=np.float64).astype(np.float32)[:, None]  # (k, 1)
    out: Floats = -(other_probs @ weights.readout)  # (k, H)
    out += total * weights.readout[targets]
    return out


def differentiable_weights(model: Network) -> Weights:
    """The weights of `model`. Raises ConfigError for a network that is a Python function."""
    weights = weights_of(model)
    if weights.cell == "custom":
        raise ConfigError(
            "gradients follow from a network's weights, and {name!r} is a Python function; change its state "
            "instead: rnnviz.units.perturb or rnnviz.units.effect",
            name=model.name,
        )
    return weights


def check_place(text: str, at: int | None) -> int:
    """The number of characters of `text` to read: `at`, or all. Raises ConfigError, EmptyTextError."""
    if not text:
        raise EmptyTextError("there is no character to go back from; give a text of at least one")
    if at is None:
        return len(text)
    if not isinstance(at, int | np.integer) or not 1 <= at <= len(text):
        raise ConfigError(
            "`at` counts the characters read, from 1 to {count:,}; received {at!r}", count=len(text), at=at
        )
    return at


def read(
    model: Network, text: str, *, limit: float = math.inf, stop: int | None = None, square: bool = False
) -> Reading:
    """Read `text`, or its first `stop` characters. Raises as `connectivity` does.

    TextError is for more than `limit` characters; `square` words the advice for the T × T connectivity.
    """
    weights = differentiable_weights(model)
    text = normalise(text, model.normaliser)
    stop = check_place(text, stop)
    if stop > limit:
        _refuse(stop, limit, square)
    # One character more than is read: it is the last input's target. The text's end has none.
    ids = np.append(model.vocabulary.start, model.vocabulary.encode(text[: stop + 1]))
    inputs, next_symbols = ids[: stop + 1], ids[1:]  # (n,), n = stop + 1; `next_symbols` may lack the last
    hidden, cell = weights.states(len(inputs) + 1)
    weights.run(inputs, hidden, cell)
    # Of all steps: no gradient goes through an infinite state.
    if not np.isfinite(hidden).all():
        raise CheckpointError(
            "the states of the model {name!r} overflow within {count:,} characters: its weights are "
            "damaged or its training diverged; use another model, or a shorter text",
            name=model.name,
            count=stop,
        )
    if len(next_symbols) < len(inputs):
        # After the whole text nothing came: the most probable character stands for it.
        next_symbols = np.append(next_symbols, weights.predict(hidden[-1:, -1])[0].argmax())
    return Reading(text[:stop], model.vocabulary, weights, inputs, next_symbols, hidden, cell)


def _refuse(count: int, limit: float, square: bool) -> NoReturn:
    if square:
        raise TextError(
            "received {count:,} characters, and the limit is {limit:,}: "
            "cut the text, or ask for one prediction with at=…",
            count=count,
            limit=limit,
        )
    raise TextError(
        "received {count:,} characters, and the limit is {limit:,}: cut the text's beginning off",
        count=count,
        limit=limit,
    )
