"""Memory length: the share of a prediction's gradient beyond each lag, and the lag within which half of it
lies.

    share_t(k) = ‖∂ log P(x_{t+1}) / ∂ e_{t-k}‖ / Σ_{j<K} ‖∂ log P(x_{t+1}) / ∂ e_{t-j}‖        k = 0 .. K - 1

Each prediction's gradient is divided by its own sum, and those shares are averaged. Only predictions with K
characters before them count, so that a longer text adds more of the same and nothing else. An exponential
fitted to the median gradient would depend on the length: its half-life grows as ever smaller tails join.

Shape letters: n predictions, K lags, S resampled texts.
"""

from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Doubles, Floats, Integers
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.findings import Json, Reported
from rnnviz.lab.analysis.backward import Exponents, norms, sweep
from rnnviz.lab.analysis.bootstrap import Resampled, resample
from rnnviz.lab.analysis.connectivity import MAX_ROW, Connectivity, row_maxima
from rnnviz.lab.analysis.linearisation import Reading, read
from rnnviz.networks.numpy_model import Network
from rnnviz.networks.progress import Progress, Reporter
from rnnviz.reprs import Pictured

DEFAULT_LAGS = 100
"""The default number of lags: characters whose gradient a prediction counts."""

INTERVAL_SAMPLES = 1000
"""Resampled texts for an interval."""

ROUNDING_SHARE = 1e-6
"""A share of the gradient at or below this is rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class Reach(Pictured, Reported):
    """The memory length of a text's predictions, over the K characters before each.

    predictions  n, each with K characters before it
    beyond       (K,) the share of the gradient beyond lag k: on characters read more than k before the last;
                 a Resampled, with an interval over passages
    half         () the number of last characters that hold half of the gradient, not rounded; a Resampled too
    """

    REPORT = "rnnviz.lab.reports.memory_length"

    predictions: int
    beyond: Resampled
    half: Resampled

    def __repr__(self) -> str:
        return f"<Reach of {self.predictions:,} predictions, half within {float(self.half.estimate):.1f}>"

    @property
    def lags(self) -> int:
        """K, the number of lags."""
        return len(self.beyond.estimate)

    def facts(self) -> Json:
        """What --json prints."""
        half, beyond = self.half, self.beyond
        return {
            "predictions": self.predictions,
            "lags": self.lags,
            "half_within": float(half.estimate),
            "half_within_interval": [float(half.low), float(half.high)],
            "beyond": beyond.estimate.tolist(),
            "beyond_low": beyond.low.tolist(),
            "beyond_high": beyond.high.tolist(),
            "block": half.block,
        }


def square_reach(square: Connectivity, lags: int = DEFAULT_LAGS) -> Reach:
    """The Reach of a whole connectivity, over its predictions with `lags` characters before them.

    Raises ConfigError if no prediction has so many, or for `lags` below 2.

    >>> import rnnviz
    >>> square = rnnviz.gradients.connectivity(rnnviz.load("timemachine-gru"), "The Time Traveller smiled")
    >>> square_reach(square, lags=10).predictions
    16
    """
    _check(len(square), lags)
    logs = square.log10.astype(np.float64)
    # A diagonal of the square holds one lag of all predictions; its first entries, of predictions with
    # fewer characters before them, are left out.
    rows = np.stack([logs.diagonal(-lag)[lags - 1 - lag :] for lag in range(lags)], axis=1)  # (n, K)
    return _reach(10.0 ** (rows - row_maxima(rows)))


@checked
def memory_length(
    model: Network,
    text: str,
    *,
    lags: int = DEFAULT_LAGS,
    character: str | None = None,
    progress: Progress | None = None,
) -> Reach:
    """The share of the gradient beyond each lag, averaged over predictions, and the lag within which half of
    it lies.

    text       at most 10,000 characters; each prediction with `lags` characters before it counts
    lags       K, the characters whose gradient counts
    character  as in `connectivity`
    progress   called about ten times a second with the share done, `.fraction`

    Returns `beyond` (lags,), `half` in characters, and intervals of both. A thousand characters of a GRU with
    256 units take two seconds. Raises ConfigError for a text that is too short, or `lags` below 2, and the
    errors of `connectivity`.

    >>> import rnnviz
    >>> model = rnnviz.load("timemachine-gru")
    >>> found = rnnviz.gradients.memory_length(model, "The Time Traveller smiled", lags=10)
    >>> found.predictions, found.beyond.estimate.shape, found.beyond.enough
    (16, (10,), False)
    """
    reading = read(model, text, limit=MAX_ROW)
    T = len(reading.text)
    _check(T, lags)
    targets, report = reading.targets(character), Reporter(progress)
    lengths = np.zeros((T + 1 - lags, lags))
    for begin in range(lags, T + 1, lags):
        end = min(begin + lags, T + 1)
        _back(reading, targets, begin, end, lengths[begin - lags : end - lags])
        report((end - lags) / len(lengths))
    report.end()
    return _reach(lengths)


def _back(reading: Reading, targets: Integers, begin: int, end: int, out: Doubles) -> None:
    """Fill `out` (end - begin, K) with the norms of the predictions after begin .. end - 1 characters."""
    lags, last = out.shape[1], end - 1

    def on_input(t: int, row: int, x: Floats, exponents: Exponents) -> None:
        lengths = norms(x, exponents)
        after = last - np.arange(row, row + len(x))  # row k is the prediction after last - k
        near = after - t < lags
        out[after[near] - begin, after[near] - t] = lengths[near]

    seeds = reading.seeds(targets, slice(begin, end))
    sweep(reading.layers, seeds[::-1], last, first=begin - lags + 1, joining=True, on_input=on_input)


def _check(count: int, lags: int) -> None:
    if lags < 2 or count < lags:
        raise ConfigError(
            "lags is from 2 to the number of characters; received {lags} lags and {count:,} characters",
            lags=lags,
            count=count,
        )


def _reach(lengths: Doubles) -> Reach:
    """The Reach of norms (n, K), each row in any scale."""
    total = lengths.sum(axis=1, keepdims=True)
    shares = np.divide(lengths, total, out=np.zeros_like(lengths), where=total > 0)[total[:, 0] > 0]
    if not len(shares):
        shares = np.eye(1, lengths.shape[1])
    resampled = resample(shares, samples=INTERVAL_SAMPLES)
    return Reach(len(shares), resampled.map(_beyond), resampled.map(_half))


def _beyond(shares: Doubles) -> Doubles:
    """(…, K) the sum of `shares` after each lag."""
    return np.maximum(1 - np.cumsum(shares, axis=-1), 0)


def _half(shares: Doubles) -> Doubles:
    """(…) the point at which the running sum of `shares` (…, K) reaches 1/2, in characters; the share at lag
    k spreads evenly from k to k + 1.
    """
    within = np.cumsum(shares, axis=-1)
    # 1e-12: a sum that should be 1/2 may fall just short of it by rounding
    first = np.argmax(within >= 0.5 - 1e-12, axis=-1)[..., None]
    share = np.take_along_axis(shares, first, axis=-1)
    before = np.take_along_axis(within, first, axis=-1) - share
    return np.asarray((first + (0.5 - before) / np.maximum(share, 1e-300))[..., 0])
