"""What a state may be: h_t = f(x_t, h_{t-1}) for three f's, and what each can tell apart and costs.

    append  h_t = (h_{t-1}, x_t)    the text itself: P(x_{t+1} | h_t) is exact
    last    h_t = x_t               one of |V|: a table of 2-grams
    rnn     h_t = tanh(…)           H numbers, however long the text

An f that is powerful enough makes no approximation, but its table has a row for every text of t characters.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.lecture.prediction import expected
from rnnviz.networks.numpy_model import NumpyModel

KINDS = ("append", "last", "rnn")


@dataclass(frozen=True)
class Costs:
    """What a rule needs after t characters.

    bits       to store h_t
    stored     numbers to predict with: all rows of its table, or a network's parameters
    work       a step's, to predict: characters that are looked up, or a network's multiplications
    """

    bits: float
    stored: int
    work: int


def costs(kind: str, t: int, model: NumpyModel) -> Costs:
    """What the rule `kind` needs after `t` characters, beside `model`, an RNN of one layer.

    The state's numbers are float32. An input's product with W_xh is a row of it: no multiplication. Raises
    ConfigError for another kind, or t < 1.
    """
    if kind not in KINDS or t < 1:
        raise ConfigError(
            "the rules are {kinds}, after 1 character at least; received {kind!r} after {t}",
            kinds=", ".join(KINDS),
            kind=kind,
            t=t,
        )
    V, H = model.vocabulary.size, model.config.hidden_size
    if kind == "rnn":
        return Costs(32 * H, model.parameter_count, H * H + H * V)
    seen = t if kind == "append" else 1
    return Costs(seen * float(np.log2(V)), V ** (seen + 1), seen)


@lru_cache(maxsize=4096)
def followers(context: str, read: str) -> Counter[str]:
    """How often each character follows `context` in the text `read`; cached, not to be changed.

    >>> followers("a", "abacab").most_common()
    [('b', 2), ('c', 1)]
    """
    found: Counter[str] = Counter()
    at = read.find(context)
    while 0 <= at < len(read) - len(context):
        found[read[at + len(context)]] += 1
        at = read.find(context, at + 1)
    return found


def total_variation(p: Doubles, q: Doubles) -> Doubles:
    """½ Σ |p - q| along the last axis: 0 for the same distribution, 1 for disjoint ones."""
    return np.asarray(0.5 * np.abs(p - q).sum(axis=-1))


def apart(kind: str, left: str, right: str, read: str, model: NumpyModel) -> Doubles:
    """How far apart two texts are after each of their characters, as far as both go: (T,), from 0 to 1.

    append    1 where the states, the texts so far, differ
    last      total variation of what follows either last character in `read`; 1 where either never occurs
    rnn       total variation of the two predictions
    """
    T = min(len(left), len(right))
    if kind == "append":
        return np.array([float(left[:t] != right[:t]) for t in range(1, T + 1)])
    if kind == "rnn":
        return total_variation(expected(model, left[:T], 1), expected(model, right[:T], 1))
    return np.array([_distance(a, b, read) for a, b in zip(left, right, strict=False)])


def _distance(left: str, right: str, read: str) -> float:
    """Total variation of what follows either character."""
    if left == right:
        return 0.0
    p, q = followers(left, read), followers(right, read)
    if not p or not q:
        return 1.0
    symbols = p.keys() | q.keys()
    return 0.5 * sum(abs(p[s] / p.total() - q[s] / q.total()) for s in symbols)
