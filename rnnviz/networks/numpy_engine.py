"""The numpy engine: any cell's record run over one text, or over B texts side by side, in float32 or float64.

At batch 1 the cost of a call decides: a step of a GRU with 256 units takes about 18 µs here and 50 µs in
torch's fused layer. So a record runs once, on stand-ins that note each call. The loop over time replays the
calls on fixed blocks of memory: a step allocates nothing and looks nothing up. Where no matrix carries the
state on, a block of steps is computed at once.

X_t W_xh + b_h of the first layer is looked up in a table over the V + 1 inputs.

Shape letters: n steps, B texts, G blocks of a cell's weights, H units, L layers, V symbols.
"""

# A recorded step, worked out. `_Step` calls the GRU's record
#
#     r, z = xp.sigmoid(x[:2] + u[:2])
#     n = xp.tanh(x[2] + r * u[2])
#     h = z * h + xp.rest(z) * n
#
# with an `xp` and with arrays that compute nothing (`_Recorder`, `_StandIn`): x + u appends the call
# np.add(x, u, a) to a list, with a buffer a for the result, and returns a stand-in for a. In the end the list
# is
#
#     dot       W_h, h      -> u          product with the state, which `_multiply` puts first
#     add       u[2], b_u   -> u[2]
#     add       x[:2], u[:2] -> a
#     negative  a           -> b          the sigmoid, as 1 / (1 + e^-a)
#     exp       b           -> c
#     add       c, 1        -> b          b's stand-in is gone: its buffer serves again
#     divide    1, b        -> c          c is r and z now
#     multiply  c[0], u[2]  -> d
#     add       x[2], d     -> e
#     tanh      e           -> d          n
#     multiply  c[1], h     -> e
#     subtract  1, c[1]     -> f
#     multiply  f, d        -> g
#     add       e, g        -> h          the new state over the old, which nothing reads any more
#
# `_replay` makes a text's steps of it: it copies a row of X_t W_x + b into x, makes the calls in order,
# copies h out, and goes on with the next row. Nothing is allocated, and no name is looked up.
#
# A buffer is free again as soon as Python deletes the last stand-in for it: `_StandIn.__del__` returns it to
# the recorder. So a step's memory is that of the values which are needed at the same time, and stays in the
# cache.
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Array, Doubles, Floats, Ids
from rnnviz.checks import received
from rnnviz.errors import ConfigError
from rnnviz.networks import cells
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import ModelConfig
from rnnviz.networks.prediction import normalised

BLOCK_ROWS = 256
"""Rows, steps by texts, of one pass through the layers: one layer's output stays in the cache."""

LOGITS_ENTRIES = 1 << 20
"""Entries (rows by symbols) of one block of the readout: bounds the memory of a long text."""

PRODUCT_ENTRIES = 400_000
"""Entries of a matrix that one row is multiplied with in one call.

OpenBLAS hands larger ones (from 460,800) to several threads and waits for all of them: 75 µs become
3 to 10 ms where another program is using the cores.
"""

MAX_SINGLE_TEXTS = 4
"""Up to so many texts are multiplied one by one: BLAS would wait for all cores over so few."""

TABLE_BYTES = 64 << 20
"""Above this size the first layer's inputs are multiplied row by row instead of looked up."""

MAX_CACHED_SHAPES = 4
"""Batch sizes whose recorded steps each thread keeps, at most."""

matmul = np.matmul
"""Each product of several rows. Its last bits depend on the processor and on the number of rows: the tests
replace it, to compute as on another processor.
"""

Change = Callable[[int, Floats], None]
"""Changes the states (B, H) of a layer in place after input number t, counted from 0."""

Changes = Mapping[tuple[int, str], Change]
"""By layer and state, "hidden" or "cell", the change; the hidden state follows from a changed cell state."""

NO_CHANGES: Changes = MappingProxyType({})

MAX_STATE_LENGTH = 1e18
"""The length of a changed state, at most: products with the square of a longer one may be infinite."""


