"""A network whose units were set by hand, so that what each of them does is known."""

from functools import cache

import numpy as np
import torch

from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.networks.config import ModelConfig
from rnnviz.text.vocabulary import Vocabulary

VOCABULARY = Vocabulary(tuple(sorted("\n abcdefgABC“”.")))
COUNTS, LATCHES, IGNORES, UNUSED, RANDOM = 0, 1, 2, 3, (4, 5, 6, 7)


@cache
def built() -> CharModel:
    """An Elman network of eight units that read one-hot vectors.

    COUNTS climbs from -1 with each character of a line; LATCHES is 1 from an opening quote to the closing one
    and -1 elsewhere; IGNORES is 0 whatever happens; UNUSED follows the text, and nothing follows from it;
    RANDOM are what random weights make of the text.
    """
    H, V = 8, VOCABULARY.size
    generator = torch.Generator().manual_seed(3)
    W_x, W_h, b = torch.zeros(H, V + 1), torch.zeros(H, H), torch.zeros(H)
    newline, opens, closes = VOCABULARY.encode("\n“”").tolist()
    W_h[COUNTS, COUNTS], b[COUNTS] = 1.0, 0.02
    W_x[COUNTS, [newline, VOCABULARY.start]] = -20.0
    W_h[LATCHES, LATCHES] = 3.0
    W_x[LATCHES, opens], W_x[LATCHES, [closes, VOCABULARY.start]] = 8.0, -8.0
    readers = [UNUSED, *RANDOM]
    W_x[readers] = torch.randn(len(readers), V + 1, generator=generator)
    for reader in readers:
        W_h[reader, list(RANDOM)] = 0.4 * torch.randn(len(RANDOM), generator=generator)
    readout = torch.randn(V, H, generator=generator)
    readout[:, [IGNORES, UNUSED]] = 0
    model = CharModel(ModelConfig("rnn", V, H, 1, 0), VOCABULARY, name="built")
    model.load_state_dict(
        {
            "recurrence.weight_ih_l0": W_x,
            "recurrence.weight_hh_l0": W_h,
            "recurrence.bias_ih_l0": b,
            "recurrence.bias_hh_l0": torch.zeros(H),
            "readout.weight": readout,
            "readout.bias": torch.zeros(V),
        }
    )
    return model.requires_grad_(False).eval()


def telegraph(length: int, dwell: int, seed: int) -> np.ndarray:
    """(T,): on or off, each for `dwell` characters on average."""
    drawn = np.random.default_rng(seed).random(length)
    return np.cumsum(drawn < 1 / dwell) % 2 == 1


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
