"""A confidence interval for the perplexity of texts whose blocks are drawn independently, by block bootstrap.

It is no margin of error for other passages of a real book, whose difficulty changes more slowly than from
line to line. Of intervals at 95 %, made of pieces of books that the model was not trained on, the share that
held the whole book's perplexity was (`tests/benchmarks/coverage.py`)

    characters of a piece      500    2,000   20,000   100,000
    held the whole's       76–88 %  72–80 %  26–58 %   32–38 %

so no page shows it.

Neighbouring characters depend on each other, so whole blocks are drawn with replacement, lines or stretches
of equal length; each draw gives a mean -log P, a ratio of two sums. The quantiles are those of the
studentised ratio (the "bootstrap-t"): with few blocks and skewed costs those of the means are too narrow.

B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 12; H. R. Künsch, "The
Jackknife and the Bootstrap for General Stationary Observations", Annals of Statistics 17 (1989), for blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.reading.scoring import of_sum
from rnnviz.reports.analysis import stretch_sums
from rnnviz.reports.column_files import STRETCH, ColumnFiles, Floats

FEWEST = 10
"""Blocks below which an interval would be a guess."""

MOST = 4096
"""Blocks to draw from: beyond these, neighbours are joined, which keeps their dependence."""

ALL_BUT = 0.9
"""The share of all variance that one block may have: beyond it, an interval tells whether it was drawn."""

CHARACTERS = 100
"""Characters of a block where lines can't serve, of a text that has FEWEST such blocks."""

SMALLEST = 20
"""Characters of a block of a shorter text, at least: in smaller ones neighbours would be torn apart."""


@dataclass(frozen=True)
class Interval:
    """From `low` to `high` with confidence `level`; both None where `reason` says why. `block_kind` is what
    each of `blocks` is: "line", "8 lines", "100 characters".
    """

    low: float | None
    high: float | None
    level: float
    blocks: int
    block_kind: str
    reason: str = ""


def interval(
    costs: ColumnFiles | npt.ArrayLike,
    *,
    level: float = 0.95,
    samples: int = 2000,
    seed: int = 0,
    block: Literal["line"] | int = "line",
    check: Callable[[], None] | None = None,
) -> Interval:
    """An interval for the perplexity of a scored text, or of costs in nats (n,).

    `block`: lines, or stretches of so many characters. Where lines are too few, or one is most of the text,
    stretches of 100 characters serve (a tenth of a text below 1,000 characters), as `block_kind` says. From
    200 characters on there is an interval, unless one block is unlike all others. `check` is called several
    times a second and may raise to cancel. Raises ConfigError for settings out of range and NaN costs.
    """
    if not 0 < level < 1 or samples < 100:
        raise ConfigError(
            "a level is between 0 and 1, of at least 100 samples; received {level} and {samples}",
            level=level,
            samples=samples,
        )
    if block != "line" and (isinstance(block, bool) or not isinstance(block, int) or block < 1):
        raise ConfigError('a block is "line" or a number of characters; received {block!r}', block=block)
    if not isinstance(costs, ColumnFiles):
        costs = np.asarray(costs, np.float64)
        if costs.ndim != 1 or not np.isfinite(costs).all():
            raise ConfigError(
                "costs are finite numbers in one row; received shape {shape}", shape=costs.shape
            )
    check = check or (lambda: None)
    blocks, name = _drawn_from(costs, block, check)
    m = len(blocks.sums)
    if m < FEWEST:
        return Interval(None, None, level, m, name, f"{m} blocks of {name} are too few; it takes {FEWEST}")
    residuals = np.square(blocks.sums - blocks.sums.sum() / blocks.counts.sum() * blocks.counts)
    if residuals.max() > ALL_BUT * residuals.sum() and residuals.max() > 0:
        reason = f"one block of {name} differs from all others; how many such there are can't be said"
        return Interval(None, None, level, m, name, reason)
    low, high = _bootstrap_t(blocks.sums, blocks.counts, level, samples, seed, check)
    return Interval(of_sum(max(low, 0.0), 1), of_sum(high, 1), level, m, name)


