"""Passages of a text: by them, how far the text's mean lies from the mean of other text.

Positions of a text are alike over every length: words, lines, scenes, chapters. Blocks that are short enough
for many to fit into a text miss the longest of these, and give too narrow an interval. Here the mean squared
difference V_b of two neighbouring passages of b positions is followed from b = n/64 to n/2. (Such differences
are Haar's wavelet coefficients.) A line carries V_b on to b = n:

    log V_b = a + s log b        s is -1 where passages are independent, 0 where length averages nothing out

V_n compares the text with as much again: `next_stretch`. Against all such text, `all_text`, the variance is
V_n / 4 (1 - 2^s): both hold for fractional Gaussian noise, whose V_b are such a line. Long passages are few,
so V_n is uncertain: its logarithm is normal, with a prior for the slopes that texts have.

P. Abry and D. Veitch, "Wavelet Analysis of Long-Range-Dependent Traffic", IEEE Transactions on Information
Theory 44 (1998); D. B. Percival, "On Estimation of the Wavelet Variance", Biometrika 82 (1995).

Shape letters: n positions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles

OCTAVES = 6
"""The number of lengths of passages that are compared: halves, quarters, … 64ths."""

STEADY = (-1.0, -0.1)
"""The slopes that a text without a trend may have, for `all_text`."""


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
        low, high = 0.0, NormalDist().inv_cdf((1 + level) / 2) * max(s for s, _share in self._deviations)
        for _ in range(60):  # bisection, to the last bit
            middle = (low + high) / 2
            low, high = (middle, high) if self.beyond(middle) > 1 - level else (low, middle)
        return high

    def beyond(self, distance: float) -> float:
        """The probability that the difference lies at least so far from 0."""
        return sum(w * math.erfc(distance / (s * math.sqrt(2))) for s, w in self._deviations)

    @cached_property
    def _deviations(self) -> list[tuple[float, float]]:
        """Standard deviations, and the probability of each, by Gauss–Hermite quadrature."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(41)
        deviations: list[float] = np.exp((self.log_variance + self.doubt * nodes) / 2).tolist()
        return list(zip(deviations, (weights / weights.sum()).tolist(), strict=True))


def next_stretch(squares: Sequence[Doubles], slope: tuple[float, float]) -> Spread:
    """The distance between the mean of n positions and the mean of the n beside them.

    squares  the squared differences of neighbouring passages n/2 long, n/4 long, and so on
    slope    mean and standard deviation of s in texts
    """
    return _line(squares, slope)[0]


def all_text(values: npt.ArrayLike, slope: tuple[float, float]) -> Spread:
    """The distance between the mean of `values` (n,) and the mean of all such text; n >= 2^(OCTAVES + 1).

    >>> noise = np.random.default_rng(0).standard_normal(10_000)
    >>> round(all_text(noise, slope=(-1.0, 0.01)).half_width(0.95), 2)
    0.02
    """
    series = np.asarray(values, np.float64)
    n, squares = len(series), []
    for octave in range(1, OCTAVES + 1):
        size = n >> octave
        means = series[: n // (2 * size) * 2 * size].reshape(-1, size).mean(axis=1)
        squares.append(np.square(means[1::2] - means[::2]))
    if not any(square.any() for square in squares):
        return Spread(-700.0, 0.0)  # nothing varies
    spread, s = _line(squares, slope)
    more = math.log(4 * (1 - 2 ** float(np.clip(s, *STEADY))))
    return Spread(spread.log_variance - more, spread.doubt)


def _line(squares: Sequence[Doubles], slope: tuple[float, float]) -> tuple[Spread, float]:
    """The Spread of log V_n, and s: weighted least squares over the octaves, with a normal prior on s."""
    octave = np.arange(1.0, len(squares) + 1)
    bias, noise = np.array([_log_chi_square(len(square)) for square in squares]).T
    variances = np.array([square.mean() for square in squares])
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
    a, found = covariance @ [weights @ logs, weights @ (octave * logs) + drop * spread**-2]
    return Spread(float(a), math.sqrt(covariance[0, 0])), float(-found / math.log(2))


def _log_chi_square(k: int) -> tuple[float, float]:
    """Mean and variance of log(χ²/k), χ² having k degrees of freedom: ψ(k/2) - log(k/2) and ψ′(k/2)."""
    odd = k % 2
    terms = (0.5 if odd else 1.0) + np.arange((k - 1) // 2)
    mean = -np.euler_gamma - (2 * math.log(2) if odd else 0.0) + float((1 / terms).sum())
    return mean - math.log(k / 2), math.pi**2 / (2 if odd else 6) - float((1 / terms**2).sum())
