"""The moving-block bootstrap: how far a figure would move on other passages of the same kind.

Neighbouring characters depend on each other, so blocks of neighbours are drawn with replacement, from
anywhere in the text, and laid end to end; the figure is computed again on each such text (Künsch 1989,
Annals of Statistics 17). A block is at least as long as neighbours stay alike, by the rows' autocorrelation:
`block_length` (Politis & White 2004, Econometric Reviews 23, corrected by Patton, Politis & White 2009).

A text of fewer than MIN_BLOCKS blocks has no interval. The code builds no drawn text: figures are means, or
follow from means, and `resampled_means` takes them from running sums. An interval leaves out changes that are
slower than a block, such as a book's chapters: `rnnviz.scoring.interval` has these.

Shape letters: n positions of a text, S drawn texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Array, Doubles, Integers, Mask
from rnnviz.errors import ConfigError
from rnnviz.reprs import ReprMixin

MIN_BLOCKS = 20
"""Blocks below which there is no interval."""

MAX_GATHERED_NUMBERS = 1 << 22
"""Numbers gathered at a time: bounds the memory of the drawn blocks' sums."""


@dataclass(frozen=True, eq=False, repr=False)
class Resampled(ReprMixin):
    """A figure of a text of n positions, and of S texts drawn from its blocks.

    estimate   the figure of the text itself, of any shape (…)
    low, high  (…) the ends of the middle `level` of the draws; nan without an interval
    draws      (S, …) the figure of each drawn text; (0, …) without an interval
    block      positions of a block; `blocks` is n / block
    """

    estimate: Doubles
    low: Doubles
    high: Doubles
    draws: Doubles
    level: float
    block: int
    blocks: float

    @property
    def enough(self) -> bool:
        """Whether there is an interval."""
        return len(self.draws) > 0

    def excludes(self, value: float = 0.0) -> Mask:
        """Whether the interval lies on one side of `value`, (…); False without an interval."""
        return np.asarray((self.low > value) | (self.high < value))

    def map(self, figure: Callable[[Doubles], Doubles]) -> Resampled:
        """`figure` of the estimate (…, C) and of the draws (S, …, C), with its own interval."""
        estimate, draws = np.asarray(figure(self.estimate)), np.asarray(figure(self.draws))
        return _resampled(estimate, draws, self.level, self.block, self.blocks)


def resample(
    rows: npt.ArrayLike,
    *,
    block: int | None = None,
    level: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
) -> Resampled:
    """The mean of each column of `rows` with an interval over the passages of a text.

    rows     (n,) or (n, C), a row for each position, in order; `Resampled.map` takes a figure of the means
    block    positions of a block; None: `block_length`
    level    the share of the draws inside the interval
    samples  S, the number of drawn texts

    The ends are percentiles of the same draws for all columns, moved outwards as Student's t widens the
    interval of a mean of few blocks. Raises ConfigError for settings out of range.

    >>> import numpy as np
    >>> found = resample(np.arange(2000) % 7, block=7)
    >>> float(found.estimate), bool(found.excludes(2.5)), resample([1, 2, 3]).enough
    (2.9975, True, False)
    """
    table = np.asarray(rows)
    if table.ndim not in (1, 2) or not len(table):
        raise ConfigError("rows are one for each position, at least one; received {shape}", shape=table.shape)
    if not 0 < level < 1 or samples < 1 or (block is not None and block < 1):
        raise ConfigError(
            "a level is between 0 and 1, with 1 sample or more and blocks of 1 position or more; "
            "received {level}, {samples} and {block}",
            level=level,
            samples=samples,
            block=block,
        )
    size = block_length(table) if block is None else int(block)
    blocks = len(table) / size
    estimate = np.asarray(table.mean(axis=0), np.float64)
    draws = np.empty((0, *estimate.shape))
    if blocks >= MIN_BLOCKS:
        draws = resampled_means(table, size, draw_starts(len(table), size, samples, seed))
    return _resampled(estimate, draws, level, size, blocks)


def _resampled(estimate: Doubles, draws: Doubles, level: float, block: int, blocks: float) -> Resampled:
    """A Resampled with the interval of the draws (S, …); without draws there is none."""
    low = high = np.full(estimate.shape, np.nan)
    if len(draws):
        low, high = _ends(draws, level, blocks)
    return Resampled(estimate, low, high, draws, level, block, blocks)


