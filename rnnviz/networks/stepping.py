"""The recurrences of one text at a time, character after character, in numpy.

At batch 1 numpy's cheaper calls decide: a step of a GRU with 256 units takes about 18 µs here and 50 µs in
torch's fused layer. So tracing, sampling and scoring (all but LSTMs) on a CPU step through here.

Two tricks, both exact: X_t W_xh + b_h of the first layer is looked up in a table over the V + 1 inputs; and
the halves of σ(x) = (1 + tanh(x/2)) / 2, which can't overflow, are multiplied into the weights.

Shape letters: n rows, G parts of a cell (1, 3 or 4), H units, L layers, V symbols.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.networks import linear
from rnnviz.networks.config import CELLS

BLOCK = 256
"""Rows of one pass through the layers: one layer's output stays in the cache."""

LOGITS = 1 << 20
"""Entries (rows by symbols) of one block of the readout: bounds the memory of a long text."""

PRODUCT = 400_000
"""Entries of a matrix that one row is multiplied with in one call.

OpenBLAS hands larger ones (from 460,800) to several threads and waits for all of them: 75 µs become
3 to 10 ms where another program is using the cores.
"""

Hook = Callable[[int, Floats], None]
"""Changes a layer's state (1, H) in place after input number t, counted from 0."""

Hooks = Mapping[tuple[int, str], Hook]
"""The hook of a layer's "hidden" state, or of an LSTM's "cell", from which its hidden state then follows."""

BlockHook = Callable[[int], None] | None
"""A hook inside a block of inputs, given the step in it."""

NO_HOOKS: Hooks = MappingProxyType({})


@dataclass(frozen=True)
class Layer:
    """One layer's weights, contiguous float32, gates halved as above.

    table (V + 1, G·H)  X_t W_x + b for every input; only in the first layer, if small enough
    W_x   (G·H, X)      the weights that make such rows, otherwise
    b     (G·H,)
    W_h   (G·H, H)      None for an mlp
    b_n   (H,)          a GRU candidate's second bias, halved
    W_in  (G·H, X)      W_x, kept beside a table too, for gradients with respect to inputs
    """

    cell: str
    units: int
    activation: str
    table: Floats | None
    W_x: Floats | None
    b: Floats
    W_h: Floats | None
    b_n: Floats | None
    W_in: Floats

    def from_inputs(self, x: Floats) -> Floats:
        """X W_x + b, (n, G·H), for inputs (n, X)."""
        assert self.W_x is not None
        rows = product(x, self.W_x)
        rows += self.b
        return rows