class StateChange(Protocol):
    """A value for `change=`: rnnviz.units.Clamp, Zero, Scale, Edit, or a class of your own."""

    def changes(self, weights: "Weights") -> Changes:
        """The changes of a network's states. Raises ConfigError for an absent layer or unit."""


def combined(weights: "Weights", change: StateChange | Sequence[StateChange] | None) -> Changes:
    """The changes of one StateChange or several, in their order. Raises ConfigError for other values."""
    changes = [] if change is None else list(change) if isinstance(change, Sequence) else [change]
    # Several changes of one state apply one after another, in the order in which they were given.
    by_state: dict[tuple[int, str], list[Change]] = {}
    for state_change in changes:
        if not hasattr(state_change, "changes"):
            raise ConfigError(
                "change= takes units.Clamp, Zero, Scale or Edit, or a list of them; received {received}",
                received=received(state_change),
            )
        for where, apply in state_change.changes(weights).items():
            by_state.setdefault(where, []).append(partial(apply_checked, state_change, apply))
    return {where: partial(_in_order, in_order) for where, in_order in by_state.items()}


def apply_checked(state_change: object, apply: Change, t: int, state: Floats) -> None:
    """Apply the change `apply` of `state_change`.

    Raises ConfigError where it makes a state NaN or longer than MAX_STATE_LENGTH.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        # One product tells NaN and too large a state alike: a comparison with NaN is false. Taken before the
        # change too, as a damaged network's states are not finite to begin with.
        before = np.vdot(state, state)
        apply(t, state)
        fits = np.vdot(state, state) <= MAX_STATE_LENGTH**2  # not so where it is NaN
    if not fits and math.isfinite(before):  # else the network is damaged, which is not the change's doing
        raise ConfigError(
            "{change} makes the state after {count:,} characters NaN or larger than 1e18, too large for "
            "float32: change it less",
            change=getattr(state_change, "named", type(state_change).__name__),
            count=t,
        )


def _in_order(changes: Sequence[Change], t: int, state: Floats) -> None:
    for change in changes:
        change(t, state)


class _Functions:
    """The functions of `xp` that a record calls, made of exp, tanh, maximum and minimum."""

    exp: Any
    tanh: Any
    maximum: Any
    minimum: Any

    def __init__(self, activation: str = "tanh") -> None:
        self.phi = self.tanh if activation == "tanh" else lambda a: self.maximum(a, 0)

    def sigmoid(self, a: Any) -> Any:
        # Numpy has no sigmoid: it takes four calls.
        return 1 / (self.exp(-a) + 1)  # e^-a may overflow: σ is 0 then, as it should be

    def rest(self, z: Any) -> Any:
        return 1 - z

    def positive(self, a: Any) -> Any:
        return self.maximum(a, 0) + self.sigmoid(self.minimum(a, 0))

    def state(self, name: str, value: Any) -> Any:
        return value


class Numpy(_Functions):
    """The namespace `xp` of numpy's arrays."""

    exp, tanh, maximum, minimum = np.exp, np.tanh, np.maximum, np.minimum