def _ends(draws: Doubles, level: float, blocks: float) -> tuple[Doubles, Doubles]:
    """The percentiles of the draws (S, …), moved away from the median for the small number of blocks."""
    with np.errstate(invalid="ignore"):  # infinite figures have no width
        ends = np.quantile(draws, [(1 - level) / 2, 0.5, (1 + level) / 2], axis=0)
    normal = NormalDist().inv_cdf((1 + level) / 2)
    # With few blocks the draws vary less than the figure does: their variance is that of a mean of n values
    # with the divisor n instead of n - 1, and the normal percentiles are too near. Both factors are almost
    # 1 from a hundred blocks on.
    student = 1 + (normal**2 + 1) / (4 * (blocks - 1))  # t / normal, by Cornish and Fisher
    wider = student * math.sqrt(blocks / (blocks - 1))
    with np.errstate(invalid="ignore"):
        return ends[1] - wider * (ends[1] - ends[0]), ends[1] + wider * (ends[2] - ends[1])


def draw_starts(n: int, block: int, samples: int, seed: int = 0) -> Integers:
    """The blocks' first positions in each drawn text, (S, n / block): anywhere in n, with replacement."""
    return np.random.default_rng(seed).integers(n - block + 1, size=(samples, math.ceil(n / block)))


def resampled_means(table: Array, block: int, block_starts: Integers) -> Doubles:
    """The mean (S, …) of each drawn text, from running sums: the last block is as long as the others."""
    # A block's mean is the difference of two running sums: a drawn text costs n / block look-ups instead of
    # n.
    sums = np.zeros((len(table) + 1, *table.shape[1:]))
    np.cumsum(table, axis=0, dtype=np.float64, out=sums[1:])
    of_block = (sums[block:] - sums[:-block]) / block  # (n - block + 1, …)
    step = max(1, MAX_GATHERED_NUMBERS // max(1, block_starts.shape[1] * of_block[0].size))
    parts = [of_block[block_starts[b : b + step]].mean(axis=1) for b in range(0, len(block_starts), step)]
    return np.concatenate(parts)


def block_length(rows: npt.ArrayLike) -> int:
    """The length of a block in positions, by the autocorrelation of `rows` (n,); of (n, C) the longest.

    At most sixteen columns count, those that vary most. The length is at most 3 √n and at most n / 3.

    >>> import numpy as np
    >>> noise = np.random.default_rng(0).standard_normal(4000)
    >>> block_length(noise) < 8 < block_length(np.convolve(noise, np.ones(40)))
    True
    """
    table = np.asarray(rows, np.float64).reshape(len(np.asarray(rows)), -1)
    most_varying = np.argsort(-table.var(axis=0))[:16]
    return max((math.ceil(_politis_white(table[:, column])) for column in most_varying.tolist()), default=1)


def _politis_white(values: Doubles) -> float:
    """The best block of a circular bootstrap of the mean of `values` (n,), not rounded; at least 1."""
    n = len(values)
    if n < 8:
        return 1.0
    away = values - values.mean()
    quiet = max(5, int(math.log10(n)))
    lags = min(math.ceil(math.sqrt(n)) + quiet, n - 2)
    # All autocovariances by one FFT, padded with zeros so that the end doesn't meet the beginning.
    padded = np.fft.rfft(away, 1 << (2 * n - 1).bit_length())
    covariance = np.fft.irfft(np.abs(padded) ** 2)[: lags + 1] / n
    # Relative to the values: a constant column of large numbers has a variance of rounding alone.
    if covariance[0] <= 1e-30 * max(1.0, float(values[0] ** 2)):
        return 1.0  # nothing varies but rounding
    squares = np.concatenate(([0.0], np.cumsum(away**2)))
    at = np.arange(lags + 1)
    length = np.sqrt(np.maximum((squares[n] - squares[at + 1]) * squares[n - at - 1], 1e-300))
    # Each autocorrelation is measured against the lengths of the two pieces that it compares, as both are
    # shorter than the text; below twice its own noise it counts as small (Politis & White, 2004).
    small = np.abs(covariance) * n / length < 2 * math.sqrt(math.log10(n) / n)
    # The first lag from which on `quiet` correlations in a row are small.
    calm = [i for i in range(lags + 1 - quiet) if small[i : i + quiet].all()]
    m = min(2 * max(calm[0], 1), lags) if calm else lags
    k = np.arange(1, m + 1)
    # The flat-top window: full weight up to m / 2, then a straight line down to 0. Unlike a triangle, it
    # does not bias the sums where correlations die out fast.
    window = np.where(k / m <= 0.5, 1.0, 2 * (1 - k / m))
    spread = 2 * float((window * k * covariance[1 : m + 1]).sum())
    long_run = float(covariance[0] + 2 * (window * covariance[1 : m + 1]).sum())
    # The block that makes the variance's squared error smallest: (2 G² / D · n)^(1/3), with D = 4/3 ·
    # long_run² for the circular bootstrap, so 2 / (4/3) = 1.5.
    best = float(np.cbrt(1.5 * spread**2 / max(long_run**2, 1e-300) * n))
    return float(np.clip(best, 1.0, max(1.0, math.ceil(min(3 * math.sqrt(n), n / 3)))))
