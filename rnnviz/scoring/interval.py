"""Interval: where the perplexity of as many characters again lies."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles
from rnnviz.scoring.column_files import ColumnFiles
from rnnviz.scoring.passages import OCTAVES, next_stretch
from rnnviz.scoring.totals import Sum, of_sum

SHORTEST = 2000
"""Characters below which a text has too few passages of some length: there is no interval."""

SLOPE = (-0.45, 0.2)
"""Mean and standard deviation of the slope s in real texts: novels and plays, manuals, programs."""

LEVEL = 0.95
"""The share of texts whose interval holds the perplexity that it is about."""

WIDEST = 100.0
"""The largest high / low of an interval; beyond, a text is too "uneven" to tell."""

CELLS = 4096
"""Sums kept of a long text: at least this number, and fewer than twice as many."""

METHOD = "the next stretch of equal length, by Haar wavelet variances over six octaves (Abry and Veitch 1998)"

Reason = Literal["", "short", "drifts", "uneven", "rows"]


@dataclass(frozen=True)
class Interval:
    """The perplexity's interval for n characters beside a text of n: `low` to `high` in LEVEL of all cases.

    Both are None where the text can't tell. `reason` is then "short", "drifts" for halves that lie too far
    apart, "uneven", or "rows", which are many texts. `halves` are the perplexities of the text's halves, None
    for a short text.
    """

    low: float | None
    high: float | None
    characters: int
    reason: Reason = ""
    halves: tuple[float, float] | None = None


class Sums:
    """Sums over stretches of a text whose costs come piece by piece, in constant memory.

    >>> sums = Sums()
    >>> sums.add([1.0, 2.0]); sums.add([3.0])
    >>> len(sums), sums.sums([0, 1, 3]).tolist()
    (3, [0.0, 1.0, 6.0])
    """

    def __init__(self) -> None:
        self._step, self._length, self._total = 1, 0, Sum()
        self._cells, self._rest = np.empty(0), np.empty(0)

    def __len__(self) -> int:
        return self._length

    def add(self, costs: npt.ArrayLike) -> None:
        """Add the costs of the next characters, (k,) nats."""
        left = np.asarray(costs, np.float64)
        self._length += len(left)
        self._total.add(float(left.sum()))
        while len(left):
            room = (2 * CELLS - len(self._cells)) * self._step
            now, left = np.concatenate([self._rest, left[:room]]), left[room:]
            whole = len(now) // self._step * self._step
            self._cells = np.append(self._cells, now[:whole].reshape(-1, self._step).sum(axis=1))
            self._rest = now[whole:]
            if len(self._cells) == 2 * CELLS:
                self._cells = self._cells.reshape(-1, 2).sum(axis=1)
                self._step *= 2

    def sums(self, positions: npt.ArrayLike) -> Doubles:
        """Σ of the first p costs, for each p of `positions` (k,): multiples of `step(n)`, or n."""
        places = np.asarray(positions, np.int64)
        before = np.concatenate([[0.0], np.cumsum(self._cells)])
        found = before[np.minimum(places // self._step, len(self._cells))]
        return np.asarray(np.where(places == self._length, self._total.value, found))


def step(n: int) -> int:
    """The characters of a cell of a text of n: all passages that are compared are multiples of it."""
    return 1 << max(0, (n // (2 * CELLS)).bit_length())


def interval(costs: ColumnFiles | Sums | npt.ArrayLike) -> Interval:
    """The interval of the perplexity of as many characters again, from a scored text or costs in nats (n,).

    Takes milliseconds, whatever the length.

    >>> import numpy as np
    >>> found = interval(np.random.default_rng(0).exponential(1.5, 20_000))
    >>> found.low < 4.5 < found.high, interval([1.0, 2.0]).reason
    (True, 'short')
    """
    if not isinstance(costs, ColumnFiles | Sums):
        values, costs = costs, Sums()
        costs.add(values)
    n = len(costs)
    if n < SHORTEST:
        return Interval(None, None, n, "short")
    mean = float(costs.sums([n])[0]) / n
    squares = [_differences(costs, n >> octave) for octave in range(1, OCTAVES + 1)]
    first, second = np.diff(costs.sums([0, n // 2 // step(n) * step(n), n])) / n * 2
    halves = of_sum(float(first), 1), of_sum(float(second), 1)
    if not any(square.any() for square in squares):
        return Interval(of_sum(mean, 1), of_sum(mean, 1), n, halves=halves)
    # The halves lie further apart than all shorter passages lead one to expect: the text has a trend.
    if float(squares[0][0]) > next_stretch(squares[1:], SLOPE).half_width(LEVEL) ** 2:
        return Interval(None, None, n, "drifts", halves)
    half = next_stretch(squares, SLOPE).half_width(LEVEL)
    if 2 * half > math.log(WIDEST):
        return Interval(None, None, n, "uneven", halves)
    return Interval(of_sum(max(mean - half, 0.0), 1), of_sum(mean + half, 1), n, halves=halves)


def _differences(costs: ColumnFiles | Sums, size: int) -> Doubles:
    """(m_2 - m_1)² of each pair of passages of about `size` characters, nats²."""
    size = size // step(len(costs)) * step(len(costs))
    pairs = len(costs) // (2 * size)
    means = np.diff(costs.sums(np.arange(2 * pairs + 1) * size)) / size
    return np.asarray(np.square(means[1::2] - means[::2]))