class _StandIn:
    """A block of memory that a record takes for an array: each operation on it is noted."""

    def __init__(
        self, buffer: Array, recorder: "_Recorder", owner: "_StandIn | None" = None, *, recycled: bool = False
    ) -> None:
        self.buffer, self.recorder, self.recycled = buffer, recorder, recycled
        self._owner = owner  # the owner of this memory, kept alive: its block may not be reused before

    def call(self, function: Any, *args: Any) -> "_StandIn":
        dtype = self.buffer.dtype.type
        arrays = [a.buffer if isinstance(a, _StandIn) else dtype(a) for a in args]
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        # A result never takes the memory of its own arguments: their stand-ins are alive during the call, so
        # that their buffers are not among the free ones.
        free = self.recorder.free.setdefault(shape, [])
        out = free.pop() if free else np.empty(shape, dtype)
        self.recorder.calls.append(partial(function, *arrays, out))
        return _StandIn(out, self.recorder, recycled=True)

    def __del__(self) -> None:  # unreferenced: its buffer is recycled
        if self.recycled:
            self.recorder.free[self.buffer.shape].append(self.buffer)

    def __getitem__(self, block: int | slice) -> "_StandIn":
        # A view of a buffer keeps the buffer's owner alive: else x[:2] could be written over while x[0] is
        # read.
        return _StandIn(self.buffer[block], self.recorder, self)

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self.buffer)))

    def __add__(self, other: Any) -> "_StandIn":
        return self.call(np.add, self, other)

    def __sub__(self, other: Any) -> "_StandIn":
        return self.call(np.subtract, self, other)

    def __rsub__(self, other: Any) -> "_StandIn":
        return self.call(np.subtract, other, self)

    def __mul__(self, other: Any) -> "_StandIn":
        return self.call(np.multiply, self, other)

    def __rtruediv__(self, other: Any) -> "_StandIn":
        return self.call(np.divide, other, self)

    def __neg__(self) -> "_StandIn":
        return self.call(np.negative, self)


def _maximum(a: Array, b: float, out: Array) -> None:
    np.maximum(a, b, out=out)  # numpy wants `out` of maximum and minimum by name


def _minimum(a: Array, b: float, out: Array) -> None:
    np.minimum(a, b, out=out)


class _Recorder(_Functions):
    """The namespace `xp` that notes each call, in order."""

    def __init__(self, activation: str, change: Callable[[str, Floats], None]) -> None:
        super().__init__(activation)
        self.calls: list[partial[Any]] = []
        self.free: dict[tuple[int, ...], list[Array]] = {}
        self._change = change

    def exp(self, a: _StandIn) -> _StandIn:
        return a.call(np.exp, a)

    def tanh(self, a: _StandIn) -> _StandIn:
        return a.call(np.tanh, a)

    def maximum(self, a: _StandIn, b: float) -> _StandIn:
        return a.call(_maximum, a, b)

    def minimum(self, a: _StandIn, b: float) -> _StandIn:
        return a.call(_minimum, a, b)

    def state(self, name: str, value: _StandIn) -> _StandIn:
        # A call like the others, in its place among them: what is computed later reads the changed state.
        self.calls.append(partial(self._change, name, value.buffer))
        return value


@dataclass(frozen=True)
class Layer:
    """One layer's weights, contiguous, blocks in the order of its cell's record.

    table (V + 1, G·H)  X_t W_x + b for every input; only in the first layer, if small enough
    W_x   (G·H, X)
    b     (G·H,)
    W_h   (G·H, H)      None where no matrix carries the state on
    b_u   (H,)          the bias beside the last block's product with the state; None where there is none
    """

    cell: str
    units: int
    activation: str
    table: Floats | None
    W_x: Floats
    b: Floats
    W_h: Floats | None = None
    b_u: Floats | None = None

    @cached_property
    def W_h_blocks(self) -> Floats:
        """W_h transposed by block, (G, H, H), and contiguous: OpenBLAS multiplies a few rows with it a third
        faster than with a transposed view.
        """
        assert self.W_h is not None
        return np.ascontiguousarray(self.blocks(self.W_h.T))

    @cached_property
    def table_blocks(self) -> Floats:
        """The table by block, (G, V + 1, H), and contiguous."""
        assert self.table is not None
        return np.ascontiguousarray(self.blocks(self.table))

    def from_inputs(self, x: Floats) -> Floats:
        """X W_x + b, (…, G·H), for inputs (…, X)."""
        rows = product(x.reshape(-1, x.shape[-1]), self.W_x).reshape(*x.shape[:-1], -1)
        rows += self.b
        return rows

    def blocks(self, rows: Floats) -> Floats:
        """Rows (…, G·H) as a record takes them, (G, …, H)."""
        return np.moveaxis(rows.reshape(*rows.shape[:-1], -1, self.units), -2, 0)

    def from_states(self, h: Floats) -> Floats | None:
        """H W_h for states (…, H) as a record takes `u`, (G, …, H); None without W_h."""
        if self.W_h is None:
            return None
        rows = matmul(h, self.W_h.T)
        if self.b_u is not None:
            rows[..., -self.units :] += self.b_u
        return self.blocks(rows)


