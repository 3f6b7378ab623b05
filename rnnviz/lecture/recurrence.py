"""With a hidden state: H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h), every number of it.

A small net that fits on a screen, reading a minibatch of sequences; and any one-layer rnn, one unit of which
is taken apart: what the input, each unit of the state before and the bias add to its pre-activation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rnnviz.arrays import Doubles, Floats
from rnnviz.errors import ConfigError
from rnnviz.gradients.linearisation import read
from rnnviz.gradients.small import SmallRNN, forwards
from rnnviz.networks.numpy_model import Network

LONGEST = 10_000
"""Characters that are taken apart."""


class Steps(NamedTuple):
    """T time steps of n sequences side by side: row i of every matrix is sequence i.

    Both parts and b_h, which is added to every row, make `pre_activation`.
    """

    x: Doubles  # (T, n, X), X_t: one-hot rows
    before: Doubles  # (T, n, H), H_{t-1}; zeros at first
    from_input: Doubles  # (T, n, H), X_t W_xh
    from_state: Doubles  # (T, n, H), H_{t-1} W_hh
    pre_activation: Doubles  # (T, n, H)
    state: Doubles  # (T, n, H), H_t
    output: Doubles  # (T, n, V), O_t


def walk(net: SmallRNN, *sequences: Sequence[int]) -> Steps:
    """Read sequences of equal length together, from H_0 = 0, with one set of weights.

    Inputs are rows of W_xh, by their number. Raises ConfigError for none, or for lengths that differ.

    >>> from rnnviz.lecture.machine import Machine, numbers
    >>> walk(Machine().net, numbers("mac"), numbers("cin")).state.shape
    (3, 2, 4)
    """
    lengths = sorted({len(sequence) for sequence in sequences})
    if len(lengths) != 1 or not lengths[0]:
        raise ConfigError(
            "a minibatch is made of sequences of one length, 1 or more; received {lengths}", lengths=lengths
        )
    x = np.eye(len(net.W_xh))[np.array(sequences).T]  # (T, n, X)
    from_input = x @ net.W_xh  # (T, n, H)
    runs = [forwards(from_input[:, i] + net.b_h, net.W_hh)[0] for i in range(len(sequences))]
    states = np.stack(runs, axis=1)  # (T + 1, n, H)
    from_state = states[:-1] @ net.W_hh
    pre = from_input + from_state + net.b_h
    return Steps(x, states[:-1], from_input, from_state, pre, states[1:], states[1:] @ net.W_hq + net.b_q)


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
        rows = reading.weights.rows(0, reading.inputs, reading.top)
        self._from_inputs: Floats = rows - layer.b  # (T + 1, H)
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
