"""Batched scoring: a network reads a long text as stretches side by side, and many short texts side by side.

A batch is faster than one row after another because memory limits a matrix-vector product. A single short
text is read in sequence.

    stretch        0          1          2      …        each one row of a batch
    warm-up              ≤≤≤≤≤     ≤≤≤≤≤                WARM_UP characters before it, from the first state
    seam                 |          |                   where one stretch ends and the next one began

A recurrent network forgets: after its warm-up, a stretch usually has the state in which the stretch before
ends. If the two differ by more than TOLERANCE, the stretch is read again from the right state until it meets
the first reading. States are compared every CHUNK steps.

Some texts keep a network from forgetting, mostly texts unlike all its training text: rounding then grows with
every step instead of fading. Two orders of computing, each as right as the other, give single characters
costs that differ by nats. No way of reading in float32 agrees with another there. Such stretches are read
again to their end without meeting the first reading; `unsettled` counts their characters. In float64 rounding
is 5e8 times as small. Such a text magnifies that too: far enough into it, a cost is one of many possible
roundings.

Shape letters: B rows (stretches or texts), T time steps, L layers, H hidden units, V symbols, n characters.
"""

import os
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.networks.numpy_engine import LOGITS, NO_CHANGES, Changes, Weights
from rnnviz.networks.prediction import Scores, Stepwise, entropy, normalised, rank
from rnnviz.networks.progress import mapped, run
from rnnviz.networks.threads import Threads, blas, cores, ours, worth_trying_alone

State: TypeAlias = "tuple[Floats, ...]"
"""H, and an LSTM's C, (L, B, H) each."""

CHUNK = 64
"""Time steps read at a time."""

IN_SEQUENCE = 1024
"""Characters that are read at a time in sequence."""

WARM_UP = 256
"""Characters a stretch reads before its own."""

TOLERANCE = 1e-5
"""The largest difference at which two states count as the same: absolute for entries up to 1, relative for
larger ones. Where differences fade, it moves no -log P by 1e-4 nats."""

SHORTEST = 2048
"""Characters of a stretch at least: a long memory crosses few seams then."""

EVEN = 8
"""Stretches are a multiple of it: OpenBLAS multiplies 80 rows in less time than 83."""

LEAST = EVEN * SHORTEST
"""Shorter texts are read in sequence: so few rows are no faster."""

PIECE = 1 << 19
"""Characters best read at a time."""

ROWS = 96
"""Stretches, or texts, side by side at most. For a GRU with 256 units 64 rows take a fifth longer on two
threads, and 128 no less; for an LSTM 128 take 7 % longer."""

FEWEST = 8
"""Rows for a thread at least: a thread with fewer is no gain."""


class Engine(Protocol):
    """Reads the rows of a batch some steps at a time, with the weights that the model had at the start."""

    size: int
    """V."""

    threads: Threads
    """The number of threads that compute a batch."""

    alone: Threads
    """The number of threads that compute a single row."""

    shares: bool
    """Whether rnnviz's threads share the rows of a batch, each calling `states`."""

    def zeros(self, rows: int) -> State:
        """The state before a text, `rows` times."""

    def states(self, inputs: Ids, state: State) -> tuple[Any, State]:
        """The top layer's H (T, B, H) after each of the inputs (B, T), and the state after the last."""

    def logits(self, top: Any) -> Floats:
        """O (n, V) of rows (n, H) of the top layer."""


class NumpyEngine:
    """The Engine of numpy: on the CPU, in the weights' precision."""

    shares = True

    def __init__(self, weights: Weights, *, whole: bool = False, changes: Changes = NO_CHANGES) -> None:
        self._weights, self.size, self.logits = weights, len(weights.bias), weights.logits
        self._changes, self._time = changes, 0  # of one text, read in sequence
        self._whole = whole  # `states` gives every state, not the top layer's H alone
        self.threads = Threads(worth_trying_alone(), use=ours)
        self.alone = Threads(worth_trying_alone(), use=blas)

    def zeros(self, rows: int) -> State:
        return tuple(part[0] for part in self._weights.states(1, rows) if part is not None)

    def states(self, inputs: Ids, state: State) -> tuple[Any, State]:
        parts = [np.empty((inputs.shape[1] + 1, *part.shape), part.dtype) for part in state]
        for part, before in zip(parts, state, strict=True):
            part[0] = before
        hidden, cell = (*parts, None)[:2]
        assert hidden is not None
        if len(inputs) == 1:  # a vector's product is quicker than a matrix's of one row
            one = None if cell is None else cell[:, :, 0]
            self._weights.run(inputs[0], hidden[:, :, 0], one, self._changes, self._time)
            self._time += inputs.size
        else:
            self._weights.run(inputs.T, hidden, cell)
        top: Any = [part[1:] for part in parts] if self._whole else hidden[1:, -1]
        return top, tuple(part[-1].copy() for part in parts)


