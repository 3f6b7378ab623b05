"""Interval: where the perplexity of as many characters again lies, by passages of the text.

Positions of a text are alike over every length: words, lines, scenes, chapters. Blocks that are short enough
for many to fit into a text miss the longest of these, and give too narrow an interval. Here the mean squared
difference V_b of two neighbouring passages of b positions is followed from b = n/64 to n/2. (Such differences
are Haar's wavelet coefficients.) A line carries V_b on to b = n:

    log V_b = a + s log b        s is -1 where passages are independent, 0 where length averages nothing out

V_n compares the text with as much again: `next_text_spread`. Against all such text, `all_text_spread`, the
variance is V_n / 4 (1 - 2^s): both hold for fractional Gaussian noise, whose V_b are such a line. Long
passages are few, so V_n is uncertain: its logarithm is normal, with a prior for the slopes that texts have.

P. Abry and D. Veitch, "Wavelet Analysis of Long-Range-Dependent Traffic", IEEE Transactions on Information
Theory 44 (1998); D. B. Percival, "On Estimation of the Wavelet Variance", Biometrika 82 (1995).

Shape letters: n positions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles
from rnnviz.scoring.column_files import ColumnFiles
from rnnviz.scoring.totals import Sum, perplexity_from_sum

OCTAVE_COUNT = 6
"""The number of lengths of passages that are compared: halves, quarters, … 64ths."""

STEADY_SLOPES = (-1.0, -0.1)
"""The slopes that a text without a trend may have, for `all_text_spread`."""


@dataclass(frozen=True)
class Spread:
    """The distribution of a difference around 0: normal, with a variance whose logarithm is normal, too.

    log_variance  the mean of the variance's logarithm
    doubt         the standard deviation of that logarithm
    """

    log_variance: float
    doubt: float

    def half_width(self, level: float = 0.95) -> float:
        """The distance from 0 that the difference stays within, with probability `level`."""
        # A mixture of normals spreads no further than its widest.
        low, high = 0.0, NormalDist().inv_cdf((1 + level) / 2) * max(s for s, _share in self._deviations)
        for _ in range(60):  # bisection, to the last bit
            middle = (low + high) / 2
            low, high = (middle, high) if self.tail_probability(middle) > 1 - level else (low, middle)
        return high

    def tail_probability(self, distance: float) -> float:
        """The probability that the difference lies at least so far from 0."""
        return sum(w * math.erfc(distance / (s * math.sqrt(2))) for s, w in self._deviations)

    @cached_property
    def _deviations(self) -> list[tuple[float, float]]:
        """Standard deviations, and the probability of each, by Gauss–Hermite quadrature."""
        # The weight function is exp(-x²/2), so the nodes are standard normal deviates.
        nodes, weights = np.polynomial.hermite_e.hermegauss(41)
        deviations: list[float] = np.exp((self.log_variance + self.doubt * nodes) / 2).tolist()
        return list(zip(deviations, (weights / weights.sum()).tolist(), strict=True))


def next_text_spread(squares: Sequence[Doubles], slope: tuple[float, float]) -> Spread:
    """The distance between the mean of n positions and the mean of the n beside them.

    squares  the squared differences of neighbouring passages n/2 long, n/4 long, and so on
    slope    mean and standard deviation of s in texts
    """
    return _fit_line(squares, slope)[0]


def all_text_spread(values: npt.ArrayLike, slope: tuple[float, float]) -> Spread:
    """The distance between the mean of `values` (n,) and the mean of all such text.

    n is at least 2^(OCTAVE_COUNT + 1).

    >>> noise = np.random.default_rng(0).standard_normal(10_000)
    >>> round(all_text_spread(noise, slope=(-1.0, 0.01)).half_width(0.95), 2)
    0.02
    """
    series = np.asarray(values, np.float64)
    n, squares = len(series), []
    for octave in range(1, OCTAVE_COUNT + 1):
        size = n >> octave
        # Pairs of neighbours; what is left over at the end is compared with nothing.
        means = series[: n // (2 * size) * 2 * size].reshape(-1, size).mean(axis=1)
        squares.append(np.square(means[1::2] - means[::2]))
    if not any(square.any() for square in squares):
        return Spread(-700.0, 0.0)  # nothing varies
    spread, s = _fit_line(squares, slope)
    # V_n is 4 (1 - 2^s) times the variance of the mean: see above.
    log_ratio = math.log(4 * (1 - 2 ** float(np.clip(s, *STEADY_SLOPES))))
    return Spread(spread.log_variance - log_ratio, spread.doubt)


def _fit_line(squares: Sequence[Doubles], slope: tuple[float, float]) -> tuple[Spread, float]:
    """The Spread of log V_n, and s: weighted least squares over the octaves, with a normal prior on s."""
    octave = np.arange(1.0, len(squares) + 1)
    # The mean of k squares varies as χ²/k does, whose logarithm is below 0 on average.
    bias, noise = np.array([_log_chi_square(len(square)) for square in squares]).T
    variances = np.array([square.mean() for square in squares])
    # The floor is for octaves without any variation, whose logarithm would be -inf.
    logs = np.log(np.maximum(variances, 1e-12 * variances.max())) - bias
    weights = 1 / noise
    # log V = a - s log 2 · octave. The prior of `drop` = -s log 2 is normal, that of a is flat.
    drop, spread = -slope[0] * math.log(2), slope[1] * math.log(2)
    matrix = np.array(
        [
            [weights.sum(), weights @ octave],
            [weights @ octave, weights @ octave**2 + spread**-2],
        ]
    )
    covariance = np.linalg.inv(matrix)
    # Octave j has passages of n / 2^j positions, so the line's value at octave 0, `a`, is log V_n.
    a, fitted_drop = covariance @ [weights @ logs, weights @ (octave * logs) + drop * spread**-2]
    return Spread(float(a), math.sqrt(covariance[0, 0])), float(-fitted_drop / math.log(2))


def _log_chi_square(k: int) -> tuple[float, float]:
    """Mean and variance of log(χ²/k), χ² having k degrees of freedom: ψ(k/2) - log(k/2) and ψ′(k/2)."""
    odd = k % 2
    terms = (0.5 if odd else 1.0) + np.arange((k - 1) // 2)
    mean = -np.euler_gamma - (2 * math.log(2) if odd else 0.0) + float((1 / terms).sum())
    return mean - math.log(k / 2), math.pi**2 / (2 if odd else 6) - float((1 / terms**2).sum())


MIN_INTERVAL_CHARS = 2000
"""Characters below which a text has too few passages of some length: there is no interval."""

SLOPE_PRIOR = (-0.45, 0.2)
"""Mean and standard deviation of the slope s in real texts: novels and plays, manuals, programs."""

INTERVAL_COVERAGE = 0.95
"""The share of texts whose interval holds the perplexity that it is about."""

MAX_INTERVAL_RATIO = 100.0
"""The largest high / low of an interval; beyond, a text is too "uneven" to tell."""

MIN_SUM_CELLS = 4096
"""Sums kept of a long text: at least this number, and fewer than twice as many."""

METHOD = "the next stretch of equal length, by Haar wavelet variances over six octaves (Abry and Veitch 1998)"

Reason = Literal["", "short", "drifts", "uneven", "rows"]


@dataclass(frozen=True)
class PerplexityInterval:
    """The perplexity's interval for n characters beside a text of n.

    The perplexity lies in `low` to `high` in INTERVAL_COVERAGE of all cases.

    Both are None where the text can't tell. `reason` is then "short", "drifts" for halves that lie too far
    apart, "uneven", or "rows", which are many texts. `halves` are the perplexities of the text's halves, None
    for a short text.
    """

    low: float | None
    high: float | None
    characters: int
    reason: Reason = ""
    halves: tuple[float, float] | None = None


class CostSums:
    """Sums over stretches of a text whose costs come piece by piece, in constant memory.

    >>> sums = CostSums()
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
        remaining = np.asarray(costs, np.float64)
        self._length += len(remaining)
        self._total.add(float(remaining.sum()))
        while len(remaining):
            room = (2 * MIN_SUM_CELLS - len(self._cells)) * self._step
            chunk, remaining = np.concatenate([self._rest, remaining[:room]]), remaining[room:]
            whole = len(chunk) // self._step * self._step
            self._cells = np.append(self._cells, chunk[:whole].reshape(-1, self._step).sum(axis=1))
            self._rest = chunk[whole:]
            # Full: two neighbours become one cell, and half of the room is free again.
            if len(self._cells) == 2 * MIN_SUM_CELLS:
                self._cells = self._cells.reshape(-1, 2).sum(axis=1)
                self._step *= 2

    def sums(self, positions: npt.ArrayLike) -> Doubles:
        """Σ of the first p costs, for each p of `positions` (k,): multiples of `cell_length(n)`, or n."""
        places = np.asarray(positions, np.int64)
        before = np.concatenate([[0.0], np.cumsum(self._cells)])
        cell_sums = before[np.minimum(places // self._step, len(self._cells))]
        return np.asarray(np.where(places == self._length, self._total.value, cell_sums))


def cell_length(n: int) -> int:
    """The characters of a cell of a text of n: all passages that are compared are multiples of it."""
    return 1 << max(0, (n // (2 * MIN_SUM_CELLS)).bit_length())


def interval(costs: ColumnFiles | CostSums | npt.ArrayLike) -> PerplexityInterval:
    """The interval of the perplexity of as many characters again, from a scored text or costs in nats (n,).

    Takes milliseconds, whatever the length.

    >>> import numpy as np
    >>> text = interval(np.random.default_rng(0).exponential(1.5, 20_000))
    >>> text.low < 4.5 < text.high, interval([1.0, 2.0]).reason
    (True, 'short')
    """
    if not isinstance(costs, ColumnFiles | CostSums):
        values, costs = costs, CostSums()
        costs.add(values)
    n = len(costs)
    if n < MIN_INTERVAL_CHARS:
        return PerplexityInterval(None, None, n, "short")
    mean = float(costs.sums([n])[0]) / n
    squares = [_squared_differences(costs, n >> octave) for octave in range(1, OCTAVE_COUNT + 1)]
    # Halves end at a cell, as only there sums are kept.
    first, second = np.diff(costs.sums([0, n // 2 // cell_length(n) * cell_length(n), n])) / n * 2
    halves = perplexity_from_sum(float(first), 1), perplexity_from_sum(float(second), 1)
    if not any(square.any() for square in squares):
        return PerplexityInterval(
            perplexity_from_sum(mean, 1), perplexity_from_sum(mean, 1), n, halves=halves
        )
    # The halves lie further apart than all shorter passages lead one to expect: the text has a trend.
    if float(squares[0][0]) > next_text_spread(squares[1:], SLOPE_PRIOR).half_width(INTERVAL_COVERAGE) ** 2:
        return PerplexityInterval(None, None, n, "drifts", halves)
    half_width = next_text_spread(squares, SLOPE_PRIOR).half_width(INTERVAL_COVERAGE)
    if 2 * half_width > math.log(MAX_INTERVAL_RATIO):
        return PerplexityInterval(None, None, n, "uneven", halves)
    return PerplexityInterval(
        perplexity_from_sum(max(mean - half_width, 0.0), 1),
        perplexity_from_sum(mean + half_width, 1),
        n,
        halves=halves,
    )


def _squared_differences(costs: ColumnFiles | CostSums, size: int) -> Doubles:
    """(m_2 - m_1)² of each pair of passages of about `size` characters, nats²."""
    size = size // cell_length(len(costs)) * cell_length(len(costs))
    pairs = len(costs) // (2 * size)
    means = np.diff(costs.sums(np.arange(2 * pairs + 1) * size)) / size
    return np.asarray(np.square(means[1::2] - means[::2]))
