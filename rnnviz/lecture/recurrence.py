"""With a hidden state: H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h), every number of it.

A small net that fits on a screen; and any one-layer rnn, one unit of which is taken apart: what the input,
each unit of the state before and the bias add to its pre-activation. Rows are (X,) and (H,), without a batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.gradients.linearisation import first_inputs, read
from rnnviz.gradients.small import forwards
from rnnviz.networks.numpy_model import Network

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]

LONGEST = 10_000
"""Characters that are taken apart."""


class SmallSteps(NamedTuple):
    """T time steps of a SmallNet: both parts and b_h add up to `pre_activation`."""

    x: Doubles  # (T, X)
    before: Doubles  # (T, H)
    from_input: Doubles  # (T, H)
    from_state: Doubles  # (T, H)
    pre_activation: Doubles  # (T, H)
    state: Doubles  # (T, H)


@dataclass(frozen=True)
class SmallNet:
    """A recurrent layer whose every number can be shown; φ is tanh.

    >>> SmallNet.drawn(seed=3).read([0, 1, 2]).state.shape
    (3, 4)
    """

    W_xh: Doubles  # (X, H)
    W_hh: Doubles  # (H, H)
    b_h: Doubles  # (H,)

    @classmethod
    def drawn(cls, seed: int, *, inputs: int = 3, units: int = 4) -> SmallNet:
        """Normal entries of one decimal from a seed; W_hh smaller, so that no unit saturates."""
        generator = np.random.default_rng(seed)

        def draw(scale: float, *shape: int) -> Doubles:
            return np.round(scale * generator.standard_normal(shape), 1) + 0.0

        return cls(draw(0.9, inputs, units), draw(0.6, units, units), draw(0.3, units))

    def read(self, ids: list[int]) -> SmallSteps:
        """A step for each input, by its number, from H_0 = 0."""
        x = np.eye(len(self.W_xh))[ids]  # (T, X)
        from_input = x @ self.W_xh  # (T, H)
        states, _ = forwards(from_input + self.b_h, self.W_hh)  # (T + 1, H)
        from_state = states[:-1] @ self.W_hh  # (T, H)
        pre = from_input + from_state + self.b_h
        return SmallSteps(x, states[:-1], from_input, from_state, pre, states[1:])


@dataclass(frozen=True)
class Parts:
    """What one unit's pre-activation is made of; `weights` (H,) its column of W_hh, `before` (H,) H_{t-1}."""

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
        """The `k` units of the state before whose terms are largest in modulus, and the sum of the others."""
        terms = self.terms
        order = np.argsort(-np.abs(terms), kind="stable")
        return order[:k].tolist(), float(terms[order[k:]].sum())


class Recurrence:
    """A text read by a one-layer rnn, every unit at every time step. Raises ConfigError for another network.

    `states` (T + 1, H) float32: row t is H_t; row 0 is the state after the start symbol.

    >>> import rnnviz
    >>> seen = Recurrence(rnnviz.load("timemachine-rnn"), "machine")
    >>> bool(abs(np.tanh(seen.parts(7, unit=12).pre_activation) - seen.states[7, 12]) < 1e-5)
    True
    """

    def __init__(self, model: Network, text: str) -> None:
        reading = read(model, text, limit=LONGEST)
        (layer, *more) = reading.weights.layers
        if layer.cell != "rnn" or more or layer.W_h is None:
            raise ConfigError(
                "one sum makes a unit only in a plain recurrent network of one layer; received "
                "{layers} of {cell}",
                layers=model.config.layers,
                cell=model.config.cell,
            )
        self._W_h, self._bias = layer.W_h, layer.b
        self._from_inputs: Floats = first_inputs(reading.weights, reading.inputs) - layer.b  # (T + 1, H)
        self.states = reading.top

    def __len__(self) -> int:
        return len(self.states) - 1

    def varied(self, k: int) -> list[int]:
        """The `k` units that vary most over this text, in ascending order."""
        spread = self.states[1:].std(axis=0)
        return sorted(np.argsort(-spread, kind="stable")[:k].tolist())

    def parts(self, t: int, unit: int) -> Parts:
        """Unit `unit` after character t, 1 to T (else ConfigError)."""
        units = len(self._bias)
        if not (1 <= t <= len(self) and 0 <= unit < units):
            raise ConfigError(
                "t is 1 to {steps} and a unit 0 to {last}; received {t} and {unit}",
                steps=len(self),
                last=units - 1,
                t=t,
                unit=unit,
            )
        bias = float(self._bias[unit])
        return Parts(float(self._from_inputs[t, unit]), self._W_h[unit], self.states[t - 1], bias)
