"""A small network of one word: it reads "machin", should predict "achine", and learns from its errors.

    A_t = X_t W_xh + H_{t-1} W_hh + b_h    H_t = tanh(A_t)    O_t = H_t W_hq + b_q    P_t = softmax(O_t)
    ℓ_t = -log P_t[label_t]                L = (1/T) Σ_t ℓ_t                          nats

Rows are (X,), (H,) and (V,): a batch of one. Every weight has one decimal, so that the shown numbers are the
used ones. Shape letters: T steps, X inputs, H units, V symbols; here X = V, as an input is a one-hot row.
"""

from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from rnnviz.arrays import Doubles, Mask
from rnnviz.errors import ConfigError
from rnnviz.lecture.small_rnn import SmallRNN, Unrolled, unroll, weight_gradients

WORD = "machine"
HIDDEN_UNITS = 4
DEFAULT_SEED = 2
NAMES = ("W_xh", "W_hh", "b_h", "W_hq", "b_q")
SYMBOLS = tuple(dict.fromkeys(WORD))  # in the order in which they appear


def numbers(text: str) -> list[int]:
    """The index in SYMBOLS of each character. Raises ConfigError for other characters.

    >>> numbers("mac")
    [0, 1, 2]
    """
    if foreign := set(text) - set(SYMBOLS):
        raise ConfigError(
            "only the letters of {word} can be read; received {text!r}, with {character!r}",
            word=WORD,
            text=text,
            character=min(foreign),
        )
    return [SYMBOLS.index(character) for character in text]


class Machine:
    """The network of a seed, with the first `steps` characters of a text; None: all but the last.

    With `recurrent` False, W_hh is 0: neither values nor gradients go from step to step. Raises ConfigError
    for a text with other letters than WORD's, or if a step has no label.

    >>> word = Machine(steps=3)
    >>> word.inputs, word.labels, word.net.W_xh.shape
    ('mac', 'ach', (7, 4))
    """

    def __init__(
        self, seed: int = DEFAULT_SEED, *, steps: int | None = None, text: str = WORD, recurrent: bool = True
    ) -> None:
        steps = len(text) - 1 if steps is None else steps
        if not 1 <= steps < len(text):
            raise ConfigError(
                "{word} has 1 to {most} time steps; received {steps}",
                word=text,
                most=len(text) - 1,
                steps=steps,
            )
        self.steps, self.recurrent = steps, recurrent
        self.inputs, self.labels = text[:steps], text[1 : steps + 1]
        self.ids, self.targets = numbers(self.inputs), numbers(self.labels)
        net = draw_weights(seed, len(SYMBOLS))
        self.net = net if recurrent else replace(net, W_hh=np.zeros_like(net.W_hh))

    @cached_property
    def forward(self) -> Unrolled:
        """Every number of the forward pass."""
        return unroll(self.net, self.ids, self.targets)

    def gradients(self) -> dict[str, Doubles]:
        """∂L by every weight, by name and in its shape; not clipped."""
        return weight_gradients(self.net, self.forward)

    def pairs(self) -> Doubles:
        """The part of ∂L/∂W_hh of each loss and each step, (T, T, H, H): [t - 1, s - 1] is the gradient of
        ℓ_t through the W_hh that computed H_s. It is 0 where s > t, and at s = 1, as H_0 = 0. With a cut,
        see `uncut_pairs`.

        >>> word = Machine(steps=3)
        >>> np.allclose(word.pairs().sum(axis=(0, 1)), word.gradients()["W_hh"])
        True
        """
        net, forward, T = self.net, self.forward, self.steps
        terms = np.zeros((T, T, *net.W_hh.shape))
        for t in range(T):
            delta = forward.errors[t] @ net.W_hq.T * forward.slopes[t]  # (H,), ∂L/∂A_s by ℓ_t alone
            for s in range(t, -1, -1):
                terms[t, s] = np.outer(forward.before[s], delta)
                delta = (delta @ net.W_hh.T) * forward.slopes[s - 1]
        return terms

    def uncut_pairs(self, cut: int | None = None) -> Mask:
        """Which of the `pairs` remain with a `cut` after so many steps, (T, T): those without a cut between s
        and t. Raises ConfigError for a cut out of range.

        Cuts are counted from the end (regular truncation).

        >>> Machine(steps=3).uncut_pairs(cut=2).astype(int).tolist()
        [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
        """
        if cut is not None and not 1 <= cut <= self.steps:
            raise ConfigError("a cut is after 1 to {steps} steps; received {cut}", steps=self.steps, cut=cut)
        t = np.arange(self.steps)
        piece = (self.steps - 1 - t) // (cut or self.steps)
        remains: Mask = (piece[:, None] == piece) & (t[:, None] >= t)
        return remains

    def cached(self) -> dict[str, Doubles]:
        """The forward values that the backward pass reads, by name, (T, …) each: all that T steps must keep.

        >>> {name: array.shape for name, array in Machine(steps=3).cached().items()}
        {'X': (3, 7), 'H': (3, 4), 'slope': (3, 4), 'P': (3, 7)}
        """
        forward = self.forward
        return {"X": forward.x, "H": forward.state, "slope": forward.slopes, "P": forward.probabilities}


@lru_cache(maxsize=64)
def draw_weights(seed: int, symbols: int, units: int = HIDDEN_UNITS) -> SmallRNN:
    """The weights of a seed, normal and rounded to one decimal.

    >>> draw_weights(2, symbols=7).W_hh.shape
    (4, 4)
    """
    generator = np.random.default_rng(seed)

    def draw(scale: float, *shape: int) -> Doubles:
        return np.round(scale * generator.standard_normal(shape), 1) + 0.0

    return SmallRNN(
        draw(0.9, symbols, units),
        draw(0.7, units, units),
        draw(0.3, units),
        draw(0.9, units, symbols),
        draw(0.3, symbols),
    )
