"""What to take home: the section's points, each with one number that shows it.

The numbers are those of the scenes: of the word's network (`machine`), of the shipped models, and of a matrix
whose spectral radius is set (`backwards`).
"""

from dataclasses import dataclass

import numpy as np

from rnnviz.errors import ConfigError
from rnnviz.lecture import backwards, word
from rnnviz.lecture.machine import WORD, Machine
from rnnviz.lecture.memoryless import compare, ending
from rnnviz.lecture.questions import SEED
from rnnviz.networks.numpy_model import NumpyModel

TEXTS = ("in the dark nig", "I was going")
"""Two texts that end alike: to a network without a state they are one."""

OTHER = "c"
"""What is read in place of the word's first character."""

CUT, RADIUS, STEPS = 2, 0.9, 40


def recurrent(rnn: NumpyModel) -> float:
    """The largest difference in probability between the predictions after TEXTS; 0 without a state."""
    one, other = (ending(rnn, text) for text in TEXTS)
    return compare(one, other, 1).prediction


def history() -> float:
    """The largest change of the last state's units in WORD when its first character is another.

    >>> history() > 0
    True
    """
    usual, other = Machine().forward, Machine(text=OTHER + WORD[1:]).forward
    return float(np.abs(usual.state[-1] - other.state[-1]).max())


def parameters() -> int:
    """The numbers that the word's network stores, whatever T is.

    >>> parameters()
    83
    """
    net = Machine().net
    return sum(getattr(net, name).size for name in ("W_xh", "W_hh", "b_h", "W_hq", "b_q"))


@dataclass(frozen=True)
class Learned:
    """The word's network before and after its training: perplexities, and what it writes in the end."""

    before: float
    after: float
    written: str


def learned() -> Learned:
    """What the word's network has learned.

    >>> learned().written
    'machine'
    """
    run = word.run()
    return Learned(run.at(0).perplexity, run.at(run.steps).perplexity, run.at(run.steps).written)


def handed_back(*, recurrent: bool) -> float:
    """The norm of what step 2 of WORD hands back to step 1.

    >>> handed_back(recurrent=False)
    0.0
    """
    return float(np.linalg.norm(Machine(recurrent=recurrent).backward().from_next[0]))


def left(cut: int = CUT) -> tuple[int, int]:
    """The pairs of a loss and a step that a cut after every `cut` steps leaves, and all of them.

    >>> left()
    (9, 21)
    """
    word = Machine()
    return int(word.heard(cut).sum()), int(word.heard().sum())


def powers(radius: float = RADIUS, k: int = STEPS) -> float:
    """The norm of the k-th power of a matrix whose largest eigenvalue has this modulus."""
    if k < 0:
        raise ConfigError("a power is 0 or more; received {k}", k=k)
    matrix = backwards.dial(radius, SEED).matrix
    return float(np.linalg.norm(np.linalg.matrix_power(matrix, k), 2))


def cached() -> int:
    """The numbers that the way there keeps for the way back, over all steps of WORD."""
    return sum(array.size for array in Machine().cached().values())