@dataclass(frozen=True)
class Weights:
    """A model's weights, ready for stepping, immutable: see `rnnviz.networks.numpy_model.weights_of`."""

    layers: tuple[Layer, ...]
    embedding: Floats | None  # (V + 1, X), where the first layer has no table
    readout: Floats  # (V, H)
    bias: Floats  # (V,)

    @property
    def cell(self) -> str:
        """A name of `rnnviz.networks.config.CELLS`."""
        return self.layers[0].cell

    @property
    def dtype(self) -> np.dtype[Any]:
        """In what everything is computed."""
        return self.bias.dtype

    def states(self, rows: int) -> tuple[Floats, Floats | None]:
        """Zeros to step in: hidden (rows, L, H), and for an LSTM the cell, as large."""
        shape = (rows, len(self.layers), self.layers[0].units)
        return np.zeros(shape, self.dtype), np.zeros(shape, self.dtype) if CELLS[self.cell].has_cell else None

    def run(
        self, ids: Ids, hidden: Floats, cell: Floats | None, hooks: Hooks = NO_HOOKS, time: int = 0
    ) -> None:
        """Read the inputs `ids` (n,), writing the states after each into rows 1 .. n.

        Row 0 of `hidden` (n + 1, L, H), and of an LSTM's `cell`, is the state before the first input. `hooks`
        change each new state; to them the first input is number `time`.
        """
        # A relu network may explode; torch's does so silently too.
        with np.errstate(over="ignore", invalid="ignore"):
            for begin in range(0, len(ids), BLOCK):
                end = min(begin + BLOCK, len(ids))
                for n, layer in enumerate(self.layers):
                    rows, pick = self._inputs(layer, ids[begin:end], hidden[begin + 1 : end + 1, n - 1])
                    h = hidden[begin : end + 1, n]
                    c = None if cell is None else cell[begin : end + 1, n]
                    hook = _in_block(hooks.get((n, "hidden")), time + begin, h)
                    if layer.cell == "gru":
                        _gru(layer, rows, pick, h, hook)
                    elif layer.cell == "lstm":
                        assert c is not None
                        _lstm(
                            layer, rows, pick, h, c, hook, _in_block(hooks.get((n, "cell")), time + begin, c)
                        )
                    elif layer.cell == "rnn":
                        _rnn(layer, rows, pick, h, hook)
                    elif CELLS[layer.cell].linear:
                        _linear(rows[pick], h, hook)
                    else:
                        _activate(rows[pick], layer.activation, h[1:])
                        if hook:
                            for t in range(end - begin):
                                hook(t)

    def _inputs(self, layer: Layer, ids: Ids, below: Floats) -> tuple[Floats, list[int]]:
        """Rows of X W_x + b, and which of them each time step takes."""
        if layer.table is not None:
            return layer.table, ids.tolist()
        if layer is self.layers[0]:
            assert self.embedding is not None
            below = self.embedding[ids]
        return layer.from_inputs(below), list(range(len(ids)))

    def gates(self, ids: Ids, hidden: Floats) -> dict[str, Floats]:
        """The gates of each step, name → (n, L, H), for inputs (n,) and their states (n + 1, L, H).

        Row t of `hidden` is the state before input t. Empty for cells without gates.
        """
        names = CELLS[self.cell].gates
        n, units = len(ids), self.layers[0].units
        out = {name: np.empty((n, len(self.layers), units), self.dtype) for name in names}
        for begin in range(0, n if names else 0, BLOCK):
            end = min(begin + BLOCK, n)
            for number, layer in enumerate(self.layers):
                rows, pick = self._inputs(layer, ids[begin:end], hidden[begin + 1 : end + 1, number - 1])
                if CELLS[self.cell].linear:
                    parts = linear.parts(rows[pick], linear.NUMPY)
                    for name in names:
                        out[name][begin:end, number] = parts[name]
                    continue
                assert layer.W_h is not None
                x = rows[pick].reshape(-1, len(names), units)
                h = (hidden[begin:end, number] @ layer.W_h.T).reshape(x.shape)
                for part, name in enumerate(names[:-1]):
                    out[name][begin:end, number] = 0.5 * np.tanh(x[:, part] + h[:, part]) + 0.5
                last = h[:, -1]
                if layer.b_n is not None:
                    last = 2 * out["reset"][begin:end, number] * (last + layer.b_n)
                out["candidate"][begin:end, number] = np.tanh(x[:, -1] + last)
        return out

    def logits(self, top: Floats) -> Floats:
        """O = H W_hq + b_q, (n, V), for states (n, H) of the top layer."""
        logits = product(top, self.readout)
        logits += self.bias
        return logits

    def predict(self, top: Floats) -> tuple[Floats, Doubles]:
        """Unnormalised log-probabilities (n, V), at most 0, and the log of their sum (n,), in nats.

        For states (n, H) of the top layer. log P = first - second[:, None].
        """
        logits = self.logits(top)
        logits -= logits.max(axis=1, keepdims=True)
        return logits, np.log(np.exp(logits).sum(axis=1, dtype=np.float64))

    def log_probs(self, top: Floats) -> Floats:
        """log P (n, V) in nats, for states (n, H) of the top layer."""
        out = np.empty((len(top), len(self.bias)), self.dtype)
        step = max(1, LOGITS // len(self.bias))
        for begin in range(0, len(top), step):
            logits, log_sum = self.predict(top[begin : begin + step])
            np.subtract(logits, log_sum[:, None], out=out[begin : begin + step], casting="same_kind")
        return out


class NetworkReader:
    """A network that reads one text in pieces of any length, and predicts what comes next.

    `hidden` (1, L, H), and an LSTM's `cell`, are carried from piece to piece: zeros at first, or a copy of
    `state`, (L, H) each. `time` counts the inputs read, for `hooks`.
    """

    def __init__(
        self,
        weights: Weights,
        state: tuple[Floats, Floats | None] | None = None,
        *,
        time: int = 0,
        hooks: Hooks = NO_HOOKS,
    ) -> None:
        self.weights, self.time, self._hooks = weights, time, hooks
        self.hidden, self.cell = weights.states(1)
        if state is not None:
            self.hidden[0] = state[0]
            if self.cell is not None and state[1] is not None:
                self.cell[0] = state[1]

    def states(self, ids: Ids) -> tuple[Floats, Floats | None]:
        """H (n + 1, L, H), and an LSTM's C, before the first of the inputs `ids` (n,) and after each."""
        hidden, cell = self.weights.states(len(ids) + 1)
        hidden[0] = self.hidden[0]
        if cell is not None and self.cell is not None:
            cell[0] = self.cell[0]
        self.weights.run(ids, hidden, cell, self._hooks, self.time)
        self.time += len(ids)
        self.hidden, self.cell = hidden[-1:].copy(), None if cell is None else cell[-1:].copy()
        return hidden, cell

    def read(self, ids: Ids) -> Floats:
        """The states of the top layer after each of the inputs `ids` (n,), (n, H)."""
        return self.states(ids)[0][1:, -1]

    def log_probs(self) -> Doubles:
        """log P (V,) of the next symbol, in nats; not finite where the network gives no probabilities."""
        with np.errstate(over="ignore", invalid="ignore"):
            logits, log_sum = self.weights.predict(self.hidden[:, -1])
            return np.asarray(logits[0].astype(np.float64) - log_sum[0])


def _parts(weights: Floats, out: Floats) -> list[tuple[Floats, Floats]]:
    """`weights` (R, X) and the vector `out` (R,) of a product with it, cut into pieces of equal rows."""
    step = max(1, PRODUCT // weights.shape[1])
    return [(weights[n : n + step], out[n : n + step]) for n in range(0, len(weights), step)]


def product(rows: Floats, weights: Floats) -> Floats:
    """`rows` (n, X) times the transpose of `weights` (R, X): (n, R)."""
    if len(rows) != 1:
        return rows @ weights.T
    out = np.empty((1, len(weights)), weights.dtype)
    for part, target in _parts(weights, out[0]):
        np.dot(part, rows[0], out=target)
    return out


def _activate(x: Floats, activation: str, out: Floats) -> None:
    if activation == "tanh":
        np.tanh(x, out=out)
    else:
        np.maximum(x, 0, out=out)


def _in_block(hook: Hook | None, begin: int, states: Floats) -> BlockHook:
    if hook is None:
        return None
    return lambda t: hook(begin + t, states[t + 1 : t + 2])


def _linear(inputs: Floats, h: Floats, hook: BlockHook) -> None:
    """H_t = A_t ⊙ H_{t-1} + B_t, of inputs (n, G·H); both parts for all steps at once."""
    keep, write = linear.step(inputs, linear.NUMPY)
    for t in range(len(inputs)):
        np.multiply(h[t], keep[t], out=h[t + 1])
        h[t + 1] += write[t]
        if hook:
            hook(t)


def _rnn(layer: Layer, rows: Floats, pick: list[int], h: Floats, hook: BlockHook) -> None:
    """H_t = φ(x_t + W_h H_{t-1}), where x_t is a row of X W_xh + b_h."""
    assert layer.W_h is not None
    pre = np.empty(layer.units, h.dtype)
    parts = _parts(layer.W_h, pre)
    for t, row in enumerate(pick):
        before = h[t]
        for weights, target in parts:
            np.dot(weights, before, out=target)
        pre += rows[row]
        _activate(pre, layer.activation, h[t + 1])
        if hook:
            hook(t)


def _gru(layer: Layer, rows: Floats, pick: list[int], h: Floats, hook: BlockHook) -> None:
    """H_t = H̃_t + Z_t ⊙ (H_{t-1} - H̃_t), with both gates as 1 + tanh, twice their value."""
    assert layer.W_h is not None
    assert layer.b_n is not None
    units = layer.units
    pre, candidate = np.empty(3 * units, h.dtype), np.empty(units, h.dtype)
    gates, reset, update, state = pre[: 2 * units], pre[:units], pre[units : 2 * units], pre[2 * units :]
    x_gates, x_candidate = rows[:, : 2 * units], rows[:, 2 * units :]
    parts = _parts(layer.W_h, pre)
    for t, row in enumerate(pick):
        before, after = h[t], h[t + 1]
        for weights, target in parts:
            np.dot(weights, before, out=target)
        gates += x_gates[row]
        np.tanh(gates, out=gates)
        gates += 1
        state += layer.b_n
        state *= reset
        state += x_candidate[row]
        np.tanh(state, out=candidate)
        np.subtract(before, candidate, out=after)
        after *= update
        after *= 0.5
        after += candidate
        if hook:
            hook(t)


def _lstm(
    layer: Layer, rows: Floats, pick: list[int], h: Floats, c: Floats, hook: BlockHook, cell_hook: BlockHook
) -> None:
    """C_t = F_t ⊙ C_{t-1} + I_t ⊙ C̃_t and H_t = O_t ⊙ tanh(C_t); one tanh serves all four parts."""
    assert layer.W_h is not None
    units = layer.units
    pre, scratch = np.empty(4 * units, h.dtype), np.empty(units, h.dtype)
    gates = pre[: 3 * units]
    input_, forget, output, candidate = (pre[n * units : (n + 1) * units] for n in range(4))
    parts = _parts(layer.W_h, pre)
    for t, row in enumerate(pick):
        before, after, cell = h[t], h[t + 1], c[t + 1]
        for weights, target in parts:
            np.dot(weights, before, out=target)
        pre += rows[row]
        np.tanh(pre, out=pre)
        gates *= 0.5
        gates += 0.5
        np.multiply(forget, c[t], out=cell)
        np.multiply(input_, candidate, out=scratch)
        cell += scratch
        if cell_hook:
            cell_hook(t)
        np.tanh(cell, out=after)
        after *= output
        if hook:
            hook(t)
