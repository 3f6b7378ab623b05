"""Batched scoring: a network reads a long text as stretches side by side, and many short texts side by side.

A batch is faster than one row after another because memory limits a matrix-vector product. A single short
text is read in sequence.

    stretch        0          1          2      …        each one row of a batch
    warm-up              ≤≤≤≤≤     ≤≤≤≤≤                WARM_UP_CHARS before it, from the first state
    seam                 |          |                   where one stretch ends and the next one began

A recurrent network forgets: after its warm-up, a stretch usually has the state in which the stretch before
ends. If the two differ by more than STATE_TOLERANCE, the stretch is read again from the right state until it
meets the first reading. States are compared every CHUNK_STEPS steps.

Some texts keep a network from forgetting, mostly texts unlike all its training text: rounding then grows with
every step instead of fading. Two orders of computing, each as right as the other, give single characters
costs that differ by nats. No way of reading in float32 agrees with another there. Such stretches are read
again to their end without coming near the first reading; `unsettled` counts their characters. In float64
rounding is 5e8 times as small. Such a text magnifies that too: far enough into it, a cost is one of many
possible roundings.

Shape letters: B rows (stretches or texts), T time steps, L layers, H hidden units, V symbols, n characters.
"""

# Why seams are checked. A stretch's first state is a guess: the state after WARM_UP_CHARS of the text before
# it, which is right as far as the network has forgotten what came earlier. Most networks have, on most texts;
# nobody knows beforehand for which it is so. A wrong guess would move costs without a sign of it. So the
# guess is compared with the state in which the stretch before really ends, and where they differ the stretch
# is read again from there, until a state is met that the first reading had too: from that step on both
# readings are the same. A perplexity so never depends on how a text was cut.
#
# How long the overlap is. A longer warm-up costs every stretch its length, a shorter one sends more stretches
# into a second reading. 256 of at least 2,048 characters are an eighth of a reading more at the worst, and a
# GRU that keeps 97 % of its state at each step still has 4e-4 of a difference after them (tests/networks).
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cache
from typing import Any, Protocol, TypeAlias

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.networks.numpy_engine import LOGITS_ENTRIES, NO_CHANGES, Changes, Weights
from rnnviz.networks.prediction import OnRead, Scores, Stepwise, entropy, ignore_read, normalised, rank
from rnnviz.networks.threads import Threads, blas, cores, single_blas_thread, worth_trying_alone

State: TypeAlias = "tuple[Floats, ...]"
"""H, and an LSTM's C, (L, B, H) each."""

CHUNK_STEPS = 64
"""Time steps read at a time."""

SEQUENCE_CHARS = 1024
"""Characters that are read at a time in sequence."""

WARM_UP_CHARS = 256
"""Characters a stretch reads before its own."""

STATE_TOLERANCE = 1e-5
"""The largest difference at which two states count as the same: absolute for entries up to 1, relative for
larger ones. Where differences fade, it moves no -log P by 1e-4 nats."""

FADED, FADED_TO = 0.1, 1e-3
"""Two readings that differ at their stretch's end, by more than STATE_TOLERANCE, were coming together if
the difference is at most this share of what it was at the beginning, or at most so large. A unit that keeps
something for thousands of characters fades as slowly.
"""

MIN_STRETCH_CHARS = 2048
"""Characters of a stretch at least: a long memory crosses few seams then."""

ROW_MULTIPLE = 8
"""Stretches are a multiple of it: OpenBLAS multiplies 80 rows in less time than 83."""

MIN_SPLIT_CHARS = ROW_MULTIPLE * MIN_STRETCH_CHARS
"""Shorter texts are read in sequence: so few rows are no faster."""

BATCHED_PIECE_CHARS = 1 << 19
"""Characters best read at a time."""

MAX_ROWS = 96
"""Stretches, or texts, side by side at most. For a GRU with 256 units 64 rows take a fifth longer on two
threads, and 128 no less; for an LSTM 128 take 7 % longer."""

MIN_THREAD_ROWS = 8
"""Rows for a thread at least: a thread with fewer is no gain."""


