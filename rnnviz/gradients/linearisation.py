"""A text read forwards, with the slopes that a sweep back through time multiplies.

For a step h_t = f(x_t, h_{t-1}) with pre-activations a_t = x_t W_x + h_{t-1} W_h + b of G parts, ∂h_t/∂a_t is
one number a unit and part (Werbos 1990, "Backpropagation through time"):

    mlp, rnn  φ'(a)
    gru       r: (1-z) (1-n²) u r(1-r)    z: (h_{t-1} - n) z(1-z)    n: (1-z) (1-n²), towards W_hn times r
              where u = h_{t-1} W_hn + b_hn; besides, ∂h_t/∂h_{t-1} has z on its diagonal
    lstm      with respect to c_t, i: g i(1-i)   f: c_{t-1} f(1-f)   g: i (1-g²);  to h_t, o: tanh(c_t) o(1-o)
              ∂h_t/∂c_t = o (1-tanh² c_t) and ∂c_t/∂c_{t-1} = f on diagonals
    others    see `rnnviz.networks.linear`

Slopes come from the pre-activations: 1 - h² of a saturated unit has no digits left in float32, 1/cosh²(a) has
all. They make up for the halved weights of `rnnviz.networks.numpy_model`.

Shape letters: n inputs (the start symbol and T characters), G parts, H units, X inputs, L layers.
"""

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from rnnviz.arrays import Floats, Ids
from rnnviz.errors import CheckpointError, ConfigError, EmptyTextError, TextError
from rnnviz.networks import linear
from rnnviz.networks.config import CELLS
from rnnviz.networks.numpy_engine import Layer, Weights
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.text.characters import normalise
from rnnviz.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Slopes:
    """One layer's local derivatives, n time steps of them.

    parts    (n, P, H)  factors of the rows of W_h and W_x: P = G, for a gru 4: r, z, n to W_h and n to W_x
    keep     (n, H)     gru: z; lstm: f; of a linear recurrence A; else None
    through  (n, H)     lstm: ∂h/∂c; else None
    """

    layer: Layer
    parts: Floats
    keep: Floats | None = None
    through: Floats | None = None


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
            layer.from_inputs(hidden[1:, number - 1]) if number else first_inputs(weights, inputs),
            hidden[:-1, number],
            None if cell is None else cell[:, number],
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


def first_inputs(weights: Weights, inputs: Ids) -> Floats:
    """X W_x + b of the first layer, (n, G·H)."""
    layer = weights.layers[0]
    if layer.table is not None:
        return layer.table[inputs]
    assert weights.embedding is not None
    return layer.from_inputs(weights.embedding[inputs])


def slopes(layer: Layer, x: Floats, before: Floats, cell: Floats | None) -> Slopes:
    """One layer's slopes, of inputs' parts x (n, G·H), states before (n, H) and an lstm's cell (n + 1, H)."""
    with np.errstate(over="ignore", under="ignore"):
        if CELLS[layer.cell].linear:
            parts = np.stack(linear.slopes(x, before, linear.NUMPY), axis=1)
            return Slopes(layer, parts, keep=linear.step(x, linear.NUMPY)[0])
        if layer.W_h is None:
            return Slopes(layer, _squash(x, layer.activation)[:, None])
        h = before @ layer.W_h.T  # (n, G·H)
        if layer.cell == "rnn":
            return Slopes(layer, _squash(x + h, layer.activation)[:, None])
        x, h = x.reshape(len(x), -1, layer.units), h.reshape(len(x), -1, layer.units)
        if layer.cell == "gru":
            return _gru(layer, x, h, before)
        assert cell is not None
        return _lstm(layer, x + h, cell)


def _squash(a: Floats, activation: str) -> Floats:
    if activation == "relu":
        return (a > 0).astype(np.float32)
    # 1/cosh² from e^(-2|a|), which can't overflow.
    e = np.exp(-2 * np.abs(a))
    return np.asarray(4 * e / (1 + e) ** 2, np.float32)


def _sigmoid(a: Floats) -> Floats:
    """σ(2a): weights come halved, and so do the pre-activations."""
    return np.asarray(1 / (1 + np.exp(-2 * a)), np.float32)


def _gru(layer: Layer, x: Floats, h: Floats, before: Floats) -> Slopes:
    """For the parts r, z and n; what multiplies W_h or W_x makes up for the halves in them."""
    assert layer.b_n is not None
    a_r, a_z = x[:, 0] + h[:, 0], x[:, 1] + h[:, 1]  # (n, H)
    r, z = _sigmoid(a_r), _sigmoid(a_z)
    u = 2 * (h[:, 2] + layer.b_n)
    a_n = x[:, 2] + r * u
    to_n = _sigmoid(-a_z) * _squash(a_n, "tanh")
    parts = np.empty((len(x), 4, layer.units), np.float32)
    # σ' is 1/4 of 1/cosh² at the halved pre-activation, and twice the halved weight is the weight.
    np.multiply(to_n * u, _squash(a_r, "tanh") / 2, out=parts[:, 0])
    np.multiply(before - np.tanh(a_n), _squash(a_z, "tanh") / 2, out=parts[:, 1])
    np.multiply(to_n, 2 * r, out=parts[:, 2])
    parts[:, 3] = to_n
    return Slopes(layer, parts, keep=z)


def _lstm(layer: Layer, a: Floats, cell: Floats) -> Slopes:
    """For the parts i, f, o and g, as `rnnviz.networks.numpy_engine` orders them."""
    i, f, o = (_sigmoid(a[:, part]) for part in range(3))
    slope = _squash(a, "tanh")
    parts = np.empty_like(a)
    np.multiply(np.tanh(a[:, 3]), slope[:, 0] / 2, out=parts[:, 0])
    np.multiply(cell[:-1], slope[:, 1] / 2, out=parts[:, 1])
    np.multiply(np.tanh(cell[1:]), slope[:, 2] / 2, out=parts[:, 2])
    np.multiply(i, slope[:, 3], out=parts[:, 3])
    return Slopes(layer, parts, keep=f, through=o * _squash(cell[1:], "tanh"))