class Done(NamedTuple):
    """The progress of reading a piece: characters, and their cost."""

    characters: int
    nats: float

    def plus(self, more: "Done") -> "Done":
        """The sum with `more`."""
        return Done(self.characters + more.characters, self.nats + more.nats)


class _Out:
    """The results for n characters, laid out as (B, T): their Scores, or every prediction."""

    def __init__(self, shape: tuple[int, int], *, want: bool = False, predicted: int = 0) -> None:
        self.want, self.done = want, Done(0, 0.0)
        self.log_p: Doubles = np.zeros(shape)
        self.rank, self.entropy = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        self.predictions = np.empty((*shape, predicted)) if predicted else None

    def flat(self) -> Scores:
        return Scores(self.log_p.ravel(), self.rank.ravel(), self.entropy.ravel())

    def put(self, engine: Engine, which: Ids, when: slice, top: Any, targets: Ids) -> None:
        """Fill in rows `which` at the steps `when`, given H (T, B, H) and the symbols that came, (B, T)."""
        h, came = top.reshape(-1, top.shape[-1]), targets.T.ravel()  # time first, as in memory
        step, found = max(1, LOGITS // engine.size), []
        for begin in range(0, len(came), step):
            found.append(self._block(engine.logits(h[begin : begin + step]), came[begin : begin + step]))
        if self.predictions is not None:
            self.predictions[which, when] = np.concatenate(found).reshape(*targets.T.shape, -1).swapaxes(0, 1)
            return
        log_p, ranks, entropies = (values.reshape(targets.T.shape).T for values in Scores.joined(found))
        self.log_p[which, when] = log_p
        self.rank[which, when], self.entropy[which, when] = ranks, entropies

    def _block(self, logits: Floats, ids: Ids) -> Any:
        """The Scores of n symbols, or log P (n, V), given O (n, V)."""
        logits, log_sum = normalised(logits)
        if self.predictions is not None:
            return logits - log_sum[:, None]
        log_p = logits[np.arange(len(ids)), ids] - log_sum
        if not self.want:
            return Scores.unranked(log_p)
        return Scores(log_p, rank(logits, ids), entropy(logits, log_sum))


class _States(_Out):
    """All states after each character, (B, T, L, H): H and an LSTM's C."""

    def __init__(self, shape: tuple[int, int], state: State) -> None:
        super().__init__(shape)
        self.parts = [np.empty((*shape, len(part), part.shape[2]), part.dtype) for part in state]

    def put(self, engine: Engine, which: Ids, when: slice, top: Any, targets: Ids) -> None:
        """Fill in rows `which` at the steps `when`, given states (T, L, B, H) each."""
        for into, values in zip(self.parts, top, strict=True):
            into[which, when] = values.transpose(2, 0, 1, 3)


def _read(
    engine: Engine, inputs: Ids, state: State, out: _Out | None, which: Ids, when: slice, targets: Ids
) -> State:
    """Read (B, T) inputs from a state, in threads that share the rows, and fill in `out`."""

    def work(rows: slice) -> State:
        with np.errstate(over="ignore", invalid="ignore"):  # numpy has one for each thread
            top, after = engine.states(inputs[rows], tuple(part[:, rows] for part in state))
            if out is not None:
                out.put(engine, which[rows], when, top, targets[rows])
        return after

    B = len(inputs)
    parts = max(1, min(engine.threads.allowed, B // FEWEST)) if engine.shares else 1
    ends = [B * n // parts for n in range(parts + 1)]
    slices = [slice(*ends[n : n + 2]) for n in range(parts)]
    others = [_pool().submit(work, each) for each in slices[1:]]
    found = [work(slices[0]), *(each.result() for each in others)]
    return tuple(np.concatenate(each, axis=1) for each in zip(*found, strict=True))


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), "rnnviz-numpy")


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads, and would wait for them
    os.register_at_fork(after_in_child=_pool.cache_clear)


class CharScorer(Stepwise):
    """Feeds one text through a model, the state carried from piece to piece.

    Long pieces are read as stretches side by side if `wide`, others in sequence. Both agree to 1e-4 nats a
    character, unless the text makes the network magnify rounding: see the module.

    read_again  characters read twice because of seams
    unsettled   characters of stretches whose second reading never met the first
    """

    def __init__(self, engine: Engine, start: int, *, wide: bool) -> None:
        self._engine, self._last, self._wide = engine, start, wide
        self._state = engine.zeros(1)
        self.read_again = self.unsettled = 0
        self.piece = PIECE if wide else IN_SEQUENCE
        """Characters best handed over at a time."""

    @property
    def memory(self) -> State:
        """The current state, (L, 1, H) each; for `remember`."""
        return self._state

    def remember(self, last: int, memory: State) -> None:
        """Go on from the state `memory`; `last` is the symbol that is read next."""
        self._last, self._state = last, memory

    def advance_predictions(self, ids: Ids) -> Doubles:
        """log P (n, V) in nats of every symbol before each of `ids` (n,); then `ids` have been read.

        Takes twice the memory of the result: hand over some thousands at a time.
        """
        V = self._engine.size
        return np.concatenate(
            [np.empty((0, V)), *(out.predictions.reshape(-1, V) for out in run(self._all(ids, predicted=V)))]
        )

    def advancing(self, ids: Ids, *, want: bool) -> Generator[Done, None, Scores]:
        """`advance_details` step by step: yields its progress several times a second.

        Rank and entropy are computed if `want`. A generator that isn't run to its end leaves the scorer
        unusable.
        """
        found = yield from self._all(ids, want=want)
        return Scores.joined([out.flat() for out in found])

    def states(self, ids: Ids) -> Generator[Done, None, State]:
        """Every state after each of `ids` (n,), (n, L, H) each. The engine must be made with `whole`."""
        found = yield from self._all(ids, whole=True)
        every = [[part.reshape(-1, *part.shape[2:]) for part in out.parts] for out in found]
        return tuple(np.concatenate(parts) for parts in zip(*every, strict=True))

    def _all(self, ids: Ids, **asked: Any) -> Generator[Done, None, list[Any]]:
        """The results of `_next` for all of `ids`, piece after piece."""
        found, done = [], Done(0, 0.0)
        while done.characters < len(ids):
            out = yield from mapped(self._next(ids[done.characters :], **asked), done.plus)
            found.append(out)
            done = done.plus(Done(out.log_p.size, -float(out.log_p.sum())))
            yield done
        return found

    def _next(
        self, ids: Ids, *, want: bool = False, predicted: int = 0, whole: bool = False
    ) -> Generator[Done, None, _Out]:
        """Read the next piece of `ids`, in sequence or side by side."""
        now, B = ids[:IN_SEQUENCE], 1
        if self._wide and min(len(ids), PIECE) >= LEAST:
            now = ids[:PIECE]
            B = min(ROWS, len(now) // SHORTEST) // EVEN * EVEN
            now = now[: len(now) - len(now) % B]
        inputs = np.concatenate(([self._last], now[:-1])).reshape(B, -1)
        targets = now.reshape(B, -1)
        shape = B, targets.shape[1]
        out = _States(shape, self._state) if whole else _Out(shape, want=want, predicted=predicted)
        if B > 1:
            self._state = yield from self._side_by_side(inputs, targets, out)
        else:
            when = slice(0, targets.shape[1])
            with self._engine.alone.piece(len(now)):
                self._state = _read(self._engine, inputs, self._state, out, np.arange(1), when, targets)
        self._last = int(now[-1])
        return out

    def _side_by_side(self, x: Ids, y: Ids, out: _Out) -> Generator[Done, None, State]:
        """Read stretches x (B, T); returns the state at the end. Yields progress every CHUNK steps."""
        engine, (B, T) = self._engine, x.shape
        start, rows = self._warm_up(x), np.arange(B)
        grid: list[State] = []
        reading = start
        for begin in range(0, T, CHUNK):
            now = slice(begin, min(begin + CHUNK, T))
            with engine.threads.piece(B * (now.stop - begin)):
                reading = _read(engine, x[:, now], reading, out, rows, now, y[:, now])
            grid.append(tuple(part.copy() for part in reading))
            out.done = out.done.plus(Done(B * (now.stop - begin), -float(out.log_p[:, now].sum())))
            yield out.done
        yield from self._mend(x, y, out, start, grid)
        return tuple(part[:, -1:].copy() for part in grid[-1])

    def _warm_up(self, x: Ids) -> State:
        """The state each stretch begins with: exact for the first, likely for the others."""
        (B, T), nothing = x.shape, np.empty(0, np.int64)
        # The current state guesses long memories better than zeros do.
        warm = tuple(np.repeat(part, B - 1, axis=1) for part in self._state)
        with self._engine.threads.piece():
            for begin in range(T - WARM_UP, T, CHUNK):
                now = slice(begin, begin + CHUNK)
                warm = _read(self._engine, x[:-1, now], warm, None, nothing, now, nothing)
        return tuple(np.concatenate(parts, axis=1) for parts in zip(self._state, warm, strict=True))

    def _mend(
        self, x: Ids, y: Ids, out: _Out, start: State, grid: list[State]
    ) -> Generator[Done, None, None]:
        """Read again the stretches that did not begin in the state in which the stretch before ends.

        At first all are read together, as most meet their first reading. Once that has cost as much as the
        whole text, only the first of them is read: it follows a right stretch, and so is right afterwards.
        The text is read again at most twice.
        """
        T = x.shape[1]
        never_met: set[int] = set()
        together = x.size  # characters
        while True:
            ends = tuple(part[:, :-1] for part in grid[-1])
            stretches = _differ(ends, tuple(part[:, 1:] for part in start)) + 1
            if not len(stretches):
                self.unsettled += len(never_met) * T
                return
            stretches = stretches[: max(1, together // T)]
            reading = tuple(part[:, stretches - 1] for part in ends)
            _put(start, stretches, reading)
            for begin, kept in zip(range(0, T, CHUNK), grid, strict=True):
                now = slice(begin, min(begin + CHUNK, T))
                with self._engine.threads.piece():
                    x_now, y_now = x[stretches, now], y[stretches, now]
                    reading = _read(self._engine, x_now, reading, out, stretches, now, y_now)
                self.read_again += x_now.size
                together -= x_now.size
                going = _differ(reading, tuple(part[:, stretches] for part in kept))
                _put(kept, stretches, reading)
                stretches, reading = stretches[going], tuple(part[:, going] for part in reading)
                yield out.done
                if not len(stretches):
                    break
            never_met.update(stretches.tolist())

    def each(self, texts: Sequence[Ids]) -> list[Doubles]:
        """log P in nats of each symbol of many texts, (n,) each, given the symbols before it in that text and
        all that the scorer has read.

        Short texts are read side by side, long ones as by `advance`. The number of texts and their company
        move a cost by rounding alone. The scorer's state stays.
        """
        found: list[Doubles] = [np.empty(0)] * len(texts)
        for n, ids in enumerate(texts):
            if len(ids) >= LEAST:
                alone = copy(self)
                found[n] = alone.advance(ids)
        for group in _groups([len(ids) for ids in texts]):
            for n, log_p in zip(group, self._short_texts([texts[n] for n in group]), strict=True):
                found[n] = log_p
        return found

    def _short_texts(self, rows: Sequence[Ids]) -> list[Doubles]:
        """log P of the symbols of texts, the longest first: texts that have ended leave the batch."""
        lengths = np.array([len(row) for row in rows])
        targets = np.zeros((len(rows), int(lengths[0])), np.int64)
        for row, ids in zip(targets, rows, strict=True):
            row[: len(ids)] = ids
        inputs = np.empty_like(targets)
        inputs[:, 0], inputs[:, 1:] = self._last, targets[:, :-1]
        out = _Out(targets.shape)
        state = tuple(np.repeat(part, len(rows), axis=1) for part in self._state)
        for begin in range(0, int(lengths[0]), CHUNK):
            alive = int((lengths > begin).sum())
            now = slice(begin, min(begin + CHUNK, int(lengths[0])))
            state = tuple(part[:, :alive] for part in state)
            with self._engine.threads.piece(alive * (now.stop - begin)):
                x, y = inputs[:alive, now], targets[:alive, now]
                state = _read(self._engine, x, state, out, np.arange(alive), now, y)
        return [row[:n].copy() for row, n in zip(out.log_p, lengths.tolist(), strict=True)]


def _put(state: State, columns: Ids, values: State) -> None:
    for part, new in zip(state, values, strict=True):
        part[:, columns] = new


def _differ(a: State, b: State) -> Ids:
    """The numbers of the rows in which two states (L, B, H) differ."""
    found = np.zeros(a[0].shape[1], bool)
    for x, y in zip(a, b, strict=True):
        found |= (abs(x - y) > TOLERANCE * abs(y).clip(min=1)).any(axis=2).any(axis=0)
    return np.flatnonzero(found)


def _groups(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The short texts' numbers in batches, the longest first: texts of a batch are then about as long."""
    order = sorted((n for n, length in enumerate(lengths) if 0 < length < LEAST), key=lambda n: -lengths[n])
    for begin in range(0, len(order), ROWS):
        yield order[begin : begin + ROWS]