class _Step:
    """One layer's step, recorded: reads `x` (G, …, H) and `state`, (…, H) each, and writes the state."""

    def __init__(self, layer: Layer, rows: tuple[int, ...], changes: Mapping[str, Change]) -> None:
        kind, dtype = CELLS[layer.cell], layer.b.dtype
        self.time, self._changes, self._units = 0, changes, layer.units
        shape = (*rows, layer.units)
        # The fixed blocks that every call of the program reads or writes.
        self.x, u = (np.zeros((len(kind.blocks), *shape), dtype) for _ in range(2))
        self.state = [np.zeros(shape, dtype) for _ in range(1 + kind.has_cell)]
        recorder = _Recorder(layer.activation, self._change)
        self.calls = recorder.calls
        # The record runs here, once: from now on its calls are the step.
        self._multiply(layer, u)
        parts = kind.step(recorder, *(_StandIn(array, recorder) for array in (self.x, u, *self.state)))
        for state, name in zip(self.state, "hc", strict=False):
            self._into(state, parts[name].buffer)
        if "hidden" in changes:
            self.calls.append(partial(self._change, "hidden", self.state[0]))

    def _multiply(self, layer: Layer, u: Floats) -> None:
        """Note the product with W_h: of few texts one by one, in pieces that BLAS does with one thread."""
        assert layer.W_h is not None
        h = self.state[0]
        # One text: a matrix times a vector, in pieces that BLAS does on this thread.
        if h.ndim == 1:
            self.calls += [partial(np.dot, part, h, to) for part, to in _pieces(layer.W_h, u.reshape(-1))]
        # Many texts: h times each block of W_h, so that the results lie by block, as the record reads them.
        elif len(h) > MAX_SINGLE_TEXTS:
            self.calls.append(partial(matmul, h, layer.W_h_blocks, u))
        else:
            for W, outs in zip(np.split(layer.W_h, len(u)), u, strict=True):
                for state, out in zip(h, outs, strict=True):
                    self.calls += [partial(np.dot, part, state, to) for part, to in _pieces(W, out)]
        if layer.b_u is not None:
            self.calls.append(partial(np.add, u[-1], layer.b_u, u[-1]))

    def _into(self, state: Floats, result: Floats) -> None:
        """Note that the new state overwrites the old: at once, or by a copy if a later call reads the old."""
        # The result's buffer may have served earlier values too; only the last call that writes it makes the
        # state. A change of the state writes in place and makes nothing new.
        last_write = max(
            k for k, call in enumerate(self.calls) if call.args[-1] is result and call.func != self._change
        )
        # No cell in CELLS needs the copy: it is for one that still reads the old state when the new one is
        # made.
        if any(a is state for call in self.calls[last_write + 1 :] for a in call.args):
            self.calls.append(partial(np.copyto, state, result))
            return
        # Later calls that read the result, such as tanh of an LSTM's C, read it where it is made now.
        for k in range(last_write, len(self.calls)):
            args = (state if a is result else a for a in self.calls[k].args)
            self.calls[k] = partial(self.calls[k].func, *args)

    def _change(self, name: str, state: Floats) -> None:
        if name in self._changes:
            self._changes[name](self.time, state.reshape(-1, self._units))


class _StepCache(threading.local):
    """The recorded steps of each thread, by shape. Steps own memory, so a pickle leaves them out."""

    def __init__(self) -> None:
        # Two threads that replayed one step would write into each other's blocks.
        self.steps: dict[tuple[int, ...], list[_Step | None]] = {}

    def __reduce__(self) -> tuple[type["_StepCache"], tuple[()]]:
        return _StepCache, ()