class Engine(Protocol):
    """Reads the rows of a batch some steps at a time, with the weights that the model had at the start."""

    size: int
    """V."""

    threads: Threads
    """The number of threads that compute a batch."""

    row_threads: Threads
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

    def __init__(self, weights: Weights, *, all_states: bool = False, changes: Changes = NO_CHANGES) -> None:
        self._weights, self.size, self.logits = weights, len(weights.bias), weights.logits
        self._changes, self._time = changes, 0  # of one text, read in sequence
        self._all_states = all_states  # `states` gives every state, not the top layer's H alone
        # A batch: threads of ours share the rows, and BLAS computes each product on the thread that asks. One
        # text: there are no rows to share, so BLAS's threads share each product, where that proves faster.
        self.threads = Threads(worth_trying_alone(), use=single_blas_thread)
        self.row_threads = Threads(worth_trying_alone(), use=blas)

    def zeros(self, rows: int) -> State:
        return tuple(part[0] for part in self._weights.states(1, rows) if part is not None)

    def states(self, inputs: Ids, state: State) -> tuple[Any, State]:
        # One row more than steps: row 0 is the state before, as `Weights.run` wants it.
        parts = [np.empty((inputs.shape[1] + 1, *part.shape), part.dtype) for part in state]
        for part, before in zip(parts, state, strict=True):
            part[0] = before
        hidden, cell = (*parts, None)[:2]
        assert hidden is not None
        if len(inputs) == 1:  # a vector's product is quicker than a matrix's of one row
            single_cell = None if cell is None else cell[:, :, 0]
            self._weights.run(inputs[0], hidden[:, :, 0], single_cell, self._changes, self._time)
            self._time += inputs.size
        else:
            self._weights.run(inputs.T, hidden, cell)
        top: Any = [part[1:] for part in parts] if self._all_states else hidden[1:, -1]
        return top, tuple(part[-1].copy() for part in parts)


