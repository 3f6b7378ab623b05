"""One product instead of two: X W_xh + H W_hh = [X, H] [W_xh; W_hh].

X is (B, X), H (B, H), W_xh (X, H), W_hh (H, H). Both sides add the same X + H terms in another order: in
float64 they differ by rounding alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.gradients.small import check_shapes
from rnnviz.lecture.machine import Machine

NAMES = ("X", "W_xh", "H", "W_hh")
LIMIT = 9.99
"""The largest absolute value of an entry that someone types."""


@dataclass(frozen=True)
class Factors:
    """The four matrices of one time step, float64. Raises ConfigError where shapes disagree.

    >>> factors = Factors.drawn(seed=1)
    >>> factors.joined_inputs.shape, factors.joined_weights.shape
    ((3, 5), (5, 4))
    >>> factors.largest_difference() < 1e-9
    True
    """

    X: Doubles
    W_xh: Doubles
    H: Doubles
    W_hh: Doubles

    def __post_init__(self) -> None:
        (rows, inputs), units = self.X.shape, self.W_hh.shape[0]
        check_shapes(self, W_xh=(inputs, units), H=(rows, units), W_hh=(units, units))

    @classmethod
    def drawn(cls, seed: int, *, rows: int = 3, inputs: int = 1, units: int = 4) -> Factors:
        """Standard normal entries rounded to 2 decimals, so that what is shown is what is used."""
        generator = np.random.default_rng(seed)
        shapes = ((rows, inputs), (inputs, units), (rows, units), (units, units))
        return cls(*(np.round(generator.standard_normal(shape), 2) + 0.0 for shape in shapes))

    @classmethod
    def of_word(cls, t: int, word: Machine | None = None) -> Factors:
        """Those of step `t` of a word's network, from 1: a batch of one. Raises ConfigError for another t.

        >>> factors = Factors.of_word(3)
        >>> factors.joined_inputs.shape, factors.joined_weights.shape
        ((1, 11), (11, 4))
        """
        word = word or Machine()
        if not 1 <= t <= word.steps:
            raise ConfigError("the time steps are 1 to {steps}; received {t}", steps=word.steps, t=t)
        run, net = word.forward, word.net
        return cls(run.x[t - 1 : t], net.W_xh, run.before[t - 1 : t], net.W_hh)

    def changed(self, name: str, values: Sequence[Sequence[float]]) -> Factors:
        """With another matrix of the same shape in place of `name`; else ConfigError."""
        if name not in NAMES:
            raise ConfigError(
                "the matrices are {names}; received {name!r}", names=", ".join(NAMES), name=name
            )
        shape = getattr(self, name).shape
        try:
            array = np.asarray(values, np.float64)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.shape != shape or not np.all(np.abs(array) <= LIMIT):
            raise ConfigError(
                "{name} has {rows} × {columns} numbers between -{limit:g} and {limit:g}",
                name=name,
                rows=shape[0],
                columns=shape[1],
                limit=LIMIT,
            )
        return replace(self, **{name: array})

    @property
    def joined_inputs(self) -> Doubles:
        """[X, H] (B, X + H)."""
        return np.concatenate([self.X, self.H], axis=1)

    @property
    def joined_weights(self) -> Doubles:
        """[W_xh; W_hh] (X + H, H)."""
        return np.concatenate([self.W_xh, self.W_hh], axis=0)

    def sum_of_products(self) -> Doubles:
        """X W_xh + H W_hh, (B, H)."""
        return np.asarray(self.X @ self.W_xh + self.H @ self.W_hh)

    def product_of_concatenations(self) -> Doubles:
        """[X, H] [W_xh; W_hh], (B, H)."""
        return np.asarray(self.joined_inputs @ self.joined_weights)

    def differences(self) -> Doubles:
        """One side less the other, (B, H)."""
        return self.sum_of_products() - self.product_of_concatenations()

    def largest_difference(self) -> float:
        """max |one - other| over all entries."""
        return float(np.max(np.abs(self.differences())))
