"""A network whose units were set by hand, so that what each of them does is known."""

from functools import cache

import numpy as np

from rnnviz.networks.config import ModelConfig
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.text.vocabulary import Vocabulary
from tests.support.models import network

VOCABULARY = Vocabulary(tuple(sorted("\n abcdefgABC“”.")))
COUNTS, LATCHES, IGNORES, UNUSED, RANDOM = 0, 1, 2, 3, (4, 5, 6, 7)


@cache
def built() -> NumpyModel:
    """An Elman network of eight units that read one-hot vectors.

    COUNTS climbs from -1 with each character of a line; LATCHES is 1 from an opening quote to the closing one
    and -1 elsewhere; IGNORES is 0 whatever happens; UNUSED follows the text, and nothing follows from it;
    RANDOM are what random weights make of the text.
    """
    H, V = 8, VOCABULARY.size
    random = np.random.default_rng(5)
    W_x, W_h, b = np.zeros((H, V + 1)), np.zeros((H, H)), np.zeros(H)
    newline, opens, closes = VOCABULARY.encode("\n“”").tolist()
    W_h[COUNTS, COUNTS], b[COUNTS] = 1.0, 0.02
    W_x[COUNTS, [newline, VOCABULARY.start]] = -20.0
    W_h[LATCHES, LATCHES] = 3.0
    W_x[LATCHES, opens], W_x[LATCHES, [closes, VOCABULARY.start]] = 8.0, -8.0
    readers = [UNUSED, *RANDOM]
    W_x[readers] = random.standard_normal((len(readers), V + 1))
    for reader in readers:
        W_h[reader, list(RANDOM)] = 0.4 * random.standard_normal(len(RANDOM))
    readout = random.standard_normal((V, H))
    readout[:, [IGNORES, UNUSED]] = 0
    tensors = {
        "recurrence.weight_ih_l0": W_x,
        "recurrence.weight_hh_l0": W_h,
        "recurrence.bias_ih_l0": b,
        "recurrence.bias_hh_l0": np.zeros(H),
        "readout.weight": readout,
        "readout.bias": np.zeros(V),
    }
    tensors = {name: weights.astype(np.float32) for name, weights in tensors.items()}
    return network(ModelConfig("rnn", V, H, 1, 0), VOCABULARY, tensors, name="built")


def telegraph(length: int, dwell: int, seed: int) -> np.ndarray:
    """(T,): on or off, each for `dwell` characters on average."""
    numbers = np.random.default_rng(seed).random(length)
    return np.cumsum(numbers < 1 / dwell) % 2 == 1


@cache
def quoted(length: int = 3000, seed: int = 0) -> str:
    """Lines of 5 to 40 random characters, in which quotes open and close, never across a line."""
    random = np.random.default_rng(seed)
    out = ""
    while len(out) < length:
        line = random.choice(list(" abcdefgABC."), int(random.integers(5, 40)))
        if random.random() < 0.6:
            begin = int(random.integers(0, len(line) - 2))
            line[begin], line[int(random.integers(begin + 1, len(line)))] = "“", "”"
        out += "".join(line) + "\n"
    return out[: out.rindex("\n", 0, length) + 1]