class _Results:
    """The results for n characters, laid out as (B, T): their Scores, or every prediction."""

    def __init__(self, shape: tuple[int, int], *, details: bool = False, prediction_width: int = 0) -> None:
        self.details = details
        self.log_p: Doubles = np.zeros(shape)
        self.rank, self.entropy = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        self.predictions = np.empty((*shape, prediction_width)) if prediction_width else None

    def flat(self) -> Scores:
        return Scores(self.log_p.ravel(), self.rank.ravel(), self.entropy.ravel())

    def fill(self, engine: Engine, rows: Ids, when: slice, top: Any, targets: Ids) -> None:
        """Fill in `rows` at the steps `when`, given H (T, B, H) and the symbols that came, (B, T)."""
        h, symbols = top.reshape(-1, top.shape[-1]), targets.T.ravel()  # time first, as in memory
        # A block of logits at a time: their memory doesn't grow with the vocabulary.
        step, blocks = max(1, LOGITS_ENTRIES // engine.size), []
        for begin in range(0, len(symbols), step):
            blocks.append(self._block(engine.logits(h[begin : begin + step]), symbols[begin : begin + step]))
        if self.predictions is not None:
            predictions = np.concatenate(blocks).reshape(*targets.T.shape, -1)
            self.predictions[rows, when] = predictions.swapaxes(0, 1)
            return
        log_p, ranks, entropies = (values.reshape(targets.T.shape).T for values in Scores.joined(blocks))
        self.log_p[rows, when] = log_p
        self.rank[rows, when], self.entropy[rows, when] = ranks, entropies

    def _block(self, logits: Floats, ids: Ids) -> Any:
        """The Scores of n symbols, or log P (n, V), given O (n, V)."""
        logits, log_sum = normalised(logits)
        if self.predictions is not None:
            return logits - log_sum[:, None]
        # In float64: `log_sum` is, and a text's cost is the sum of millions of these.
        log_p = logits[np.arange(len(ids)), ids] - log_sum
        if not self.details:
            return Scores.unranked(log_p)
        return Scores(log_p, rank(logits, ids), entropy(logits, log_sum))


class _States(_Results):
    """All states after each character, (B, T, L, H): H and an LSTM's C."""

    def __init__(self, shape: tuple[int, int], state: State) -> None:
        super().__init__(shape)
        self.parts = [np.empty((*shape, len(part), part.shape[2]), part.dtype) for part in state]

    def fill(self, engine: Engine, rows: Ids, when: slice, top: Any, targets: Ids) -> None:
        """Fill in `rows` at the steps `when`, given states (T, L, B, H) each."""
        for into, values in zip(self.parts, top, strict=True):
            into[rows, when] = values.transpose(2, 0, 1, 3)


def _read(
    engine: Engine, inputs: Ids, state: State, out: _Results | None, numbers: Ids, when: slice, targets: Ids
) -> State:
    """Read (B, T) inputs from a state, in threads that share the rows, and fill in these rows of `out`."""

    def work(rows: slice) -> State:
        with np.errstate(over="ignore", invalid="ignore"):  # numpy has one for each thread
            top, after = engine.states(inputs[rows], tuple(part[:, rows] for part in state))
            if out is not None:
                out.fill(engine, numbers[rows], when, top, targets[rows])
        return after

    B = len(inputs)
    parts = max(1, min(engine.threads.allowed, B // MIN_THREAD_ROWS)) if engine.shares else 1
    # A thread with few rows reads all weights for them: it is no gain.
    ends = [B * n // parts for n in range(parts + 1)]
    slices = [slice(*ends[n : n + 2]) for n in range(parts)]
    # This thread does the first share itself: with one share no other thread is woken.
    futures = [_pool().submit(work, rows) for rows in slices[1:]]
    states = [work(slices[0]), *(future.result() for future in futures)]
    return tuple(np.concatenate(columns, axis=1) for columns in zip(*states, strict=True))


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
    unsettled   characters of stretches whose second reading didn't come near the first: rounding grew
    """

    def __init__(self, engine: Engine, start_id: int, *, wide: bool) -> None:
        self._engine, self._last, self._wide = engine, start_id, wide
        self._state = engine.zeros(1)
        self.read_again = self.unsettled = 0
        self.piece = BATCHED_PIECE_CHARS if wide else SEQUENCE_CHARS
        """Characters best handed over at a time."""

    @property
    def state(self) -> State:
        """The current state, (L, 1, H) each; for `resume_from`."""
        return self._state

    def resume_from(self, last: int, state: State) -> None:
        """Go on from `state`; `last` is the symbol that is read next."""
        self._last, self._state = last, state

    def advance_predictions(self, ids: Ids) -> Doubles:
        """log P (n, V) in nats of every symbol before each of `ids` (n,); then `ids` have been read.

        Takes twice the memory of the result: hand over some thousands at a time.
        """
        V = self._engine.size
        return np.concatenate(
            [
                np.empty((0, V)),
                *(out.predictions.reshape(-1, V) for out in self._all(ids, prediction_width=V)),
            ]
        )

    def scores(self, ids: Ids, *, details: bool, on_read: OnRead = ignore_read) -> Scores:
        """The Scores of `ids` (n,); rank and entropy are computed if `details`. An `on_read` that raises
        leaves the scorer unusable.
        """
        pieces = self._all(ids, on_read, details=details)
        return Scores.joined([out.flat() for out in pieces])

    def states(self, ids: Ids, on_read: OnRead = ignore_read) -> State:
        """Every state after each of `ids` (n,), (n, L, H) each. The engine must be made with `all_states`."""
        pieces = self._all(ids, on_read, all_states=True)
        by_piece = [[part.reshape(-1, *part.shape[2:]) for part in out.parts] for out in pieces]
        return tuple(np.concatenate(parts) for parts in zip(*by_piece, strict=True))

    def _all(self, ids: Ids, on_read: OnRead = ignore_read, **options: Any) -> list[Any]:
        """The results of `_next` for all of `ids`, piece after piece."""
        pieces, done = [], 0
        while done < len(ids):
            pieces.append(self._next(ids[done:], on_read, **options))
            done += pieces[-1].log_p.size
        return pieces

    def _next(
        self,
        ids: Ids,
        on_read: OnRead,
        *,
        details: bool = False,
        prediction_width: int = 0,
        all_states: bool = False,
    ) -> _Results:
        """Read the next piece of `ids`, in sequence or side by side."""
        # B rows of equal length: the rest of a piece that doesn't divide is left for the next one, which
        # begins in the exact state anyway.
        piece, B = ids[:SEQUENCE_CHARS], 1
        if self._wide and min(len(ids), BATCHED_PIECE_CHARS) >= MIN_SPLIT_CHARS:
            piece = ids[:BATCHED_PIECE_CHARS]
            B = min(MAX_ROWS, len(piece) // MIN_STRETCH_CHARS) // ROW_MULTIPLE * ROW_MULTIPLE
            piece = piece[: len(piece) - len(piece) % B]
        inputs = np.concatenate(([self._last], piece[:-1])).reshape(B, -1)
        targets = piece.reshape(B, -1)
        shape = B, targets.shape[1]
        out = (
            _States(shape, self._state)
            if all_states
            else _Results(shape, details=details, prediction_width=prediction_width)
        )
        if B > 1:
            self._state = self._side_by_side(inputs, targets, out, on_read)
        else:
            when = slice(0, targets.shape[1])
            # Timed, so that the number of threads for a single row is found on real work.
            with self._engine.row_threads.piece(len(piece)):
                self._state = _read(self._engine, inputs, self._state, out, np.arange(1), when, targets)
            on_read(len(piece), -float(out.log_p.sum()))
        self._last = int(piece[-1])
        return out

    def _side_by_side(self, x: Ids, y: Ids, out: _Results, on_read: OnRead) -> State:
        """Read stretches x (B, T); returns the state at the end. Calls `on_read` every CHUNK_STEPS steps."""
        engine, (B, T) = self._engine, x.shape
        first_states, rows = self._warm_up(x), np.arange(B)
        # The states of all stretches after every CHUNK_STEPS: what a second reading is compared with.
        chunk_end_states: list[State] = []
        reading = first_states
        for begin in range(0, T, CHUNK_STEPS):
            steps = slice(begin, min(begin + CHUNK_STEPS, T))
            with engine.threads.piece(B * (steps.stop - begin)):
                reading = _read(engine, x[:, steps], reading, out, rows, steps, y[:, steps])
            chunk_end_states.append(tuple(part.copy() for part in reading))
            on_read(B * (steps.stop - begin), -float(out.log_p[:, steps].sum()))
        # The last stretch ends the piece, and its end is the next piece's exact first state.
        self._mend(x, y, out, first_states, chunk_end_states, on_read)
        return tuple(part[:, -1:].copy() for part in chunk_end_states[-1])

    def _warm_up(self, x: Ids) -> State:
        """The state each stretch begins with: exact for the first, likely for the others."""
        (B, T), none = x.shape, np.empty(0, np.int64)
        # The current state guesses long memories better than zeros do.
        warm = tuple(np.repeat(part, B - 1, axis=1) for part in self._state)
        # All but the last stretch are warm-ups for the one after them; no cost is computed here.
        with self._engine.threads.piece():
            for begin in range(T - WARM_UP_CHARS, T, CHUNK_STEPS):
                steps = slice(begin, begin + CHUNK_STEPS)
                warm = _read(self._engine, x[:-1, steps], warm, None, none, steps, none)
        return tuple(np.concatenate(parts, axis=1) for parts in zip(self._state, warm, strict=True))

    def _mend(
        self,
        x: Ids,
        y: Ids,
        out: _Results,
        first_states: State,
        chunk_end_states: list[State],
        on_read: OnRead,
    ) -> None:
        """Read again the stretches that did not begin in the state in which the stretch before ends.

        At first all are read together, as most meet their first reading. Once that has cost as much as the
        whole text, only the first of them is read: it follows a right stretch, and so is right afterwards.
        The text is read again at most twice.
        """
        T = x.shape[1]
        never_met: set[int] = set()
        # Reading all doubtful stretches together is quick, and right if each soon meets its first reading.
        # For a network that remembers for long it isn't: each new end makes the next stretch wrong again. So
        # the reading together has a budget; afterwards stretches are read in order, and every one
        # that is read is right for good.
        together_budget_chars = x.size
        while True:
            ends = tuple(part[:, :-1] for part in chunk_end_states[-1])
            begun = _distance(ends, tuple(part[:, 1:] for part in first_states))
            stretches = np.flatnonzero(begun > STATE_TOLERANCE) + 1
            if not len(stretches):
                self.unsettled += len(never_met) * T
                return
            # At least the first: the stretch before it is right, as no seam before it differs.
            stretches = stretches[: max(1, together_budget_chars // T)]
            reading, begun = tuple(part[:, stretches - 1] for part in ends), begun[stretches - 1]
            # From now on these stretches count as begun in that state, whether or not they meet the first
            # reading.
            _set_rows(first_states, stretches, reading)
            for begin, first_reading in zip(range(0, T, CHUNK_STEPS), chunk_end_states, strict=True):
                steps = slice(begin, min(begin + CHUNK_STEPS, T))
                with self._engine.threads.piece():
                    x_now, y_now = x[stretches, steps], y[stretches, steps]
                    reading = _read(self._engine, x_now, reading, out, stretches, steps, y_now)
                self.read_again += x_now.size
                together_budget_chars -= x_now.size
                # Only rows that still differ go on; the others have met their first reading, whose rest is
                # right.
                distance = _distance(reading, tuple(part[:, stretches] for part in first_reading))
                _set_rows(first_reading, stretches, reading)
                differs = distance > STATE_TOLERANCE
                stretches, begun, distance = stretches[differs], begun[differs], distance[differs]
                reading = tuple(part[:, differs] for part in reading)
                on_read(0, 0.0)  # no new characters, but whoever waits may want to stop
                if not len(stretches):
                    break
            # A stretch that is read to its end without coming near: rounding grew along it. A later round may
            # do it again.
            never_met.update(stretches[distance > (FADED * begun).clip(min=FADED_TO)].tolist())

    def score_texts(self, texts: Sequence[Ids]) -> list[Doubles]:
        """log P in nats of each symbol of many texts, (n,) each, given the symbols before it in that text and
        all that the scorer has read.

        Short texts are read side by side, long ones as by `advance`. The number of texts and their company
        move a cost by rounding alone. The scorer's state stays.
        """
        log_probs: list[Doubles] = [np.empty(0)] * len(texts)
        # Long texts fill a batch by themselves: a copy of the scorer reads each, from the state that all
        # begin in.
        for n, ids in enumerate(texts):
            if len(ids) >= MIN_SPLIT_CHARS:
                long_text_scorer = copy(self)
                log_probs[n] = long_text_scorer.advance(ids)
        for group in _groups([len(ids) for ids in texts]):
            for n, log_p in zip(group, self._short_texts([texts[n] for n in group]), strict=True):
                log_probs[n] = log_p
        return log_probs

    def _short_texts(self, rows: Sequence[Ids]) -> list[Doubles]:
        """log P of the symbols of texts, the longest first: texts that have ended leave the batch."""
        lengths = np.array([len(row) for row in rows])
        targets = np.zeros((len(rows), int(lengths[0])), np.int64)
        for row, ids in zip(targets, rows, strict=True):
            row[: len(ids)] = ids
        inputs = np.empty_like(targets)
        inputs[:, 0], inputs[:, 1:] = self._last, targets[:, :-1]
        out = _Results(targets.shape)
        state = tuple(np.repeat(part, len(rows), axis=1) for part in self._state)
        for begin in range(0, int(lengths[0]), CHUNK_STEPS):
            # Sorted by length, the texts that go on are the first rows: a slice, no copy.
            alive = int((lengths > begin).sum())
            steps = slice(begin, min(begin + CHUNK_STEPS, int(lengths[0])))
            state = tuple(part[:, :alive] for part in state)
            with self._engine.threads.piece(alive * (steps.stop - begin)):
                x, y = inputs[:alive, steps], targets[:alive, steps]
                state = _read(self._engine, x, state, out, np.arange(alive), steps, y)
        return [row[:n].copy() for row, n in zip(out.log_p, lengths.tolist(), strict=True)]


def _set_rows(state: State, columns: Ids, values: State) -> None:
    for part, new in zip(state, values, strict=True):
        part[:, columns] = new


def _distance(a: State, b: State) -> Floats:
    """The largest difference of two states (L, B, H) in each row (B,): relative where an entry is above 1."""
    # NaN is left out: a damaged network's stretches are not read again.
    parts = [abs(x - y) / abs(y).clip(min=1) for x, y in zip(a, b, strict=True)]
    return np.asarray(np.fmax.reduce([np.fmax.reduce(part, axis=(0, 2)) for part in parts]))


def _groups(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The short texts' numbers in batches, the longest first: texts of a batch are then about as long."""
    order = sorted(
        (n for n, length in enumerate(lengths) if 0 < length < MIN_SPLIT_CHARS), key=lambda n: -lengths[n]
    )
    for begin in range(0, len(order), MAX_ROWS):
        yield order[begin : begin + MAX_ROWS]
