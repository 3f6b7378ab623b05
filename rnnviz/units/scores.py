"""How well series tell a target, and how far such scores would move on other text of the same kind.

    AUC          through its placement values (DeLong, DeLong & Clarke-Pearson 1988): a character inside
                 counts with the share of the others that are lower, one outside with the share of those
                 inside that are higher
    correlation  through each character's part in the mean product of ranks (Hájek's projection)

Both are, to first order, means of what each character adds. So a lead is a mean too, and intervals follow
from how far the means of passages lie apart (`rnnviz.reading.passages`). Of pieces of real texts the share
whose interval held the score, and the lead over an untrained unit, on the whole text, and what a moving-block
bootstrap, blocks by Politis and White (2004), held of the score (`scores` of `tests/benchmarks/claims.py`):

    characters             20,000           50,000          150,000
    plays            98, 97; 82 %     96, 96; 82 %     98, 97; 75 %
    programs         90, 91; 63 %     95, 96; 67 %     98, 98; 72 %
    a novel          94, 99           98, 96           96, 99

Shape letters: n characters, S series, B resamples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Array, Doubles, Mask
from rnnviz.reading.passages import OCTAVES, all_text
from rnnviz.reading.resampling import from_correlation, means, starts
from rnnviz.units import ranking
from rnnviz.units.claims import Rival, Simpler

SCORE, LEAD = (-0.6, 0.2), (-0.7, 0.2)
"""Mean and standard deviation of s (see `rnnviz.reading.passages`) that scores have in real texts, and leads,
of which what a text does to both is no part."""

FEWEST = 20
"""Runs of a target, inside and outside, below which a text is too short for an interval."""


@dataclass(frozen=True, eq=False)
class Scores:
    """How well each of S series tells a target in n characters.

    values  (S,) AUCs, or correlations with a graded target
    parts   (n, S) what each character adds: of mean 0, and the means of passages are, to first order, by how
            much the score of the passage differs
    sure    whether the target changes often enough for intervals
    lowest  the lowest score there is
    """

    values: Doubles
    parts: Doubles
    sure: bool
    lowest: float

    @classmethod
    def of(cls, series: Array, target: Array, near: Mask | None = None) -> Scores:
        """Of `series` (n, S) for a target's values (n,). With `near` (n,) the smaller of the AUCs against all
        other characters and against those.

        >>> mask = np.arange(5_000) % 50 < 20
        >>> noise = np.random.default_rng(0).normal(size=(5_000, 2)) + [1, 0] * mask[:, None]
        >>> scores = Scores.of(noise, mask)
        >>> scores.values.round(2).tolist(), [round(end, 1) for end in scores.interval(0)]
        ([0.75, 0.51], [0.7, 0.8])
        """
        graded = target.dtype != np.bool_
        if graded:
            values, parts = _correlations(series, target)
        else:
            values, parts = _aucs(series, target)
            if near is not None:
                here = target | near
                fewer, inside = _aucs(series[here], target[here])
                spread = np.zeros_like(parts)
                spread[here] = inside * len(target) / here.sum()
                parts = np.where(fewer < values, spread, parts)
                values = np.minimum(fewer, values)
        sure = runs(target) >= FEWEST and len(target) >= 2 << OCTAVES
        return cls(values, parts, sure, -1.0 if graded else 0.0)

    def interval(self, which: int = 0) -> tuple[float, float]:
        """Where a score lies on such text as a whole, 95 % surely."""
        half = all_text(self.parts[:, which], SCORE).half_width()
        value = float(self.values[which])
        return max(self.lowest, value - half), min(1.0, value + half)

    def rival(self, which: int, kind: Simpler, number: int) -> Rival:
        """A series beside the first, with the interval of the first's lead over it, where that is sure."""
        value = float(self.values[which])
        if not self.sure:
            return Rival(kind, number, value, None, None, 1.0)
        lead = float(self.values[0] - value)
        spread = all_text(self.parts[:, 0] - self.parts[:, which], LEAD)
        half = spread.half_width()
        return Rival(kind, number, value, lead - half, lead + half, spread.beyond(lead) if lead > 0 else 1.0)

    def stability(self, resamples: int, seed: int = 0) -> tuple[float, int]:
        """The share of texts drawn anew, from blocks of neighbours, in which the first series scores best;
        and the characters of a block."""
        block = from_correlation(self.parts[:, 0])
        drawn = self.values + means(self.parts, block, starts(len(self.parts), block, resamples, seed))
        return float((drawn.argmax(axis=1) == 0).mean()), block


def runs(target: Array) -> int:
    """The runs of a target (n,), inside and outside; of a graded one those above and below its middle."""
    mask = target if target.dtype == np.bool_ else target > np.median(target)
    if not mask.any():  # most of it is as low as it gets
        mask = target > target.min()
    return 1 + int(np.count_nonzero(mask[1:] != mask[:-1]))


def _aucs(series: Array, mask: Mask) -> tuple[Doubles, Doubles]:
    n, ones = len(mask), int(mask.sum())
    zeros = n - ones
    # A rank among all less that among its own kind is how many of the other kind are lower.
    place = ranking.ranks(series) + (n - 1) / 2
    place[mask] -= ranking.ranks(series[mask]) + (ones - 1) / 2
    place[~mask] -= ranking.ranks(series[~mask]) + (zeros - 1) / 2
    place[mask] /= zeros
    place[~mask] = 1 - place[~mask] / ones
    values = place[mask].mean(axis=0)
    return values, (place - values) * np.where(mask, n / ones, n / zeros)[:, None]


def _correlations(series: Array, target: Array) -> tuple[Doubles, Doubles]:
    n = len(target)
    ranked, graded = ranking.ranks(series) / n, ranking.ranks(target)[:, None] / n
    together, one, other = _products(ranked, graded), _products(ranked, ranked), _products(graded, graded)
    scale = np.sqrt(one.mean(axis=0) * other.mean(axis=0))
    scale = np.where(scale > 0, scale, np.inf)
    values = together.mean(axis=0) / scale
    with np.errstate(invalid="ignore", divide="ignore"):
        own = (one / one.mean(axis=0) - 1) + (other / other.mean(axis=0) - 1)
    return values, together / scale - values - values / 2 * np.nan_to_num(own)


def _products(one: Doubles, other: Doubles) -> Doubles:
    """Each character's part in the mean product of centred ranks (n, S) and (n, S) or (n, 1), whose mean that
    is: its own product, and what it does to the ranks of the others."""
    product = one * other
    return np.asarray(product + _raised(one, other) + _raised(other, one) - 2 * product.mean(axis=0))


def _raised(ranked: Doubles, weights: Doubles) -> Doubles:
    """The sum of `weights` over the characters that each one stands below, ties by half, over n."""
    n, S = len(ranked), max(ranked.shape[1], weights.shape[1])
    out = np.empty((n, S))
    for column in range(S):
        key = ranked[:, column % ranked.shape[1]]
        order = np.argsort(key)
        placed, sums = key[order], np.cumsum(weights[order, column % weights.shape[1]])
        first = np.flatnonzero(np.concatenate(([True], placed[1:] != placed[:-1])))
        after = np.append(first[1:], n)
        below = np.concatenate(([0.0], sums))
        mean = (below[first] + below[after]) / 2
        out[order, column] = np.repeat(below[-1] - mean, after - first) / n
    return out
