"""Without a hidden state: what a model predicts after two texts, and whether it can tell them apart.

    mlp   H_t = φ(X_t W_xh + b_h)                     sees the last character only
    rnn   H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h)      sees all of them

Two texts that end in the same character leave the first in the same state, to the last bit. So it is trained
on pairs, a character and the next one, which are drawn at random and need no order: `minibatch`.
"""

from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Doubles, Floats
from rnnviz.errors import ConfigError
from rnnviz.gradients.small import SmallRNN
from rnnviz.lecture.machine import WORD, numbers
from rnnviz.networks.numpy_model import Network
from rnnviz.reading.trace import trace


@dataclass(frozen=True)
class Ending:
    """A model at the end of a text."""

    state: Floats  # (H,), the top layer's
    probabilities: Floats  # (V,), of the next symbol


def ending(model: Network, text: str) -> Ending:
    """Where `model` is after `text`, of one character at least (else ConfigError).

    >>> import rnnviz
    >>> mlp = rnnviz.load("timemachine-mlp")
    >>> bool((ending(mlp, "the cat").state == ending(mlp, "we met").state).all())
    True
    """
    if not text:
        raise ConfigError("a text to end needs at least one character; received none")
    read = trace(model, text)
    return Ending(read.hidden[-1, -1], np.exp(read.log_probs_at(len(read), len(read) + 1)[0]))


@dataclass(frozen=True)
class Compared:
    """Two endings compared: the likeliest symbols of either, and the largest differences of P and of H."""

    symbols: list[int]
    prediction: float
    state: float


def compare(one: Ending, other: Ending, k: int) -> Compared:
    """How far apart two endings of the same model are.

    >>> one, other = (Ending(np.zeros(2), np.array(p)) for p in ([0.5, 0.25, 0.25], [0.25, 0, 0.75]))
    >>> compare(one, other, k=2)
    Compared(symbols=[2, 0], prediction=0.5, state=0.0)
    """
    either = np.maximum(one.probabilities, other.probabilities)
    return Compared(
        np.argsort(-either, kind="stable")[:k].tolist(),
        float(np.max(np.abs(one.probabilities - other.probabilities))),
        float(np.max(np.abs(one.state - other.state))),
    )


@dataclass(frozen=True)
class Minibatch:
    """A layer without a state, and its output, on n pairs at once: a row each."""

    pairs: list[str]  # n of them, a character and the next one
    targets: list[int]  # the labels' places among SYMBOLS
    x: Doubles  # (n, X), one-hot rows
    product: Doubles  # (n, H), X W_xh
    hidden: Doubles  # (n, H), H = tanh(X W_xh + b_h): b_h is one row, added to every row
    output: Doubles  # (n, V), O = H W_hq + b_q
    probabilities: Doubles  # (n, V), softmax of every row
    losses: Doubles  # (n,), -log of the label's probability, nats
    loss: float  # their mean


def minibatch(net: SmallRNN, pairs: list[str]) -> Minibatch:
    """What `net` makes of pairs of characters, without its W_hh. Raises ConfigError for other than pairs.

    >>> from rnnviz.lecture.machine import Machine
    >>> minibatch(Machine().net, ["ma", "hi"]).hidden.shape
    (2, 4)
    """
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ConfigError("one or more pairs of characters are wanted; received {pairs}", pairs=pairs)
    targets = numbers("".join(pair[1] for pair in pairs))
    x = np.eye(len(net.W_xh))[numbers("".join(pair[0] for pair in pairs))]
    product = x @ net.W_xh
    hidden = np.tanh(product + net.b_h)
    output = hidden @ net.W_hq + net.b_q
    odds = np.exp(output - output.max(axis=1, keepdims=True))
    probabilities = odds / odds.sum(axis=1, keepdims=True)
    losses = -np.log(probabilities[np.arange(len(pairs)), targets])
    return Minibatch(pairs, targets, x, product, hidden, output, probabilities, losses, float(losses.mean()))


def drawn_pairs(seed: int, n: int) -> list[str]:
    """`n` different pairs of neighbours in WORD, at random and in no order.

    >>> sorted(drawn_pairs(0, n=6))
    ['ac', 'ch', 'hi', 'in', 'ma', 'ne']
    """
    places = np.random.default_rng(seed).permutation(len(WORD) - 1)[:n]
    return [WORD[i : i + 2] for i in places]
