"""With a hidden state: H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h), every number of it.

Two nets. A small one with three inputs and four units, all of whose numbers
fit on a screen; and any recurrent network of one layer, of which one unit at
one time step is taken apart: what the input adds to its pre-activation, what
each unit of the state before adds, and the bias.

Rows here are (X,) and (H,): one text, no batch. This module needs no torch;
tests hold it to `rnnviz.networks.cells`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.networks.numpy_model import weights_of
from rnnviz.text.normalising import normalise

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.networks.torch_model import CharModel

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class SmallStep:
    """One time step of a SmallNet: its parts add up to `pre_activation`, and tanh of that is `state`."""

    x: Doubles
    before: Doubles
    from_input: Doubles
    from_state: Doubles
    pre_activation: Doubles
    state: Doubles


@dataclass(frozen=True)
class SmallNet:
    """A recurrent layer whose every number can be shown: W_xh (X, H), W_hh (H, H), b_h (H,); φ is tanh."""

    W_xh: Doubles
    W_hh: Doubles
    b_h: Doubles

    @classmethod
    def drawn(cls, seed: int, *, inputs: int = 3, units: int = 4) -> SmallNet:
        """Normal entries of one decimal from a seed; W_hh somewhat smaller, so that no unit sticks at ±1."""
        generator = np.random.default_rng(seed)

        def draw(scale: float, *shape: int) -> Doubles:
            return np.round(scale * generator.standard_normal(shape), 1) + 0.0

        return cls(draw(0.9, inputs, units), draw(0.6, units, units), draw(0.3, units))

    def step(self, x: Doubles, before: Doubles) -> SmallStep:
        """H_t from X_t (X,) and H_{t-1} (H,)."""
        from_input, from_state = x @ self.W_xh, before @ self.W_hh
        pre = from_input + from_state + self.b_h
        return SmallStep(x, before, from_input, from_state, pre, np.tanh(pre))

    def read(self, ids: list[int]) -> list[SmallStep]:
        """One step for each input, by its number; H_0 is zero."""
        state = np.zeros_like(self.b_h)
        steps = []
        for number in ids:
            steps.append(self.step(np.eye(len(self.W_xh))[number], state))
            state = steps[-1].state
        return steps


@dataclass(frozen=True)
class Parts:
    """What one unit's pre-activation at one time step is made of.

    from_input   (X_t W_xh) of the unit
    weights      (H,) the column of W_hh that leads to it
    before       (H,) H_{t-1}
    bias         b_h of the unit
    """

    from_input: float
    weights: Floats
    before: Floats
    bias: float

    @property
    def terms(self) -> Doubles:
        """What each unit of the state before adds, (H,)."""
        return self.weights.astype(np.float64) * self.before

    @property
    def pre_activation(self) -> float:
        """The sum of all parts."""
        return self.from_input + float(self.terms.sum()) + self.bias

    def largest(self, k: int) -> tuple[list[int], float]:
        """The `k` units of the state before that add most, either way, and what all others add together."""
        terms = self.terms
        order = np.argsort(-np.abs(terms), kind="stable")
        return order[:k].tolist(), float(terms[order[k:]].sum())


class Taken:
    """A text read by a recurrent network of one layer, open to be taken apart.

    `states` (T + 1, H) float32: row t is H_t; row 0 is the state after the start symbol.
    """

    def __init__(self, model: CharModel | NumpyModel, text: str) -> None:
        """Read `text`. Raises ConfigError for a network of another kind."""
        weights = weights_of(model)
        (layer, *more) = weights.layers
        if layer.cell != "rnn" or more or layer.W_h is None:
            raise ConfigError(
                "one sum makes a unit only in a plain recurrent network of one layer; received "
                "{layers} of {cell}",
                layers=model.config.layers,
                cell=model.config.cell,
            )
        self._layer = layer
        ids = model.vocabulary.encode(normalise(text, model.normaliser))
        inputs = np.concatenate([[model.vocabulary.start], ids])
        hidden, _ = weights.states(len(inputs) + 1)
        weights.run(inputs, hidden, None)
        self.states: Floats = hidden[1:, 0]
        if layer.table is not None:
            rows = layer.table[inputs]
        else:
            assert weights.embedding is not None
            rows = layer.from_inputs(weights.embedding[inputs])
        self._from_inputs: Floats = rows - layer.b

    def __len__(self) -> int:
        """T."""
        return len(self.states) - 1

    def varied(self, k: int) -> list[int]:
        """The `k` units whose state varies most over this text, in their own order."""
        spread = self.states[1:].std(axis=0)
        return sorted(np.argsort(-spread, kind="stable")[:k].tolist())

    def parts(self, t: int, unit: int) -> Parts:
        """Unit `unit` after character t, 1 to T. Raises ConfigError for any other."""
        units = self._layer.units
        if not (1 <= t <= len(self) and 0 <= unit < units):
            raise ConfigError(
                "t is 1 to {count} and a unit 0 to {units}; received {t} and {unit}",
                count=len(self),
                units=units - 1,
                t=t,
                unit=unit,
            )
        assert self._layer.W_h is not None
        return Parts(
            float(self._from_inputs[t, unit]),
            self._layer.W_h[unit],
            self.states[t - 1],
            float(self._layer.b[unit]),
        )
