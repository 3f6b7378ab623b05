"""A text read forwards, with the slopes of every step.

Shape letters: n inputs (the start symbol and T characters), G blocks, H units, L layers.
"""

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from rnnviz.arrays import Floats, Ids
from rnnviz.errors import CheckpointError, ConfigError, EmptyTextError, TextError
from rnnviz.gradients.slopes import Slopes, slopes
from rnnviz.networks.numpy_engine import Weights
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.text.characters import normalise
from rnnviz.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Linearisation:
    """A text as a network read it, the start symbol first.

    inputs  (n,)    n = T + 1
    came    (n,)    the symbol after each; after the last the most probable one
    top     (n, H)  the top layer's states
    """

    text: str
    vocabulary: Vocabulary
    weights: Weights
    inputs: Ids
    came: Ids
    top: Floats
    layers: tuple[Slopes, ...]

    def targets(self, target: str | None) -> Ids:
        """The symbols whose log P is differentiated, (n,): those that came, or the character `target`.

        Raises ConfigError if that is no single character.
        """
        if target is None:
            return self.came
        if len(target) != 1:
            raise ConfigError(
                "target is one character, or None for the one that came; received {target!r}", target=target
            )
        return np.repeat(self.vocabulary.encode(target), len(self.inputs))

    def seeds(self, targets: Ids, steps: slice) -> Floats:
        """∂ log P(target) / ∂ h of the top layer at `steps`, (k, H), is (one-hot - P) W_hq.

        1 - P(target) is summed from the others, which keeps its digits where P is almost 1.
        """
        top, targets = self.top[steps], targets[steps]
        rows = np.arange(len(top))
        others = np.exp(self.weights.log_probs(top))
        others[rows, targets] = 0
        total = others.sum(axis=1, dtype=np.float64).astype(np.float32)[:, None]  # (k, 1)
        out = -(others @ self.weights.readout)  # (k, H)
        out += total * self.weights.readout[targets]
        return out


def own_weights(model: Network) -> Weights:
    """The weights of `model`; raises ConfigError for a network that is a Python function."""
    weights = weights_of(model)
    if weights.cell == "custom":
        raise ConfigError(
            "gradients follow from a network's weights, and {name!r} is a Python function; change its state "
            "instead: rnnviz.units.perturb or rnnviz.units.intervene",
            name=model.name,
        )
    return weights


def place(text: str, at: int | None) -> int:
    """How many characters of `text` are read: `at`, or all. Raises ConfigError, EmptyTextError."""
    if not text:
        raise EmptyTextError("there is no character to go back from; give a text of at least one")
    if at is None:
        return len(text)
    if not 1 <= at <= len(text):
        raise ConfigError(
            "`at` counts the characters read, from 1 to {count:,}; received {at}", count=len(text), at=at
        )
    return at


def states(model: Network, weights: Weights, inputs: Ids) -> tuple[Floats, Floats | None]:
    """The states (n + 1, L, H) before and after each of `inputs` (n,); CheckpointError if they overflow."""
    hidden, cell = weights.states(len(inputs) + 1)
    weights.run(inputs, hidden, cell)
    if not np.isfinite(hidden).all():
        raise CheckpointError(
            "the states of the model {name!r} overflow within {count:,} characters: its weights are "
            "damaged or its training diverged; use another model, or a shorter text",
            name=model.name,
            count=len(inputs) - 1,
        )
    return hidden, cell


def read(
    model: Network, text: str, *, limit: int, stop: int | None = None, square: bool = False
) -> Linearisation:
    """Read `text`, or its first `stop` characters, and find the slopes; raises as `connectivity_row` does.

    TextError is for more than `limit` characters (`square` names the way around it).
    """
    weights = own_weights(model)
    text = normalise(text, model.normaliser)
    stop = place(text, stop)
    if stop > limit:
        _refuse(stop, limit, square)
    ids = np.append(model.vocabulary.start, model.vocabulary.encode(text[: stop + 1]))
    inputs, came = ids[: stop + 1], ids[1:]  # (n,), n = stop + 1; came may lack its last
    hidden, cell = states(model, weights, inputs)
    layers = tuple(
        slopes(
            layer,
            weights.rows(number, inputs, hidden[1:, number - 1]),
            hidden[:-1, number],
            None if cell is None else cell[:-1, number],
        )
        for number, layer in enumerate(weights.layers)
    )
    if len(came) < len(inputs):
        came = np.append(came, weights.predict(hidden[-1:, -1])[0].argmax())
    return Linearisation(text[:stop], model.vocabulary, weights, inputs, came, hidden[1:, -1], layers)


def _refuse(count: int, limit: int, square: bool) -> NoReturn:
    if square:
        raise TextError(
            "received {count:,} characters, and the limit is {limit:,}: "
            "cut the text, or ask for one row of it with connectivity_row",
            count=count,
            limit=limit,
        )
    raise TextError(
        "received {count:,} characters, and the limit is {limit:,}: cut the text's beginning off",
        count=count,
        limit=limit,
    )