@dataclass(frozen=True)
class Weights:
    """A model's weights, ready for stepping, immutable: see `weights_from`."""

    layers: tuple[Layer, ...]
    embedding: Floats | None  # (V + 1, X), where the first layer has no table
    readout: Floats  # (V, H)
    bias: Floats  # (V,)
    end: int | None = None  # the symbol after which a text begins anew: see rnnviz.text.vocabulary
    _step_cache: _StepCache = field(default_factory=_StepCache, repr=False, compare=False, kw_only=True)

    @property
    def cell(self) -> str:
        """A name of `rnnviz.networks.cells.CELLS`, or "custom"."""
        return self.layers[0].cell

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of all computations."""
        return self.bias.dtype

    def states(self, rows: int, texts: int | None = None) -> tuple[Floats, Floats | None]:
        """Zeros for `run` to fill in: hidden (rows, L, H) or (rows, L, texts, H); an LSTM's cell, or None."""
        units = self.layers[0].units
        shape = (rows, len(self.layers), units) if texts is None else (rows, len(self.layers), texts, units)
        return np.zeros(shape, self.dtype), np.zeros(shape, self.dtype) if CELLS[self.cell].has_cell else None

    def run(
        self,
        ids: Ids,
        hidden: Floats,
        cell: Floats | None,
        changes: Changes = NO_CHANGES,
        time: int = 0,
        *,
        first_rows: Floats | None = None,
    ) -> None:
        """Read the inputs `ids` (n,), or (n, B) of B texts, writing the states after each into rows 1 .. n.

        hidden   (n + 1, L, H) or (n + 1, L, B, H); row 0 is the state before the first input
        cell     an LSTM's C, shaped alike; None for other cells
        changes  apply to each new state, and count the first input as number `time`
        first_rows  (n, …, G·H) replaces X_t W_x + b of the first layer
        """
        if self.end is None or not (ids == self.end).any():
            self._run_on(ids, hidden, cell, changes, time, first_rows)
            return
        # The end is read as a start symbol, from the state before a text, so that a text's states don't
        # depend on the text before it. Rows of a batch end at different times: the reading is cut at each.
        ended = ids == self.end
        begins = np.flatnonzero(ended.reshape(len(ids), -1).any(axis=1))
        whole = [part for part in (hidden, cell) if part is not None]
        first = [part[0] for part in self.states(1, *ids.shape[1:]) if part is not None]
        for begin, stop in pairwise(sorted({0, *begins.tolist(), len(ids)})):
            # Copies: row `begin` has the state after a text's last character, which stays.
            parts = [part[begin : stop + 1].copy() for part in whole]
            for part, before in zip(parts, first, strict=True):
                part[0] = np.where(ended[begin][..., None], before, part[0])
            h, c = (*parts, None)[:2]
            inputs = None if first_rows is None else first_rows[begin:stop]
            self._run_on(ids[begin:stop], h, c, changes, time + begin, inputs)  # type: ignore[arg-type]
            for rows, part in zip(whole, parts, strict=True):
                rows[begin + 1 : stop + 1] = part[1:]

    def _run_on(
        self,
        ids: Ids,
        hidden: Floats,
        cell: Floats | None,
        changes: Changes,
        time: int,
        first_rows: Floats | None,
    ) -> None:
        """`run`, whatever has ended."""
        texts = ids.shape[1:]
        steps = self._steps(texts, changes)
        # Layer by layer for a block of steps, not step by step for all layers: the products with the inputs
        # of the layers above are then one product of many rows. At least 4 steps, however many texts there
        # are.
        size = max(4, BLOCK_ROWS // max(1, *texts)) if texts else BLOCK_ROWS
        # A relu network may explode; torch's does so silently too.
        with np.errstate(over="ignore", invalid="ignore"):
            for begin in range(0, len(ids), size):
                end = min(begin + size, len(ids))
                for n, (layer, step) in enumerate(zip(self.layers, steps, strict=True)):
                    h = hidden[begin : end + 1, n]
                    c = None if cell is None else cell[begin : end + 1, n]
                    rows: Floats | None = None
                    if first_rows is not None and n == 0:
                        rows = first_rows[begin:end]
                    # The first layer of a recurrent cell reads its rows from the table, one step at a time.
                    elif n or step is None or layer.table is None:
                        rows = self.rows(n, ids[begin:end], hidden[begin + 1 : end + 1, n - 1])
                    if step is None:
                        assert rows is not None
                        _at_once(layer, rows, h, changes.get((n, "hidden")), time + begin)
                    else:
                        _replay(step, layer, ids[begin:end], rows, h, c, time + begin)

    def rows(self, n: int, ids: Ids, below: Floats) -> Floats:
        """X W_x + b, (…, G·H), of layer n: from inputs (…), above layer 0 from the states `below` (…, H)."""
        layer = self.layers[n]
        if n:
            return layer.from_inputs(below)
        if layer.table is not None:
            return layer.table[ids]
        assert self.embedding is not None
        return layer.from_inputs(self.embedding[ids])

    def _steps(self, texts: tuple[int, ...], changes: Changes) -> list[_Step | None]:
        cache = self._step_cache.steps
        # Typing, one character at a time, finds its steps here and records none.
        if not changes and texts in cache:
            return cache[texts]
        steps = []
        for n, layer in enumerate(self.layers):
            layer_changes = {
                state_name: change
                for (changed_layer, state_name), change in changes.items()
                if changed_layer == n
            }
            steps.append(_Step(layer, texts, layer_changes) if CELLS[layer.cell].mixes else None)
        if not changes:  # a step that changes states belongs to one reading
            # A long text ends in a batch of another size; without a limit each file would leave steps behind.
            if len(cache) == MAX_CACHED_SHAPES:
                cache.clear()
            cache[texts] = steps
        return steps

    def gates(self, ids: Ids, hidden: Floats) -> dict[str, Floats]:
        """The gates of each step, name → (n, L, H), for inputs (n,) and their states (n + 1, L, H).

        Row t of `hidden` is the state before input t. Empty for cells without gates.
        """
        kind = CELLS[self.cell]
        n, units = len(ids), self.layers[0].units
        out = {name: np.empty((n, len(self.layers), units), self.dtype) for name in kind.gates}
        for begin in range(0, n if out else 0, BLOCK_ROWS):
            end = min(begin + BLOCK_ROWS, n)
            for number, layer in enumerate(self.layers):
                # Gates are no part of what a reading keeps. They follow again from the states, all steps at
                # once.
                before = hidden[begin:end, number]
                if self.end is not None:
                    before = np.where((ids[begin:end] == self.end)[:, None], 0, before)
                rows = self.rows(number, ids[begin:end], hidden[begin + 1 : end + 1, number - 1])
                with np.errstate(over="ignore", invalid="ignore"):
                    parts = layer_parts(layer, rows, before)
                for name, values in out.items():
                    values[begin:end, number] = parts[name]
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
        return normalised(self.logits(top))

    def log_probs(self, top: Floats) -> Floats:
        """log P (n, V) in nats, for states (n, H) of the top layer."""
        out = np.empty((len(top), len(self.bias)), self.dtype)
        step = max(1, LOGITS_ENTRIES // len(self.bias))
        for begin in range(0, len(top), step):
            logits, log_sum = self.predict(top[begin : begin + step])
            np.subtract(logits, log_sum[:, None], out=out[begin : begin + step], casting="same_kind")
        return out


def layer_parts(layer: Layer, rows: Floats, before: Floats) -> cells.Parts:
    """Every part of steps from known states `before` (…, H), with rows (…, G·H) of X W_x + b."""
    kind = CELLS[layer.cell]
    xp, x = Numpy(layer.activation), layer.blocks(rows)
    if kind.linear:
        return kind.step(xp, x)
    second = [before] if kind.has_cell else []  # stands for C, at which no gate looks
    return kind.step(xp, x, layer.from_states(before), before, *second)


def _at_once(layer: Layer, rows: Floats, h: Floats, change: Change | None, time: int) -> None:
    """Fill in rows 1 .. n of h (n + 1, …, H), for a cell without W_h."""
    parts = layer_parts(layer, rows, h[:-1])
    # A_t and B_t of all steps are known. The recurrence itself is two calls a step, with names bound once.
    if CELLS[layer.cell].linear:
        multiply, add = np.multiply, np.add
        for t, (keep, write) in enumerate(zip(parts["keep"], parts["write"], strict=True)):
            after = h[t + 1]
            multiply(keep, h[t], after)
            add(after, write, after)
            if change is not None:
                change(time + t, after.reshape(-1, layer.units))
        return
    h[1:] = parts["h"]
    if change is not None:
        for t, after in enumerate(h[1:], time):
            change(t, after.reshape(-1, layer.units))


def _replay(
    step: _Step, layer: Layer, ids: Ids, rows: Floats | None, h: Floats, c: Floats | None, time: int
) -> None:
    """Fill in rows 1 .. n of h and c (n + 1, …, H), from `rows` (n, …, G·H) or the table by `ids` (n, …)."""
    x, calls, table = step.x, step.calls, layer.table
    row, inputs = x.reshape(-1), None if rows is None else layer.blocks(rows)
    # A list's integers index a table faster than numpy's do, one at a time.
    at = ids.tolist() if ids.ndim == 1 else ids
    step.state[0][...] = h[0]
    if c is not None:
        step.state[1][...] = c[0]
    for t in range(len(ids)):
        # The three ways to a row: given, looked up for one text, looked up for a batch of texts.
        if inputs is not None:
            x[...] = inputs[:, t]
        elif ids.ndim == 1:
            row[...] = table[at[t]]  # type: ignore[index]
        else:
            np.take(layer.table_blocks, at[t], axis=1, out=x, mode="clip")  # "raise" buffers
        step.time = time + t
        # The engine's inner loop: 14 calls for a GRU, 13 for an LSTM, where one product is one call.
        for call in calls:
            call()
        h[t + 1] = step.state[0]
        if c is not None:
            c[t + 1] = step.state[1]


class NetworkReader:
    """A network that reads one text, or B side by side, in pieces of any length, and predicts what follows.

    `hidden` (1, L, H) or (1, L, B, H), and an LSTM's `cell`, are carried from piece to piece: zeros at first,
    or a copy of `state`, given without the leading 1. `time` counts the inputs read, for `changes`.
    """

    def __init__(
        self,
        weights: Weights,
        state: tuple[Floats, Floats | None] | None = None,
        *,
        texts: int | None = None,
        time: int = 0,
        changes: Changes = NO_CHANGES,
    ) -> None:
        self.weights, self.time, self._changes, self._texts = weights, time, changes, texts
        self.hidden, self.cell = weights.states(1, texts)
        if state is not None:
            self.hidden[0] = state[0]
            if self.cell is not None and state[1] is not None:
                self.cell[0] = state[1]

    def states(self, ids: Ids) -> tuple[Floats, Floats | None]:
        """H (n + 1, …), and an LSTM's C, before the first of the inputs `ids` and after each.

        Inputs are (n,), read by each text alike, or (n, B).
        """
        hidden, cell = self.weights.states(len(ids) + 1, self._texts)
        hidden[0] = self.hidden[0]
        if cell is not None and self.cell is not None:
            cell[0] = self.cell[0]
        if self._texts is not None and ids.ndim == 1:
            ids = np.broadcast_to(ids[:, None], (len(ids), self._texts))
        self.weights.run(ids, hidden, cell, self._changes, self.time)
        self.time += len(ids)
        self.hidden, self.cell = hidden[-1:].copy(), None if cell is None else cell[-1:].copy()
        return hidden, cell

    def values(self, ids: Ids, quantity: str) -> Floats:
        """A quantity after each of the inputs (n,), (n, L, H): "hidden", an LSTM's "cell", or a gate."""
        hidden, cell = self.states(ids)
        tables = {"hidden": hidden[1:], **({} if cell is None else {"cell": cell[1:]})}
        return tables[quantity] if quantity in tables else self.weights.gates(ids, hidden)[quantity]

    def read(self, ids: Ids) -> Floats:
        """The states of the top layer after each of the inputs, (n, H) or (n, B, H)."""
        return self.states(ids)[0][1:, -1]

    def log_probs(self) -> Doubles:
        """log P (V,) of the next symbol, in nats; not finite where the network gives no probabilities."""
        with np.errstate(over="ignore", invalid="ignore"):
            logits, log_sum = self.weights.predict(self.hidden[:, -1])
            return np.asarray(logits[0].astype(np.float64) - log_sum[0])


def side_by_side(states: Sequence[tuple[Floats, Floats | None]]) -> tuple[Floats, Floats | None]:
    """The states (L, H) of B texts as one, (L, B, H), for a NetworkReader of B texts."""
    cells = [cell for _, cell in states if cell is not None]
    return np.stack([hidden for hidden, _ in states], axis=1), np.stack(cells, axis=1) if cells else None


def weights_from(
    config: ModelConfig,
    tensors: Mapping[str, Array],
    dtype: npt.DTypeLike = np.float32,
    *,
    end: int | None = None,
) -> Weights:
    """Copies of `tensors`, named and shaped as in `config.shapes()`, ready for stepping in `dtype`; `end`
    is the vocabulary's.
    """
    arrays = {name: np.array(values, dtype, order="C") for name, values in tensors.items()}
    embedding = arrays.get("embedding.weight")
    layers = [_layer(config, n, arrays) for n in range(config.layers)]
    # X_t is a row of the embedding, so X_t W_x + b has V + 1 values: a product for each, once.
    W_x, b = layers[0].W_x, layers[0].b
    table = None
    if embedding is None:
        table = W_x.T + b
    elif len(embedding) * len(b) * 4 <= TABLE_BYTES:
        # In float64, where sums of products of float16 weights are exact: the number of threads, which
        # decides their order, changes no bit. A compressed text depends on every bit.
        table = (embedding.astype(np.float64) @ W_x.T.astype(np.float64) + b).astype(b.dtype)
    layers[0] = replace(layers[0], table=table)
    tied = embedding is not None and config.tied
    readout = embedding[: config.vocabulary_size].copy() if tied else arrays["readout.weight"]  # type: ignore[index]
    for inputs in (table, embedding):
        if end is not None and inputs is not None:
            inputs[end] = inputs[-1]  # read as the start symbol; training never reads it
    embedding = embedding if table is None else None
    return Weights(tuple(layers), embedding, readout, arrays["readout.bias"], end)


def _layer(config: ModelConfig, n: int, arrays: Mapping[str, Floats]) -> Layer:
    parameters = cells.parameters(CELLS[config.cell], [arrays[name] for name in config.layer_names(n)])
    W_x, W_h, b, b_u = parameters
    return Layer(config.cell, config.hidden_size, config.span, None, W_x, b, W_h, b_u)


def _pieces(weights: Floats, out: Floats) -> list[tuple[Floats, Floats]]:
    """`weights` (R, X) and the vector `out` (R,) of a product with it, cut into pieces of equal rows."""
    # Whole rows of the matrix, so that each piece of the result is complete: no sum is split.
    step = max(1, PRODUCT_ENTRIES // weights.shape[1])
    return [(weights[n : n + step], out[n : n + step]) for n in range(0, len(weights), step)]


def product(rows: Floats, weights: Floats) -> Floats:
    """`rows` (n, X) times the transpose of `weights` (R, X): (n, R)."""
    # A single row goes to `dot`, as matmul's way for one row is slower, and in pieces that stay on this
    # thread.
    if len(rows) != 1:
        products: Floats = matmul(rows, weights.T)
        return products
    out = np.empty((1, len(weights)), weights.dtype)
    for part, target in _pieces(weights, out[0]):
        np.dot(part, rows[0], out=target)
    return out