def _drawn_from(
    costs: ColumnFiles | Floats, block: Literal["line"] | int, check: Callable[[], None]
) -> tuple[_Blocks, str]:
    if block == "line" and isinstance(costs, ColumnFiles):
        blocks = _Blocks()
        for starts, stops, sums in stretch_sums(costs, "line"):
            check()
            blocks.add(sums, (stops - starts).astype(np.float64))
        unit = blocks.finish()
        if blocks.enough():
            return blocks, "line" if unit == 1 else f"{unit:,} lines"
    size = min(CHARACTERS, max(SMALLEST, len(costs) // FEWEST)) if block == "line" else block
    blocks = _Blocks()
    for sums, counts in _cut(costs, size):
        check()
        blocks.add(sums, counts)
    return blocks, f"{size * blocks.finish():,} characters"


class _Blocks:
    """Sums and sizes of blocks, at most 2 · MOST of them: beyond, each two neighbours become one."""

    def __init__(self) -> None:
        self.sums, self.counts = np.empty(0), np.empty(0)
        self._unit = 1
        self._pending = np.empty((2, 0))  # too few for a block of `_unit` yet

    def add(self, sums: Floats, counts: Floats) -> None:
        rows = np.concatenate([self._pending, [sums, counts]], axis=1)
        whole = rows.shape[1] // self._unit * self._unit
        self._pending = rows[:, whole:]
        joined = rows[:, :whole].reshape(2, -1, self._unit).sum(axis=2)
        self.sums, self.counts = np.append(self.sums, joined[0]), np.append(self.counts, joined[1])
        while len(self.sums) > MOST:
            if len(self.sums) % 2:
                # The odd one waits, as one block of the old size: it is as many of the smallest blocks.
                odd = np.array([[self.sums[-1]], [self.counts[-1]]])
                padding = np.zeros((2, self._unit - 1))
                self._pending = np.concatenate([odd, padding, self._pending], axis=1)
                self.sums, self.counts = self.sums[:-1], self.counts[:-1]
            self.sums = self.sums.reshape(-1, 2).sum(axis=1)
            self.counts = self.counts.reshape(-1, 2).sum(axis=1)
            self._unit *= 2

    def finish(self) -> int:
        """Close the last, smaller block; returns how many of the smallest blocks one holds."""
        if self._pending.size:
            rest = self._pending.sum(axis=1)
            self.sums, self.counts = np.append(self.sums, rest[0]), np.append(self.counts, rest[1])
            self._pending = np.empty((2, 0))
        return self._unit

    def enough(self) -> bool:
        """Whether blocks are enough, also when weighted by size: one line is most of some texts."""
        squares = float((self.counts**2).sum())
        return squares > 0 and float(self.counts.sum()) ** 2 / squares >= FEWEST


def _cut(costs: ColumnFiles | Floats, size: int) -> Iterator[tuple[Floats, Floats]]:
    """Sums and sizes of stretches of `size` characters, in batches; the last stretch may be smaller."""
    step = max(1, STRETCH // size) * size
    for start in range(0, len(costs), step):
        stop = min(start + step, len(costs))
        if isinstance(costs, ColumnFiles):
            edges = np.append(np.arange(start, stop, size), stop)
            yield np.diff(costs.sums(edges)), np.diff(edges).astype(np.float64)
        else:
            starts = np.arange(0, stop - start, size)
            counts = np.diff(np.append(starts, stop - start)).astype(np.float64)
            yield np.add.reduceat(costs[start:stop], starts), counts


def _bootstrap_t(
    sums: Floats, counts: Floats, level: float, samples: int, seed: int, check: Callable[[], None]
) -> tuple[float, float]:
    """The interval of Σ sums / Σ counts, nats."""
    m = len(sums)
    mean = sums.sum() / counts.sum()
    residual = sums - mean * counts
    rows = np.stack([residual, counts, residual**2, residual * counts, counts**2], axis=1)  # (m, 5)
    error = _standard_error(rows.sum(axis=0), 0.0)
    rng = np.random.default_rng(seed)
    studentised = []
    batch = max(1, (1 << 20) // m)
    for begin in range(0, samples, batch):
        check()
        k = min(batch, samples - begin)
        drawn = rng.integers(m, size=(k, m)) + np.arange(k)[:, None] * m
        times = np.bincount(drawn.ravel(), minlength=k * m).reshape(k, m)  # how often each block was drawn
        totals = (times @ rows).T  # (5, k)
        shift = totals[0] / totals[1]
        errors = _standard_error(totals, shift)
        # Identical blocks have no error: don't divide by it.
        studentised.append(np.divide(shift, errors, out=np.zeros(k), where=errors > 1e-12 * abs(mean)))
    low, high = np.quantile(np.concatenate(studentised), [(1 + level) / 2, (1 - level) / 2])
    return float(mean - low * error), float(mean - high * error)


def _standard_error(totals: Floats, shift: Floats | float) -> Floats:
    """Of a ratio of sums by linearisation, from the blocks' Σr, Σc, Σr², Σrc, Σc²; r about another ratio."""
    _, c, rr, rc, cc = totals
    squares = np.maximum(rr - 2 * shift * rc + shift**2 * cc, 0)
    return np.asarray(np.sqrt(squares) / c)
